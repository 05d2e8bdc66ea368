//! CSV: a header line, then one record a row.

use std::io;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};
use enrich_core::Record;

use crate::batch::Parsed;
use crate::field::{Field, Kind};
use crate::lines::{Line, Lines};
use crate::raw::{Fields, Raw};
use crate::record::{self, content_hash};
use crate::rejection::Rejection;
use crate::report::Notes;
use crate::source::HeaderError;

/// How many lines a row may span by quoted line ends. No field that is read holds any, so they
/// stand in fields that are ignored; and a quote that nobody closes costs no more than this.
pub(crate) const MAX_LINES_OF_A_ROW: usize = 100;

/// A CSV file after its header.
#[derive(Debug)]
pub(crate) struct Table {
    kind: Kind,
    columns: Vec<Option<Field>>,
    splitter: Splitter,
}

impl Table {
    /// Reads the header. `None` for an empty file.
    pub(crate) fn open(lines: &mut Lines, notes: &mut Notes) -> Result<Option<Self>, OpenError> {
        let Some(line) = lines.next_filled()? else { return Ok(None) };
        let mut splitter = Splitter::new();
        if line.is_too_long || !splitter.feed(&line.bytes) {
            return Err(HeaderError::NotOneLine.into());
        }
        let mut columns = Vec::new();
        for field in splitter.fields() {
            let name = std::str::from_utf8(field).map_err(|_| HeaderError::NotUtf8)?.trim();
            let column = Field::from_name(&name.to_ascii_lowercase());
            match column {
                Some(field) if columns.contains(&Some(field)) => {
                    return Err(HeaderError::RepeatedColumn(field.name()).into());
                }
                Some(_) => {}
                None => notes.ignore_field(name),
            }
            columns.push(column);
        }
        let kind = Kind::from_fields(|field| columns.contains(&Some(field)));
        let kind = kind.ok_or(HeaderError::NoKind)?;
        Ok(Some(Self { kind, columns, splitter }))
    }

    /// The next row's record, or why it is none; `None` at the end. Blank lines between rows are
    /// passed over.
    pub(crate) fn next(
        &mut self,
        lines: &mut Lines,
        notes: &mut Notes,
    ) -> io::Result<Option<Parsed>> {
        let Some(first) = lines.next_filled()? else { return Ok(None) };
        let number = first.number;
        let refused = |text, reason| Parsed { line: number, text, record: Err(reason) };
        if first.is_too_long {
            return Ok(Some(refused(first.bytes, Rejection::TooLong)));
        }
        if self.splitter.feed(&first.bytes) {
            let record = self.read(number, notes);
            return Ok(Some(Parsed { line: number, text: first.bytes, record }));
        }
        match self.rest_of_row(&first, lines)? {
            Some(text) => {
                let record = self.read(number, notes);
                Ok(Some(Parsed { line: number, text, record }))
            }
            None => Ok(Some(refused(first.bytes, Rejection::OpenQuote))),
        }
    }

    /// Reads on until the row's quote is closed: the row's whole text. When it isn't within the
    /// limits, the lines behind the first are put back, as they may be rows of their own.
    fn rest_of_row(&mut self, first: &Line, lines: &mut Lines) -> io::Result<Option<Vec<u8>>> {
        let mut text = first.bytes.clone();
        let mut taken: Vec<Line> = Vec::new();
        while taken.len() + 1 < MAX_LINES_OF_A_ROW {
            let Some(line) = lines.next()? else { break };
            let fits = text.len() + line.bytes.len() < crate::lines::MAX_LINE_BYTES;
            if line.is_too_long || !fits {
                taken.push(line);
                break;
            }
            text.push(b'\n');
            text.extend_from_slice(&line.bytes);
            let is_whole = self.splitter.feed(&line.bytes);
            taken.push(line);
            if is_whole {
                return Ok(Some(text));
            }
        }
        lines.put_back(taken.into_iter());
        self.splitter.reset();
        Ok(None)
    }

    /// The record in the splitter's fields.
    fn read(&self, line: u64, notes: &mut Notes) -> Result<Record, Rejection> {
        let (found, expected) = (self.splitter.fields().count(), self.columns.len());
        if found != expected {
            return Err(Rejection::FieldCount { found, expected });
        }
        let mut fields = Fields::default();
        // What no record has is not hashed either: an ignored column makes no row a new one.
        let mut parts: Vec<&[u8]> = Vec::with_capacity(2 * expected);
        for (column, bytes) in self.columns.iter().zip(self.splitter.fields()) {
            let text = std::str::from_utf8(bytes).map_err(|_| Rejection::NotUtf8)?;
            if let Some(field) = *column {
                fields.set(field, Raw::Csv(text));
                if !text.trim().is_empty() {
                    parts.extend([field.name().as_bytes(), text.trim().as_bytes()]);
                }
            }
        }
        if let Some(Raw::Csv(name)) = fields.get(Field::Type) {
            match Kind::from_name(name.trim()) {
                Some(kind) if kind == self.kind => {}
                Some(_) => return Err(Rejection::OtherType),
                None => return Err(Rejection::UnknownType),
            }
        }
        record::read(self.kind, &fields, content_hash(parts), line, notes)
    }
}

/// Why a table can't be opened.
#[derive(Debug)]
pub(crate) enum OpenError {
    /// The header is none.
    Header(HeaderError),
    /// The input failed.
    Input(io::Error),
}

impl From<HeaderError> for OpenError {
    fn from(error: HeaderError) -> Self {
        Self::Header(error)
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Input(error)
    }
}

/// Splits a row, line by line, into its fields.
#[derive(Debug)]
struct Splitter {
    reader: Reader,
    output: Vec<u8>,
    ends: Vec<usize>,
    written: usize,
    count: usize,
    is_whole: bool,
}

impl Splitter {
    fn new() -> Self {
        // A lone CR ends no line here either.
        let reader = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
        Self {
            reader,
            output: vec![0; 4096],
            ends: vec![0; 32],
            written: 0,
            count: 0,
            is_whole: true,
        }
    }

    /// Takes the next line of a row; `true` when the row is whole.
    fn feed(&mut self, line: &[u8]) -> bool {
        if self.is_whole {
            (self.written, self.count, self.is_whole) = (0, 0, false);
        }
        for mut part in [line, b"\n".as_slice()] {
            while !part.is_empty() && !self.is_whole {
                let (result, read, written, ended) = self.reader.read_record(
                    part,
                    &mut self.output[self.written..],
                    &mut self.ends[self.count..],
                );
                part = &part[read..];
                self.written += written;
                self.count += ended;
                match result {
                    ReadRecordResult::InputEmpty => break,
                    ReadRecordResult::OutputFull => self.output.resize(2 * self.output.len(), 0),
                    ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                    ReadRecordResult::Record | ReadRecordResult::End => self.is_whole = true,
                }
            }
        }
        self.is_whole
    }

    /// Forgets the lines of a row that is not whole.
    fn reset(&mut self) {
        self.reader.reset();
        self.is_whole = true;
    }

    /// The fields of the row that is whole.
    fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends[..self.count].iter().map(move |&end| {
            let field = self.output.get(start..end).unwrap_or_default();
            start = end;
            field
        })
    }
}
