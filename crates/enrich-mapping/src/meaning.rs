//! Finds the meaning of a column from its name, for usual names in several languages.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::column_words::meaning_of_words;
use crate::native::{Field, RecordType, plain_name};
use crate::table;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    FirstName,
    LastName,
    /// Texts that are put before last names: `van` before `Dijk`.
    Particle,
    FullName,
    /// The full name of the person who speaks for a company.
    Contact,
    /// The name of a company or of a person.
    Name,
    Company,
    /// The name of a company, if no other column is. In many lists, `Customer` is yes or no.
    Party,
    /// The name of a company, if no other column is. Otherwise an alias.
    Legal,
    Aliases,
    Domains,
    /// LinkedIn pages of a company or of a person.
    LinkedIn,
    CompanyLinkedIn,
    PersonLinkedIn,
    Facebook,
    Instagram,
    Twitter,
    Youtube,
    /// Email addresses of a company or of a person.
    Emails,
    CompanyEmails,
    PersonEmails,
    /// Phone numbers of a company or of a person.
    Phones,
    CompanyPhones,
    PersonPhones,
    /// Texts that are put before phone numbers.
    AreaCode,
    Country,
    /// Addresses or places, which may end with a country.
    Location,
    Title,
    PageRank,
    Ip,
    /// An external id of a company. The text is its scheme, such as `lei`.
    Id(&'static str),
}

/// The meanings with the names that the file `data/synonyms.txt` gives them.
const NAMES: [(&str, Meaning); 29] = [
    ("first_name", Meaning::FirstName),
    ("last_name", Meaning::LastName),
    ("particle", Meaning::Particle),
    ("full_name", Meaning::FullName),
    ("contact", Meaning::Contact),
    ("name", Meaning::Name),
    ("company", Meaning::Company),
    ("party", Meaning::Party),
    ("legal", Meaning::Legal),
    ("aliases", Meaning::Aliases),
    ("domains", Meaning::Domains),
    ("linkedin", Meaning::LinkedIn),
    ("company_linkedin", Meaning::CompanyLinkedIn),
    ("person_linkedin", Meaning::PersonLinkedIn),
    ("facebook", Meaning::Facebook),
    ("instagram", Meaning::Instagram),
    ("twitter", Meaning::Twitter),
    ("youtube", Meaning::Youtube),
    ("emails", Meaning::Emails),
    ("company_emails", Meaning::CompanyEmails),
    ("person_emails", Meaning::PersonEmails),
    ("phones", Meaning::Phones),
    ("company_phones", Meaning::CompanyPhones),
    ("person_phones", Meaning::PersonPhones),
    ("area_code", Meaning::AreaCode),
    ("country", Meaning::Country),
    ("title", Meaning::Title),
    ("page_rank", Meaning::PageRank),
    ("ip", Meaning::Ip),
];

impl Meaning {
    /// Returns the meaning with this name. The name of an external id is `ids.` and its scheme.
    fn from_name(name: &'static str) -> Option<Self> {
        let of_name = NAMES.into_iter().find(|(known, _)| *known == name);
        of_name.map(|(_, meaning)| meaning).or_else(|| name.strip_prefix("ids.").map(Self::Id))
    }

    /// Returns the meaning of columns that fill this field. Returns `None` if no column of a list
    /// has such values.
    pub(crate) fn of_field(field: Field) -> Option<Self> {
        NAMES.into_iter().find(|(name, _)| *name == field.name()).map(|(_, meaning)| meaning)
    }

    /// Whether columns with this meaning have phone numbers: of a company, of a person, or of
    /// either.
    pub(crate) fn is_of_phones(self) -> bool {
        matches!(self, Self::Phones | Self::CompanyPhones | Self::PersonPhones)
    }

    /// Whether columns with this meaning have addresses: websites, email addresses or pages.
    fn is_of_addresses(self) -> bool {
        matches!(
            self,
            Self::Domains
                | Self::Emails
                | Self::CompanyEmails
                | Self::PersonEmails
                | Self::LinkedIn
                | Self::CompanyLinkedIn
                | Self::PersonLinkedIn
                | Self::Facebook
                | Self::Instagram
                | Self::Twitter
                | Self::Youtube
        )
    }

    /// Returns the field that columns with this meaning fill in records of companies, people and
    /// domains. Returns `None` if there is no field, or if the field depends on the kind of record.
    fn field(self) -> Option<Field> {
        Some(match self {
            Self::FirstName => Field::FirstName,
            Self::LastName => Field::LastName,
            Self::FullName => Field::FullName,
            Self::Aliases => Field::Aliases,
            Self::LinkedIn | Self::PersonLinkedIn => Field::LinkedIn,
            Self::Facebook => Field::Facebook,
            Self::Instagram => Field::Instagram,
            Self::Twitter => Field::Twitter,
            Self::Youtube => Field::Youtube,
            Self::Emails | Self::PersonEmails => Field::Emails,
            Self::Phones | Self::CompanyPhones | Self::PersonPhones => Field::Phones,
            Self::Country | Self::Location => Field::Country,
            Self::Title => Field::Title,
            Self::PageRank => Field::PageRank,
            Self::Ip => Field::Ip,
            Self::Domains => Field::Domains,
            Self::Name => Field::Name,
            Self::Company => Field::Company,
            _ => return None,
        })
    }
}

