//! Decides to which stored company or person an imported record belongs.
//!
//! For companies, this is only the first choice. After an import, [`crate::resolution`] takes all
//! records that are connected by common values, such as a domain or a name, and divides them into
//! companies again. The result of that step does not depend on the order of the records.
//!
//! A company record belongs to the stored company that has one of the record's external ids
//! ([`CompanyRecord::ids`]). If no company has such an id, the record belongs to the company that
//! has the record's main domain. If the record has no domain, its LinkedIn page decides. If it has
//! no LinkedIn page either, its name and seats (the countries of its head offices) decide. But if
//! the ids of two companies contradict each other, such as two different LEIs, then a common
//! domain, page or name never merges them ([`ids_differ`]).
//!
//! A person record belongs to the stored person who has the record's LinkedIn page. If nobody has
//! this page, the record belongs to a person who has one of its email addresses. If nobody has such
//! an address either, the record belongs to a person with the same name and employer. If two
//! records have different LinkedIn pages, they are two people, even if they have the same email
//! address or name.

use enrich_text::{
    CompanyName, Country, Domain, EmailAddress, ExternalId, Network, PageUrl, PersonPage,
};

use crate::record::{CompanyRecord, PersonRecord};

/// Whether the external ids of a record contradict those of a company. An external id is an id in a
/// register, such as `lei:…`. The ids contradict each other if, for one register, both sides have
/// ids but none in common. Then the record and the company are merged only if they have a common id
/// of another register.
///
/// `ids` are the record's ids, and `known` are the company's.
pub fn ids_differ(ids: &[ExternalId], known: &[String]) -> bool {
    let known = known.iter().map(String::as_str);
    differing_ids(ids.iter().map(ExternalId::as_str), known).is_some()
}

/// Finds two ids by which two sets of ids contradict each other, such as `lei:1` and `lei:2`. Both
/// ids are of one scheme, here `lei`, and the sets have no id of this scheme in common. Returns the
/// first pair, one id of each set; `None` if the sets do not contradict each other.
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

/// The values by which a store searches for the company or person that an imported record
/// describes. [`CompanyRecord::identity`] and [`PersonRecord::identities`] return them. The store
/// tries the values in the order in which these methods return them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity<'a> {
    /// The record describes the company with this domain.
    Domain(&'a Domain),
    /// The record describes the company with this LinkedIn page.
    Page(&'a PageUrl),
    /// The record describes a company with the same name, apart from case, accents and punctuation.
    /// The countries are the record's seats (the countries of its head offices); the company must
    /// have a seat in one of them. If the record has no seat, the company must have none either.
    NameAndSeats(&'a CompanyName, &'a [Country]),
    /// The record describes the person with this LinkedIn page.
    PersonPage(&'a PersonPage),
    /// The record describes the person with one of these email addresses. Exception: if the person
    /// and the record both have a LinkedIn page, they are two people. Their pages differ, because
    /// the store searches by the page first, and has found nobody.
    Emails(&'a [EmailAddress]),
    /// The record describes the person with the same name and employer. Exception: if the person
    /// and the record both have a LinkedIn page, they are two people. Their pages differ, because
    /// the store searches by the page first, and has found nobody.
    NameAtEmployer,
}

impl CompanyRecord {
    /// Returns the value by which a store searches for the company: the record's main domain. If
    /// the record has no domain, returns its LinkedIn page. If it has no LinkedIn page either,
    /// returns its name and seats (the countries of its head offices).
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
    /// Returns the values by which a store searches for the person: first the LinkedIn page, then
    /// the email addresses, then name and employer. The first value that fits a stored person
    /// decides.
    ///
    /// Two people may have the same email address or name. So if the store finds a person by an
    /// address or by the name, and this person has another page than the record, the record
    /// describes another person.
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
