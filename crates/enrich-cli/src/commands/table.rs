//! Tables as aligned text.

use std::io::{self, Write};

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// A table with a header line.
pub(crate) struct Table<const COLUMNS: usize> {
    sides: [Side; COLUMNS],
    rows: Vec<[String; COLUMNS]>,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// Creates a table without rows.
    pub(crate) fn new(columns: [(&str, Side); COLUMNS]) -> Self {
        Self {
            sides: columns.map(|(_, side)| side),
            rows: vec![columns.map(|(title, _)| title.to_owned())],
        }
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, row: [String; COLUMNS]) {
        self.rows.push(row);
    }

    /// Writes the table with two spaces between columns.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write_aligned(&self.rows, self.sides, out)
    }
}

/// Writes each name with its value on a line.
pub(crate) fn write_pairs(
    pairs: &[(impl AsRef<str>, String)],
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows: Vec<_> =
        pairs.iter().map(|(name, value)| [name.as_ref().to_owned(), value.clone()]).collect();
    write_aligned(&rows, [Side::Left; 2], out)
}

fn write_aligned<const COLUMNS: usize>(
    rows: &[[String; COLUMNS]],
    sides: [Side; COLUMNS],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    for row in rows {
        let cells = row.iter().zip(sides).zip(widths).map(|((cell, side), width)| match side {
            Side::Left => format!("{cell:<width$}"),
            Side::Right => format!("{cell:>width$}"),
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_in_no_space() {
        let mut table = Table::new([("id", Side::Left), ("n", Side::Right), ("é", Side::Left)]);
        table.push(["a".into(), "1000".into(), "x".into()]);
        table.push(["éé".into(), "5".into(), String::new()]);
        let mut text = Vec::new();
        table.write(&mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "id     n  é\na   1000  x\néé     5\n");
    }
}