/// The meanings of the usual column names. The names have the form that [`plain_name`] returns.
static MEANINGS: LazyLock<HashMap<String, Meaning>> = LazyLock::new(|| {
    table::rows(include_str!("../data/synonyms.txt"))
        .filter_map(|[meaning, names]| Some((Meaning::from_name(meaning)?, names)))
        .flat_map(|(meaning, names)| {
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
pub(crate) fn meaning(column: &str) -> Option<Meaning> {
    // Microsoft Access writes blanks in the names of XML elements as `_x0020_`.
    let column = column.replace("_x0020_", " ");
    let column = without_number(&column);
    let of_name = |name: &str| usual_meaning(name).or_else(|| meaning_of_words(name));
    let of_parts = meaning_of_parts(column, of_name);
    // Without the slash, `Phone / Mobile` would have the usual name of a mobile phone.
    of_parts
        .filter(|meaning| meaning.is_of_phones())
        .or_else(|| of_name(column))
        .or_else(|| of_name(without_example(column)?).filter(|&meaning| may_have_example(meaning)))
        .or(of_parts)
        .or_else(|| of_name(in_brackets(column)?))
}

/// Returns the meaning of a column whose whole name is a usual name.
pub(crate) fn usual_meaning(column: &str) -> Option<Meaning> {
    MEANINGS.get(&plain_name(column)).copied()
}

/// Whether a column's name is in a language that puts a person's family name first, such as `Họ tên`
/// or `氏名`.
pub(crate) fn has_family_names_first(column: &str) -> bool {
    FAMILY_NAME_FIRST.contains(&plain_name(column))
}

/// Returns a column's name without the number in parentheses at its end. Readers add it to a column
/// whose name another column has too: `E-mail (2)`.
fn without_number(column: &str) -> &str {
    let without = column.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    without
        .filter(|(_, number)| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
        .map_or(column, |(name, _)| name)
}

/// Whether several columns of a file may have this name, because a record may have several values:
/// email addresses and phone numbers.
pub fn may_be_repeated(column: &str) -> bool {
    meaning(column).is_some_and(|meaning| {
        meaning.is_of_phones()
            || matches!(meaning, Meaning::Emails | Meaning::CompanyEmails | Meaning::PersonEmails)
    })
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
    let example_lower = example.to_lowercase();
    let is_fax = ["fax", "faks", "facs"].iter().any(|word| example_lower.contains(word));
    (!is_fax && (digits >= LEAST_DIGITS || example.contains('@'))).then_some(name)
}

/// Returns the text in square brackets at the end of a column's name: `Company` for `MERGE3
/// [Company]`.
fn in_brackets(column: &str) -> Option<&str> {
    column.trim_end().strip_suffix(']')?.split_once('[').map(|(_, inside)| inside)
}

/// Whether a column's name says that the column has addresses: websites, email addresses or pages.
pub fn is_address_column(column: &str) -> bool {
    meaning(column).is_some_and(Meaning::is_of_addresses)
}

/// Whether an example in parentheses after the name of a column is an example of its values.
fn may_have_example(meaning: Meaning) -> bool {
    meaning.is_of_phones()
        || matches!(meaning, Meaning::Domains | Meaning::Emails | Meaning::LinkedIn)
}

/// Returns the meaning that all parts of a column's name have, in a name such as `Company / Société`.
/// Returns `None` if the name has only one part, or if the meanings of the parts differ. But
/// `Phone / Mobile` means `phones`, although `Mobile` alone means `person_phones`.
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

/// Whether a column's name is the name of a native field, or another usual name of a native field.
pub fn is_known_column(column: &str) -> bool {
    Field::from_column(column).is_some() || meaning(column).is_some()
}

/// What a column fills in a native record.
pub(crate) enum Target {
    Field(Field),
    /// An external id of this scheme.
    Id(&'static str),
}

/// Returns what a column with this meaning fills in records of this kind; `None` if it fills
/// nothing. `is_named` says whether another column gives the person's first or full name.
pub(crate) fn target(kind: RecordType, meaning: Meaning, is_named: bool) -> Option<Target> {
    let field = match (kind, meaning) {
        (RecordType::Company, Meaning::Id(scheme)) => return Some(Target::Id(scheme)),
        (RecordType::Company, Meaning::Company) => Some(Field::Name),
        (RecordType::Company, Meaning::Legal) => Some(Field::Aliases),
        (RecordType::Company, Meaning::CompanyLinkedIn) => Some(Field::LinkedIn),
        (RecordType::Company, Meaning::CompanyEmails) => Some(Field::Emails),
        (RecordType::Person, Meaning::Name | Meaning::Contact) => {
            (!is_named).then_some(Field::FullName)
        }
        (RecordType::Person, Meaning::Domains) => Some(Field::CompanyDomain),
        (_, meaning) => meaning.field(),
    };
    field.filter(|field| field.belongs_to(kind)).map(Target::Field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_usual_name_has_one_meaning() {
        let mut known = HashMap::new();
        for [meaning, names] in table::rows(include_str!("../data/synonyms.txt")) {
            for name in table::values(names) {
                let other = known.insert(plain_name(name), meaning);
                assert!(other.is_none_or(|other| other == meaning), "{name}: {other:?}, {meaning}");
            }
        }
    }

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
            ("", None),
            ("()", None),
            ("[", None),
            ("/", None),
        ] {
            assert_eq!(meaning(column), expected, "{column}");
        }
    }

    #[test]
    fn every_row_of_the_synonyms_has_a_known_meaning() {
        for [meaning, _] in table::rows(include_str!("../data/synonyms.txt")) {
            assert!(Meaning::from_name(meaning).is_some(), "{meaning}");
        }
    }
}
