//! Removes a source with all its facts, and removes values that must be forgotten.

use std::collections::HashSet;

use enrich_core::port::importer::{Removed, Suppressed};
use enrich_core::{Attribute, Fact, SourceName, SubjectId};
use enrich_store_sqlite::Statements;
use enrich_text::{Domain, EmailAddress, PersonPage, Phone};
use rusqlite::params;
use rusqlite::types::FromSqlError;

use super::companies::DOMAIN_AS_NAME;
use super::derive::Derived;
use super::stored_facts;
use super::subject_facts::Kind;
use super::writer::{Saved, Writer};
use crate::directory::codes::{COMPANY, IdentifierKind, sql_id, subject_id};
use crate::directory::view::unreadable;

pub(super) const EMAIL_KINDS: [IdentifierKind; 2] =
    [IdentifierKind::CompanyEmail, IdentifierKind::PersonEmail];

/// A removal that is running. `removed` counts what it has removed so far.
struct Removal {
    removed: Removed,
    /// The ids of the subjects that were removed, of the companies that had been merged into a
    /// removed company, and of the people whose employer was removed.
    ///
    /// An import recognises a known record by its fingerprint (a hash), and skips it. The removal
    /// of a source deletes the fingerprints of these subjects' records, so that the records are
    /// imported again. `forget` keeps the fingerprints, so that the records are skipped.
    touched: HashSet<i64>,
}

