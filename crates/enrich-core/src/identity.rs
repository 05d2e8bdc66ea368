//! Which record is which subject: the rule of the native format's chapter on merging.
//!
//! A company is one already held if its main domain is any domain of that company; a record
//! without a domain if its LinkedIn page is; one with neither if name and country are. A person:
//! same LinkedIn page, else same email, else same name and employer. Two LinkedIn pages are two
//! people: neither an address nor a name makes one of a record and a person of another page.

use enrich_text::{CompanyName, Country, Domain, EmailAddress, Network, PageUrl, PersonPage};

use crate::record::{CompanyRecord, PersonRecord};

/// What makes a record the same as a subject already held. A store tries what
/// [`CompanyRecord::identity`] or [`PersonRecord::identities`] gives, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity<'a> {
    /// A company with this domain.
    Domain(&'a Domain),
    /// A company with this page.
    Page(&'a PageUrl),
    /// A company with this name (equal when folded) and a common seat, or no seat on both sides.
    NameAndSeats(&'a CompanyName, &'a [Country]),
    /// A person with this page.
    PersonPage(&'a PersonPage),
    /// A person with one of these addresses, and no page of their own where the record has one.
    Emails(&'a [EmailAddress]),
    /// A person with this record's name at this record's employer, and no page of their own where
    /// the record has one.
    NameAtEmployer,
}

impl CompanyRecord {
    /// The one thing that decides which company this is.
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
    /// What decides which person this is, the strongest first: the first that is held counts. By
    /// the time a weaker one is tried, nobody held has the record's page: whoever has a page then
    /// is another person.
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
