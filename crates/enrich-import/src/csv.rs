//! Reads CSV: a header line, then a row for each record.

use std::io;

use enrich_core::Record;

use crate::ids::scheme_of_column;
use crate::lines::Lines;
use crate::list_reader::ListReader;
use crate::native_text::native_text;
use crate::parsed::Parsed;
use crate::raw::{Fields, Raw};
use crate::read_error::HeaderError;
use crate::record::{self, content_hash};
use crate::rejection::Rejection;
use crate::report::Notes;
use crate::skip_reason::SkipReason;
use crate::splitter::Splitter;
use enrich_mapping::{Field, Named, RecordType, is_total_row};

/// A CSV file whose header has been read.
#[derive(Debug)]
pub(crate) struct Table {
    kind: RecordType,
    columns: Vec<Column>,
    splitter: Splitter,
}

impl Table {
    /// Reads the header. Returns `None` for an empty file.
    pub(crate) fn open(reader: &mut ListReader, notes: &mut Notes) -> io::Result<Option<Self>> {
        let mut splitter = reader.splitter();
        if !splitter.read_header(&mut reader.lines)? {
            return Ok(None);
        }
        let columns = columns(&splitter, notes).map_err(io::Error::other)?;
        let is_there = |field| columns.iter().any(|column: &Column| column.is_of(field));
        let kind = RecordType::from_fields(is_there)
            .ok_or(HeaderError::NoKind)
            .map_err(io::Error::other)?;
        Ok(Some(Self { kind, columns, splitter }))
    }

    /// Returns the record of the next row, or why the row is rejected; `None` at the end of the
    /// file. Skips blank lines, and rows of totals such as `Total;12`. The `text` of the result is
    /// the row's text. But if `is_native` is `true`, it is the record as JSON in Enrich's own
    /// import format.
    pub(crate) fn next(
        &mut self,
        lines: &mut Lines,
        notes: &mut Notes,
        is_native: bool,
    ) -> io::Result<Option<Parsed>> {
        while let Some(row) = self.splitter.next_row(lines)? {
            let mut text = row.text;
            let native = is_native.then_some(&mut text);
            let record = row.is_whole.and_then(|()| self.read(row.line, notes, native));
            if record.as_ref().is_ok_and(|record| self.is_total(record)) {
                notes.skip(SkipReason::TotalRow, row.line);
                continue;
            }
            return Ok(Some(Parsed { line: row.line, text, record }));
        }
        Ok(None)
    }

    /// Whether the current row is a row of totals, such as `Total;12`. `record` was made from this
    /// row. A company may be called `Total`. So the row counts as totals only if `record` has a
    /// name but no other identifier, such as a domain or a phone number.
    fn is_total(&self, record: &Record) -> bool {
        let cells =
            self.splitter.fields().map(|cell| ("", std::str::from_utf8(cell).unwrap_or("")));
        record::is_name_only(record) && is_total_row(cells)
    }

    /// Parses the fields of the current row into a record. If `native` is `Some`, also writes the
    /// record into it, as JSON in Enrich's own import format.
    fn read(
        &self,
        line: u64,
        notes: &mut Notes,
        native: Option<&mut Vec<u8>>,
    ) -> Result<Record, Rejection> {
        let (found, expected) = (self.splitter.fields().count(), self.columns.len());
        if found != expected {
            return Err(Rejection::FieldCount { found, expected });
        }
        let mut fields = Fields::default();
        // The names and values from which the record's hash is made. Ignored columns are not
        // included. So if only an ignored column has changed, the record counts as unchanged.
        let mut parts: Vec<&[u8]> = Vec::with_capacity(2 * expected);
        for (column, bytes) in self.columns.iter().zip(self.splitter.fields()) {
            let text = std::str::from_utf8(bytes).map_err(|_| Rejection::NotUtf8)?;
            match column {
                Column::Field(named) => {
                    fields.set(*named, Raw::Csv(text));
                    if !text.trim().is_empty() {
                        parts.extend([named.field.name().as_bytes(), text.trim().as_bytes()]);
                    }
                }
                Column::Ids(scheme) if self.kind == RecordType::Company => {
                    fields.add_ids(scheme, text);
                    if !text.trim().is_empty() {
                        parts.extend([scheme.as_bytes(), text.trim().as_bytes()]);
                    }
                }
                Column::Ids(scheme) => notes.ignore_field(scheme),
                Column::Other(name) => notes.note_unused(name, text),
            }
        }
        if let Some(name) = fields.get(Field::Type).and_then(|given| given.list().pop()?.text()) {
            match RecordType::from_name(&name) {
                Some(kind) if kind == self.kind => {}
                Some(_) => return Err(Rejection::OtherType),
                // The field `type` contains a text other than `company`, `person` or `domain`. In
                // many lists, a column named `type` has another meaning, so the text is ignored.
                None => notes.ignore_field(Field::Type.name()),
            }
        }
        let record = record::read(self.kind, &mut fields, content_hash(parts), line, notes)?;
        if let Some(native) = native {
            *native = native_text(self.kind, &fields).into_bytes();
        }
        Ok(record)
    }
}

#[derive(Debug)]
enum Column {
    /// The column contains the values of this field, such as `domains`.
    Field(Named),
    /// The column contains ids of companies. All of them have this scheme (the register or data set
    /// that gives the ids), such as `lei`.
    Ids(&'static str),
    /// The column's name is neither the name of a field nor of a scheme (a register such as `lei`),
    /// so the column is ignored.
    Other(String),
}

impl Column {
    fn is_of(&self, field: Field) -> bool {
        matches!(self, Self::Field(named) if named.field == field)
    }
}

fn columns(splitter: &Splitter, notes: &mut Notes) -> Result<Vec<Column>, HeaderError> {
    let names = splitter.names()?;
    let exact = |name: &str| {
        let named = Field::from_name(&name.to_ascii_lowercase())?;
        (named.field.name().eq_ignore_ascii_case(name)).then_some(named)
    };
    let mut taken: Vec<Named> = Vec::new();
    for named in names.iter().filter_map(|name| exact(name)) {
        if taken.contains(&named) {
            return Err(HeaderError::RepeatedColumn(named.field.name()));
        }
        taken.push(named);
    }
    let columns = names.into_iter().map(|name| {
        let named = exact(name).or_else(|| {
            // If two columns could mean the same field, the column that has exactly the field's
            // name is read. The other column is ignored.
            let named = Field::from_column(name).filter(|named| !taken.contains(named))?;
            taken.push(named);
            Some(named)
        });
        match (named, scheme_of_column(name)) {
            (Some(named), _) => Column::Field(named),
            (None, Some(scheme)) => Column::Ids(scheme),
            (None, None) => {
                notes.ignore_field(name);
                Column::Other(name.to_owned())
            }
        }
    });
    Ok(columns.collect())
}
