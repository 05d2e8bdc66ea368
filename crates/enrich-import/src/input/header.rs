//! Finds the header of a table. Above the header, there may be titles, notes, and a row with the
//! names of groups of columns.

use std::io;

use enrich_mapping::is_known_column;

use crate::delimiter::Delimiter;
use crate::lines::{Line, Lines};
use crate::splitter::Splitter;
use crate::workbook::SheetRow;

/// Maximum number of rows above the header.
pub(super) const MAX_TITLE_ROWS: usize = 20;

/// Minimum number of known column names in the header, if the rows above the header look like
/// headers too. A row with fewer known names may be a row of data: `Mobil`, for example, is the
/// name of a column, but can also be a value.
const LEAST_KNOWN: usize = 3;

/// Returns the fields of the first lines that are not blank; `None` for a line that is not a
/// complete row.
pub(super) fn rows_of_lines<'l>(
    first: &'l [&Line],
    delimiter: Delimiter,
) -> impl Iterator<Item = Option<Vec<String>>> + use<'l> {
    let mut splitter = Splitter::new(delimiter);
    let filled = first.iter().filter(|line| !line.is_blank()).take(MAX_TITLE_ROWS + 1);
    filled.map(move |line| {
        let mut row = Lines::new(Box::new(io::Cursor::new(line.bytes.clone())));
        let row = (!line.is_too_long).then(|| splitter.next_row(&mut row).ok().flatten());
        row.flatten().filter(|row| row.is_whole.is_ok())?;
        Some(splitter.fields().map(|field| String::from_utf8_lossy(field).into_owned()).collect())
    })
}

/// Returns the number of rows before the header, given the first rows of a table; 0 if none of
/// these rows is a header. In `rows`, `None` is a row that cannot be read.
///
/// If `columns` are given, the header is the first row that has all of them. Otherwise, the header
/// is found in two steps. The first step takes the first row of one of these kinds:
///
/// - A row with text in several fields. A row with one text is the title of a spreadsheet.
/// - A row with the name of a known column.
/// - The first line of a contact card, because vCard files are sampled as tables.
///
/// The second step looks for a better row below this one. A better row has more known columns, and
/// at least [`LEAST_KNOWN`] of them; if all its fields are known columns, two are enough. Of
/// several better rows, the header is the one with the most known columns.
pub(super) fn rows_before_header(
    rows: impl Iterator<Item = Option<Vec<String>>>,
    columns: &[String],
) -> usize {
    let rows: Vec<Option<Vec<String>>> = rows.collect();
    if !columns.is_empty() {
        let has_all = |fields: &Vec<String>| columns.iter().all(|column| has(fields, column));
        return rows.iter().position(|row| row.as_ref().is_some_and(has_all)).unwrap_or(0);
    }
    let readable = rows.iter().map_while(Option::as_ref);
    let first = readable.clone().position(|fields| is_header_below_title(fields)).unwrap_or(0);
    let mut best = (first, rows.get(first).and_then(Option::as_ref).map_or(0, |row| known(row)));
    for (at, fields) in readable.enumerate().skip(first + 1) {
        let count = known(fields);
        let is_header = count >= LEAST_KNOWN || (count > 1 && count == filled(fields).count());
        if is_header && count > best.1 {
            best = (at, count);
        }
    }
    best.0
}

/// Whether one of the first rows of a sheet is the header of a table: it has all of these columns,
/// or, if no columns are given, at least two known columns.
pub(crate) fn is_table(rows: &[SheetRow], columns: &[String]) -> bool {
    let is_header = |fields: &[String]| match columns {
        [] => known(fields) > 1,
        columns => columns.iter().all(|column| has(fields, column)),
    };
    rows.iter().any(|row| is_header(&row.cells))
}

fn known(fields: &[String]) -> usize {
    fields.iter().filter(|field| is_known_column(field)).count()
}

fn has(fields: &[String], column: &str) -> bool {
    fields.iter().any(|field| is_same(field, column))
}

/// Whether two names mean the same column. Case and blanks around a name do not matter.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one.trim().eq_ignore_ascii_case(other.trim())
}

fn filled(fields: &[String]) -> impl Iterator<Item = &String> {
    fields.iter().filter(|field| !field.trim().is_empty())
}

fn is_header_below_title(fields: &[String]) -> bool {
    let is_card = fields.iter().any(|field| field.eq_ignore_ascii_case("BEGIN:VCARD"));
    let is_known = fields.iter().any(|field| is_known_column(field));
    is_card || is_known || filled(fields).nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn above(rows: &[&[&str]]) -> usize {
        let row = |row: &&[&str]| Some(row.iter().map(|&cell| cell.to_owned()).collect());
        rows_before_header(rows.iter().map(row), &[])
    }

    #[test]
    fn the_header_has_the_most_known_columns() {
        let groups: &[&str] = &["Place", "", "Company", "Contact", ""];
        let header: &[&str] = &["Hall", "No.", "Company", "E-Mail", "Website"];
        let row: &[&str] = &["1", "A", "Quill", "info@quill.example", "quill.example"];
        assert_eq!(above(&[&["Fair", "2026"], groups, header, row]), 2);
        assert_eq!(above(&[&["\"EXTF\"", "700", "x"], header, row]), 1);
        assert_eq!(above(&[header, row]), 0);
    }

    #[test]
    fn words_in_rows_of_data_make_no_header() {
        let header: &[&str] = &["No.", "Company", "Kind"];
        assert_eq!(above(&[header, &["1", "Standard", "Mobil"], &["2", "Phone", "Internet"]]), 0);
        assert_eq!(above(&[&["a", "b"], &["Quill", "1"]]), 0);
        assert_eq!(above(&[&["Quill"], &["Inkwell"]]), 0);
    }
}
