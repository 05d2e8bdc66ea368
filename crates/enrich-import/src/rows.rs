//! Reads the rows of a CSV, workbook or JSON Lines source. The columns may have any names.

use std::collections::HashSet;
use std::io;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::format::Format;
use crate::layout::Layout;
use crate::lines::Lines;
use crate::list_reader::ListReader;
use crate::object;
use crate::read_error::{HeaderError, ReadError};
use crate::rejection::Rejection;
use crate::source::Source;
use crate::splitter::Splitter;

/// Maximum number of columns of an uploaded list. It limits the size of the account's web pages:
/// they have an option for each column in every drop-down menu, and a cell for each column in every
/// row.
pub const MAX_COLUMNS: usize = 1_000;

/// Reads a source row by row. Skips blank lines.
pub struct Rows {
    reader: ListReader,
    kind: Kind,
}

enum Kind {
    Csv { splitter: Box<Splitter>, columns: Vec<String> },
    JsonLines,
    Empty,
}

/// A row of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The number of the row's first line, from 1.
    pub line: u64,
    /// The text of the row, without the end of its last line. A text that is too long is truncated.
    pub text: Vec<u8>,
    /// The cells of the row, or why the row can't be read.
    pub cells: Result<Cells, Rejection>,
}

/// The content of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// The fields of a CSV row, as they are in the file. A row may have more or fewer fields than
    /// the header. Fields may contain bytes that are not UTF-8.
    Csv(Vec<Vec<u8>>),
    /// The names and values of a JSON object's members, in the order of the object.
    Json(Vec<(String, Value)>),
}

impl Rows {
    /// Opens a source. The first row of a CSV source or a workbook is the header.
    ///
    /// # Errors
    ///
    /// When the source or its header can't be read. When the header isn't UTF-8, or has more than
    /// [`MAX_COLUMNS`] columns.
    pub fn open(source: Source) -> Result<Self, ReadError> {
        let mut reader = source.open()?;
        let kind = match reader.format() {
            None => Kind::Empty,
            Some(Format::JsonLines) => Kind::JsonLines,
            Some(Format::Csv | Format::Tsv | Format::Xlsx) => {
                let mut splitter = Box::new(reader.splitter());
                match header(&mut splitter, &mut reader.lines) {
                    Ok(Some(columns)) => Kind::Csv { splitter, columns },
                    Ok(None) => Kind::Empty,
                    Err(error) => return Err(reader.explain(error)),
                }
            }
        };
        Ok(Self { reader, kind })
    }

    /// Returns the layout (format, delimiter and encoding) of the source; `None` for an empty
    /// source. The encoding is UTF-8 as long as only ASCII characters were read. It may change when
    /// more of the source is read.
    pub fn layout(&self) -> Option<Layout> {
        self.reader.layout()
    }

    /// Returns the column names of a CSV source or a workbook, trimmed; `None` for JSON Lines and
    /// for an empty source.
    pub fn columns(&self) -> Option<&[String]> {
        match &self.kind {
            Kind::Csv { columns, .. } => Some(columns),
            Kind::JsonLines | Kind::Empty => None,
        }
    }

    /// Returns the names of the members in the first objects of JSON Lines. Each name occurs once,
    /// in the order of its first use. There are at most [`MAX_COLUMNS`] names. Reads at most
    /// `max_rows` lines that aren't blank, and stops after `max_bytes` bytes. Later, `next_row`
    /// still returns the rows of these lines.
    ///
    /// # Errors
    ///
    /// When the source can't be read further.
    pub fn names_ahead(
        &mut self,
        max_rows: usize,
        max_bytes: usize,
    ) -> Result<Vec<String>, ReadError> {
        let (mut names, mut known) = (Vec::new(), HashSet::new());
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while taken.len() < max_rows && bytes < max_bytes {
            let next = self.reader.lines.next_filled();
            let Some(line) = next.map_err(|error| self.reader.explain(error))? else { break };
            bytes += line.bytes.len();
            for (name, _) in object::members::<IgnoredAny>(&line).unwrap_or_default() {
                if names.len() < MAX_COLUMNS && !known.contains(&name) {
                    known.insert(name.clone());
                    names.push(name);
                }
            }
            taken.push(line);
        }
        self.reader.lines.put_back(taken.into_iter());
        Ok(names)
    }

