//! What the values of a column are, and the usual names of columns in several languages.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

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
    /// Full names that have the family name first. No usual name has this meaning: only the
    /// operator names such a column.
    FamilyNameFirst,
    /// The full name of a company's contact person.
    Contact,
    /// The name of a company or of a person; the column does not say which.
    Name,
    Company,
    /// A column such as `Customer`. It has the company's name only if no other column has it,
    /// because in many lists its values are yes and no.
    Party,
    /// A column such as `Legal name`. It has the company's name if no other column has it.
    /// Otherwise it has an alias.
    Legal,
    Aliases,
    Domains,
    /// LinkedIn pages of a company or of a person; the column does not say which.
    LinkedIn,
    CompanyLinkedIn,
    PersonLinkedIn,
    /// URLs of pages on several social networks: `Xing/LinkedIn`. Handles are not read.
    Pages,
    Facebook,
    Instagram,
    Twitter,
    Youtube,
    /// Email addresses of a company or of a person; the column does not say which.
    Emails,
    CompanyEmails,
    PersonEmails,
    /// Phone numbers of a company or of a person; the column does not say which.
    Phones,
    CompanyPhones,
    PersonPhones,
    /// Area codes in a column of their own, such as `Vorwahl`. The importer puts them before the
    /// phone numbers of another column.
    AreaCode,
    Country,
    /// Postal addresses or places, which may end with a country.
    Location,
    Title,
    PageRank,
    Ip,
    /// An external id of a company. The text is its scheme, such as `lei`.
    Id(&'static str),
}

/// Meanings, each with its name in the file `data/synonyms.txt`.
const NAMES: [(&str, Meaning); 30] = [
    ("first_name", Meaning::FirstName),
    ("last_name", Meaning::LastName),
    ("particle", Meaning::Particle),
    ("full_name", Meaning::FullName),
    ("family_name_first", Meaning::FamilyNameFirst),
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
    /// Returns the meaning with this name. The name of an external id is `ids.` followed by its
    /// scheme, as in `ids.lei`.
    fn from_name(name: &'static str) -> Option<Self> {
        let of_name = NAMES.into_iter().find(|(known, _)| *known == name);
        of_name.map(|(_, meaning)| meaning).or_else(|| name.strip_prefix("ids.").map(Self::Id))
    }

    /// Returns the meaning that has the same name as this field, such as `emails`; `None` if there
    /// is none.
    pub(crate) fn of_field(field: Field) -> Option<Self> {
        NAMES.into_iter().find(|(name, _)| *name == field.name()).map(|(_, meaning)| meaning)
    }

    /// Whether columns with this meaning have phone numbers: of a company, of a person, or of
    /// either.
    pub(crate) fn is_of_phones(self) -> bool {
        matches!(self, Self::Phones | Self::CompanyPhones | Self::PersonPhones)
    }

    /// Whether columns with this meaning have pages on a social network.
    pub(crate) fn is_of_pages(self) -> bool {
        matches!(
            self,
            Self::LinkedIn
                | Self::CompanyLinkedIn
                | Self::PersonLinkedIn
                | Self::Facebook
                | Self::Instagram
                | Self::Twitter
                | Self::Youtube
        )
    }

    /// Whether columns with this meaning have addresses: websites, email addresses or pages.
    pub(crate) fn is_of_addresses(self) -> bool {
        self.is_of_pages()
            || matches!(
                self,
                Self::Domains | Self::Emails | Self::CompanyEmails | Self::PersonEmails
            )
    }

    /// Returns the field that columns with this meaning fill in records of companies, people and
    /// domains. Returns `None` if there is no field, or if the field depends on the kind of record.
    fn field(self) -> Option<Field> {
        Some(match self {
            Self::FirstName => Field::FirstName,
            Self::LastName => Field::LastName,
            Self::FullName | Self::FamilyNameFirst => Field::FullName,
            Self::Aliases => Field::Aliases,
            Self::LinkedIn | Self::PersonLinkedIn => Field::LinkedIn,
            Self::Facebook => Field::Facebook,
            Self::Instagram => Field::Instagram,
            Self::Twitter => Field::Twitter,
            Self::Youtube => Field::Youtube,
            Self::Emails | Self::PersonEmails => Field::Emails,
            Self::Phones | Self::CompanyPhones | Self::PersonPhones => Field::Phones,
            Self::Pages => Field::Urls,
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
    let names = table::words(include_str!("../data/synonyms.txt"), Meaning::from_name);
    names.map(|(name, meaning)| (plain_name(name), meaning)).collect()
});

/// Usual names for columns of people's names, such as `氏名`, in languages that put the family name
/// first.
static FAMILY_NAME_FIRST: LazyLock<HashSet<String>> = LazyLock::new(|| {
    table::rows(include_str!("../data/family_name_first.txt"))
        .flat_map(|[names]| table::values(names).map(plain_name))
        .collect()
});

/// Returns the meaning of a column whose whole name is in `data/synonyms.txt`, such as
/// [`Meaning::Domains`] for `Website`. Returns `None` for any other name. Names are compared in the
/// form that [`plain_name`] returns.
pub(crate) fn usual_meaning(column: &str) -> Option<Meaning> {
    MEANINGS.get(&plain_name(column)).copied()
}

/// Whether the people's names in a column have the family name first. There are two cases: the
/// column's name says so (`surname first`), or the column's name is in a language that puts the
/// family name first (`Họ tên`, `氏名`).
pub(crate) fn has_family_names_first(column: &str) -> bool {
    const SAYING_SO: [&str; 7] = [
        "surnamefirst",
        "lastnamefirst",
        "familynamefirst",
        "nazwiskoiimię",
        "cognomeenome",
        "apellidosynombre",
        "příjmeníajméno",
    ];
    let plain = plain_name(column);
    FAMILY_NAME_FIRST.contains(&plain) || SAYING_SO.iter().any(|text| plain.contains(text))
}

/// What a column fills in a record: a field, or an external id.
pub(crate) enum Target {
    Field(Field),
    /// An external id of this scheme (the register that gives the id), such as `lei`.
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
    fn every_row_of_the_synonyms_has_a_known_meaning_and_no_name_has_two() {
        for [meaning, names] in table::rows(include_str!("../data/synonyms.txt")) {
            let meaning = Meaning::from_name(meaning).unwrap_or_else(|| panic!("{meaning}"));
            for name in table::values(names) {
                assert_eq!(usual_meaning(name), Some(meaning), "{name}");
            }
        }
    }
}
