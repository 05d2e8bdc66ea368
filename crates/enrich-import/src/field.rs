//! The fields of the native format, and the kinds of record that have them.

use std::fmt;

use crate::names::plain_name;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Company,
    Person,
    Domain,
}

impl Kind {
    /// Returns the kind with this name, in upper or lower case.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let names =
            [("company", Self::Company), ("person", Self::Person), ("domain", Self::Domain)];
        names.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, kind)| kind)
    }

    /// Returns the kind of a record without a `type`: a person if the record has `first_name`, else
    /// a company if it has `name`, else facts of a domain if it has `domain` or `domains`.
    pub(crate) fn from_fields(is_there: impl Fn(Field) -> bool) -> Option<Self> {
        let signs = [
            (Field::FirstName, Self::Person),
            (Field::Name, Self::Company),
            (Field::Domain, Self::Domain),
            (Field::Domains, Self::Domain),
        ];
        signs.into_iter().find(|&(field, _)| is_there(field)).map(|(_, kind)| kind)
    }
}

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
    Ids,
    Parent,
}

/// A field of the native format, and whether the file names the field in the singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) field: Field,
    /// Whether the file uses the singular form of a field name that is a plural, such as `email`
    /// for `emails`.
    pub(crate) is_singular: bool,
}

/// Every field with its name and the kinds of records that have the field, in the order of
/// [`Field`].
const TABLE: [(Field, &str, &[Kind]); 24] = {
    use Kind::{Company, Domain, Person};
    [
        (Field::Type, "type", &[Company, Person, Domain]),
        (Field::Id, "id", &[Company, Person, Domain]),
        (Field::Confidence, "confidence", &[Company, Person, Domain]),
        (Field::Name, "name", &[Company]),
        (Field::Aliases, "aliases", &[Company]),
        (Field::Country, "country", &[Company, Person]),
        (Field::Domains, "domains", &[Company, Domain]),
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
        (Field::Domain, "domain", &[Company, Domain]),
        (Field::Ids, "ids", &[Company]),
        (Field::Parent, "parent", &[Company]),
    ]
};

impl Field {
    pub(crate) const COUNT: usize = TABLE.len();

    /// Returns all fields, in the order of [`Field`].
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        TABLE.into_iter().map(|(field, ..)| field)
    }

    /// Returns the field with this name. The name may also be the other form of the field's name:
    /// the singular of a plural, or the plural of a singular.
    pub(crate) fn from_name(name: &str) -> Option<Named> {
        let exact = TABLE.into_iter().find(|(_, known, _)| *known == name);
        let other = || TABLE.into_iter().find(|(_, known, _)| differ_in_number(known, name));
        let (field, known, _) = exact.or_else(other)?;
        Some(Named { field, is_singular: name.len() < known.len() })
    }

    /// Returns the field that a CSV column with this name holds. Case, blanks and punctuation in
    /// the column's name don't matter.
    pub(crate) fn from_column(column: &str) -> Option<Named> {
        let plain = plain_name(column);
        let same = TABLE.into_iter().find(|(_, known, _)| plain_name(known) == plain);
        match same {
            Some((field, ..)) => Some(Named { field, is_singular: false }),
            None => TABLE.into_iter().find_map(|(field, known, _)| {
                let known = plain_name(known);
                differ_in_number(&known, &plain)
                    .then_some(Named { field, is_singular: plain.len() < known.len() })
            }),
        }
    }

    /// Returns the field's name in the native format.
    pub(crate) fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Whether records of this kind have the field.
    pub(crate) fn belongs_to(self, kind: Kind) -> bool {
        TABLE[self as usize].2.contains(&kind)
    }
}

/// Whether one name is the plural of the other.
fn differ_in_number(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    match long.strip_prefix(short) {
        Some(ending) => matches!(ending, "s" | "es"),
        None => short.strip_suffix('y').is_some_and(|stem| long.strip_prefix(stem) == Some("ies")),
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
            assert_eq!(Field::from_name(name), Some(Named { field, is_singular: false }));
            assert_eq!(Field::from_column(name), Some(Named { field, is_singular: false }));
        }
    }

    #[test]
    fn singular_and_plural_of_a_name_mean_the_same_field() {
        let field = |name| Field::from_name(name).map(|named| (named.field, named.is_singular));
        assert_eq!(field("email"), Some((Field::Emails, true)));
        assert_eq!(field("alias"), Some((Field::Aliases, true)));
        assert_eq!(field("countries"), Some((Field::Country, false)));
        assert_eq!(field("companies"), Some((Field::Company, false)));
        assert_eq!(field("id"), Some((Field::Id, false)));
        assert_eq!(field("ids"), Some((Field::Ids, false)), "not the plural of `id`");
        assert_eq!(field("colour"), None);
    }

    #[test]
    fn case_blanks_and_punctuation_of_a_column_do_not_matter() {
        for (column, field) in [
            ("E-Mail", Field::Emails),
            ("First Name", Field::FirstName),
            ("PAGE RANK", Field::PageRank),
            ("Company_Domain", Field::CompanyDomain),
            ("Linked-In", Field::LinkedIn),
        ] {
            assert_eq!(
                Field::from_column(column).map(|named| named.field),
                Some(field),
                "{column}"
            );
        }
        assert_eq!(Field::from_column("IDs").map(|named| named.field), Some(Field::Ids));
        assert_eq!(Field::from_column("-"), None);
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
