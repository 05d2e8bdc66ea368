//! Reads a source and parses its records, in batches. The import runs this on a thread of its own.

use std::sync::mpsc::SyncSender;

use enrich_core::Record;
use enrich_core::port::importer::KnownRecords;

use crate::csv::Table;
use crate::format::Format;
use crate::import_source::ImportSource;
use crate::jsonl;
use crate::known::KnownLines;
use crate::list_reader::ListReader;
use crate::mapped::{MapAs, MappedReading};
use crate::parsed::{Next, Parsed};
use crate::read_error::ReadError;
use crate::rejection::Rejection;
use crate::report::Notes;
use crate::source::Source;

/// Maximum number of records in a batch, including rejected ones.
const MAX_RECORDS: usize = 4096;
/// A batch is full when its lines together have this many bytes. This limit, and the maximum
/// number of batches that wait to be stored, bound the memory of an import.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Maximum number of records in a batch that are already in the directory. These records are not
/// parsed and add no bytes to the batch, so the other limits do not count them. Progress is
/// reported once for each batch; without this limit, that would be too seldom.
const MAX_KNOWN: u64 = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) records: Vec<Record>,
    /// The source line of each record, in the order of `records`.
    pub(crate) source_lines: Vec<SourceLine>,
    pub(crate) rejected: Vec<(SourceLine, Rejection)>,
    /// The number of records that the directory already has. They were not parsed.
    pub(crate) known: u64,
    pub(crate) notes: Notes,
    /// The number of bytes that were read from the source for this batch, counted before
    /// decompression.
    pub(crate) read_bytes: u64,
    line_bytes: usize,
}

#[derive(Debug)]
pub(crate) struct SourceLine {
    pub(crate) line: u64,
    /// The line's text; empty if the batch contains no texts ([`Texts::Dropped`]).
    pub(crate) text: Vec<u8>,
}

/// Which texts the batches contain, and when the reading stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadOptions {
    pub(crate) texts: Texts,
    /// Whether the reading stops at the first rejected line.
    pub(crate) until_rejected: bool,
}

/// The form in which a batch contains the text of each line. With `Dropped`, it contains no texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    Dropped,
    /// The text of the line as it is in the source. If a mapping made the record, the text is the
    /// record as JSON in Enrich's own import format.
    AsRead,
    /// The record as JSON in Enrich's own import format, even if the source is CSV.
    Native,
}

struct ReceiverGone;

impl Batch {
    /// Returns the number of records of the source that the batch contains: records to import,
    /// rejected records, and records that the directory already has.
    pub(crate) fn count(&self) -> u64 {
        self.known + (self.records.len() + self.rejected.len()) as u64
    }

    fn push(&mut self, parsed: Parsed, options: ReadOptions) {
        self.line_bytes += parsed.text.len();
        let text = if options.texts == Texts::Dropped { Vec::new() } else { parsed.text };
        let source_line = SourceLine { line: parsed.line, text };
        match parsed.record {
            Ok(record) => {
                self.records.push(record);
                self.source_lines.push(source_line);
            }
            Err(reason) => self.rejected.push((source_line, reason)),
        }
    }

    fn is_full(&self) -> bool {
        self.records.len() + self.rejected.len() >= MAX_RECORDS
            || self.known >= MAX_KNOWN
            || self.line_bytes >= MAX_BYTES
    }
}

