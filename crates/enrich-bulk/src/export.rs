//! Writes the rows of the output: each row of the list with its answer, status and price.

use std::borrow::Cow;
use std::collections::HashMap;

use enrich_import::{Cells, Delimiter, Format, Layout, Row, TextEncoding};
use enrich_wire::Endpoint;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::Answers;
use crate::candidates;
use crate::shape::Shape;
use crate::spreadsheet::{BYTE_ORDER_MARK, LIST_SEPARATOR, neutralised};
use crate::workbook;

/// The name of an extra column for JSON Lines lists. The columns of such a list are the members of
/// its first objects. The extra column contains all other members, and each line that is not an
/// object.
const OTHER_FIELDS: &str = "other_fields";

/// The result of a row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The row has an answer.
    Found,
    /// The look-up found nothing.
    NotFound,
    /// The row is invalid and was not sent. The error column gives the reason.
    Invalid,
    /// The row was sent but not answered. The error column gives the reason.
    Failed,
}

impl Status {
    /// Returns the value in the column `status`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::NotFound => "not_found",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
        }
    }
}

/// The values of the columns that are added to a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Added {
    pub(crate) status: Status,
    /// The values of the answer's columns; empty if nothing was found.
    pub(crate) values: Vec<Value>,
    /// The values of the columns for candidates (companies that the row's company name may mean);
    /// empty if the row has no candidates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) candidates: Vec<Value>,
    pub(crate) error: String,
    pub(crate) credits: u64,
}

/// The values that determine the names of the added columns.
pub(crate) struct AddedNames<'a> {
    /// The endpoint. The fields of its answers become columns.
    pub(crate) endpoint: &'a Endpoint,
    /// The text with which the names of all added columns begin.
    pub(crate) prefix: &'a str,
    /// Maximum number of candidates of a row: companies that its company name may mean.
    pub(crate) candidates: usize,
}

impl AddedNames<'_> {
    /// Returns the names of all added columns, and how many of them are columns of the answer.
    fn all(&self) -> (Vec<String>, usize) {
        let mut names = Answers::of(self.endpoint).columns;
        let answers = names.len();
        names.extend(candidates::columns(self.candidates));
        names.extend(["status", "error", "credits"].map(str::to_owned));
        for name in &mut names {
            name.insert_str(0, self.prefix);
        }
        (names, answers)
    }
}

/// Writes rows into a buffer in memory.
pub(crate) struct Export {
    format: Format,
    shape: Shape,
    /// The names of the added columns: first the columns of the answer, then the columns of the
    /// candidates, then `status`, `error` and `credits`.
    added: Vec<String>,
    /// The number of columns of the answer.
    answers: usize,
    delimiter: Delimiter,
    /// Whether a CSV or TSV output begins with a byte order mark. The output is always UTF-8. If
    /// the list has another encoding, the output gets the mark, so that a spreadsheet program
    /// recognises UTF-8.
    is_marked: bool,
    csv: csv::Writer<Vec<u8>>,
    json: Vec<u8>,
}

impl Export {
    /// Returns an export that writes rows in `format`. If the list and the output are CSV, they
    /// have the same delimiter.
    pub(crate) fn new(
        format: Format,
        shape: &Shape,
        layout: Option<&Layout>,
        names: &AddedNames<'_>,
    ) -> Self {
        let (names, answers) = names.all();
        let added = free_names(&names, |name| {
            shape.columns().iter().any(|column| column == name) || name == OTHER_FIELDS
        });
        let delimiter = match format {
            Format::Tsv => Delimiter::Tab,
            Format::Csv => layout.and_then(|layout| layout.delimiter).unwrap_or(Delimiter::Comma),
            Format::JsonLines | Format::Xlsx => Delimiter::Comma,
        };
        let encoding = layout.and_then(|layout| layout.encoding);
        let is_other = encoding.is_some_and(|encoding| encoding != TextEncoding::UTF_8);
        let is_marked = is_other && matches!(format, Format::Csv | Format::Tsv);
        let (shape, csv) = (shape.clone(), csv_writer(delimiter, Vec::new()));
        Self { format, shape, added, answers, delimiter, is_marked, csv, json: Vec::new() }
    }

    /// Writes the header, if the output format has one.
    pub(crate) fn header(&mut self) -> Result<(), csv::Error> {
        if self.format == Format::JsonLines {
            return Ok(());
        }
        let other = matches!(self.shape, Shape::Json(_)).then(|| OTHER_FIELDS.to_owned());
        let names = self.shape.columns().iter().chain(&other).chain(&self.added);
        let names: Vec<Cow<'_, [u8]>> =
            names.map(|name| self.safe(Cow::Borrowed(name.as_bytes()))).collect();
        let mark = if self.is_marked { BYTE_ORDER_MARK } else { b"" };
        let mut csv = csv_writer(self.delimiter, mark.to_vec());
        csv.write_record(names)?;
        self.csv = csv;
        Ok(())
    }

