//! Finds the header of a table. Above the header, there may be titles, notes, and a row with the
//! names of groups of columns.

use std::collections::HashSet;

use enrich_mapping::{is_known_column, is_same_column};

use crate::limits::MAX_LINES_OF_A_ROW;
use crate::lines::Line;
use crate::splitter::Splitter;
use crate::workbook::SheetRow;

/// Maximum number of rows above the header.
pub(super) const MAX_TITLE_ROWS: usize = 20;

/// The first row that looks like a header may be only a title. So a later row can be the header
/// instead, if it has at least this number of known column names. With fewer, it may be a row of
/// data: `Mobil`, for example, is the name of a column, but can also be a value. For an exception,
/// see [`rows_before_header`].
const LEAST_KNOWN: usize = 3;

/// One of the first rows of CSV.
pub(super) struct FirstRow {
    /// The number of lines of the row, without blank lines.
    pub(super) lines: usize,
    /// The fields of the row; `None` if the row could not be split into fields, for example because
    /// the quote at the end of a field is missing.
    pub(super) fields: Option<Vec<String>>,
}

/// Returns the first rows of CSV. `first` are its first lines, and `splitter` divides a row into
/// fields. A field in quotes may contain line breaks, so a row may have several lines. If a stray
/// quote has joined lines that do not belong together, the first of them becomes a row without
/// fields. The next row begins at the second line.
pub(super) fn first_rows(first: &[&Line], mut splitter: Splitter) -> Vec<FirstRow> {
    let filled: Vec<&&Line> = first.iter().filter(|line| !line.is_blank()).collect();
    let (mut rows, mut at) = (Vec::new(), 0);
    while at < filled.len() && rows.len() <= MAX_TITLE_ROWS {
        let (mut text, mut lines) = (Vec::new(), 0);
        let mut is_whole = false;
        for line in filled[at..].iter().take(MAX_LINES_OF_A_ROW).take_while(|it| !it.is_too_long) {
            text.extend_from_slice(&line.bytes);
            text.push(b'\n');
            lines += 1;
            is_whole = splitter.feed(line);
            if is_whole {
                break;
            }
        }
        is_whole &= lines == 1 || splitter.is_well_formed(&text);
        let field = |field| String::from_utf8_lossy(field).into_owned();
        let fields = is_whole.then(|| splitter.fields().map(field).collect());
        splitter.reset();
        let lines = if is_whole { lines } else { 1 };
        rows.push(FirstRow { lines, fields });
        at += lines;
    }
    rows
}

/// Where the header of a table is, and the names of its columns if they are in two rows.
pub(super) struct Header {
    /// The number of rows before the header.
    pub(super) rows_before: usize,
    /// The names of the columns, if the header has two rows; see [`names_of_two_rows`].
    pub(super) names: Option<Vec<String>>,
}

impl Header {
    /// Finds the header among the first rows of a table. In `rows`, `None` is a row that cannot be
    /// read. If `columns` are given, the header is the first row that has all of them.
    pub(super) fn find(
        rows: impl Iterator<Item = Option<Vec<String>>>,
        columns: &[String],
    ) -> Self {
        let rows: Vec<Option<Vec<String>>> = rows.collect();
        let at = rows_before_header(&rows, columns);
        let row = |at: usize| rows.get(at).and_then(Option::as_ref);
        let has_all = |fields: &[String]| columns.iter().all(|column| has(fields, column));
        // A header may have two rows. These are the indexes of the rows that may be its upper row:
        //
        // - Without `columns`: the row `at`, which was found, and the row before it.
        // - With `columns`, if the row `at` has all of them: none. This row is the whole header.
        // - With `columns`, if no single row has all of them: every row.
        let uppers = match row(at) {
            _ if columns.is_empty() => at.saturating_sub(1)..at + 1,
            Some(fields) if has_all(fields) => 0..0,
            _ => 0..rows.len(),
        };
        for upper in uppers {
            if let (Some(groups), Some(below)) = (row(upper), row(upper + 1))
                && let Some(names) = names_of_two_rows(groups, below).filter(|all| has_all(all))
            {
                return Self { rows_before: upper, names: Some(names) };
            }
        }
        Self { rows_before: at, names: None }
    }

