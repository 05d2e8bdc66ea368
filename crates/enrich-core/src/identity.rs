//! Decides to which stored subject a record belongs, by the native format's rules on merging.
//!
//! For companies, this is only the first choice. After a load, [`crate::resolution`] takes all
//! records that are connected by common values, such as a domain or a name, and divides them into
//! companies again. The result does not depend on the order of the records.
//!
//! A company record belongs to the stored company that has one of the record's external ids
//! ([`CompanyRecord::ids`]). If no company has such an id, the record belongs to the company that
//! has the record's main domain. If the record has no domain, its LinkedIn page decides. If it has
//! no LinkedIn page either, its name and seats decide. The rules after the first one (domain, page,
//! name and seats) never merge two companies that have different ids in the same scheme
//! ([`ids_differ`]).
//!
//! A person record belongs to the stored person who has the record's LinkedIn page. If nobody has
//! this page, the record belongs to a person who has one of its email addresses, and otherwise to a
//! person with the same name and employer. People with two different LinkedIn pages are always two
//! people, even if they have the same address or name.

use enrich_text::{
    CompanyName, Country, Domain, EmailAddress, ExternalId, Network, PageUrl, PersonPage,
};

use crate::record::{CompanyRecord, PersonRecord};

/// Whether the ids of a record contradict the ids of a company: both have ids of the same scheme,
/// but no common id of this scheme. `ids` are the record's ids. `known` are the company's ids as
/// texts, such as `lei:…`. A record whose ids contradict a company is not merged with it, unless
/// both have a common id of another scheme.
pub fn ids_differ(ids: &[ExternalId], known: &[String]) -> bool {
    let known = known.iter().map(String::as_str);
    differing_ids(ids.iter().map(ExternalId::as_str), known).is_some()
}

/// Returns the first pair of ids by which two sets of ids contradict each other: both ids are of
/// the same scheme, and the sets have no id of that scheme in common. The ids are texts such as
/// `lei:…`.
pub(crate) fn differing_ids<'a, I, J>(these: I, those: J) -> Option<(&'a str, &'a str)>
where
    I: Iterator<Item = &'a str> + Clone,
    J: Iterator<Item = &'a str> + Clone,
{
    these.clone().find_map(|id| {
        let of_scheme = |other: &&str| scheme_of(other) == scheme_of(id);
        let is_shared = |id: &str| those.clone().any(|other| other == id);
        let other = those.clone().find(of_scheme)?;
        let share_one = these.clone().filter(of_scheme).any(is_shared);
        (!share_one).then_some((id, other))
    })
}

fn scheme_of(id: &str) -> &str {
    id.split_once(':').map_or("", |(scheme, _)| scheme)
}

/// The values by which a store searches for the stored subject of a record. The store tries the
/// identities in the order in which [`CompanyRecord::identity`] or [`PersonRecord::identities`]
/// returns them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity<'a> {
    /// The subject is the company with this domain.
    Domain(&'a Domain),
    /// The subject is the company with this page.
    Page(&'a PageUrl),
    /// The subject is a company with the same folded name as the record. The countries are the
    /// record's seats; the company must have a seat in one of them. If the record has no seat, the
    /// company must have none either.
    NameAndSeats(&'a CompanyName, &'a [Country]),
    /// The subject is the person with this page.
    PersonPage(&'a PersonPage),
    /// The subject is a person with one of these email addresses. If the record and the stored
    /// person both have a page, they are different people, because the search by page has found
    /// nobody.
    Emails(&'a [EmailAddress]),
    /// The subject is a person with the record's name and employer. If the record and the stored
    /// person both have a page, they are different people, because the search by page has found
    /// nobody.
    NameAtEmployer,
}

impl CompanyRecord {
    /// Returns the identity to search for: the company's main domain. If the record has no domain,
    /// returns its LinkedIn page. If it has no LinkedIn page either, returns its name and seats.
    pub fn identity(&self) -> Identity<'_> {
        if let Some((main, _)) = self.sites.first() {
            return Identity::Domain(main);
        }
        let linkedin = self.pages.iter().find(|page| page.network() == Network::LinkedIn);
        match linkedin {
            Some(page) => Identity::Page(page),
            None => Identity::NameAndSeats(&self.name, &self.seats),
        }
    }
}

impl PersonRecord {
    /// Returns the identities to search for, the most certain first. The first identity that fits a
    /// stored person decides. So email addresses and names are tried only if no stored person has
    /// the record's page. If the record and a person who is found by address or name both have a
    /// page, they are different people.
    pub fn identities(&self) -> Vec<Identity<'_>> {
        let mut identities = Vec::with_capacity(3);
        identities.extend(self.page.as_ref().map(Identity::PersonPage));
        if !self.emails.is_empty() {
            identities.push(Identity::Emails(&self.emails));
        }
        if self.employer.is_some() {
            identities.push(Identity::NameAtEmployer);
        }
        identities
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_only_within_a_scheme() {
        let ids = |texts: &[&str]| -> Vec<ExternalId> {
            texts.iter().map(|text| ExternalId::from_text(text).unwrap()).collect()
        };
        for (given, known, expected) in [
            (&["x:1"][..], &["x:2"][..], true),
            (&["x:1"], &["x:1"], false),
            (&["x:1"], &["y:2"], false),
            (&["x:1"], &["xx:2"], false),
            (&["x:1", "x:2"], &["x:2"], false),
            (&["x:1", "y:1"], &["x:1", "y:2"], true),
            (&[], &["x:1"], false),
            (&["x:1"], &[], false),
        ] {
            let known: Vec<String> = known.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(ids_differ(&ids(given), &known), expected, "{given:?} {known:?}");
        }
    }
}