impl Writer<'_> {
    /// Removes a source with all its facts. Returns `None` when there is no such source.
    ///
    /// This may remove a company whose employees stay, because another source names these people.
    /// They lose their employer. So the fingerprints of their records are deleted: the hashes by
    /// which an import recognises a known record, and skips it. When the other source is imported
    /// again, these records are not skipped, and the people get their employer back.
    pub(crate) fn remove_source(&mut self, name: &SourceName) -> rusqlite::Result<Option<Removed>> {
        let Some(source) = self.source_named(name)? else { return Ok(None) };
        let mut removal = Removal { removed: Removed::default(), touched: HashSet::new() };
        for subject in self.subjects_of_source(source)? {
            self.edit(&mut removal, subject, |_, of| of == source)?;
        }
        let domain_facts =
            self.connection.execute("DELETE FROM domain_fact WHERE source = ?1", [source])?;
        removal.removed.values += domain_facts as u64;
        self.connection.execute("DELETE FROM record WHERE source = ?1", [source])?;
        self.connection.execute("DELETE FROM source WHERE id = ?1", [source])?;
        self.no_longer_remember(&removal.touched)?;
        self.is_changed = true;
        Ok(Some(removal.removed))
    }

    /// Suppresses the values `all`, and removes the facts that contain them.
    pub(crate) fn forget(&mut self, all: &[Suppressed]) -> rusqlite::Result<Removed> {
        let mut removal = Removal { removed: Removed::default(), touched: HashSet::new() };
        let mut domains = Vec::new();
        for what in all {
            self.suppress(what)?;
            match what {
                Suppressed::Email(email) => self.forget_email(&mut removal, email)?,
                Suppressed::Phone(phone) => self.forget_phone(&mut removal, phone)?,
                Suppressed::PersonPage(page) => self.forget_person(&mut removal, page)?,
                Suppressed::Domain(domain) => domains.push(domain),
            }
        }
        self.forget_domains(&mut removal, &domains)?;
        Ok(removal.removed)
    }

    /// Suppresses a value because of an entry of a suppression list, and removes the facts that
    /// contain the value.
    pub(crate) fn forget_by_entry(
        &mut self,
        what: &Suppressed,
        entry: &[u8; 32],
    ) -> rusqlite::Result<Removed> {
        let mut removal = Removal { removed: Removed::default(), touched: HashSet::new() };
        self.suppress_by_entry(what, entry)?;
        match what {
            Suppressed::Email(email) => self.forget_email(&mut removal, email)?,
            Suppressed::Phone(phone) => self.forget_phone(&mut removal, phone)?,
            // An entry of a suppression list is the hash of an email address or of a phone number.
            // So `what` is never one of these two.
            Suppressed::PersonPage(_) | Suppressed::Domain(_) => {}
        }
        Ok(removal.removed)
    }

    fn forget_phone(&mut self, removal: &mut Removal, phone: &Phone) -> rusqlite::Result<()> {
        for kind in [IdentifierKind::CompanyPhone, IdentifierKind::PersonPhone] {
            for subject in self.all_holders(kind, phone.as_str())? {
                self.edit(removal, subject, |fact, _| {
                    fact.attribute == Attribute::Phone && fact.value == phone.as_str()
                })?;
            }
        }
        Ok(())
    }

    /// Removes an email address, and every address that differs from it only by a `+tag`.
    fn forget_email(
        &mut self,
        removal: &mut Removal,
        email: &EmailAddress,
    ) -> rusqlite::Result<()> {
        let is_it = |value: &str| {
            value == email.as_str()
                || EmailAddress::parse(value)
                    .is_ok_and(|it| it.without_tag().as_ref() == Some(email))
        };
        let mut subjects = Vec::new();
        for kind in EMAIL_KINDS {
            subjects.extend(self.all_holders(kind, email.as_str())?);
            // In the index, the addresses of `ada` with a tag begin with `ada+`. All these keys are
            // less than `ada,`, because the comma is the next character after `+`.
            let (from, to) = (format!("{}+", email.local()), format!("{},", email.local()));
            let tagged =
                "SELECT key, subject FROM identifier WHERE kind = ?1 AND key >= ?2 AND key < ?3";
            self.connection.each(tagged, params![kind, from, to], |row| {
                if is_it(row.get_ref(0)?.as_str()?) {
                    subjects.push(subject_id(row.get(1)?));
                }
                Ok(())
            })?;
        }
        for subject in subjects {
            self.edit(removal, subject, |fact, _| {
                fact.attribute == Attribute::Email && is_it(&fact.value)
            })?;
        }
        Ok(())
    }

    /// Removes the person who has this page, and all facts of this person. The fingerprints of the
    /// person's records (hashes by which an import recognises a known record) stay. So an import of
    /// the same records does not add the person again.
    fn forget_person(&mut self, removal: &mut Removal, page: &PersonPage) -> rusqlite::Result<()> {
        for subject in self.all_holders(IdentifierKind::PersonPage, page.key())? {
            self.edit(removal, subject, |_, _| true)?;
        }
        Ok(())
    }

    /// Removes domains, the hosts below these domains, and the email addresses at all of them, from
    /// all companies and people. The index of identifiers is read from beginning to end, because
    /// email addresses are not ordered by host. It is read only once for all domains.
    fn forget_domains(
        &mut self,
        removal: &mut Removal,
        domains: &[&Domain],
    ) -> rusqlite::Result<()> {
        if domains.is_empty() {
            return Ok(());
        }
        let names: HashSet<&str> = domains.iter().map(|domain| domain.as_str()).collect();
        let is_host = |host: &str| {
            let above = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
            std::iter::once(host).chain(above).any(|host| names.contains(host))
        };
        let is_it = |fact: &Fact| match fact.attribute {
            Attribute::Domain | Attribute::Parent => is_host(&fact.value),
            Attribute::Email => fact.value.rsplit('@').next().is_some_and(is_host),
            Attribute::Name => fact.confidence == DOMAIN_AS_NAME && is_host(&fact.value),
            _ => false,
        };
        let mut subjects = Vec::new();
        let kinds = [IdentifierKind::CompanyDomain, IdentifierKind::CompanyParent];
        for kind in kinds.into_iter().chain(EMAIL_KINDS) {
            let all = "SELECT key, subject FROM identifier WHERE kind = ?1";
            self.connection.each(all, [kind], |row| {
                let key = row.get_ref(0)?.as_str()?;
                if key.rsplit('@').next().is_some_and(is_host) {
                    subjects.push(subject_id(row.get(1)?));
                }
                Ok(())
            })?;
        }
        subjects.sort_unstable();
        subjects.dedup();
        for subject in subjects {
            self.edit(removal, subject, |fact, _| is_it(fact))?;
        }
        self.forget_decided(is_host)?;
        for host in self.domains_with_facts(is_host)? {
            removal.removed.values +=
                self.connection.run("DELETE FROM domain_fact WHERE domain = ?1", [host])? as u64;
            self.is_changed = true;
        }
        Ok(())
    }

    /// Returns the domains that have facts and for which `is_it` returns `true`.
    fn domains_with_facts(&self, is_it: impl Fn(&str) -> bool) -> rusqlite::Result<Vec<String>> {
        let mut domains = Vec::new();
        self.connection.each("SELECT DISTINCT domain FROM domain_fact", [], |row| {
            let domain = row.get_ref(0)?.as_str()?;
            if is_it(domain) {
                domains.push(domain.to_owned());
            }
            Ok(())
        })?;
        Ok(domains)
    }

    /// Removes those facts of a subject (a company or a person) for which `is_to_go` returns
    /// `true`. The second argument of `is_to_go` is the id of the fact's source. If no fact gives
    /// the subject a name any more, removes the subject.
    fn edit(
        &mut self,
        removal: &mut Removal,
        subject: SubjectId,
        is_to_go: impl Fn(&Fact, i64) -> bool,
    ) -> rusqlite::Result<()> {
        let Some(kind) = self.kind_of(subject)? else { return Ok(()) };
        let mut subject_facts = self.subject_facts(subject, kind)?;
        let gone = subject_facts.remove(is_to_go);
        removal.removed.values += gone;
        if gone > 0 && kind == Kind::Company {
            let before = Derived::from(subject, kind, &subject_facts.merged_before());
            let before = before.map_err(unreadable)?;
            self.note_with_neighbours(subject, &before)?;
        }
        if self.save(&subject_facts)? != Saved::Gone {
            return Ok(());
        }
        self.forget_merged(subject, &mut removal.touched)?;
        removal.removed.values += subject_facts.facts.len() as u64;
        removal.removed.subjects += 1;
        removal.touched.insert(sql_id(subject));
        if kind == Kind::Company {
            self.leave(removal, subject)?;
        }
        Ok(())
    }

    /// Removes the employer `company` from the facts of its employees. The company itself must
    /// already be removed.
    fn leave(&mut self, removal: &mut Removal, company: SubjectId) -> rusqlite::Result<()> {
        let people = "SELECT person FROM employee WHERE company = ?1";
        let people: Vec<i64> = self.connection.list(people, [sql_id(company)], |row| row.get(0))?;
        for person in people {
            // `subject_facts` returns the person's facts without employers that no longer exist,
            // such as `company`. So saving these facts removes this employer.
            let subject_facts = self.subject_facts(subject_id(person), Kind::Person)?;
            let before = subject_facts.before.as_ref().map_or(0, |before| before.facts.len());
            removal.removed.values += before.saturating_sub(subject_facts.facts.len()) as u64;
            self.save(&subject_facts)?;
            removal.touched.insert(person);
        }
        Ok(())
    }

    fn all_holders(&self, kind: IdentifierKind, key: &str) -> rusqlite::Result<Vec<SubjectId>> {
        let holders = self.view().holders(kind, key, usize::MAX)?;
        Ok(holders.into_iter().map(|holder| holder.subject).collect())
    }

    /// Returns the subjects that have facts from a source, people before companies. If a person is
    /// removed first, the later removal of the employer need not change the person's facts.
    fn subjects_of_source(&self, source: i64) -> rusqlite::Result<Vec<SubjectId>> {
        let mut subjects = Vec::new();
        let all = "SELECT id, kind, facts, profile FROM subject ORDER BY id";
        self.connection.each(all, [], |row| {
            let (facts, profile) = (row.get_ref(2)?.as_blob()?, row.get_ref(3)?.as_str()?);
            let mut is_of_source = false;
            stored_facts::each_source(facts, profile, |of, _| is_of_source |= of == source)
                .map_err(FromSqlError::other)?;
            if is_of_source {
                subjects.push((row.get::<_, i64>(1)?, subject_id(row.get(0)?)));
            }
            Ok(())
        })?;
        subjects.sort_by_key(|(kind, _)| std::cmp::Reverse(*kind));
        Ok(subjects.into_iter().map(|(_, subject)| subject).collect())
    }

    pub(super) fn kind_of(&self, subject: SubjectId) -> rusqlite::Result<Option<Kind>> {
        let kind = "SELECT kind FROM subject WHERE id = ?1";
        let kind: Option<i64> = self.connection.find(kind, [sql_id(subject)], |row| row.get(0))?;
        Ok(kind.map(|kind| if kind == COMPANY { Kind::Company } else { Kind::Person }))
    }

    /// Deletes the fingerprints (hashes) of the records that were imported to these companies and
    /// people. An import then no longer recognises these records, and imports them again.
    pub(super) fn no_longer_remember(&self, subjects: &HashSet<i64>) -> rusqlite::Result<()> {
        if subjects.is_empty() {
            return Ok(());
        }
        let mut remembered = Vec::new();
        self.connection.each("SELECT source, hash, subject FROM record", [], |row| {
            if subjects.contains(&row.get(2)?) {
                remembered.push((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
            }
            Ok(())
        })?;
        let delete = "DELETE FROM record WHERE source = ?1 AND hash = ?2";
        remembered.into_iter().try_for_each(|record| self.connection.run(delete, record).map(drop))
    }
}