    /// Returns the next row; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the source can't be read further.
    pub fn next_row(&mut self) -> Result<Option<Row>, ReadError> {
        let next = match &mut self.kind {
            Kind::Empty => return Ok(None),
            Kind::JsonLines => next_object(&mut self.reader.lines),
            Kind::Csv { splitter, .. } => splitter.next_row(&mut self.reader.lines).map(|row| {
                row.map(|row| {
                    let fields = || Cells::Csv(splitter.fields().map(<[u8]>::to_vec).collect());
                    Row { line: row.line, text: row.text, cells: row.is_whole.map(|()| fields()) }
                })
            }),
        };
        next.map_err(|error| self.reader.explain(error))
    }

    /// Returns the number of bytes read since the last call of this method, counted before
    /// decompression.
    pub fn newly_read_bytes(&self) -> u64 {
        self.reader.newly_read_bytes()
    }
}

impl Row {
    /// Returns an estimate of the memory that the row takes, in bytes. JSON values take far more
    /// memory than their text.
    pub fn memory_bytes(&self) -> usize {
        let cells = match &self.cells {
            Ok(Cells::Csv(cells)) => {
                cells.iter().map(|cell| size_of::<Vec<u8>>() + cell.capacity()).sum()
            }
            Ok(Cells::Json(members)) => members.iter().map(of_member).sum(),
            Err(_) => 0,
        };
        size_of::<Self>() + self.text.capacity() + cells
    }
}

fn of_member((name, value): &(String, Value)) -> usize {
    size_of::<(String, Value)>() + name.capacity() + heap_size(value)
}

/// Returns an estimate of the heap memory that a value takes, in bytes.
fn heap_size(value: &Value) -> usize {
    let of_item = |item: &Value| size_of::<Value>() + heap_size(item);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.capacity(),
        Value::Array(items) => items.iter().map(of_item).sum(),
        Value::Object(members) => {
            let name = |name: &String| size_of::<String>() + name.capacity();
            members.iter().map(|(key, item)| name(key) + of_item(item)).sum()
        }
    }
}

fn header(splitter: &mut Splitter, lines: &mut Lines) -> io::Result<Option<Vec<String>>> {
    if !splitter.read_header(lines)? {
        return Ok(None);
    }
    let found = splitter.fields().count();
    if found > MAX_COLUMNS {
        let most = MAX_COLUMNS;
        return Err(io::Error::other(HeaderError::TooManyColumns { found, most }));
    }
    let names = splitter.names().map_err(io::Error::other)?;
    Ok(Some(names.into_iter().map(str::to_owned).collect()))
}

