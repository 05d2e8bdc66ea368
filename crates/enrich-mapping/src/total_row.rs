//! Recognises the rows of a table that contain totals, such as `Total: 12`, and not records.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::table;

/// The words of `data/totals.txt`, by kind.
static WORDS: LazyLock<HashSet<(&'static str, &'static str)>> = LazyLock::new(|| {
    table::rows(include_str!("../data/totals.txt"))
        .flat_map(|[kind, words]| table::values(words).map(move |word| (kind, word)))
        .collect()
});

/// Whether a row looks like a row of totals. Each element of `cells` is the name of a column (empty
/// if the name is not known) and the cell in this column. A row looks like a row of totals if the
/// first cell that is not empty introduces a total ([`is_total`]), such as `Gesamt: 12`, or counts
/// its column ([`is_count_of`]), such as `6 Vendors` in the column `Vendors`.
///
/// A company may be called `Total`. So the caller must also check that the row has no identifier
/// but a name: no domain, phone number or the like ([`is_name_only`](crate::is_name_only)).
pub fn is_total_row<'r>(cells: impl IntoIterator<Item = (&'r str, &'r str)>) -> bool {
    let first = cells.into_iter().find(|(_, cell)| !cell.trim().is_empty());
    first.is_some_and(|(column, cell)| is_total(cell) || is_count_of(cell, column))
}

/// Whether a text introduces a total. This is so in three cases:
///
/// - It is a word for a total, perhaps with an amount in digits: `Total` or `Gesamt: 12`.
/// - Its first word can only introduce a total: `Subtotal of hall 1`.
/// - Its first word can introduce a count, such as `Number`, and a number follows after a colon:
///   `Number of members: 12`.
pub fn is_total(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    let first = text.split(|sign: char| sign.is_whitespace() || sign == ':').next();
    let alone = text.trim_end_matches(|sign: char| !sign.is_alphabetic());
    let first = first.unwrap_or_default();
    let is_number =
        |(_, rest): (&str, &str)| rest.trim_start().starts_with(|it: char| it.is_ascii_digit());
    WORDS.contains(&("alone", alone))
        || WORDS.contains(&("first", first))
        || (WORDS.contains(&("counted", first)) && text.split_once(':').is_some_and(is_number))
}

/// Whether a text is a number and then the name of its column: `6 Vendors` in the column `Vendors`.
pub fn is_count_of(text: &str, column: &str) -> bool {
    let rest = text.trim().trim_start_matches(|sign: char| sign.is_ascii_digit());
    let (rest, column) = (rest.trim(), column.trim());
    !column.is_empty() && rest.len() < text.trim().len() && rest.eq_ignore_ascii_case(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_begins_its_row() {
        for text in [
            "Total",
            "Total:",
            "Gesamt: 12",
            "SUMME",
            "Zwischensumme 1.200,50",
            "Subtotal of hall 1",
            "Anzahl Stände: 16, davon frei: 1",
            "Total accounts: 10",
        ] {
            assert!(is_total_row([("", ""), ("Company", text), ("Website", "x")]), "{text}");
        }
        for text in ["Total Quill", "Total Quill: Ink", "Summer", "12", "Quill", "Sum of Parts Ltd"]
        {
            assert!(!is_total_row([("Company", text), ("Website", "Total")]), "{text}");
        }
        assert!(is_total_row([("Vendors", "6 vendors")]));
        assert!(!is_total_row([("Company", "Quill"), ("Employees", "6 employees")]));
        assert!(!is_total_row([("Vendors", "vendors"), ("Hall", "6 vendors")]));
        assert!(!is_total_row([]));
    }
}
