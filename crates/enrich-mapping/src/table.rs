//! Reads data files: one row per line, columns separated by `;`, comment lines begin with `#`.

/// Returns the rows of a data file. Columns are trimmed; a missing column is empty.
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
