//! Writes to the directory, in one transaction. The directory has only one writer at a time.

use std::cell::RefCell;

use enrich_core::port::suppression_lists::DigestKind;
use enrich_core::{Attribute, SubjectId, Timestamp};
use enrich_secrets::Secrets;
use enrich_store_sqlite::Statements;
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, params};

use super::derive::{DERIVED_BY, Derived, DerivedChange, Identifier, Strength};
use super::digests::kinds_of_lists;
use super::identifier_rows::{IdentifierRow, IdentifierRows, write_identifier};
use super::rows_at_once::ROWS;
use super::subject_facts::{Kind, SubjectFacts};
use super::threads::{Add, make_ahead};
use super::unresolved::{KeyNotes, UnresolvedNotes};
use super::unwritten::{KnownKeys, Unwritten};
use super::unwritten_domains::UnwrittenDomains;
use super::unwritten_records::UnwrittenRecords;
use super::words::WordChanges;
use super::{fact_rows, stored_facts};
use crate::directory::codes::{COMPANY, PERSON, sql_id, subject_id};
use crate::directory::hash_index::kept_index::KeptIndex;
use crate::directory::unwritten::{Change, add_written};
use crate::directory::view::{View, unreadable};

/// Writes to the directory in a transaction. The caller commits the transaction.
pub(crate) struct Writer<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) secrets: &'c Secrets,
    /// The time of the import, which is stored with new facts.
    pub(crate) at: Timestamp,
    /// Whether any value is suppressed, or any suppression list is loaded.
    pub(crate) has_suppressed: bool,
    /// The kinds of digests that the loaded suppression lists contain.
    pub(crate) list_kinds: Vec<DigestKind>,
    words: WordChanges,
    /// Companies for the table `unresolved`. After this transaction, entity resolution must decide
    /// again which of their records describe the same company.
    pub(super) notes: UnresolvedNotes,
    /// Rows that are kept in memory until [`finish`](Self::finish) writes them; `None` if each row
    /// is written immediately.
    pub(crate) unwritten: Option<Unwritten>,
    /// Collects the changes of identifiers that [`write_unwritten`](Self::write_unwritten) writes.
    /// At its end, the load (one import) makes the same changes in the stored hash index. `None` if
    /// the changes are not collected.
    pub(crate) kept_index: Option<&'c RefCell<KeptIndex>>,
    companies: i64,
    /// Whether the directory contained no companies and no people when this transaction began. If
    /// so, this program derives the look-up data of all companies and people, and
    /// [`finish`](Self::finish) stores the version of its derivation rules ([`DERIVED_BY`]).
    is_first: bool,
    next_subject: i64,
    next_source: i64,
    pub(crate) is_changed: bool,
}

/// How saving a company or person affects look-ups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saved {
    /// Look-ups find the same data as before.
    Same,
    /// The data that look-ups find about the company or person has changed, or the company or
    /// person is new.
    Changed,
    /// The company or person no longer exists, because no fact gives it a name.
    Gone,
}

impl<'c> Writer<'c> {
    /// Creates a writer. `connection` must be in a transaction that has the write lock, unless the
    /// writer is used only for reads.
    pub(crate) fn new(
        connection: &'c Connection,
        secrets: &'c Secrets,
        at: Timestamp,
    ) -> rusqlite::Result<Self> {
        let mut statement =
            connection.prepare_cached("SELECT next_subject, next_source, companies FROM state")?;
        let (next_subject, next_source, companies) =
            statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let list_kinds = kinds_of_lists(connection)?;
        let has_suppressed =
            !list_kinds.is_empty() || connection.has("SELECT 1 FROM suppressed LIMIT 1", [])?;
        let is_first = !connection.has("SELECT 1 FROM subject LIMIT 1", [])?;
        Ok(Self {
            connection,
            secrets,
            at,
            has_suppressed,
            list_kinds,
            words: WordChanges::default(),
            notes: UnresolvedNotes::default(),
            unwritten: None,
            kept_index: None,
            companies,
            is_first,
            next_subject,
            next_source,
            is_changed: false,
        })
    }

    /// Creates a writer for a load (one import). It collects new rows of the tables `identifier`,
    /// `domain_fact` and `record` in memory. [`finish`](Self::finish) writes them in the order of
    /// their keys, so that each changed page of the database file is written only once. Until then,
    /// SQL queries do not see these rows. [`view`](Self::view) includes the identifiers. `known`
    /// contains the keys that these tables have in the database file, as far as they are known.
    pub(crate) fn of_load(
        connection: &'c Connection,
        secrets: &'c Secrets,
        at: Timestamp,
        known: KnownKeys,
    ) -> rusqlite::Result<Self> {
        let writer = Self::new(connection, secrets, at)?;
        Ok(Self { unwritten: Some(Unwritten::new(known)), ..writer })
    }

