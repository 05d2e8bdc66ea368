//! Suppressed values: they are not imported, and no answer contains them. The table `suppressed`
//! contains only their keyed hashes, so it does not show who asked to be forgotten.

use enrich_core::port::importer::Suppressed;
use enrich_core::{CompanyRecord, Origin, Parent, PersonRecord};
use enrich_secrets::{Purpose, Secret, Secrets};
use enrich_store_sqlite::{Column, Statements};
use enrich_text::{Domain, EmailAddress, PersonPage, Phone};
use rusqlite::params;

use super::writer::Writer;

/// The kinds of suppressed values. The text of the kind is part of the hash of a value, so these
/// texts must never change.
mod kind {
    pub(super) const EMAIL: &[u8] = b"email";
    pub(super) const PHONE: &[u8] = b"phone";
    pub(super) const PERSON_PAGE: &[u8] = b"person page";
    pub(super) const DOMAIN: &[u8] = b"domain";
}

impl Writer<'_> {
    /// Stores that a value is suppressed. The suppression begins at [`Writer::at`].
    pub(crate) fn suppress(&mut self, what: &Suppressed) -> rusqlite::Result<()> {
        self.write_suppression(what, None)
    }

    /// Stores that a value is suppressed because of an entry of a suppression list. If an earlier
    /// suppression of the value is still in force, changes nothing. If it was taken back,
    /// suppresses the value again.
    pub(crate) fn suppress_by_entry(
        &mut self,
        what: &Suppressed,
        entry: &[u8; 32],
    ) -> rusqlite::Result<()> {
        self.write_suppression(what, Some(entry))
    }

    /// Stores that a value is suppressed, even if an earlier suppression of this value was taken
    /// back.
    ///
    /// `entry` is the entry of a suppression list that names the value. The suppression ends when
    /// this entry is taken back. `entry` is `None` if the value comes from the command `forget`,
    /// not from a list. Such a suppression never ends.
    fn write_suppression(
        &mut self,
        what: &Suppressed,
        entry: Option<&[u8; 32]>,
    ) -> rusqlite::Result<()> {
        let (kind, value) = kind_and_value(what);
        for secret in self.secrets.newest_first() {
            let hash = hash(secret, kind, value);
            let known = "SELECT taken_back_at IS NOT NULL, listed IS NOT NULL FROM suppressed
                         WHERE hash = ?1";
            let known =
                self.connection.find(known, [hash], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let update = match known {
                None => continue,
                Some((true, _)) => {
                    "UPDATE suppressed
                     SET listed = ?2, taken_back_at = NULL, at = ?3, changes = changes + 1
                     WHERE hash = ?1"
                }
                Some((false, true)) if entry.is_none() => {
                    "UPDATE suppressed SET listed = ?2, at = min(at, ?3) WHERE hash = ?1"
                }
                Some((false, _)) => return Ok(()),
            };
            self.connection.run(update, params![hash, entry, Column(self.at)])?;
            self.is_changed = true;
            return Ok(());
        }
        let hash = hash(self.secrets.current(), kind, value);
        self.connection.run(
            "INSERT INTO suppressed (hash, at, listed) VALUES (?1, ?2, ?3)",
            params![hash, Column(self.at), entry],
        )?;
        self.has_suppressed = true;
        self.is_changed = true;
        Ok(())
    }

    /// Ends the suppression of the values that are suppressed because of this entry of a
    /// suppression list.
    pub(crate) fn take_back_values(&mut self, entry: &[u8; 32]) -> rusqlite::Result<()> {
        let taken_back = self.connection.run(
            "UPDATE suppressed SET taken_back_at = ?2, changes = changes + 1
             WHERE listed = ?1 AND taken_back_at IS NULL",
            params![entry, Column(self.at)],
        )?;
        self.is_changed |= taken_back > 0;
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
        // The loop does not check the top-level domain, because a top-level domain cannot be
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
        let mut entries = Vec::new();
        let mut dropped = self.screen_emails(&mut record.emails, &mut entries)?;
        dropped += self.screen_phones(&mut record.phones, &mut entries)?;
        note_entries(&mut record.origin, entries);
        let main = record.sites.first().cloned();
        dropped += retain(&mut record.sites, |(domain, _)| self.is_domain_suppressed(domain))?;
        if record.sites.first() != main.as_ref() {
            // The main domain was removed. The IP address and the page rank belong to this domain,
            // so they are removed too.
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
        let mut entries = Vec::new();
        let mut dropped = self.screen_emails(&mut record.emails, &mut entries)?;
        dropped += self.screen_phones(&mut record.phones, &mut entries)?;
        note_entries(&mut record.origin, entries);
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

    /// Removes suppressed email addresses from `emails`. If an entry of a suppression list names a
    /// removed address, adds the entry to `entries`.
    fn screen_emails(
        &self,
        emails: &mut Vec<EmailAddress>,
        entries: &mut Vec<[u8; 32]>,
    ) -> rusqlite::Result<u32> {
        retain(emails, |email| {
            if let Some((entry, _)) = self.listed_email(email, &self.list_kinds)? {
                entries.push(entry);
                return Ok(true);
            }
            Ok(self.is_suppressed(kind::EMAIL, email.as_str())?
                || match email.without_tag() {
                    Some(mailbox) => self.is_suppressed(kind::EMAIL, mailbox.as_str())?,
                    None => false,
                }
                || self.is_domain_suppressed(&email.domain())?)
        })
    }

    /// Like [`screen_emails`](Self::screen_emails), but for phone numbers.
    fn screen_phones(
        &self,
        phones: &mut Vec<Phone>,
        entries: &mut Vec<[u8; 32]>,
    ) -> rusqlite::Result<u32> {
        retain(phones, |phone| {
            if let Some((entry, _)) = self.listed_phone(phone, &self.list_kinds)? {
                entries.push(entry);
                return Ok(true);
            }
            self.is_suppressed(kind::PHONE, phone.as_str())
        })
    }

    fn is_suppressed(&self, kind: &[u8], value: &str) -> rusqlite::Result<bool> {
        let select = "SELECT 1 FROM suppressed WHERE hash = ?1 AND taken_back_at IS NULL";
        // The stored hash may have been made with an older secret, so all secrets are tried.
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

/// Changes the content hash of a record from which values were removed because of `entries`
/// (entries of suppression lists). The new hash depends on the entries. If the entries are taken
/// back later, the same record has another hash. So an import does not skip the record as known,
/// and adds the removed values.
fn note_entries(origin: &mut Origin, mut entries: Vec<[u8; 32]>) {
    if entries.is_empty() {
        return;
    }
    entries.sort_unstable();
    let parts = [origin.content.as_slice(), entries.as_flattened()];
    origin.content = Origin::of(&parts.concat()).content;
}

/// Removes the values for which `is_to_go` returns `true`. Returns the number of removed values.
fn retain<T>(
    values: &mut Vec<T>,
    mut is_to_go: impl FnMut(&T) -> rusqlite::Result<bool>,
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
