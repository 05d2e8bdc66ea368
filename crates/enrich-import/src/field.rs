//! The fields of the native format, and which kind of record has which.

use std::fmt;

/// A kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Company,
    Person,
    Domain,
}

impl Kind {
    /// The kind that the value of `type` names, in any case.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let names =
            [("company", Self::Company), ("person", Self::Person), ("domain", Self::Domain)];
        names.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, kind)| kind)
    }

    /// The kind of a record whose fields are there or not: `first_name` means a person, `name` a
    /// company, `domain` the facts of a domain.
    pub(crate) fn from_fields(is_there: impl Fn(Field) -> bool) -> Option<Self> {
        let signs = [
            (Field::FirstName, Self::Person),
            (Field::Name, Self::Company),
            (Field::Domain, Self::Domain),
        ];
        signs.into_iter().find(|&(field, _)| is_there(field)).map(|(_, kind)| kind)
    }
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Type,
    Id,
    Confidence,
    Name,
    Aliases,
    Country,
    Domains,
    LinkedIn,
    Facebook,
    Instagram,
    Twitter,
    Youtube,
    Emails,
    Phones,
    Ip,
    PageRank,
    FirstName,
    LastName,
    Title,
    Company,
    CompanyDomain,
    Domain,
}

/// Every field, its name and the kinds that have it, in the order of [`Field`].
const TABLE: [(Field, &str, &[Kind]); 22] = {
    use Kind::{Company, Domain, Person};
    [
        (Field::Type, "type", &[Company, Person, Domain]),
        (Field::Id, "id", &[Company, Person, Domain]),
        (Field::Confidence, "confidence", &[Company, Person, Domain]),
        (Field::Name, "name", &[Company]),
        (Field::Aliases, "aliases", &[Company]),
        (Field::Country, "country", &[Company, Person]),
        (Field::Domains, "domains", &[Company]),
        (Field::LinkedIn, "linkedin", &[Company, Person]),
        (Field::Facebook, "facebook", &[Company]),
        (Field::Instagram, "instagram", &[Company]),
        (Field::Twitter, "twitter", &[Company]),
        (Field::Youtube, "youtube", &[Company]),
        (Field::Emails, "emails", &[Company, Person]),
        (Field::Phones, "phones", &[Company, Person]),
        (Field::Ip, "ip", &[Company, Domain]),
        (Field::PageRank, "page_rank", &[Company, Domain]),
        (Field::FirstName, "first_name", &[Person]),
        (Field::LastName, "last_name", &[Person]),
        (Field::Title, "title", &[Person]),
        (Field::Company, "company", &[Person]),
        (Field::CompanyDomain, "company_domain", &[Person]),
        (Field::Domain, "domain", &[Domain]),
    ]
};

impl Field {
    /// How many there are.
    pub(crate) const COUNT: usize = TABLE.len();

    /// Every field, in the order of their numbers.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        TABLE.into_iter().map(|(field, ..)| field)
    }

    /// The field of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        TABLE.into_iter().find(|(_, known, _)| *known == name).map(|(field, ..)| field)
    }

    /// Its name in a file.
    pub(crate) fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Whether records of a kind have it.
    pub(crate) fn belongs_to(self, kind: Kind) -> bool {
        TABLE[self as usize].2.contains(&kind)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_fields() {
        for (place, (field, name, _)) in TABLE.into_iter().enumerate() {
            assert_eq!(field as usize, place, "{name}");
            assert_eq!(Field::from_name(name), Some(field));
        }
    }

    #[test]
    fn a_first_name_means_a_person_even_beside_a_name() {
        let has = |fields: &'static [Field]| Kind::from_fields(|field| fields.contains(&field));
        assert_eq!(has(&[Field::Name, Field::FirstName]), Some(Kind::Person));
        assert_eq!(has(&[Field::Domain, Field::Name]), Some(Kind::Company));
        assert_eq!(has(&[Field::Domain]), Some(Kind::Domain));
        assert_eq!(has(&[Field::Emails]), None);
    }
}
