//! CSV: a header line, then one record a row.

use std::io;

use enrich_core::Record;

use crate::batch::Parsed;
use crate::field::{Field, Kind};
use crate::lines::Lines;
use crate::raw::{Fields, Raw};
use crate::record::{self, content_hash};
use crate::rejection::Rejection;
use crate::report::Notes;
use crate::source::HeaderError;
use crate::splitter::Splitter;

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
        if line.is_too_long || !splitter.feed(&line) {
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
        let Some(row) = self.splitter.next_row(lines)? else { return Ok(None) };
        let record = row.is_whole.and_then(|()| self.read(row.line, notes));
        Ok(Some(Parsed { line: row.line, text: row.text, record }))
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