    /// Returns a view of the directory that includes the rows that this writer has written or still
    /// keeps in memory.
    pub(crate) fn view(&self) -> View<'_> {
        let unwritten = self.unwritten.as_ref().map(|unwritten| &unwritten.identifiers);
        View::with_unwritten(self.connection, unwritten)
    }

    /// Returns the memory that the unwritten rows take, in bytes.
    pub(crate) fn unwritten_bytes(&self) -> usize {
        self.unwritten.as_ref().map_or(0, Unwritten::bytes) + self.words.bytes()
    }

    /// Writes the rows that are kept in memory, in the order of their keys.
    pub(crate) fn write_unwritten(&mut self) -> rusqlite::Result<()> {
        if let Some(rows) = &mut self.unwritten {
            let records = std::mem::take(&mut rows.records).write(self.connection)?;
            rows.records = UnwrittenRecords::new(records);
            let domains = std::mem::take(&mut rows.domains).write(self.connection, self.at)?;
            rows.domains = UnwrittenDomains::new(domains);
            let mut identifiers = std::mem::take(&mut rows.identifiers);
            let mut written_keys = identifiers.written_keys.take();
            let mut of_key = KeyNotes::new(self.connection, &identifiers);
            let mut identifier_rows = IdentifierRows::new(self.connection)?;
            let collect = |add: Add<'_, IdentifierRow>| {
                identifiers.each_in_order(|kind, key, change| add((kind, key.to_owned(), change)))
            };
            make_ahead(ROWS, collect, |rows| -> rusqlite::Result<()> {
                identifier_rows.write(&rows)?;
                for (kind, key, change) in &rows {
                    if let Some(index) = self.kept_index {
                        index.borrow_mut().note(*kind, key, *change);
                    }
                    let may_be_held = add_written(&mut written_keys, *kind, key);
                    of_key.add(&mut self.notes, (*kind, key), *change, may_be_held)?;
                }
                Ok(())
            })?;
            of_key.end(&mut self.notes)?;
            rows.identifiers.written_keys = written_keys;
        }
        self.notes.write(self.connection)?;
        self.words.write(self.connection)
    }

    /// Writes the collected rows, and the new state of the directory (the table `state`). The
    /// caller must call this before the commit. Returns the keys that the tables of
    /// [`of_load`](Self::of_load) now have in the database file, as far as they are known.
    pub(crate) fn finish(mut self) -> rusqlite::Result<KnownKeys> {
        self.write_unwritten()?;
        if self.is_changed {
            self.connection.run(
                "UPDATE state
                 SET generation = generation + 1, change_id = randomblob(16),
                     next_subject = ?1, next_source = ?2, companies = ?3, derived_by = iif(?4, ?5, derived_by)",
                [
                    self.next_subject,
                    self.next_source,
                    self.companies,
                    i64::from(self.is_first),
                    DERIVED_BY,
                ],
            )?;
        }
        Ok(self.unwritten.map(Unwritten::known_keys).unwrap_or_default())
    }

    /// Sets whether entity resolution is using this writer. If so, the companies that the writer
    /// changes are not noted in the table `unresolved`. Otherwise, entity resolution would have to
    /// run again after each run.
    pub(super) fn set_resolving(&mut self, is_resolving: bool) {
        self.notes.is_resolving = is_resolving;
    }

    pub(crate) fn new_source(&mut self) -> i64 {
        self.is_changed = true;
        self.next_source += 1;
        self.next_source - 1
    }

    pub(crate) fn new_subject_facts(&mut self, kind: Kind) -> SubjectFacts {
        let id = self.next_subject;
        self.next_subject += 1;
        SubjectFacts::new(subject_id(id), kind)
    }

    /// Reads the facts of a stored subject. If the subject is a person, leaves out employers that
    /// no longer exist.
    pub(crate) fn subject_facts(
        &self,
        subject: SubjectId,
        kind: Kind,
    ) -> rusqlite::Result<SubjectFacts> {
        let facts = "SELECT facts, profile FROM subject WHERE id = ?1";
        let held = self.connection.find(facts, [sql_id(subject)], |row| {
            let (facts, profile) = (row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_str()?);
            Ok(stored_facts::unpack(facts, profile).map_err(FromSqlError::other)?)
        })?;
        let held = match held {
            // Every company or person has at least one fact: its name. If the column `facts` is
            // empty, an earlier version has stored the facts as rows of the table `fact`.
            Some(held) if held.facts.is_empty() => fact_rows::read(self.connection, subject)?,
            held => held.unwrap_or_default(),
        };
        let mut subject_facts = SubjectFacts::held(subject, kind, held);
        if kind == Kind::Person {
            let gone = self.employers_gone(&subject_facts)?;
            if !gone.is_empty() {
                subject_facts.remove(|fact, _| {
                    fact.attribute == Attribute::Employer && gone.contains(&fact.value)
                });
            }
        }
        Ok(subject_facts)
    }

    /// Writes the changed facts of a company or person and the data derived from them.
    pub(crate) fn save(&mut self, subject_facts: &SubjectFacts) -> rusqlite::Result<Saved> {
        self.save_derived(subject_facts, None)
    }

    /// Like [`save`](Self::save). `derived` is the data derived from the facts; with `None`, this
    /// method derives it.
    pub(crate) fn save_derived(
        &mut self,
        subject_facts: &SubjectFacts,
        derived: Option<DerivedChange>,
    ) -> rusqlite::Result<Saved> {
        if !subject_facts.is_changed() {
            return Ok(Saved::Same);
        }
        self.is_changed = true;
        let derived = derived.map_or_else(|| DerivedChange::of(subject_facts), Ok);
        let DerivedChange { before, now } = derived.map_err(unreadable)?;
        let saved = self.write_subject(subject_facts, &before, &now)?;
        if before == now {
            return Ok(Saved::Same);
        }
        self.write_identifiers(subject_facts.subject, &before, &now)?;
        self.words.change(subject_facts.subject, &before.words, &now.words);
        if self.unwritten.is_none() && self.words.are_many() {
            self.words.write(self.connection)?;
        }
        self.write_employer(subject_facts.subject, before.employer, now.employer)?;
        Ok(saved)
    }

    /// Writes the identifiers that are new or changed, and deletes those that the company or person
    /// no longer has.
    fn write_identifiers(
        &mut self,
        subject: SubjectId,
        before: &Derived,
        now: &Derived,
    ) -> rusqlite::Result<()> {
        for (identifier, held) in &before.identifiers {
            // The tier is part of the primary key of the table `identifier`. So if the tier
            // changes, the old row is deleted here, and the next loop writes a new row.
            if now.identifiers.get(identifier).is_none_or(|now| now.tier != held.tier) {
                let change = Change { subject, tier: held.tier, confidence: None };
                self.change_identifier(identifier, change)?;
            }
        }
        for (identifier, now) in &now.identifiers {
            if before.identifiers.get(identifier) != Some(now) {
                let Strength { tier, confidence } = *now;
                let change = Change { subject, tier, confidence: Some(confidence) };
                self.change_identifier(identifier, change)?;
            }
        }
        Ok(())
    }

    fn change_identifier(
        &mut self,
        (kind, key): &Identifier,
        change: Change,
    ) -> rusqlite::Result<()> {
        match &mut self.unwritten {
            Some(unwritten) => {
                unwritten.identifiers.change(*kind, key, change);
                Ok(())
            }
            None => write_identifier(self.connection, *kind, key, change),
        }
    }

    fn write_employer(
        &self,
        person: SubjectId,
        before: Option<SubjectId>,
        now: Option<SubjectId>,
    ) -> rusqlite::Result<()> {
        if before == now {
            return Ok(());
        }
        if let Some(company) = before {
            self.connection.run(
                "DELETE FROM employee WHERE company = ?1 AND person = ?2",
                [sql_id(company), sql_id(person)],
            )?;
        }
        if let Some(company) = now {
            self.connection.run(
                "INSERT INTO employee (company, person) VALUES (?1, ?2)",
                [sql_id(company), sql_id(person)],
            )?;
        }
        Ok(())
    }

    /// Writes the row of a company or person in the table `subject`. If no fact gives the company
    /// or person a name any more, deletes the row.
    fn write_subject(
        &mut self,
        subject_facts: &SubjectFacts,
        before: &Derived,
        now: &Derived,
    ) -> rusqlite::Result<Saved> {
        let id = sql_id(subject_facts.subject);
        if subject_facts.kind == Kind::Company {
            self.companies +=
                i64::from(now.profile.is_some()) - i64::from(before.profile.is_some());
        }
        let Some(profile) = &now.profile else {
            // No fact gives the company or person a name, so it is deleted with its other facts,
            // such as an email address.
            self.connection.run("DELETE FROM subject WHERE id = ?1", [id])?;
            return Ok(Saved::Gone);
        };
        let facts = stored_facts::pack(subject_facts, profile);
        if before.profile.is_none() {
            let kind = match subject_facts.kind {
                Kind::Company => COMPANY,
                Kind::Person => PERSON,
            };
            self.connection.run(
                "INSERT INTO subject (id, kind, profile, facts) VALUES (?1, ?2, ?3, ?4)",
                params![id, kind, profile, facts],
            )?;
        } else {
            let update = "UPDATE subject SET profile = ?2, facts = ?3 WHERE id = ?1";
            self.connection.run(update, params![id, profile, facts])?;
        }
        Ok(Saved::Changed)
    }

    /// Returns those employers in a person's facts that no longer exist in the directory.
    fn employers_gone(&self, subject_facts: &SubjectFacts) -> rusqlite::Result<Vec<String>> {
        let mut gone = Vec::new();
        for fact in subject_facts.facts.iter().filter(|fact| fact.attribute == Attribute::Employer)
        {
            let is_there = match fact.value.parse() {
                Ok(id) => self.view().is_there(SubjectId(id))?,
                Err(_) => false,
            };
            if !is_there {
                gone.push(fact.value.clone());
            }
        }
        Ok(gone)
    }
}
