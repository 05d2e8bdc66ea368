//! The stage of an import that divides records into companies.
//!
//! While a load runs, a record is put to the first company that fits it, because that is fast. Where
//! this may not be what all records together say, the companies are noted (`unresolved.rs`). After the
//! load, this stage takes the noted companies, finds all companies whose records may belong together
//! ([`neighbourhood`]), lets [`enrich_core::resolution`] divide their records, and moves the records
//! that are with another company now ([`moves`]). So the result depends on the records only, not on
//! their order, and a removed source takes its merges back.
//!
//! The work is divided into parts. Each part is one transaction, which also deletes the notes, so a
//! look-up always sees whole companies, and an interrupted stage goes on with the next import.

mod assignment;
mod moves;
mod neighbourhood;
mod noting;

use std::cell::RefCell;

use enrich_core::resolution::{RecordClaims, clusters};
use enrich_core::{SubjectId, Timestamp};
use enrich_secrets::Secrets;
use enrich_store_sqlite::Statements;
use rusqlite::Connection;
use rustc_hash::FxHashSet;

use super::turn;
use super::writer::Writer;
use crate::directory::codes::{sql_id, subject_id};
use crate::directory::hash_index::kept::KeptIndex;
use assignment::Assignment;
use neighbourhood::{Explorer, Neighbourhood};

/// The most noted companies that one transaction resolves. More of them share written pages, but
/// take more memory.
const PART: usize = 8192;

/// Resolves all noted companies, each part in a transaction of its own, and keeps the stored hash
/// index up to date. Calls `done` after each transaction.
pub(super) fn resolve_all(
    connection: &Connection,
    secrets: &Secrets,
    kept_index: Option<&RefCell<KeptIndex>>,
    mut done: impl FnMut(),
) -> rusqlite::Result<()> {
    while has_unresolved(connection)? {
        turn::write(connection, |transaction| resolve_part(transaction, secrets, kept_index))?;
        done();
        turn::pause();
    }
    Ok(())
}

/// Resolves all noted companies in the running transaction.
pub(super) fn resolve_within(
    connection: &Connection,
    secrets: &Secrets,
    kept_index: Option<&RefCell<KeptIndex>>,
) -> rusqlite::Result<()> {
    while has_unresolved(connection)? {
        resolve_part(connection, secrets, kept_index)?;
    }
    Ok(())
}

fn has_unresolved(connection: &Connection) -> rusqlite::Result<bool> {
    connection.has("SELECT 1 FROM unresolved LIMIT 1", [])
}

/// Resolves the first noted companies, and deletes their notes.
fn resolve_part(
    connection: &Connection,
    secrets: &Secrets,
    kept_index: Option<&RefCell<KeptIndex>>,
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("SELECT subject FROM unresolved ORDER BY subject")?;
    let noted = statement.query_map([], |row| Ok(subject_id(row.get(0)?)))?;
    let noted: Vec<SubjectId> = noted.take(PART).collect::<rusqlite::Result<_>>()?;
    drop(statement);
    // The timestamp is not used: facts keep the time at which they were given.
    if let Some(index) = kept_index {
        index.borrow_mut().begin(connection)?;
    }
    let mut writer = Writer::of_load(connection, secrets, Timestamp::UNIX_EPOCH)?;
    writer.kept_index = kept_index;
    writer.is_resolving(true);
    let assignments = assignments(&writer, &noted)?;
    for assignment in assignments {
        writer.apply(assignment)?;
    }
    writer.finish()?;
    if let Some(index) = kept_index {
        index.borrow_mut().end(connection)?;
    }
    for subject in noted {
        let delete = "DELETE FROM unresolved WHERE subject = ?1";
        connection.run(delete, [sql_id(subject)])?;
    }
    Ok(())
}

/// Returns what has to change around the noted companies, ordered by their ids.
fn assignments(writer: &Writer<'_>, noted: &[SubjectId]) -> rusqlite::Result<Vec<Assignment>> {
    let mut explorer = Explorer::new(writer)?;
    let mut seen: FxHashSet<SubjectId> = FxHashSet::default();
    let mut assignments = Vec::new();
    for &seed in noted {
        if seen.contains(&seed) {
            continue;
        }
        let Some(neighbourhood) = explorer.around(seed)? else { continue };
        seen.extend(neighbourhood.members.iter().map(|member| member.subject));
        assignments.extend(divide(&neighbourhood));
    }
    assignments.sort_by_key(Assignment::first);
    Ok(assignments)
}

/// Divides the records of a neighbourhood. Returns `None` if each company has the records that it
/// should have.
fn divide(neighbourhood: &Neighbourhood) -> Option<Assignment> {
    let members = &neighbourhood.members;
    let records: Vec<&RecordClaims> =
        members.iter().flat_map(|member| member.records.iter().map(|(_, claims)| claims)).collect();
    if records.len() < 2 {
        return None;
    }
    Assignment::of(members, &clusters(&records, &neighbourhood.shared))
}

#[cfg(test)]
mod tests;
