//! Decisions of the operator: which records are one company, and which records are never one
//! company.
//!
//! Decisions are stored with the records that they name ([`DecidedRecord`]). Entity resolution
//! follows them whenever it divides records into companies (`resolution.rs`).

use enrich_core::port::error::StoreError;
use enrich_core::resolution::{DecidedRecord, Decision, DecisionKind, Decisions, RecordClaims};
use enrich_core::{Company, SubjectId, Timestamp};
use enrich_store_sqlite::{self as sqlite, Column, Statements, run_on_new_thread, store_error};
use enrich_text::{CompanyName, Domain, ExternalId};
use rusqlite::{Connection, params};

use super::SqliteImporter;
use super::resolution::Explorer;
use super::stored_decisions::{StoredDecision, kind_code, number_of, stored_decisions};
use super::subject_facts::Kind;
use super::writer::Writer;
use crate::directory::codes::IdentifierKind;

/// Maximum number of companies that are found for one [`CompanyKey`].
const MAX_FOUND: usize = 100;

/// The value by which an operator names a company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompanyKey {
    /// The number of the company in this directory. If this company was merged into another one,
    /// its number finds that other company.
    Number(SubjectId),
    /// An id in a register or data set.
    Id(ExternalId),
    /// A domain, or a host below a domain. Only companies with exactly this domain or host are
    /// found.
    Domain(Domain),
    /// A name or an alias.
    Name(CompanyName),
}

/// A company with its records.
#[derive(Clone, Debug)]
pub struct CompanyRecords {
    /// The company.
    pub company: Company,
    /// The records from which the company's values come.
    pub records: Vec<RecordClaims>,
}

/// The result of a new decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    /// The decision is stored under this number. The records that it names were divided into
    /// companies again, so that they follow the decision.
    Stored(u64),
    /// Nothing is changed, because a decision with the same kind and the same records is stored
    /// already. The value is the number of that stored decision.
    Known(u64),
    /// Nothing is changed, because a stored decision says the contrary: for example, it separates
    /// records that the new decision unites. The value is the number of the stored decision.
    Contradicted(u64),
}

impl SqliteImporter {
    /// Finds the companies that `key` may mean, with their records, in the order of their numbers.
    /// Returns at most 100 companies.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read.
    pub async fn companies(&self, key: &CompanyKey) -> Result<Vec<CompanyRecords>, StoreError> {
        let key = key.clone();
        self.read(move |writer| {
            let subjects = subjects_of(writer, &key)?;
            let mut explorer = Explorer::new(writer)?;
            let mut found = Vec::new();
            for subject in subjects {
                found.extend(company_with_records(writer, &mut explorer, subject)?);
            }
            Ok(found)
        })
        .await
    }

    /// Finds the companies that contain the records of `decision`. These are the records of which
    /// an operator says that they are one company, or that they never are.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read.
    pub async fn companies_of(
        &self,
        decision: &Decision,
    ) -> Result<Vec<CompanyRecords>, StoreError> {
        let decision = decision.clone();
        self.read(move |writer| {
            let mut explorer = Explorer::new(writer)?;
            let [these, those] = explorer.companies_of(&decision)?;
            let mut found = Vec::new();
            for subject in these.union(&those) {
                found.extend(company_with_records(writer, &mut explorer, *subject)?);
            }
            Ok(found)
        })
        .await
    }

    /// Returns the decisions of the operator that were not taken back, in the order of their
    /// numbers.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read.
    pub async fn decisions(&self) -> Result<Vec<StoredDecision>, StoreError> {
        self.read(|writer| stored_decisions(writer.connection)).await
    }