    /// Returns the number of rows to skip before the rest is read: the rows before the header, and
    /// the header itself if its names are already known.
    pub(super) fn rows_to_skip(&self) -> usize {
        self.rows_before + if self.names.is_some() { 2 } else { 0 }
    }
}

/// Returns the names of the columns if two rows together are a header. In such a header, some cells
/// of the upper row name a group of columns, and the row below names the columns of each group:
///
/// | No. | Company | Contact |        | Country |
/// |-----|---------|---------|--------|---------|
/// |     |         | Phone   | E-mail |         |
///
/// The other cells of the upper row, such as `Company`, name a single column. At least one of them
/// must be a known column name. Otherwise the upper row is a title, and the result is `None`.
/// Exception: if two groups have a column with the same known name, such as `E-mail`, no other cell
/// needs to be a known name.
///
/// If two columns have the same name, the name of the second one begins with the name of its group.
/// For example, if `E-mail` is a column of the group `Contact` and of the group `Invoice`, the
/// second column is named `Invoice E-mail`.
fn names_of_two_rows(upper: &[String], lower: &[String]) -> Option<Vec<String>> {
    let cell = |row: &[String], at: usize| row.get(at).map_or("", |text| text.trim()).to_owned();
    let width = upper.len().max(lower.len());
    let (mut names, mut group) = (Vec::with_capacity(width), String::new());
    let (mut has_gap, mut has_known_whole, mut groups) = (false, false, 0);
    for at in 0..width {
        let (above, below) = (cell(upper, at), cell(lower, at));
        let begins_group = !above.is_empty() && at + 1 < width && cell(upper, at + 1).is_empty();
        match (above.is_empty(), below.is_empty()) {
            // Both cells are filled, and the upper one does not name a group of columns. So the
            // upper row is the whole header, and the lower row is a record.
            (false, false) if !begins_group => return None,
            (true, false) => has_gap = true,
            (false, true) => has_known_whole |= is_known_column(&above),
            (false, false) => groups += 1,
            (true, true) => {}
        }
        if !above.is_empty() {
            group.clone_from(&above);
        }
        names.push(if below.is_empty() { (above, None) } else { (below, Some(group.clone())) });
    }
    let known = || lower.iter().filter(|name| is_known_column(name));
    let distinct = known().map(|name| name.trim()).collect::<HashSet<_>>().len();
    let is_repeated = distinct < known().count() && groups > 1;
    let has_values = lower.iter().any(|text| text.contains('@'));
    if !has_gap || !(has_known_whole || is_repeated) || distinct < 2 || has_values {
        return None;
    }
    let whole = names.iter().filter(|(_, group)| group.is_none());
    let mut all: HashSet<String> = whole.map(|(name, _)| name.clone()).collect();
    let unique = |(name, group): &(String, Option<String>)| match group {
        Some(group) if !all.insert(name.clone()) => {
            let mut numbers = (2..).map(|number| format!("{group} {name} ({number})"));
            let named = format!("{group} {name}");
            let is_new = all.insert(named.clone());
            if is_new { Some(named) } else { numbers.find(|name| all.insert(name.clone())) }
        }
        _ => Some(name.clone()),
    };
    names.iter().map(unique).collect()
}

