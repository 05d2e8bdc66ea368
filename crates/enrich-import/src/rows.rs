//! Rows as they stand: any CSV or JSON Lines source, its columns and cells, whatever they mean.

use std::io;

use serde_json::Value;

use crate::lines::Lines;
use crate::rejection::Rejection;
use crate::source::{Format, HeaderError, Opened, ReadError, Source};
use crate::splitter::Splitter;

/// Reads a source row by row. Blank lines are passed over.
pub struct Rows {
    opened: Opened,
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
    /// The number of its first line, from 1.
    pub line: u64,
    /// Its text, without the last line's end; cut where it is longer than is read.
    pub text: Vec<u8>,
    /// What it holds, or why that can't be told.
    pub cells: Result<Cells, Rejection>,
}

/// What a row holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// The fields of a CSV row; more or fewer than there are columns, and not UTF-8, as the file
    /// has it.
    Csv(Vec<Vec<u8>>),
    /// The names and values of a JSON object, in its order.
    Json(Vec<(String, Value)>),
}

impl Rows {
    /// Opens a source; of CSV, its first line is the header.
    ///
    /// # Errors
    ///
    /// When it can't be read, or its header isn't one line of UTF-8.
    pub fn open(source: Source) -> Result<Self, ReadError> {
        let mut opened = source.open()?;
        let format = opened.format().map_err(|error| opened.explain(error))?;
        let kind = match format {
            None => Kind::Empty,
            Some(Format::JsonLines) => Kind::JsonLines,
            Some(Format::Csv) => {
                let mut splitter = Box::new(Splitter::new());
                match header(&mut splitter, &mut opened.lines) {
                    Ok(Ok(Some(columns))) => Kind::Csv { splitter, columns },
                    Ok(Ok(None)) => Kind::Empty,
                    Ok(Err(error)) => return Err(error.into()),
                    Err(error) => return Err(opened.explain(error)),
                }
            }
        };
        Ok(Self { opened, kind })
    }

    /// The header of a CSV source, white space around its names left out; `None` of JSON Lines,
    /// and of an empty source.
    pub fn columns(&self) -> Option<&[String]> {
        match &self.kind {
            Kind::Csv { columns, .. } => Some(columns),
            Kind::JsonLines | Kind::Empty => None,
        }
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the source can't be read on.
    pub fn next_row(&mut self) -> Result<Option<Row>, ReadError> {
        let next = match &mut self.kind {
            Kind::Empty => return Ok(None),
            Kind::JsonLines => next_object(&mut self.opened.lines),
            Kind::Csv { splitter, .. } => splitter.next_row(&mut self.opened.lines).map(|row| {
                row.map(|row| {
                    let fields = || Cells::Csv(splitter.fields().map(<[u8]>::to_vec).collect());
                    Row { line: row.line, text: row.text, cells: row.is_whole.map(|()| fields()) }
                })
            }),
        };
        next.map_err(|error| self.opened.explain(error))
    }

    /// How many bytes, compressed as they are, were read since this was last asked.
    pub fn newly_read_bytes(&self) -> u64 {
        self.opened.newly_read_bytes()
    }
}

fn header(
    splitter: &mut Splitter,
    lines: &mut Lines,
) -> io::Result<Result<Option<Vec<String>>, HeaderError>> {
    let Some(line) = lines.next_filled()? else { return Ok(Ok(None)) };
    if line.is_too_long || !splitter.feed(&line) {
        return Ok(Err(HeaderError::NotOneLine));
    }
    let names = splitter.fields().map(|name| std::str::from_utf8(name).map(str::trim));
    let names: Result<Vec<&str>, _> = names.collect();
    Ok(match names {
        Ok(names) => Ok(Some(names.into_iter().map(str::to_owned).collect())),
        Err(_) => Err(HeaderError::NotUtf8),
    })
}

fn next_object(lines: &mut Lines) -> io::Result<Option<Row>> {
    let Some(line) = lines.next_filled()? else { return Ok(None) };
    let cells = if line.is_too_long {
        Err(Rejection::TooLong)
    } else {
        match std::str::from_utf8(&line.bytes) {
            Ok(text) => object(text),
            Err(_) => Err(Rejection::NotUtf8),
        }
    };
    Ok(Some(Row { line: line.number, text: line.bytes, cells }))
}

fn object(text: &str) -> Result<Cells, Rejection> {
    match serde_json::from_str(text) {
        Ok(Object(members)) => Ok(Cells::Json(members)),
        Err(error) if error.is_data() => Err(Rejection::NotAnObject),
        Err(error) => Err(Rejection::NotJson { column: error.column() }),
    }
}

/// The members of an object in their order, those given twice included.
struct Object(Vec<(String, Value)>);

impl<'de> serde::Deserialize<'de> for Object {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> serde::de::Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Object, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
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
}