    /// Stores a decision of the operator about the records in `sides`, and divides these records
    /// into companies again, so that they follow the decision. Changes nothing if an earlier
    /// decision says the same or the contrary.
    ///
    /// # Errors
    ///
    /// When the directory cannot be written.
    pub async fn decide(
        &self,
        kind: DecisionKind,
        sides: [Vec<DecidedRecord>; 2],
        at: Timestamp,
    ) -> Result<Decided, StoreError> {
        let new = Decision { number: u64::MAX, kind, sides };
        let checked = new.clone();
        // The decision is first checked without a write, because every write, even of a refused
        // decision, would make the server build its hash index again.
        if let Some(refused) = self.read(move |writer| refusal(writer.connection, &checked)).await?
        {
            return Ok(refused);
        }
        self.write(at, move |writer| match refusal(writer.connection, &new)? {
            Some(refused) => Ok(refused),
            None => writer.store_decision(&new).map(Decided::Stored),
        })
        .await
    }

    /// Takes back the operator's decision with this number, and divides the records that it names
    /// into companies again. Returns the decision; `None` if no decision with this number is in
    /// force.
    ///
    /// # Errors
    ///
    /// When the directory cannot be written.
    pub async fn take_decision_back(
        &self,
        number: u64,
        at: Timestamp,
    ) -> Result<Option<StoredDecision>, StoreError> {
        let found = move |all: Vec<StoredDecision>| {
            all.into_iter().find(|stored| stored.decision.number == number)
        };
        if !self.decisions().await?.iter().any(|stored| stored.decision.number == number) {
            return Ok(None);
        }
        self.write(at, move |writer| {
            let stored = found(stored_decisions(writer.connection)?);
            if let Some(stored) = &stored {
                writer.take_decision_back(&stored.decision)?;
            }
            Ok(stored)
        })
        .await
    }

    /// Runs `read` on a thread of its own, with a connection that only reads.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Writer<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let target = self.target.clone();
        run_on_new_thread(move || {
            let read = || {
                let connection = sqlite::reader(&target.path)?;
                // In a transaction, all reads see one state.
                let transaction = connection.unchecked_transaction()?;
                read(&Writer::new(&transaction, &target.secrets, Timestamp::UNIX_EPOCH)?)
            };
            read().map_err(store_error)
        })
        .await
    }
}

impl Writer<'_> {
    /// Stores a decision under the next free number. Returns this number.
    fn store_decision(&mut self, new: &Decision) -> rusqlite::Result<u64> {
        self.is_changed = true;
        let next = "SELECT coalesce(max(id), 0) + 1 FROM decision";
        let number: i64 = self.connection.value(next, [])?;
        self.connection.run(
            "INSERT INTO decision (id, kind, at) VALUES (?1, ?2, ?3)",
            params![number, kind_code(new.kind), Column(self.at)],
        )?;
        for (side, records) in (0_i64..).zip(&new.sides) {
            for (ordinal, record) in (0_i64..).zip(records) {
                let DecidedRecord { source, id, name, place } = record;
                self.connection.run(
                    "INSERT INTO decided_record
                         (decision, side, ordinal, source, source_record, name, place)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![number, side, ordinal, source, id, name, place],
                )?;
            }
        }
        Ok(u64::try_from(number).unwrap_or_default())
    }

    /// Takes a decision back, and notes the companies that contain its records. Entity resolution
    /// then divides the records of these companies into companies again.
    fn take_decision_back(&mut self, decision: &Decision) -> rusqlite::Result<()> {
        self.is_changed = true;
        let companies = Explorer::new(self)?.companies_of(decision)?;
        companies.iter().flatten().for_each(|subject| self.notes.note(*subject));
        self.connection.run(
            "UPDATE decision SET taken_back_at = ?2 WHERE id = ?1",
            params![number_of(decision), Column(self.at)],
        )?;
        self.connection
            .run("DELETE FROM decided_record WHERE decision = ?1", [number_of(decision)])?;
        Ok(())
    }

    /// Removes hosts that must be forgotten: the stored decisions then no longer contain them.
    /// `is_host` tells whether a text is one of these hosts.
    ///
    /// A decision recognises a record by its id, which may be a host. If the record has no id, it
    /// is recognised by its name and its host or page.
    ///
    /// - If a record is recognised by one of these hosts, it is removed from the decision: for
    ///   example, a record without an id at `quill.example`.
    /// - A record with an id that is not one of these hosts stays in the decision. If its `name` or
    ///   its `place` (a host or page) is one of these hosts, both fields are emptied.
    pub(super) fn forget_decided(&self, is_host: impl Fn(&str) -> bool) -> rusqlite::Result<()> {
        let of_record = "WHERE decision = ?1 AND side = ?2 AND ordinal = ?3";
        for StoredDecision { decision, .. } in stored_decisions(self.connection)? {
            let sides = (0_i64..).zip(&decision.sides);
            let records = sides.flat_map(|(side, records)| {
                (0_i64..).zip(records).map(move |(ordinal, record)| (side, ordinal, record))
            });
            for (side, ordinal, record) in records {
                let [has_name, has_place] = [&record.name, &record.place].map(|it| is_host(it));
                let is_known_by_it = match &record.id {
                    Some(id) => is_host(id),
                    None => has_name || has_place,
                };
                let change = match (is_known_by_it, has_name || has_place) {
                    (true, _) => "DELETE FROM decided_record",
                    (false, true) => "UPDATE decided_record SET name = '', place = ''",
                    (false, false) => continue,
                };
                let key = params![number_of(&decision), side, ordinal];
                self.connection.run(&format!("{change} {of_record}"), key)?;
            }
        }
        Ok(())
    }
}

