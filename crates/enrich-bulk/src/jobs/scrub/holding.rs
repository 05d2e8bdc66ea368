//! Searches rows for suppressed values: data that must be erased, such as an email address.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use enrich_core::{SuppressedValues, holds_suppressed};
use enrich_import::{Cells, ReadError, Row};

use crate::export;
use crate::input::Input;
use crate::shape::Shape;

/// Whether a row of a list contains a suppressed value (data that must be erased). `open` opens the
/// list.
pub(super) fn rows_hold(
    open: impl FnOnce() -> Result<Input, ReadError>,
    values: &dyn SuppressedValues,
) -> Result<bool, ReadError> {
    let mut input = open()?;
    while let Some(row) = input.next_row()? {
        if row_holds(input.shape(), &row, values) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a row contains a suppressed value (data that must be erased).
pub(super) fn row_holds(shape: &Shape, row: &Row, values: &dyn SuppressedValues) -> bool {
    match &row.cells {
        Ok(Cells::Json(cells)) => cells.iter().any(|(_, value)| json_holds(value, values)),
        _ => export::csv_cells(shape, row).iter().any(|cell| cell_holds(cell, values)),
    }
}

/// Whether a line of a file contains a suppressed value (data that must be erased).
pub(super) fn file_holds(path: &Path, values: &dyn SuppressedValues) -> io::Result<bool> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    let (mut lines, mut line) = (BufReader::new(file), Vec::new());
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return Ok(false);
        }
        if cell_holds(&line, values) {
            return Ok(true);
        }
    }
}

/// Whether a line of JSON contains a suppressed value (data that must be erased), however its
/// strings are escaped.
pub(super) fn line_holds(line: &[u8], values: &dyn SuppressedValues) -> bool {
    match serde_json::from_slice::<serde_json::Value>(line) {
        Ok(value) => json_holds(&value, values),
        Err(_) => cell_holds(line, values),
    }
}

pub(super) fn cell_holds(cell: &[u8], values: &dyn SuppressedValues) -> bool {
    holds_suppressed(values, &String::from_utf8_lossy(cell))
}

pub(super) fn json_holds(value: &serde_json::Value, values: &dyn SuppressedValues) -> bool {
    match value {
        serde_json::Value::String(text) => holds_suppressed(values, text),
        serde_json::Value::Number(number) => holds_suppressed(values, &number.to_string()),
        serde_json::Value::Array(all) => all.iter().any(|value| json_holds(value, values)),
        serde_json::Value::Object(all) => all.values().any(|value| json_holds(value, values)),
        serde_json::Value::Null | serde_json::Value::Bool(_) => false,
    }
}
