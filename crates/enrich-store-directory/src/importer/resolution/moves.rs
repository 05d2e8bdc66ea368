//! Moves records from one company to another, if entity resolution has found that they describe the
//! other company.

use std::collections::BTreeMap;
use std::sync::Arc;

use enrich_core::SubjectId;
use enrich_store_sqlite::Statements;
use rusqlite::params;

use super::super::origins::record_hashes;
use super::super::subject_facts::{Kind, SubjectFacts, Unpacked};
use super::super::writer::Writer;
use super::assignment::{Assignment, RecordsOf};
use super::neighbourhood::Loaded;
use crate::directory::codes::{sql_id, subject_id};

impl Writer<'_> {
    /// Carries out an assignment: moves the records to their new companies, and removes companies
    /// without records.
    pub(super) fn apply(&mut self, assignment: Assignment) -> rusqlite::Result<()> {
        let members: BTreeMap<SubjectId, Arc<Loaded>> =
            assignment.members.iter().map(|member| (member.subject, member.clone())).collect();
        let ids: Vec<SubjectId> = assignment
            .companies
            .iter()
            .map(|(kept, _)| kept.unwrap_or_else(|| self.new_subject_facts(Kind::Company).subject))
            .collect();
        // All companies are written first. Then the employees of a removed company can be moved to
        // the company that replaces it.
        for (id, (_, records)) in ids.iter().zip(&assignment.companies) {
            let of_others = records.len() > 1 || records.iter().any(|(of, _)| of != id);
            let held = members.get(id);
            let has_all = |held: &Arc<Loaded>| {
                records.iter().map(|(_, numbers)| numbers.len()).sum::<usize>()
                    == held.records.len()
            };
            if of_others || !held.is_some_and(has_all) {
                self.save(&collected(*id, held, &members, records))?;
                self.move_fingerprints(*id, &members, records)?;
            }
        }
        for member in members.values().filter(|member| !ids.contains(&member.subject)) {
            let Some(successor) = assignment.successor(member.subject).map(|at| ids[at]) else {
                continue;
            };
            self.move_employees(member.subject, successor)?;
            self.save(&emptied(member))?;
            self.connection.run(
                "INSERT INTO merged_company (subject, merged_into) VALUES (?1, ?2)
                 ON CONFLICT (subject) DO UPDATE SET merged_into = excluded.merged_into",
                [member.id(), sql_id(successor)],
            )?;
        }
        Ok(())
    }

    /// Changes the employer of all people who work at `company` to `successor`.
    fn move_employees(&mut self, company: SubjectId, successor: SubjectId) -> rusqlite::Result<()> {
        let people = "SELECT person FROM employee WHERE company = ?1 ORDER BY person";
        let people: Vec<i64> = self.connection.list(people, [sql_id(company)], |row| row.get(0))?;
        for person in people {
            let mut facts = self.subject_facts(subject_id(person), Kind::Person)?;
            facts.change_employer(company, successor);
            self.save(&facts)?;
        }
        Ok(())
    }

    /// Changes the company of moved records to `id`, in the table `record`, by which an import
    /// recognises records. A record has one row with a hash of its content. If it has an id, it
    /// also has a row with a hash of the id.
    ///
    /// Only the row of the id is changed, because an import uses it to find the company of a new
    /// version of the record. The row of the content is not changed: a record with this content is
    /// not imported again, whichever company the row names.
    fn move_fingerprints(
        &mut self,
        id: SubjectId,
        members: &BTreeMap<SubjectId, Arc<Loaded>>,
        records: &[RecordsOf],
    ) -> rusqlite::Result<()> {
        for (of, numbers) in records.iter().filter(|(of, _)| *of != id) {
            let Some(member) = members.get(of) else { continue };
            for number in numbers {
                let given = &member.facts.given[*number];
                let Some(record) = given.record.id() else { continue };
                for hash in record_hashes(self.secrets, Kind::Company, record) {
                    let update = "UPDATE record SET subject = ?3 WHERE source = ?1 AND hash = ?2";
                    self.connection.run(update, params![given.source, hash, sql_id(id)])?;
                }
            }
        }
        Ok(())
    }
}

/// Collects the facts of the company `id` from all records that it gets. `held` is the company
/// before the records were moved; `None` if the company is new.
fn collected(
    id: SubjectId,
    held: Option<&Arc<Loaded>>,
    members: &BTreeMap<SubjectId, Arc<Loaded>>,
    records: &[RecordsOf],
) -> SubjectFacts {
    let mut unpacked = Unpacked::default();
    for (of, numbers) in records {
        let Some(member) = members.get(of) else { continue };
        let record_numbers = member.facts.records();
        for (given, fact) in member.facts.facts_with_given() {
            if numbers.contains(&record_numbers[given]) {
                unpacked.add(member.facts.given[given].clone(), fact.clone());
            }
        }
    }
    let before = held.map(|held| held.facts.unpacked()).unwrap_or_default();
    SubjectFacts::replaced(id, Kind::Company, unpacked, before)
}

/// Returns empty facts for a company from which all records were moved away.
fn emptied(member: &Loaded) -> SubjectFacts {
    let before = member.facts.unpacked();
    SubjectFacts::replaced(member.subject, Kind::Company, Unpacked::default(), before)
}
