//! Decides which subject a record belongs to, by the native format's rules on merging.
//!
//! A company record matches a stored company that has the record's main domain. A record without a
//! domain matches by its LinkedIn page, and a record without both by name and country. A person
//! record matches by LinkedIn page, else by email address, else by name and employer. Two different
//! LinkedIn pages always mean two people, even with the same address or name.

use enrich_text::{CompanyName, Country, Domain, EmailAddress, Network, PageUrl, PersonPage};

use crate::record::{CompanyRecord, PersonRecord};

/// What identifies a record's subject among the stored subjects. A store tries the results of
/// [`CompanyRecord::identity`] or [`PersonRecord::identities`] in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity<'a> {
    /// A company with this domain.
    Domain(&'a Domain),
    /// A company with this page.
    Page(&'a PageUrl),
    /// A company with the same folded name as the record. The company must also have a seat in one
    /// of the record's countries, or both must have no seat.
    NameAndSeats(&'a CompanyName, &'a [Country]),
    /// A person with this page.
    PersonPage(&'a PersonPage),
    /// A person with one of these email addresses. If the record has a page, the person must have
    /// none.
    Emails(&'a [EmailAddress]),
    /// A person with the record's name and employer. If the record has a page, the person must have
    /// none.
    NameAtEmployer,
}

impl CompanyRecord {
    /// Returns what identifies the company: its main domain, else its LinkedIn page, else its name
    /// and seats.
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
    /// Returns the identities of the person, strongest first. The first identity that matches a
    /// stored person decides. The weaker ones are tried only if no stored person has the record's
    /// page. A stored person with another page is therefore another person.
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
