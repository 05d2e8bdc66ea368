//! Suppressed values. They are not imported any more, and no answer contains them. Only their keyed
//! hashes are stored, so the table does not show who asked to be forgotten.

use enrich_core::port::importer::Suppressed;
use enrich_core::{CompanyRecord, Parent, PersonRecord};
use enrich_secrets::{Purpose, Secret, Secrets};
use enrich_store_sqlite::{Column, Statements};
use enrich_text::{Domain, EmailAddress, PersonPage, Phone};
use rusqlite::params;

use super::writer::Writer;

/// The kinds of suppressed values. A kind's text is part of the hash, so these texts must never
/// change.
mod kind {
    pub(super) const EMAIL: &[u8] = b"email";
    pub(super) const PHONE: &[u8] = b"phone";
    pub(super) const PERSON_PAGE: &[u8] = b"person page";
    pub(super) const DOMAIN: &[u8] = b"domain";
}

impl Writer<'_> {
    /// Stores that a value is suppressed from the time of this writer on.
    pub(crate) fn suppress(&mut self, what: &Suppressed) -> rusqlite::Result<()> {
        let (kind, value) = kind_and_value(what);
        if self.has_suppressed && self.is_suppressed(kind, value)? {
            return Ok(());
        }
        let hash = hash(self.secrets.current(), kind, value);
        self.connection.run(
            "INSERT INTO suppressed (hash, at) VALUES (?1, ?2)",
            params![hash, Column(self.at)],
        )?;
        self.has_suppressed = true;
        self.is_changed = true;
        Ok(())
    }

    /// Whether a person's page is suppressed. If it is, no data of the person is imported.
    pub(crate) fn is_page_suppressed(&self, page: &PersonPage) -> rusqlite::Result<bool> {
        Ok(self.has_suppressed && self.is_suppressed(kind::PERSON_PAGE, page.key())?)
    }

    /// Whether this domain, or a domain above it, is suppressed.
    pub(crate) fn is_domain_suppressed(&self, domain: &Domain) -> rusqlite::Result<bool> {
        if !self.has_suppressed {
            return Ok(false);
        }
        let mut rest = domain.as_str();
        // The loop ends before the top-level domain, because a top-level domain cannot be
        // suppressed.
        while let Some((_, parent)) = rest.split_once('.') {
            if self.is_suppressed(kind::DOMAIN, rest)? {
                return Ok(true);
            }
            rest = parent;
        }
        Ok(false)
    }

    /// Removes suppressed values from a company's record. Returns the number of removed values.
    pub(crate) fn screen_company(&self, record: &mut CompanyRecord) -> rusqlite::Result<u32> {
        if !self.has_suppressed {
            return Ok(0);
        }
        let mut dropped = self.screen_emails(&mut record.emails)?;
        dropped += self.screen_phones(&mut record.phones)?;
        let main = record.sites.first().cloned();
        dropped += retain(&mut record.sites, |(domain, _)| self.is_domain_suppressed(domain))?;
        if record.sites.first() != main.as_ref() {
            // The main domain was removed, and the IP address and the page rank are facts about it.
            dropped += u32::from(record.ip.take().is_some());
            dropped += u32::from(record.page_rank.take().is_some());
        }
        if let Some(Parent::Domain(domain)) = record.parent.as_deref()
            && self.is_domain_suppressed(domain)?
        {
            record.parent = None;
            dropped += 1;
        }
        Ok(dropped)
    }

    /// Removes suppressed values from a person's record. Returns the number of removed values.
    pub(crate) fn screen_person(&self, record: &mut PersonRecord) -> rusqlite::Result<u32> {
        if !self.has_suppressed {
            return Ok(0);
        }
        let mut dropped = self.screen_emails(&mut record.emails)?;
        dropped += self.screen_phones(&mut record.phones)?;
        if let Some(employer) = &mut record.employer
            && let Some(domain) = &employer.domain
            && self.is_domain_suppressed(domain)?
        {
            employer.domain = None;
            dropped += 1;
            if employer.name.is_none() {
                record.employer = None;
            }
        }
        Ok(dropped)
    }

    fn screen_emails(&self, emails: &mut Vec<EmailAddress>) -> rusqlite::Result<u32> {
        retain(emails, |email| {
            Ok(self.is_suppressed(kind::EMAIL, email.as_str())?
                || match email.without_tag() {
                    Some(mailbox) => self.is_suppressed(kind::EMAIL, mailbox.as_str())?,
                    None => false,
                }
                || self.is_domain_suppressed(&email.domain())?)
        })
    }

    fn screen_phones(&self, phones: &mut Vec<Phone>) -> rusqlite::Result<u32> {
        retain(phones, |phone| self.is_suppressed(kind::PHONE, phone.as_str()))
    }

    fn is_suppressed(&self, kind: &[u8], value: &str) -> rusqlite::Result<bool> {
        let select = "SELECT 1 FROM suppressed WHERE hash = ?1";
        // An older secret may have made the stored hash, so all secrets are tried.
        for secret in self.secrets.newest_first() {
            if self.connection.has(select, [hash(secret, kind, value)])? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns all hashes under which the table may contain a value: one for each secret.
pub(crate) fn hashes<'a>(
    secrets: &'a Secrets,
    what: &'a Suppressed,
) -> impl Iterator<Item = [u8; 32]> + 'a {
    let (kind, value) = kind_and_value(what);
    secrets.newest_first().map(move |secret| hash(secret, kind, value))
}

/// Returns the hash of a value, made with the current secret.
pub(crate) fn current_hash(secrets: &Secrets, what: &Suppressed) -> [u8; 32] {
    let (kind, value) = kind_and_value(what);
    hash(secrets.current(), kind, value)
}

fn kind_and_value(what: &Suppressed) -> (&'static [u8], &str) {
    match what {
        Suppressed::Email(email) => (kind::EMAIL, email.as_str()),
        Suppressed::Phone(phone) => (kind::PHONE, phone.as_str()),
        Suppressed::PersonPage(page) => (kind::PERSON_PAGE, page.key()),
        Suppressed::Domain(domain) => (kind::DOMAIN, domain.as_str()),
    }
}

/// Removes the values that `is_to_go` selects. Returns how many were removed.
fn retain<T>(
    values: &mut Vec<T>,
    is_to_go: impl Fn(&T) -> rusqlite::Result<bool>,
) -> rusqlite::Result<u32> {
    let mut dropped = 0;
    let mut kept = Vec::with_capacity(values.len());
    for value in values.drain(..) {
        if is_to_go(&value)? {
            dropped += 1;
        } else {
            kept.push(value);
        }
    }
    *values = kept;
    Ok(dropped)
}

fn hash(secret: &Secret, kind: &[u8], value: &str) -> [u8; 32] {
    secret.hash(Purpose::Suppression, &[kind, value.as_bytes()])
}
