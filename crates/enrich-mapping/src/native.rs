//! The fields of native records, as mappings name them.

/// The kind of a native record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordType {
    /// A company.
    Company,
    /// A person.
    Person,
    /// Facts of a domain.
    Domain,
}

impl RecordType {
    /// Every kind with the name that the native format uses.
    pub const ALL: [(&str, RecordType); 3] =
        [("company", Self::Company), ("person", Self::Person), ("domain", Self::Domain)];

    /// Returns the kind with this name; the name must be in lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, kind)| kind)
    }

    /// Returns the name that the native format uses for this kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Company => "company",
            Self::Person => "person",
            Self::Domain => "domain",
        }
    }
}

/// A field for which a mapping gives values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Name,
    Aliases,
    Country,
    Domains,
    Urls,
    LinkedIn,
    Facebook,
    Instagram,
    Twitter,
    Youtube,
    Emails,
    Phones,
    Ip,
    PageRank,
    Parent,
    FullName,
    FirstName,
    LastName,
    Title,
    Company,
    CompanyDomain,
}

/// All fields, with their names and the kinds of records that have them. The native format has no
/// `urls` and no `full_name`: a mapping turns `urls` into domains and pages, and splits `full_name`
/// into first and last name.
const TABLE: [(Field, &str, &[RecordType]); 21] = {
    use RecordType::{Company, Domain, Person};
    [
        (Field::Name, "name", &[Company]),
        (Field::Aliases, "aliases", &[Company]),
        (Field::Country, "country", &[Company, Person]),
        (Field::Domains, "domains", &[Company, Domain]),
        (Field::Urls, "urls", &[Company, Person]),
        (Field::LinkedIn, "linkedin", &[Company, Person]),
        (Field::Facebook, "facebook", &[Company]),
        (Field::Instagram, "instagram", &[Company]),
        (Field::Twitter, "twitter", &[Company]),
        (Field::Youtube, "youtube", &[Company]),
        (Field::Emails, "emails", &[Company, Person]),
        (Field::Phones, "phones", &[Company, Person]),
        (Field::Ip, "ip", &[Company, Domain]),
        (Field::PageRank, "page_rank", &[Company, Domain]),
        (Field::Parent, "parent", &[Company]),
        (Field::FullName, "full_name", &[Person]),
        (Field::FirstName, "first_name", &[Person]),
        (Field::LastName, "last_name", &[Person]),
        (Field::Title, "title", &[Person]),
        (Field::Company, "company", &[Person]),
        (Field::CompanyDomain, "company_domain", &[Person]),
    ]
};

impl Field {
    /// Returns the field with this name, in the singular or the plural.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let is_same = |known: &str| {
            known == name
                || known.strip_suffix('s') == Some(name)
                || known.strip_suffix("es") == Some(name)
                || (known == "country" && name == "countries")
        };
        TABLE.into_iter().find(|(_, known, _)| is_same(known)).map(|(field, ..)| field)
    }

    pub(crate) fn name(self) -> &'static str {
        TABLE.into_iter().find(|(field, ..)| *field == self).map_or("", |(_, name, _)| name)
    }

    pub(crate) fn belongs_to(self, kind: RecordType) -> bool {
        TABLE.into_iter().any(|(field, _, kinds)| field == self && kinds.contains(&kind))
    }

    /// Returns the names of the fields that a kind of record has.
    pub(crate) fn names(kind: RecordType) -> Vec<&'static str> {
        let fields = TABLE.into_iter().filter(|(_, _, kinds)| kinds.contains(&kind));
        fields.map(|(_, name, _)| name).collect()
    }
}

/// Whether a native record has this column or key, or a key that contains it, as `ids` contains
/// `ids.lei`.
pub(crate) fn is_native(name: &str) -> bool {
    let first = name.split('.').next().unwrap_or(name);
    let plain: String =
        first.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is_field = TABLE.into_iter().any(|(field, known, _)| {
        !matches!(field, Field::Urls | Field::FullName) && {
            let known = known.replace('_', "");
            known == plain
                || known.strip_suffix('s') == Some(plain.as_str())
                || plain.strip_suffix('s') == Some(known.as_str())
                || (known == "aliases" && plain == "alias")
                || (known == "country" && plain == "countries")
        }
    });
    is_field || matches!(plain.as_str(), "type" | "id" | "ids" | "confidence")
}
