//! Finds the meaning of a column from its name, if this is a usual name such as `E-mail`. The name
//! may end with a number, as in `E-mail (2)`, or with an example of a value, as in
//! `Mobile (such as 0700 900123)`. It may also have several parts, as in `Company / Société`.

use crate::column_words::meaning_of_words;
use crate::meaning::{Meaning, usual_meaning};
use crate::native::Field;

/// Returns the meaning of a column, such as `domains` for `Website`. Returns `None` if the column
/// does not have a usual name.
pub(crate) fn meaning(column: &str) -> Option<Meaning> {
    // Microsoft Access writes blanks in the names of XML elements as `_x0020_`.
    let column = column.replace("_x0020_", " ");
    let column = without_number(&column);
    let of_name = |name: &str| usual_meaning(name).or_else(|| meaning_of_words(name));
    let of_parts = meaning_of_parts(column, of_name);
    // The parts of `Phone / Mobile` are examined first: together they mean phone numbers of any
    // kind. The name as a whole would mean mobile phones.
    of_parts
        .filter(|meaning| meaning.is_of_phones())
        .or_else(|| of_name(column))
        .or_else(|| of_name(without_example(column)?).filter(|&meaning| may_have_example(meaning)))
        .or(of_parts)
        .or_else(|| of_name(in_brackets(column)?))
        .or_else(|| {
            let mut parts = column.split(['/', '|']).map(of_name);
            let are_pages = parts.clone().flatten().all(Meaning::is_of_pages);
            let has_linkedin = parts.any(|part| part == Some(Meaning::LinkedIn));
            (are_pages && has_linkedin).then_some(Meaning::Pages)
        })
}

/// Returns a column's name without the number in parentheses at its end: `E-mail` for `E-mail (2)`.
/// If several columns of a file have the same name, the code that reads the file adds such a number
/// to the second and each later one.
fn without_number(column: &str) -> &str {
    let without = column.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    without
        .filter(|(_, number)| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
        .map_or(column, |(name, _)| name)
}

/// Whether several columns of a file may have this name. This is allowed for columns of email
/// addresses or phone numbers, because a record may have several of these.
pub fn may_be_repeated(column: &str) -> bool {
    meaning(column).is_some_and(|meaning| {
        meaning.is_of_phones()
            || matches!(meaning, Meaning::Emails | Meaning::CompanyEmails | Meaning::PersonEmails)
    })
}

/// Returns a column's name without the example in parentheses at its end: `Mobile` for `Mobile
/// (such as 0700 900123)`. Other texts in parentheses may change the meaning: `Phone (fax)`, `Email
/// (head office)`. So this returns `None` if the text in parentheses has neither an email address
/// nor a number with several digits.
fn without_example(column: &str) -> Option<&str> {
    /// Minimum number of digits in an example. A text with fewer digits may be a part of the name
    /// instead, as in `Phone (line 2)`.
    const LEAST_DIGITS: usize = 5;
    let (name, example) = column.trim_end().strip_suffix([')', '）'])?.split_once(['(', '（'])?;
    let digits = example.chars().filter(char::is_ascii_digit).count();
    let example_lower = example.to_lowercase();
    let is_fax = ["fax", "faks", "facs"].iter().any(|word| example_lower.contains(word));
    (!is_fax && (digits >= LEAST_DIGITS || example.contains('@'))).then_some(name)
}

/// Returns the text in square brackets at the end of a column's name: `Company` for `MERGE3
/// [Company]`.
fn in_brackets(column: &str) -> Option<&str> {
    column.trim_end().strip_suffix(']')?.split_once('[').map(|(_, inside)| inside)
}

/// Whether a column's name says that the column has addresses: websites, email addresses, or pages
/// on social networks.
pub fn is_address_column(column: &str) -> bool {
    meaning(column).is_some_and(Meaning::is_of_addresses)
}

/// Whether the name of a column with this meaning may contain an example of a value, as in `Mobile
/// (such as 0700 900123)`.
fn may_have_example(meaning: Meaning) -> bool {
    meaning.is_of_phones()
        || matches!(meaning, Meaning::Domains | Meaning::Emails | Meaning::LinkedIn)
}

/// Returns the meaning that all parts of a column's name have, in a name such as `Company /
/// Société`. Returns `None` if the name has only one part, or if the meanings of the parts differ.
/// But `Phone / Mobile` means `phones`, although `Mobile` alone means `person_phones`.
fn meaning_of_parts(column: &str, of_name: impl Fn(&str) -> Option<Meaning>) -> Option<Meaning> {
    let (first, rest) = column.split_once(['/', '|', '\n'])?;
    let meaning = of_name(first)?;
    let others: Vec<_> = rest.split(['/', '|', '\n']).map(of_name).collect();
    match others.iter().all(|other| *other == Some(meaning)) {
        true => Some(meaning),
        false => {
            let mut all = others.into_iter().chain([Some(meaning)]);
            all.all(|it| it.is_some_and(Meaning::is_of_phones)).then_some(Meaning::Phones)
        }
    }
}

/// Whether a column's name is known: it is the name of a field of Enrich's own import format, or a
/// usual column name such as `Website`.
pub fn is_known_column(column: &str) -> bool {
    Field::from_column(column).is_some() || meaning(column).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_in_parentheses_does_not_change_the_meaning() {
        for (column, expected) in [
            ("Mobile (such as 0700 900123)", Some(Meaning::PersonPhones)),
            ("Email (e.g. farah@quill.example)", Some(Meaning::Emails)),
            ("Phone (fax 030 23125 299)", None),
            ("Phone (head office)", None),
            ("Country (0700 900123)", None),
            ("E-mail (2)", Some(Meaning::Emails)),
            ("Phone / Mobile", Some(Meaning::Phones)),
            ("Phone mobile", Some(Meaning::PersonPhones)),
            ("Country/Region", Some(Meaning::Country)),
            ("Phone / Email", None),
            ("MERGE3 [Company]", Some(Meaning::Company)),
            ("Xing/LinkedIn", Some(Meaning::Pages)),
            ("Web/LinkedIn", None),
            ("", None),
            ("()", None),
            ("[", None),
            ("/", None),
        ] {
            assert_eq!(meaning(column), expected, "{column}");
        }
    }
}
