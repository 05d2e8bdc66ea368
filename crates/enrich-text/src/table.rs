//! Reads the data files. Each line is a row, and `;` separates its columns. A line that begins with
//! `#` is a comment.

/// Returns the rows of a data file. White space around a column is removed. If a row has too few
/// columns, the missing ones are empty.
pub(crate) fn rows<const N: usize>(file: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(
        |line| {
            let mut columns = line.split(';').map(str::trim);
            std::array::from_fn(|_| columns.next().unwrap_or(""))
        },
    )
}

/// Splits a column into its values, which are separated by `|`.
pub(crate) fn values(column: &'static str) -> impl Iterator<Item = &'static str> {
    column.split('|').map(str::trim).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blank_lines_are_no_rows() {
        let read: Vec<[&str; 2]> = rows("# head\n\n a ; b | c \nd\n").collect();
        assert_eq!(read, [["a", "b | c"], ["d", ""]]);
        assert_eq!(values("b | c").collect::<Vec<_>>(), ["b", "c"]);
    }
}
