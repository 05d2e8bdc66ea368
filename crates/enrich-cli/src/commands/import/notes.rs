//! Messages about the format of a file that is imported.

use std::path::Path;

use enrich_import::Sample;
use enrich_mapping::{Mapping, Synonyms};

use super::super::{Console, Failure};

/// Maximum number of columns that a message names.
const MOST_SHOWN: usize = 20;

/// Returns the error for a file whose format is not known. It names the columns or keys of the
/// file, and the sheet that was read.
pub(super) fn unknown_format(file: &Path, sample: &Sample) -> Failure {
    let names = match sample.names.as_slice() {
        [] => String::new(),
        names => format!(" (it has {})", shown(names)),
    };
    let sheet = match &sample.sheet {
        Some((name, sheets @ 2..)) => format!(
            "; of its {sheets} sheets, only `{name}` was read: if the table is in another one, move \
             that to the front"
        ),
        _ => String::new(),
    };
    Failure::Impossible(format!(
        "{}: the format is not known{names}; name the columns with --column, such as --column \
         name=Firma --column domains=Homepage, a format with --format, or write a mapping for \
         --map{sheet}",
        file.display()
    ))
}

/// Prints that `--country` has no effect, because the file is in the native format.
pub(super) fn note_country(file: &Path, console: &mut Console<'_>) {
    console.note(&format!(
        "{}: read in Enrich's own format, in which every number is international: --country has no \
         effect; to read national numbers, name all columns, such as --column name=name --column \
         domains=domain --column phones=phones",
        file.display()
    ));
}

pub(super) fn note_format(file: &Path, mapping: &Mapping, console: &mut Console<'_>) {
    let name = &mapping.source().name;
    console.note(&format!("{}: the format is {name}", file.display()));
}

/// Prints the columns that a mapping reads, each with its field, if the mapping was made from
/// columns.
pub(super) fn note_used(file: &Path, mapping: &Mapping, console: &mut Console<'_>) {
    let kinds = mapping.used_columns();
    for (kind, used) in &kinds {
        let used: Vec<_> =
            used.iter().map(|(column, field)| format!("{field}={}", printed(column))).collect();
        let of_kind = match kinds.len() {
            1 => String::new(),
            _ => format!(" a {}, with", kind.as_str()),
        };
        console.note(&format!("{}: read as{of_kind} {}", file.display(), used.join(", ")));
    }
}

pub(super) fn note_columns(file: &Path, synonyms: &Synonyms, console: &mut Console<'_>) {
    note_used(file, &synonyms.mapping, console);
    if !synonyms.by_values.is_empty() {
        let names = shown(&synonyms.by_values);
        console.note(&format!("{}: recognised by their values: {names}", file.display()));
    }
    note_not_used(file, &synonyms.unused, console);
}

/// Prints that no column for the company's name was recognised, and asks whether `column` is this
/// column.
pub(super) fn note_likely_company(file: &Path, column: &str, console: &mut Console<'_>) {
    console.note(&format!(
        "{}: no column for the company's name; is it `{column}`? Then name all columns to read, such \
         as --column company=\"{column}\" --column full_name=\"Contact\"",
        file.display()
    ));
}

/// Prints the columns that the user's mapping does not read, although values in them look like
/// domains, URLs or email addresses.
pub(super) fn note_unused(
    file: &Path,
    mapping: &Mapping,
    sample: Option<&Sample>,
    console: &mut Console<'_>,
) {
    let records = sample.map_or(&[][..], |sample| sample.records.as_slice());
    let records: Vec<_> = records.iter().filter_map(|record| record.fields.clone().ok()).collect();
    note_not_used(file, &mapping.unused(&records), console);
}

fn note_not_used(file: &Path, columns: &[String], console: &mut Console<'_>) {
    if !columns.is_empty() {
        console.note(&format!("{}: not used: {}", file.display(), shown(columns)));
    }
}

/// Returns the names of the first columns as text, and how many more columns there are.
fn shown(columns: &[String]) -> String {
    let columns: Vec<String> = columns.iter().map(|column| printed(column)).collect();
    let (first, others) = columns.split_at(columns.len().min(MOST_SHOWN));
    match others.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Returns the name of a column as it is printed: without line breaks, and without the `.$` after
/// the name of an XML element. The `.$` stands for the element's text.
fn printed(column: &str) -> String {
    let name = column.strip_suffix(".$").unwrap_or(column);
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}
