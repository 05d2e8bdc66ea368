//! Reads a source and parses its records, in batches. The import runs this on a thread of its own.

use std::sync::mpsc::SyncSender;

use enrich_core::Record;

use crate::csv::Table;
use crate::format::Format;
use crate::jsonl;
use crate::lines::Lines;
use crate::opened::Opened;
use crate::parsed::Parsed;
use crate::read_error::ReadError;
use crate::rejection::Rejection;
use crate::report::Notes;
use crate::source::Source;

/// Maximum number of records in a batch, including rejected ones.
const MAX_RECORDS: usize = 4096;
/// A batch is full when its lines have this many bytes. Together with the maximum number of waiting
/// batches, this bounds the memory of an import.
const MAX_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) records: Vec<Record>,
    /// The line of each record, in the order of `records`.
    pub(crate) source_lines: Vec<SourceLine>,
    /// The lines that were rejected, each with the reason.
    pub(crate) rejected: Vec<(SourceLine, Rejection)>,
    pub(crate) notes: Notes,
    /// The number of bytes that were read from the source for this batch, counted before
    /// decompression.
    pub(crate) read_bytes: u64,
    line_bytes: usize,
}

#[derive(Debug)]
pub(crate) struct SourceLine {
    pub(crate) line: u64,
    /// The line's text; empty unless the caller keeps lines.
    pub(crate) text: Vec<u8>,
}

/// What the batches contain, and when the reading stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadOptions {
    /// Whether each batch keeps the text of its lines.
    pub(crate) lines: bool,
    /// Whether the reading stops at the first rejected line.
    pub(crate) until_rejected: bool,
}

struct ReceiverGone;

impl Batch {
    fn push(&mut self, parsed: Parsed, options: ReadOptions) {
        self.line_bytes += parsed.text.len();
        let text = if options.lines { parsed.text } else { Vec::new() };
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
        self.records.len() + self.rejected.len() >= MAX_RECORDS || self.line_bytes >= MAX_BYTES
    }
}

/// Reads a source and sends its batches, until the source ends, or until `options` says to stop.
///
/// # Errors
///
/// When the source can't be read to its end. The batches that were sent contain the records before
/// the failure.
pub(crate) fn read(
    source: Source,
    options: ReadOptions,
    into: &SyncSender<Batch>,
) -> Result<(), ReadError> {
    let mut opened = source.open()?;
    let mut batch = Batch::default();
    let mut reading = Reading::open(&mut opened, &mut batch.notes)?;
    loop {
        let next = reading.next(&mut opened.lines, &mut batch.notes);
        let end = match next {
            Ok(Some(parsed)) => {
                let is_last = options.until_rejected && parsed.record.is_err();
                batch.push(parsed, options);
                is_last.then_some(Ok(()))
            }
            Ok(None) => Some(Ok(())),
            Err(error) => Some(Err(opened.explain(error))),
        };
        if end.is_some() || batch.is_full() {
            let full = std::mem::take(&mut batch);
            if send(full, &opened, into).is_err() {
                return Ok(());
            }
        }
        if let Some(end) = end {
            return end;
        }
    }
}

fn send(mut batch: Batch, opened: &Opened, into: &SyncSender<Batch>) -> Result<(), ReceiverGone> {
    batch.read_bytes = opened.newly_read_bytes();
    batch.notes.set_layout(opened.layout());
    into.send(batch).map_err(|_| ReceiverGone)
}

enum Reading {
    JsonLines,
    Csv(Box<Table>),
    Empty,
}

impl Reading {
    fn open(opened: &mut Opened, notes: &mut Notes) -> Result<Self, ReadError> {
        match opened.format() {
            None => Ok(Self::Empty),
            Some(Format::JsonLines) => Ok(Self::JsonLines),
            Some(Format::Csv | Format::Tsv | Format::Xlsx) => match Table::open(opened, notes) {
                Ok(table) => Ok(table.map_or(Self::Empty, |table| Self::Csv(Box::new(table)))),
                Err(error) => Err(opened.explain(error)),
            },
        }
    }

    fn next(&mut self, lines: &mut Lines, notes: &mut Notes) -> std::io::Result<Option<Parsed>> {
        match self {
            Self::JsonLines => jsonl::next(lines, notes),
            Self::Csv(table) => table.next(lines, notes),
            Self::Empty => Ok(None),
        }
    }
}
