//! Reads data files: one row per line, columns separated by `;`, comment lines begin with `#`.

use enrich_text::Country;

/// Returns the rows of a data file. Columns are trimmed; a missing column is empty.
pub(crate) fn rows<const N: usize>(file: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(
        |line| {
            let mut columns = line.split(';').map(str::trim);
            std::array::from_fn(|_| columns.next().unwrap_or(""))
        },
    )
}

/// Returns each value of a data file with its country. A row of the file has the alpha-2 code of
/// a country and the values of this country, such as `DE; Allemagne|Alemania`.
pub(crate) fn countries(file: &'static str) -> impl Iterator<Item = (&'static str, Country)> {
    rows(file)
        .filter_map(|[code, column]| Some((Country::from_code(code).ok()?, column)))
        .flat_map(|(country, column)| values(column).map(move |value| (value, country)))
}

/// Returns each word of a data file with its kind. A row of the file has the name of a kind and the
/// words of this kind, such as `salutation; herr|frau`. Rows whose name is not a kind are left out.
pub(crate) fn words<K: Copy>(
    file: &'static str,
    kind: fn(&'static str) -> Option<K>,
) -> impl Iterator<Item = (&'static str, K)> {
    rows(file)
        .filter_map(move |[name, words]| Some((kind(name)?, words)))
        .flat_map(|(kind, words)| values(words).map(move |word| (word, kind)))
}

/// Splits a column into its values, which are separated by `|`.
pub(crate) fn values(column: &'static str) -> impl Iterator<Item = &'static str> {
    column.split('|').map(str::trim).filter(|value| !value.is_empty())
}