/// Reads a source and sends its batches to `into`. Stops at the end of the source, or, if
/// `options.until_rejected` is `true`, after the first rejected line. `known` finds the records
/// that the directory already has; they are only counted, not parsed.
///
/// # Errors
///
/// When the source can't be read to its end. The batches that were sent contain the records before
/// the failure.
pub(crate) fn read(
    source: ImportSource,
    options: ReadOptions,
    known: Option<Box<dyn KnownRecords>>,
    into: &SyncSender<Batch>,
) -> Result<(), ReadError> {
    let ImportSource { source, map_as, limit } = source;
    let mut batch = Batch::default();
    let mut reading = Reading::open(source, map_as, known, limit, &mut batch.notes)?;
    let mut left = limit;
    loop {
        let mut is_due = false;
        let end = match reading.next(&mut batch.notes, &mut left, options.texts) {
            Ok(Next::Known) => {
                batch.known += 1;
                None
            }
            Ok(Next::Parsed(parsed)) => {
                let is_last = options.until_rejected && parsed.record.is_err();
                batch.push(parsed, options);
                is_last.then_some(Ok(()))
            }
            Ok(Next::Busy) => {
                // Send the batch now, even without records, so that the progress is reported.
                is_due = true;
                None
            }
            Ok(Next::End) => Some(Ok(())),
            Err(error) => Some(Err(error)),
        };
        if end.is_some() || is_due || batch.is_full() {
            let full = std::mem::take(&mut batch);
            if reading.send(full, into).is_err() {
                return Ok(());
            }
        }
        if let Some(end) = end {
            return end;
        }
    }
}

enum Reading {
    Native { reader: Box<ListReader>, form: Form },
    Mapped(Box<MappedReading>),
}

/// How a source stores its records: as lines of JSON, or as a table (CSV or a workbook). The
/// records have the fields of Enrich's own import format, so they need no mapping.
enum Form {
    JsonLines(Option<KnownLines>),
    Csv(Box<Table>),
    Empty,
}

impl Reading {
    fn open(
        source: Source,
        map_as: Option<MapAs>,
        known: Option<Box<dyn KnownRecords>>,
        limit: u64,
        notes: &mut Notes,
    ) -> Result<Self, ReadError> {
        if let Some(map_as) = map_as {
            return Ok(Self::Mapped(Box::new(MappedReading::open(source, map_as, limit)?)));
        }
        let mut reader = Box::new(source.open()?);
        let form = match reader.format() {
            None => Form::Empty,
            Some(Format::JsonLines) => Form::JsonLines(known.map(KnownLines::new)),
            Some(Format::Csv | Format::Tsv | Format::Xlsx) => {
                let table = Table::open(&mut reader, notes);
                let table = table.map_err(|error| reader.explain(error))?;
                table.map_or(Form::Empty, |table| Form::Csv(Box::new(table)))
            }
        };
        Ok(Self::Native { reader, form })
    }

    /// Returns the next record, or why it is rejected. `left` is the number of records that may
    /// still be read from the source; this method reduces it by one for each record.
    fn next(&mut self, notes: &mut Notes, left: &mut u64, texts: Texts) -> Result<Next, ReadError> {
        let count = || {
            let is_left = *left > 0;
            *left = left.saturating_sub(1);
            is_left
        };
        let (reader, form) = match self {
            Self::Mapped(reading) => return reading.next(notes, count),
            Self::Native { reader, form } => (reader, form),
        };
        let mut count = count;
        if !count() {
            return Ok(Next::End);
        }
        let next = match form {
            Form::JsonLines(Some(known)) => {
                let next = known.next(&mut reader.lines).map_err(|error| reader.explain(error))?;
                return Ok(next.map_or(Next::End, |(line, is_known)| match is_known {
                    true => Next::Known,
                    false => Next::Parsed(jsonl::parsed(line, notes)),
                }));
            }
            Form::JsonLines(None) => jsonl::next(&mut reader.lines, notes),
            Form::Csv(table) => table.next(&mut reader.lines, notes, texts == Texts::Native),
            Form::Empty => Ok(None),
        };
        let next = next.map_err(|error| reader.explain(error))?;
        Ok(next.map_or(Next::End, Next::Parsed))
    }

    fn send(&mut self, mut batch: Batch, into: &SyncSender<Batch>) -> Result<(), ReceiverGone> {
        let (read_bytes, layout) = match self {
            Self::Native { reader, .. } => (reader.newly_read_bytes(), reader.layout()),
            Self::Mapped(reading) => (reading.newly_read_bytes(), reading.layout()),
        };
        batch.read_bytes = read_bytes;
        batch.notes.set_layout(layout);
        into.send(batch).map_err(|_| ReceiverGone)
    }
}