/// Returns the number of rows before the header, given the first rows of a table; 0 if none of
/// these rows is a header. In `rows`, `None` is a row that cannot be read.
///
/// If `columns` are given, the header is the first row that has all of them. Otherwise, the header
/// is found in two steps. The first step takes the first row of one of these kinds:
///
/// - A row with text in several fields. A row with one text is the title of a spreadsheet.
/// - A row with the name of a known column.
/// - The first line of a contact card, `BEGIN:VCARD`. The detection of a file's format reads a
///   vCard file as a table with one column, and recognises it by this column name.
///
/// The second step looks for a better row below this one. A better row has more known columns, and
/// at least [`LEAST_KNOWN`] of them; if all its fields are known columns, two are enough. Of
/// several better rows, the header is the one with the most known columns.
fn rows_before_header(rows: &[Option<Vec<String>>], columns: &[String]) -> usize {
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

/// Whether one of the fields is the column name `column`. Some column names of a record are not in
/// the header, because the import adds an ending to them: `Company (link)` has the hyperlinks of
/// the column `Company`, and `Notes (2)` has the values of the second column `Notes`. So if
/// `column` has such an ending, a field without the ending is enough.
fn has(fields: &[String], column: &str) -> bool {
    let named = |name: &str| fields.iter().any(|field| is_same_column(field, name));
    named(column) || without_ending(column).is_some_and(named)
}

/// Returns the name of a column without ` (link)`, or without the number of a repeated column.
fn without_ending(column: &str) -> Option<&str> {
    let (name, ending) = column.strip_suffix(')')?.rsplit_once(" (")?;
    let is_number = !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_digit());
    (ending == "link" || is_number).then_some(name)
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
        Header::find(rows.iter().map(row), &[]).rows_before
    }

    fn names(upper: &[&str], lower: &[&str]) -> Option<Vec<String>> {
        let row = |row: &[&str]| row.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
        names_of_two_rows(&row(upper), &row(lower))
    }

    #[test]
    fn a_header_may_have_two_rows() {
        let upper = ["No.", "Company", "Seat", "", "Contact", "", "Fee"];
        let lower = ["", "", "City", "Country", "Name", "E-Mail", ""];
        let found = ["No.", "Company", "City", "Country", "Name", "E-Mail", "Fee"];
        assert_eq!(names(&upper, &lower).unwrap(), found);
        let title = ["Members", "", "", "", "", "", ""];
        let row = ["1", "Quill", "Ink", "DE", "Ada", "ada@quill.example", "7"];
        let header = Header::find(
            [title, upper, lower, row].map(|row| Some(row.map(str::to_owned).to_vec())).into_iter(),
            &[],
        );
        assert_eq!((header.rows_before, header.rows_to_skip()), (1, 3));
    }

    #[test]
    fn the_second_column_with_a_name_gets_the_group_s_name() {
        let upper = ["Country", "Member", "", "Contact", ""];
        let lower = ["", "Name", "Website", "Name", "E-Mail"];
        let found = ["Country", "Name", "Website", "Contact Name", "E-Mail"];
        assert_eq!(names(&upper, &lower).unwrap(), found);
        let upper = ["Company", "E-Mail", "Contact", "", "", ""];
        let lower = ["", "", "Name", "E-Mail", "Phone", "Phone"];
        let found = ["Company", "E-Mail", "Name", "Contact E-Mail", "Phone", "Contact Phone"];
        assert_eq!(names(&upper, &lower).unwrap(), found);
        let upper = ["", "Company", "", "Contact", "", "Invoices", ""];
        let lower = ["No.", "Name", "Web", "Person", "E-Mail", "Person", "E-Mail"];
        let found =
            ["No.", "Name", "Web", "Person", "E-Mail", "Invoices Person", "Invoices E-Mail"];
        assert_eq!(names(&upper, &lower).unwrap(), found);
    }

    #[test]
    fn a_title_is_not_the_upper_row_of_a_header() {
        let lower = ["Firma", "Website", "Telefon"];
        assert_eq!(names(&["Members", "", "", "", "As of 2026"], &lower), None);
        assert_eq!(names(&["Members", "", "2026"], &lower), None);
    }

    #[test]
    fn a_header_and_a_record_are_not_two_rows_of_a_header() {
        let header = ["Company", "", "E-Mail", "", "Fee"];
        assert_eq!(names(&header, &["Quill", "x", "ada@quill.example", "", ""]), None);
        assert_eq!(names(&header, &["Quill", "x", "", "", "7"]), None);
        assert_eq!(names(&["Company", "Email", "City"], &["Quill", "", "Phone"]), None);
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