    /// Writes a row. Returns the number of cells of the row that will be truncated in a workbook; 0
    /// for other formats.
    pub(crate) fn row(&mut self, row: &Row, added: &Added) -> Result<u64, csv::Error> {
        match self.format {
            Format::Csv | Format::Tsv | Format::Xlsx => self.csv_row(row, added),
            Format::JsonLines => {
                self.json_row(row, added);
                Ok(0)
            }
        }
    }

    /// Returns the approximate size of the buffer, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.json.len() + self.csv.get_ref().len()
    }

    /// Returns the contents of the buffer, and empties the buffer.
    pub(crate) fn take(&mut self) -> Result<Vec<u8>, std::io::Error> {
        if self.format == Format::JsonLines {
            return Ok(std::mem::take(&mut self.json));
        }
        self.csv.flush()?;
        let full = std::mem::replace(&mut self.csv, csv_writer(self.delimiter, Vec::new()));
        full.into_inner().map_err(|error| std::io::Error::other(error.to_string()))
    }

    fn csv_row(&mut self, row: &Row, added: &Added) -> Result<u64, csv::Error> {
        let mut cut_cells = 0;
        for cell in csv_cells(&self.shape, row) {
            cut_cells += self.is_cut(&cell);
            let cell = self.safe(cell);
            self.csv.write_field(cell)?;
        }
        for at in 0..self.added.len() - 3 {
            let text = self.value(added, at).map(in_a_cell).unwrap_or_default();
            cut_cells += self.is_cut(text.as_bytes());
            let text = self.safe(Cow::Borrowed(text.as_bytes()));
            self.csv.write_field(text)?;
        }
        self.csv.write_field(added.status.as_str())?;
        let error = self.safe(Cow::Borrowed(added.error.as_bytes()));
        self.csv.write_field(error)?;
        self.csv.write_field(added.credits.to_string())?;
        self.csv.write_record(None::<&[u8]>)?;
        Ok(cut_cells)
    }

    /// Returns the value of an added column that belongs to the answer or to a candidate. `at` is
    /// the index of the column among the added columns.
    fn value<'v>(&self, added: &'v Added, at: usize) -> Option<&'v Value> {
        match at.checked_sub(self.answers) {
            None => added.values.get(at),
            Some(at) => added.candidates.get(at),
        }
    }

    /// Returns 1 if the output is a workbook in which the cell will be truncated, else 0.
    fn is_cut(&self, cell: &[u8]) -> u64 {
        u64::from(self.format == Format::Xlsx && workbook::is_too_long(cell))
    }

    /// Escapes formulas in a cell of a CSV or TSV output. Cells of a workbook stay unchanged,
    /// because Excel never runs a text in a workbook as a formula.
    fn safe<'c>(&self, cell: Cow<'c, [u8]>) -> Cow<'c, [u8]> {
        if self.format == Format::Xlsx {
            return cell;
        }
        match neutralised(&cell) {
            Cow::Borrowed(_) => cell,
            Cow::Owned(safe) => Cow::Owned(safe),
        }
    }

    fn json_row(&mut self, row: &Row, added: &Added) {
        // The row is written as an object without its closing brace, so that the added members can
        // follow.
        let taken = self.begin_object(row);
        let mut is_first = self.json.last() == Some(&b'{');
        let values = self.added.len() - 3;
        let names = free_names(&self.added, |name| taken.iter().any(|taken| taken == name));
        for (at, name) in names.iter().enumerate() {
            let value = match at.checked_sub(values) {
                None => self.value(added, at).cloned().unwrap_or_default(),
                Some(0) => added.status.as_str().into(),
                Some(1) if added.error.is_empty() => Value::Null,
                Some(1) => added.error.as_str().into(),
                Some(_) => added.credits.into(),
            };
            field(&mut self.json, &mut is_first, name, &value);
        }
        self.json.extend_from_slice(b"}\n");
    }

    /// Writes the row as an object without the closing brace. Returns the names of the object's
    /// members.
    fn begin_object(&mut self, row: &Row) -> Vec<String> {
        if let Ok(Cells::Json(members)) = &row.cells {
            let text = row.text.trim_ascii_end();
            let text = text.strip_suffix(b"}").unwrap_or(text).trim_ascii();
            self.json.extend_from_slice(text);
            return members.iter().map(|(name, _)| name.clone()).collect();
        }
        self.json.push(b'{');
        let mut is_first = true;
        let (names, cells) = match &self.shape {
            Shape::Csv(columns) => (unlike(columns), csv_cells(&self.shape, row)),
            Shape::Json(_) => (vec![OTHER_FIELDS.to_owned()], vec![Cow::Borrowed(&row.text[..])]),
        };
        for (name, cell) in names.iter().zip(cells) {
            let text = String::from_utf8_lossy(&cell).into_owned();
            field(&mut self.json, &mut is_first, name, &Value::String(text));
        }
        names
    }
}

