//! Finds the companies that contain the records which decisions of the operator name.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use enrich_core::resolution::{DecidedRecord, Decision, DecisionKind, MAX_BEARERS};
use enrich_core::{SubjectId, Timestamp};
use enrich_secrets::Secrets;
use enrich_store_sqlite::Statements;
use enrich_text::CompanyName;
use rusqlite::Connection;
use rustc_hash::FxHashSet;

use super::super::stored_decisions::has_decisions;
use super::super::writer::Writer;
use super::neighbourhood::{Explorer, Loaded};
use crate::directory::codes::{IdentifierKind, sql_id};

/// If the record of a decision is searched for by its name, at most this number of companies with
/// this name are searched.
const MAX_NAMESAKES: usize = 1000;

impl Explorer<'_, '_> {
    /// Returns the companies that contain a record which a decision names: usually one company, or
    /// none if the record is not imported.
    pub(in super::super) fn companies_with(
        &mut self,
        record: &DecidedRecord,
    ) -> rusqlite::Result<Vec<Arc<Loaded>>> {
        let mut subjects = BTreeSet::new();
        if let (Some(source), Some(id)) = (self.source(&record.source), &record.id) {
            subjects.extend(self.writer.company_of_record(source, id)?);
        }
        let found = self.having(record, &subjects)?;
        if !found.is_empty() {
            return Ok(found);
        }
        // The record has no id, or the database no longer contains the hash of its id. (For
        // example, the hashes of a company's records are deleted when a suppression of one of its
        // values is taken back.) So the record is searched for by its host, page or name.
        self.having(record, &self.near(record)?)
    }

    /// Returns the companies of `subjects` that contain the record.
    fn having(
        &mut self,
        record: &DecidedRecord,
        subjects: &BTreeSet<SubjectId>,
    ) -> rusqlite::Result<Vec<Arc<Loaded>>> {
        let mut found = Vec::new();
        for subject in subjects {
            let Some(loaded) = self.load(*subject)? else { continue };
            if loaded.records.iter().any(|(_, claims)| record.is(claims)) {
                found.push(loaded);
            }
        }
        Ok(found)
    }

    /// Returns the companies that have the domain or page in `record.place`. If there are none, or
    /// more than [`MAX_BEARERS`], also returns the companies with the record's name.
    fn near(&self, record: &DecidedRecord) -> rusqlite::Result<BTreeSet<SubjectId>> {
        use IdentifierKind::{CompanyDomain, CompanyName as ByName, CompanyPage};
        let view = self.writer.view();
        let mut found = BTreeSet::new();
        for kind in [CompanyDomain, CompanyPage] {
            let holders = view.holders(kind, &record.place, MAX_BEARERS + 1)?;
            found.extend(holders.iter().map(|holder| holder.subject));
        }
        if (1..=MAX_BEARERS).contains(&found.len()) {
            return Ok(found);
        }
        let Ok(name) = CompanyName::parse(&record.name) else { return Ok(found) };
        let holders = view.holders(ByName, name.squashed(), MAX_NAMESAKES)?;
        found.extend(holders.iter().map(|holder| holder.subject));
        Ok(found)
    }

    /// Returns the companies that decisions of the operator merge with a company. Skips the
    /// decisions whose numbers are in `followed`, and adds the numbers of the others to `followed`.
    pub(super) fn merged_with(
        &mut self,
        loaded: &Loaded,
        followed: &mut FxHashSet<u64>,
    ) -> rusqlite::Result<BTreeSet<SubjectId>> {
        let decisions = Rc::clone(&self.decisions);
        let mut merged = BTreeSet::new();
        for (_, claims) in &loaded.records {
            for (decision, _) in decisions.naming(claims) {
                if decision.kind == DecisionKind::Merge && followed.insert(decision.number) {
                    merged.extend(self.companies_of(decision)?.into_iter().flatten());
                }
            }
        }
        Ok(merged)
    }

    /// Returns, for each of the two sides of a decision, the companies that contain the records of
    /// this side. The decision says that the records of both sides are one company, or are never
    /// one company.
    pub(in super::super) fn companies_of(
        &mut self,
        decision: &Decision,
    ) -> rusqlite::Result<[BTreeSet<SubjectId>; 2]> {
        let mut companies = [BTreeSet::new(), BTreeSet::new()];
        for (companies, records) in companies.iter_mut().zip(&decision.sides) {
            for record in records {
                companies.extend(self.companies_with(record)?.iter().map(|it| it.subject));
            }
        }
        Ok(companies)
    }
}

/// Notes, in the table `unresolved`, the companies that do not follow a decision of the operator
/// yet. For example, the decision is new, or a record that it names has just been imported.
pub(super) fn note_unmet(connection: &Connection, secrets: &Secrets) -> rusqlite::Result<()> {
    if !has_decisions(connection)? {
        return Ok(());
    }
    // Nothing is imported, so the timestamp is not used.
    let writer = Writer::new(connection, secrets, Timestamp::UNIX_EPOCH)?;
    let mut explorer = Explorer::new(&writer)?;
    for decision in Rc::clone(&explorer.decisions).iter() {
        let [these, those] = explorer.companies_of(decision)?;
        let all: BTreeSet<SubjectId> = these.union(&those).copied().collect();
        let is_unmet = match decision.kind {
            DecisionKind::Merge => all.len() > 1,
            DecisionKind::Split => !these.is_disjoint(&those),
        };
        for subject in all.into_iter().filter(|_| is_unmet) {
            let insert = "INSERT OR IGNORE INTO unresolved (subject) VALUES (?1)";
            connection.run(insert, [sql_id(subject)])?;
        }
    }
    Ok(())
}