/// Compares `new` with the stored decisions. If one of them says the same or the contrary, returns
/// its number: `new` must not be stored. Returns `None` if `new` can be stored.
fn refusal(connection: &Connection, new: &Decision) -> rusqlite::Result<Option<Decided>> {
    let all = stored_decisions(connection)?.into_iter().map(|stored| stored.decision);
    let decisions = Decisions::new(all.collect());
    let is_same = |old: &&Decision| {
        let [one, other] = &old.sides;
        let turned = new.sides[0] == *other && new.sides[1] == *one;
        old.kind == new.kind && (turned || new.sides == old.sides)
    };
    if let Some(same) = decisions.iter().find(is_same) {
        return Ok(Some(Decided::Known(same.number)));
    }
    Ok(decisions.contradicted_by(new).map(Decided::Contradicted))
}

/// Returns the numbers of the companies that a key may mean, in ascending order.
fn subjects_of(writer: &Writer<'_>, key: &CompanyKey) -> rusqlite::Result<Vec<SubjectId>> {
    let (kind, key) = match key {
        CompanyKey::Number(subject) => return Ok(vec![writer.successor(*subject)?]),
        CompanyKey::Id(id) => (IdentifierKind::CompanyId, id.as_str()),
        CompanyKey::Domain(domain) => (IdentifierKind::CompanyDomain, domain.as_str()),
        CompanyKey::Name(name) => (IdentifierKind::CompanyName, name.squashed()),
    };
    let holders = writer.view().holders(kind, key, MAX_FOUND)?;
    let mut subjects: Vec<SubjectId> = holders.iter().map(|holder| holder.subject).collect();
    subjects.sort_unstable();
    subjects.dedup();
    Ok(subjects)
}

fn company_with_records(
    writer: &Writer<'_>,
    explorer: &mut Explorer<'_, '_>,
    subject: SubjectId,
) -> rusqlite::Result<Option<CompanyRecords>> {
    if writer.kind_of(subject)? != Some(Kind::Company) {
        return Ok(None);
    }
    let (Some(company), Some(loaded)) = (writer.view().company(subject)?, explorer.load(subject)?)
    else {
        return Ok(None);
    };
    let records = loaded.records.iter().map(|(_, claims)| claims.clone()).collect();
    Ok(Some(CompanyRecords { company, records }))
}

#[cfg(test)]
mod tests;