/// Returns the cells of a row in the order of the list's columns. If a CSV row has too many cells,
/// the last column also gets the extra cells. A row of JSON Lines gets one more cell at its end,
/// which contains all members without a column.
pub(crate) fn csv_cells<'a>(shape: &Shape, row: &'a Row) -> Vec<Cow<'a, [u8]>> {
    let none: Cow<'a, [u8]> = Cow::Borrowed(b"");
    match (shape, &row.cells) {
        (Shape::Csv(columns), Ok(Cells::Csv(given))) => {
            let mut cells: Vec<_> = given.iter().map(|cell| Cow::Borrowed(&cell[..])).collect();
            if cells.len() > columns.len() {
                let rest = cells.split_off(columns.len().saturating_sub(1));
                cells.push(Cow::Owned(rest.join(&b","[..])));
            }
            cells.resize(columns.len(), none);
            cells
        }
        (Shape::Csv(columns), _) => {
            let mut cells = vec![none; columns.len()];
            if let Some(first) = cells.first_mut() {
                *first = Cow::Borrowed(&row.text);
            }
            cells
        }
        (Shape::Json(names), Ok(Cells::Json(members))) => {
            let mut cells = vec![none; names.len()];
            let (mut other, mut is_first) = (Vec::new(), true);
            // A map makes the search fast, because there may be many columns and members.
            let mut places: HashMap<&str, usize> =
                names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
            for (name, value) in members {
                match places.remove(name.as_str()) {
                    Some(at) => {
                        cells[at] = Cow::Owned(in_a_cell(value).into_bytes());
                    }
                    None => {
                        if is_first {
                            other.push(b'{');
                        }
                        field(&mut other, &mut is_first, name, value);
                    }
                }
            }
            if !is_first {
                other.push(b'}');
            }
            cells.push(Cow::Owned(other));
            cells
        }
        // A line that is not a JSON object has no members. Its whole text goes into the last
        // column, `other_fields`.
        (Shape::Json(names), _) => {
            let mut cells = vec![none; names.len()];
            cells.push(Cow::Borrowed(&row.text));
            cells
        }
    }
}

/// Converts a value to a cell: a string unchanged, null as empty, list items separated by `|`.
fn in_a_cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(in_a_cell).collect::<Vec<_>>().join(LIST_SEPARATOR),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn field(into: &mut Vec<u8>, is_first: &mut bool, name: &str, value: &Value) {
    if !std::mem::take(is_first) {
        into.push(b',');
    }
    // The serializer writes to memory, so it cannot fail.
    let _ = serde_json::to_writer(&mut *into, name);
    into.push(b':');
    let _ = serde_json::to_writer(into, value);
}

/// Returns the names of the added columns. Each name that the list already has gets a number, the
/// same for all such names: `status_2`, `error_2`, `credits_2`. So users see that the columns
/// belong together.
fn free_names(names: &[String], is_taken: impl Fn(&str) -> bool) -> Vec<String> {
    let taken: Vec<bool> = names.iter().map(|name| is_taken(name)).collect();
    let mut number = 1_u64;
    loop {
        let one = |(name, is_taken): (&String, &bool)| match is_taken {
            true => format!("{name}_{number}"),
            false => name.clone(),
        };
        let free: Vec<String> = names.iter().zip(&taken).map(one).collect();
        let is_free = |name: &String| names.contains(name) || !is_taken(name);
        if !taken.contains(&true) || (number > 1 && free.iter().all(is_free)) {
            return free;
        }
        number += 1;
    }
}

/// Returns the column names as names for the members of a JSON object. A repeated name gets a
/// number: `email`, `email_2`.
fn unlike(columns: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(columns.len());
    for column in columns {
        let mut name = column.clone();
        let mut number = 1;
        while names.contains(&name) || (number > 1 && columns.contains(&name)) {
            number += 1;
            name = format!("{column}_{number}");
        }
        names.push(name);
    }
    names
}

fn csv_writer(delimiter: Delimiter, begun: Vec<u8>) -> csv::Writer<Vec<u8>> {
    // This module writes the same number of cells in every row, so the writer need not check the
    // number.
    let mut builder = csv::WriterBuilder::new();
    builder.flexible(true).delimiter(delimiter.as_byte()).from_writer(begun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_taken_get_one_number_together() {
        let names = ["url", "status", "error"].map(str::to_owned);
        let free = |taken: &[&str]| free_names(&names, |name| taken.contains(&name));
        assert_eq!(free(&[]), ["url", "status", "error"]);
        assert_eq!(free(&["status", "error"]), ["url", "status_2", "error_2"]);
        assert_eq!(free(&["status", "error", "error_2"]), ["url", "status_3", "error_3"]);
        assert_eq!(free(&["url", "status_2"]), ["url_2", "status", "error"]);
    }
}