fn next_object(lines: &mut Lines) -> io::Result<Option<Row>> {
    let Some(line) = lines.next_filled()? else { return Ok(None) };
    let cells = object::members(&line).map(Cells::Json);
    Ok(Some(Row { line: line.number, text: line.bytes, cells }))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn rows(file_name: &str, text: &'static str) -> (Option<Vec<String>>, Vec<Row>) {
        let mut rows = Rows::open(Source::reader(file_name, Cursor::new(text))).unwrap();
        let mut all = Vec::new();
        while let Some(row) = rows.next_row().unwrap() {
            all.push(row);
        }
        (rows.columns().map(<[String]>::to_vec), all)
    }

    fn csv(cells: &[&str]) -> Result<Cells, Rejection> {
        Ok(Cells::Csv(cells.iter().map(|cell| cell.as_bytes().to_vec()).collect()))
    }

    #[test]
    fn rows_of_csv_come_as_they_stand() {
        let text = " Company ,City\n\n\"Quill, Ltd\",\"a\r\nb\nc\"\r\nshort\nlong,er,row\n";
        let (columns, rows) = rows("leads.csv", text);
        assert_eq!(columns.unwrap(), ["Company", "City"]);
        let lines: Vec<u64> = rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [3, 6, 7]);
        assert_eq!(rows[0].cells, csv(&["Quill, Ltd", "a\r\nb\nc"]));
        assert_eq!(rows[1].cells, csv(&["short"]));
        assert_eq!(rows[2].cells, csv(&["long", "er", "row"]));
    }

    #[test]
    fn a_quote_that_nobody_closes_costs_its_own_line_alone() {
        let (_, rows) = rows("leads.csv", "a,b\n\"x,1\ny,2\n");
        assert_eq!(rows[0].cells, Err(Rejection::OpenQuote));
        assert_eq!(rows[0].text, b"\"x,1");
        assert_eq!(rows[1].cells, csv(&["y", "2"]));
    }

    #[test]
    fn objects_keep_their_order_and_other_lines_are_told() {
        let (columns, rows) = rows("leads.jsonl", "{\"b\":1,\"a\":null}\n[1]\n{\"a\"\n");
        assert_eq!(columns, None);
        let members = [("b", Value::from(1)), ("a", Value::Null)];
        let members = members.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(rows[0].cells, Ok(Cells::Json(members.to_vec())));
        assert_eq!(rows[1].cells, Err(Rejection::NotAnObject));
        assert!(matches!(rows[2].cells, Err(Rejection::NotJson { .. })));
    }

    #[test]
    fn an_empty_source_has_no_rows() {
        for name in ["leads.csv", "leads.jsonl", "leads"] {
            assert_eq!(rows(name, "\n\n").1, []);
        }
    }

    #[test]
    fn names_are_looked_at_ahead_and_the_rows_still_come() {
        let text = "{\"b\":1,\"a\":[[]]}\n\n[1]\n{\"c\":2,\"a\":0}\n{\"d\":1}\n";
        for (rows, bytes, expected) in [
            (3, usize::MAX, &["b", "a", "c"][..]),
            (usize::MAX, 16, &["b", "a"]),
            (usize::MAX, usize::MAX, &["b", "a", "c", "d"]),
        ] {
            let mut list = Rows::open(Source::reader("a.jsonl", Cursor::new(text))).unwrap();
            assert_eq!(list.names_ahead(rows, bytes).unwrap(), expected);
            let lines = std::iter::from_fn(|| list.next_row().unwrap()).map(|row| row.line);
            assert_eq!(lines.collect::<Vec<_>>(), [1, 3, 4, 5]);
        }
    }

    #[test]
    fn only_so_many_names_of_a_long_object_are_columns() {
        let members: Vec<String> = (0..90_000).map(|at| format!("\"{at}\":0")).collect();
        let text = format!("{{{}}}\n", members.join(","));
        let mut list = Rows::open(Source::reader("a.jsonl", Cursor::new(text))).unwrap();
        assert_eq!(list.names_ahead(1000, usize::MAX).unwrap().len(), MAX_COLUMNS);
        let header = vec!["x"; MAX_COLUMNS + 1].join(",");
        let refused = Rows::open(Source::reader("a.csv", Cursor::new(header))).err();
        let expected = HeaderError::TooManyColumns { found: 1_001, most: 1_000 };
        assert!(matches!(refused, Some(ReadError::Header(error)) if error == expected));
    }

    #[test]
    fn a_row_of_many_small_values_is_known_to_be_large() {
        let text = format!("{{\"a\":[{}0]}}", "[],".repeat(10_000));
        let row = Rows::open(Source::reader("a.jsonl", Cursor::new(text))).unwrap().next_row();
        assert!(row.unwrap().unwrap().memory_bytes() > 10_000 * size_of::<Value>());
    }
}
