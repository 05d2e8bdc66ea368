//! Reads the numbered rows of a list, and the fields of each row.

use enrich_import::{Cells, Format, Layout, NoList, ReadError, Row, Rows, Source};
use serde_json::Value;

use crate::export;
use crate::mapping::{Bound, From};
use crate::shape::Shape;

/// Maximum number of JSON Lines rows that are read ahead to find the columns.
const LOOKED_AT: usize = 1000;
/// Maximum number of bytes of the rows that are read ahead to find the columns.
const LOOKED_AT_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of characters of a cell when rows are shown to the user. Longer cells are
/// truncated.
const SHOWN_LETTERS: usize = 200;

/// An open list. It returns the rows one by one.
pub struct Input {
    rows: Rows,
    shape: Shape,
    /// The first row, which was read to find the columns. The first call of
    /// [`next_row`](Self::next_row) returns it.
    first: Option<Row>,
    /// The layout (delimiter and encoding) that is used instead of the detected one; `None` if the
    /// detected layout is used.
    layout: Option<Layout>,
    read_bytes: u64,
}

impl Input {
    /// Opens a list: CSV with a header, JSON Lines, or an Excel workbook. CSV and JSON Lines may be
    /// compressed.
    ///
    /// # Errors
    ///
    /// When the list cannot be read, or has no rows.
    pub fn open(source: Source) -> Result<Self, ReadError> {
        let mut rows = Rows::open(source)?;
        let shape = match rows.columns() {
            Some(columns) => Shape::Csv(columns.to_vec()),
            None => Shape::Json(rows.names_ahead(LOOKED_AT, LOOKED_AT_BYTES)?),
        };
        let first = match rows.next_row()? {
            Some(first) => Some(first),
            None if matches!(shape, Shape::Csv(_)) => return Err(NoList::HeaderAlone.into()),
            None => return Err(NoList::Empty.into()),
        };
        Ok(Self { rows, shape, first, layout: None, read_bytes: 0 })
    }

    /// Returns the names of the columns. For a CSV list, these are the names in the header. For
    /// JSON Lines, these are the names of the members in the first objects: at most 1000 objects,
    /// and at most 4 MiB of the list.
    pub fn columns(&self) -> &[String] {
        self.shape.columns()
    }

    /// Returns the default output format: JSON Lines for a JSON Lines list, else CSV.
    pub fn format(&self) -> Format {
        match self.shape {
            Shape::Csv(_) => Format::Csv,
            Shape::Json(_) => Format::JsonLines,
        }
    }

    /// Returns the layout of the list, such as its delimiter and its encoding; `None` if the list
    /// is empty. The detected encoding may change until the whole list is read.
    pub fn layout(&self) -> Option<Layout> {
        self.layout.clone().or_else(|| self.rows.layout())
    }

    /// Replaces the detected layout of the list (its delimiter and encoding) by `layout`.
    pub(crate) fn with_layout(self, layout: Layout) -> Self {
        Self { layout: Some(layout), ..self }
    }

    /// Returns the number of bytes of the list that were read so far, counted before decompression.
    pub fn read_bytes(&mut self) -> u64 {
        self.read_bytes += self.rows.newly_read_bytes();
        self.read_bytes
    }

    /// Returns the next row of the list, or `None` at the end.
    ///
    /// # Errors
    ///
    /// When the list cannot be read further.
    pub fn next_row(&mut self) -> Result<Option<Row>, ReadError> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.rows.next_row(),
        }
    }

    /// Reads the list to its end and returns the number of rows that were read.
    ///
    /// # Errors
    ///
    /// When the list cannot be read further.
    pub(crate) fn count_rows(&mut self) -> Result<u64, ReadError> {
        let mut rows = 0;
        while self.next_row()?.is_some() {
            rows += 1;
        }
        Ok(rows)
    }

    /// Returns the texts of the row for display, one for each column. Long texts are truncated.
    pub fn shown(&self, row: &Row) -> Vec<String> {
        let mut cells: Vec<String> = export::csv_cells(&self.shape, row)
            .iter()
            // A character has at most four bytes, so this slice contains the first `SHOWN_LETTERS`
            // characters.
            .map(|cell| String::from_utf8_lossy(&cell[..cell.len().min(4 * SHOWN_LETTERS)]))
            .map(|text| text.chars().take(SHOWN_LETTERS).collect())
            .collect();
        // Only JSON Lines have members without a column. These members are not shown.
        if matches!(row.cells, Ok(Cells::Json(_))) {
            cells.truncate(self.columns().len());
        }
        cells
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }
}

/// Returns the fields of the request that is made from a row, as pairs of a field's name and its
/// value. Fields with blank values are omitted. The error says why the row cannot be sent.
pub(crate) fn fields(
    bound: &Bound,
    shape: &Shape,
    row: &Row,
) -> Result<Vec<(&'static str, String)>, String> {
    let cells = row.cells.as_ref().map_err(ToString::to_string)?;
    if let (Cells::Csv(cells), Shape::Csv(columns)) = (cells, shape)
        && cells.len() != columns.len()
    {
        let (found, expected) = (cells.len(), columns.len());
        return Err(format!("the row has {found} fields where the header has {expected}"));
    }
    let mut fields = Vec::with_capacity(bound.0.len());
    for field in &bound.0 {
        let text = match &field.from {
            From::Constant(value) => value.clone(),
            From::Column { index, name } => match cells {
                Cells::Csv(cells) => of_cell(cells.get(*index), name)?,
                Cells::Json(members) => of_member(members, name)?,
            },
        };
        if !text.trim().is_empty() {
            fields.push((field.name, text));
        } else if field.is_needed {
            return Err(format!("`{}` is empty", field.name));
        }
    }
    Ok(fields)
}

fn of_cell(cell: Option<&Vec<u8>>, name: &str) -> Result<String, String> {
    let bytes = cell.map(Vec::as_slice).unwrap_or_default();
    let text = std::str::from_utf8(bytes).map_err(|_| format!("`{name}` is not UTF-8"))?;
    Ok(text.to_owned())
}

fn of_member(members: &[(String, Value)], name: &str) -> Result<String, String> {
    let mut values = members.iter().filter(|(known, _)| known == name).map(|(_, value)| value);
    match (values.next(), values.next()) {
        (None | Some(Value::Null), None) => Ok(String::new()),
        (Some(Value::String(text)), None) => Ok(text.clone()),
        (Some(Value::Number(number)), None) => Ok(number.to_string()),
        (Some(_), None) => Err(format!("`{name}` is not text")),
        (_, Some(_)) => Err(format!("`{name}` is given twice")),
    }
}
