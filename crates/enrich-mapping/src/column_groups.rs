//! Groups of columns whose names begin with the same prefix. Databases often export them so: the
//! columns of the company begin with `ORG_`, for example, and those of the person with `PER_`.

use crate::known_columns::{KnownColumns, PERSON_NAMES};
use crate::meaning::{Meaning, meaning};

/// Minimum number of columns in a group.
const MIN_COLUMNS: usize = 3;
/// The texts that end a prefix.
const SEPARATORS: [&str; 4] = ["_", " - ", ".", ":"];

/// Returns the meaning that a column's name has without its prefix: emails for `KNT_EMAIL`. A
/// number at the end is left out too. Returns `None` if the name has no meaning, or if most columns
/// of the file are in no group.
pub(crate) fn meaning_in_group(columns: &[String], column: &str) -> Option<Meaning> {
    let in_groups = columns.iter().filter(|column| is_in_group(columns, column)).count();
    if !is_in_group(columns, column) || 3 * in_groups < 2 * columns.len() {
        return None;
    }
    let (_, rest) = parts(column)?;
    meaning(rest).or_else(|| meaning(rest.trim_end_matches(|sign: char| sign.is_ascii_digit())))
}

/// Changes the meanings of columns that are in the same group as the name of the company or of the
/// person: the emails, phone numbers and pages in the company's group are the company's. The phone
/// numbers in the person's group are the person's.
pub(crate) fn assign_groups(known: &mut KnownColumns<'_>, columns: &[String]) {
    let of_names = known.clone();
    let has_company = known.has(Meaning::Company);
    known.change(|column, meaning| match (subject_of(column, &of_names, columns), meaning) {
        (Some(Subject::Company), Meaning::Name) if !has_company => Meaning::Company,
        (Some(Subject::Company), Meaning::Emails) => Meaning::CompanyEmails,
        (Some(Subject::Company), Meaning::LinkedIn) => Meaning::CompanyLinkedIn,
        (Some(Subject::Company), meaning) if meaning.is_of_phones() => Meaning::CompanyPhones,
        (Some(Subject::Person), Meaning::Emails) => Meaning::PersonEmails,
        (Some(Subject::Person), Meaning::LinkedIn) => Meaning::PersonLinkedIn,
        (Some(Subject::Person), Meaning::Phones) => Meaning::PersonPhones,
        (_, meaning) => meaning,
    });
}

/// What the columns of a group are about.
enum Subject {
    Company,
    Person,
}

/// Returns what the group of a column is about. Returns `None` if the column is in no group, or if
/// its group has columns about both.
fn subject_of(column: &str, known: &KnownColumns<'_>, columns: &[String]) -> Option<Subject> {
    let (prefix, _) = parts(column).filter(|_| is_in_group(columns, column))?;
    let group: KnownColumns<'_> = known.iter().filter(|(name, _)| is_of(name, prefix)).collect();
    let has_company = group.has_any(&[Meaning::Company, Meaning::Name, Meaning::Domains]);
    match (has_company, group.has_any(&PERSON_NAMES)) {
        (true, false) => Some(Subject::Company),
        (false, true) => Some(Subject::Person),
        _ => None,
    }
}

fn is_in_group(columns: &[String], column: &str) -> bool {
    let of_prefix = |prefix| columns.iter().filter(|other| is_of(other, prefix)).count();
    parts(column).is_some_and(|(prefix, _)| of_prefix(prefix) >= MIN_COLUMNS)
}

fn is_of(column: &str, prefix: &str) -> bool {
    parts(column).is_some_and(|(other, _)| other.eq_ignore_ascii_case(prefix))
}

/// Splits a column's name into its prefix, with the separator, and the rest.
fn parts(column: &str) -> Option<(&str, &str)> {
    let ends = SEPARATORS.iter().filter_map(|text| Some((column.find(text)?, text.len())));
    let (at, length) = ends.min()?;
    (at > 0 && at + length < column.len()).then(|| column.split_at(at + length))
}
