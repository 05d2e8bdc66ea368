//! Prints tables as text with aligned columns.

use std::fmt::Display;
use std::io::{self, Write};

use serde::Serialize;
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Padding, Style};

use super::Shown;

/// A result that is printed as a row of a table.
pub(crate) trait Row: Serialize {
    /// The titles of the columns. If a title begins with `>`, its column is aligned to the right.
    const TITLES: &'static [&'static str];

    /// Returns the text of each column.
    fn cells(&self) -> Vec<String>;
}

impl<R: Row> Shown for Vec<R> {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        write_table(R::TITLES, self.iter().map(Row::cells), out)
    }
}

/// Writes a table with titles. If a title begins with `>`, its column is aligned to the right.
pub(crate) fn write_table(
    titles: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut table = Builder::default();
    table.push_record(titles.iter().map(|title| title.trim_start_matches('>')));
    rows.into_iter().for_each(|row| table.push_record(row));
    let is_right = |title: &&str| title.starts_with('>');
    write_aligned(table, &titles.iter().map(is_right).collect::<Vec<_>>(), out)
}

/// A result that is printed as names with values: one name with its value on each line.
#[derive(Default)]
pub(crate) struct Pairs(Builder);

impl Pairs {
    pub(crate) fn add(mut self, name: &str, value: impl Display) -> Self {
        self.0.push_record([name.to_owned(), value.to_string()]);
        self
    }

    pub(crate) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        write_aligned(self.0, &[], out)
    }
}

/// Writes the lines of a table. Two spaces separate columns, and there are no spaces at the end of
/// a line.
fn write_aligned(table: Builder, is_right: &[bool], out: &mut dyn Write) -> io::Result<()> {
    let mut table = table.build();
    table.with(Style::empty()).with(Padding::new(0, 2, 0, 0));
    for (column, _) in is_right.iter().enumerate().filter(|(_, is_right)| **is_right) {
        table.modify(Columns::one(column), Alignment::right());
    }
    table.to_string().lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_in_no_space() {
        let rows = [["a", "1000", "x"], ["éé", "5", ""]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let mut text = Vec::new();
        write_table(&["id", ">n", "é"], rows, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "id     n  é\na   1000  x\néé     5\n");
    }

    #[test]
    fn a_wide_letter_takes_two_columns() {
        let mut text = Vec::new();
        Pairs::default().add("name", 1).add("日本語", 2).write(&mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "name    1\n日本語  2\n");
    }
}
