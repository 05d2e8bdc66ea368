//! The numbers that the database stores for attributes, for kinds of identifiers, and for companies
//! and people.
//!
//! Existing databases contain these numbers, so the meaning of a number must never change.

use enrich_core::{Attribute, SubjectId};
use enrich_text::Network;
use rusqlite::ToSql;
use rusqlite::types::{FromSqlError, ToSqlOutput};

pub(crate) const COMPANY: i64 = 1;
pub(crate) const PERSON: i64 = 2;

pub(crate) const fn attribute_code(attribute: Attribute) -> i64 {
    match attribute {
        Attribute::Name => 1,
        Attribute::Alias => 2,
        Attribute::Country => 3,
        Attribute::Domain => 4,
        Attribute::Email => 5,
        Attribute::Phone => 6,
        Attribute::FirstName => 7,
        Attribute::LastName => 8,
        Attribute::Title => 9,
        Attribute::Employer => 10,
        Attribute::PersonPage => 11,
        Attribute::Ip => 12,
        Attribute::PageRank => 13,
        Attribute::ExternalId => 14,
        Attribute::Parent => 15,
        Attribute::Page(Network::Facebook) => 21,
        Attribute::Page(Network::Instagram) => 22,
        Attribute::Page(Network::Twitter) => 23,
        Attribute::Page(Network::Youtube) => 24,
        Attribute::Page(Network::LinkedIn) => 25,
    }
}

pub(crate) fn attribute_of(code: i64) -> Result<Attribute, FromSqlError> {
    use Attribute::{
        Alias, Country, Domain, Email, Employer, ExternalId, FirstName, Ip, LastName, Name, Page,
        PageRank, Parent, PersonPage, Phone, Title,
    };
    let others = [
        Name, Alias, Country, Domain, Email, Phone, FirstName, LastName, Title, Employer,
        PersonPage, Ip, PageRank, ExternalId, Parent,
    ];
    let mut all = others.into_iter().chain(Network::ALL.map(Page));
    all.find(|attribute| attribute_code(*attribute) == code).ok_or(FromSqlError::OutOfRange(code))
}

/// The kinds of identifiers, with their numbers. A subject (a company or a person) may have several
/// identifiers of a kind. The tier of an identifier tells how strongly it belongs to the subject:
/// tier 0 is the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum IdentifierKind {
    /// A company's domain. Tier 0 is the main domain.
    CompanyDomain = 1,
    /// A company's page on a social network, in its form for comparison
    /// ([`PageUrl::key`](enrich_text::PageUrl::key)). Tier 0 (the strongest) is the page that
    /// answers contain for this network.
    CompanyPage = 2,
    /// A company's own email address.
    CompanyEmail = 3,
    /// A company's own phone number. No look-up uses this identifier. `forget` and entity
    /// resolution use it to find the companies that have a phone number.
    CompanyPhone = 4,
    /// A company's name without legal form and spaces, such as `quillink` for "Quill Ink Ltd". Tier
    /// 0 (the strongest) is the company's current name, tier 1 an alias, and tier 2 the name of a
    /// bare company, which is known only by names.
    CompanyName = 5,
    /// The words of a company's name in the forms for comparison (roots), in alphabetical order and
    /// without spaces, such as `inkquill` for "Quill Ink". This identifier is stored only if its
    /// key differs from that of [`Self::CompanyName`].
    CompanySorted = 6,
    /// The label of a company's domain, such as `quill` for `quill.example`. This identifier is
    /// stored only if the label differs from the company's names. Otherwise [`Self::CompanyName`]
    /// already finds the company.
    CompanyLabel = 7,
    /// The initials of a company's name, such as `qip` for "Quill Ink Pens".
    CompanyInitials = 8,
    /// A company's id in a register or data set: `lei:…`.
    CompanyId = 9,
    /// The organisation that a company belongs to, as a source names it. No look-up uses this
    /// identifier. A source may name the organisation by its domain, such as `quill.example`. If
    /// this domain must be forgotten, `forget` finds the company by this identifier.
    CompanyParent = 10,
    /// A person's page on a social network, in its form for comparison
    /// ([`PageUrl::key`](enrich_text::PageUrl::key)).
    PersonPage = 11,
    /// A person's email address.
    PersonEmail = 12,
    /// A person's phone number.
    PersonPhone = 13,
    /// A person's name in a country, such as `GB|ada|lovelace`.
    PersonInCountry = 14,
    /// A person's name at the company with this id, such as `17|ada|lovelace`.
    PersonAtCompany = 15,
    /// A company's name, with the same key as in [`Self::CompanyName`]. This identifier is stored
    /// only if an equal name alone may link the company with another company, although the two
    /// share no domain or other value
    /// ([`is_linkable_by_name`](enrich_core::resolution::is_linkable_by_name)). Only entity
    /// resolution (finding records of the same company) uses this identifier.
    CompanyLinkableName = 16,
}

impl IdentifierKind {
    /// Whether companies that share an identifier of this kind may be one company, so that entity
    /// resolution must compare them.
    pub(crate) fn is_blocking(self) -> bool {
        use IdentifierKind::{CompanyDomain, CompanyId, CompanyName, CompanyPage, CompanyPhone};
        matches!(self, CompanyDomain | CompanyId | CompanyName | CompanyPage | CompanyPhone)
    }
}

impl ToSql for IdentifierKind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(*self as i64))
    }
}

/// Converts an id to the integer that SQLite stores. Ids count up from 1, so an id is never too
/// large.
pub(crate) fn sql_id(id: SubjectId) -> i64 {
    i64::try_from(id.0).unwrap_or(i64::MAX)
}

pub(crate) fn subject_id(id: i64) -> SubjectId {
    SubjectId(u64::try_from(id).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_reads_back_from_its_number() {
        for code in (1..=15).chain(21..=25) {
            assert_eq!(attribute_of(code).map(attribute_code), Ok(code));
        }
    }

    #[test]
    fn an_unknown_number_is_no_attribute() {
        assert!(attribute_of(0).is_err());
    }
}
