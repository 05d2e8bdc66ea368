//! Finds the meaning of a column from its name, for usual names in several languages.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::native::{Field, RecordType, plain_name};
use crate::table;

/// The meanings of the usual column names. The names have the form that [`plain_name`] returns.
static MEANINGS: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    table::rows(include_str!("../data/synonyms.txt"))
        .flat_map(|[meaning, names]| {
            table::values(names).map(move |name| (plain_name(name), meaning))
        })
        .collect()
});

/// The usual names of columns whose people have the family name first.
static FAMILY_NAME_FIRST: LazyLock<HashSet<String>> = LazyLock::new(|| {
    table::rows(include_str!("../data/family_name_first.txt"))
        .flat_map(|[names]| table::values(names).map(plain_name))
        .collect()
});

/// Returns the meaning of a column, such as `domains` for `Website`. Returns `None` if the column
/// does not have a usual name.
pub(crate) fn meaning(column: &str) -> Option<&'static str> {
    // Microsoft Access writes blanks in the names of XML elements as `_x0020_`.
    let column = column.replace("_x0020_", " ");
    let of_name = |name: &str| {
        let plain = plain_name(name);
        MEANINGS.get(&plain).copied().or_else(|| without_prefix(&plain))
    };
    of_name(&column)
        .or_else(|| of_name(without_example(&column)?).filter(|meaning| is_address(meaning)))
        .or_else(|| meaning_of_parts(&column, of_name))
}

/// Whether a column's name is in a language that puts a person's family name first, such as `Họ tên`
/// or `氏名`.
pub(crate) fn has_family_names_first(column: &str) -> bool {
    FAMILY_NAME_FIRST.contains(&plain_name(column))
}

/// Returns a column's name without the example in parentheses at its end: `Mobile` for `Mobile (such
/// as 0700 900123)`. Other texts in parentheses may change the meaning: `Phone (fax)`, `Email (head
/// office)`. So this returns `None` if the text in parentheses has neither an email address nor a
/// number with several digits.
fn without_example(column: &str) -> Option<&str> {
    /// Minimum number of digits in an example. Fewer digits may be those of a number such as `2`.
    const LEAST_DIGITS: usize = 5;
    let (name, example) = column.trim_end().strip_suffix([')', '）'])?.split_once(['(', '（'])?;
    let digits = example.chars().filter(char::is_ascii_digit).count();
    let is_fax = example.to_lowercase().contains("fa");
    (!is_fax && (digits >= LEAST_DIGITS || example.contains('@'))).then_some(name)
}

/// Whether a column's name says that the column has addresses: websites, email addresses or pages.
pub fn is_address_column(column: &str) -> bool {
    let addresses = [
        "domains",
        "emails",
        "company_emails",
        "linkedin",
        "company_linkedin",
        "facebook",
        "instagram",
        "twitter",
        "youtube",
    ];
    meaning(column).is_some_and(|meaning| addresses.contains(&meaning))
}

/// Whether columns with this meaning have addresses or phone numbers. An example in parentheses
/// after the name is an example of such a value.
fn is_address(meaning: &str) -> bool {
    matches!(meaning, "domains" | "emails" | "linkedin") || is_of_phones(meaning)
}

/// Whether columns with this meaning have phone numbers: of a company, of a person, or of either.
pub(crate) fn is_of_phones(meaning: &str) -> bool {
    matches!(meaning, "phones" | "company_phones" | "person_phones")
}

/// Returns the meaning that all parts of a column's name have, in a name such as `Phone / Mobile`
/// or `Company / Société`. Returns `None` if the name has only one part, or if the meanings of the
/// parts differ. `Phone / Mobile` means `phones`, although `Mobile` alone means `person_phones`.
fn meaning_of_parts(
    column: &str,
    of_name: impl Fn(&str) -> Option<&'static str>,
) -> Option<&'static str> {
    let (first, rest) = column.split_once(['/', '|', '\n'])?;
    let meaning = of_name(first)?;
    let others: Vec<_> = rest.split(['/', '|', '\n']).map(of_name).collect();
    match others.iter().all(|other| *other == Some(meaning)) {
        true => Some(meaning),
        false => {
            let mut all = others.into_iter().chain([Some(meaning)]);
            all.all(|meaning| meaning.is_some_and(is_of_phones)).then_some("phones")
        }
    }
}

/// Returns the meaning of a column name that begins with a word for the row's company or person.
/// The rest of the name gives the meaning: `customer_email` means the same as `email`, and
/// `billing_address_country` the same as `country`.
fn without_prefix(plain: &str) -> Option<&'static str> {
    /// Words for the company or the person of a row.
    const SUBJECTS: [&str; 16] = [
        "customer",
        "client",
        "contact",
        "billingaddress",
        "billing",
        "lead",
        "person",
        "primary",
        "business",
        "vendor",
        "supplier",
        "partner",
        "member",
        "speaker",
        "attendee",
        "participant",
    ];
    /// The meanings that this function may return. Other meanings may be wrong: `URL` is the
    /// company's website, but `Lead URL` may be a page about the lead on another website.
    const SAFE_MEANINGS: [&str; 7] =
        ["company", "country", "emails", "first_name", "last_name", "phones", "person_phones"];
    let rest = SUBJECTS.iter().find_map(|subject| plain.strip_prefix(subject))?;
    MEANINGS.get(rest).copied().filter(|meaning| SAFE_MEANINGS.contains(meaning))
}

/// Whether a column's name is the name of a native field, or another usual name of a native field.
pub fn is_known_column(column: &str) -> bool {
    Field::from_column(column).is_some() || meaning(column).is_some()
}

/// Returns the field that a column with this meaning fills in records of this kind: a field's
/// name, or `ids.` and a scheme, such as `ids.lei`. Returns `None` if the column fills no field.
/// `is_named` says whether another column gives the person's first or full name.
pub(crate) fn target(
    kind: RecordType,
    meaning: &'static str,
    is_named: bool,
) -> Option<&'static str> {
    match (kind, meaning) {
        (RecordType::Company, "company") => Some("name"),
        (RecordType::Company, "contact") => None,
        (RecordType::Company, "legal") => Some("aliases"),
        (RecordType::Person, "legal") | (_, "party" | "particle") => None,
        (RecordType::Company, "company_linkedin") => Some("linkedin"),
        (RecordType::Company, "company_emails") => Some("emails"),
        (_, "company_phones" | "person_phones") => Some("phones"),
        (_, "location") => Some("country"),
        (RecordType::Person, "name" | "contact") => (!is_named).then_some("full_name"),
        (RecordType::Person, "domains") => Some("company_domain"),
        (RecordType::Person, "company_linkedin" | "company_emails") => None,
        (RecordType::Person, meaning) if meaning.starts_with("ids.") => None,
        (_, meaning) => Some(meaning),
    }
}
