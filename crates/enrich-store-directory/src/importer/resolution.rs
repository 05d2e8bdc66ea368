//! Entity resolution: the stage of an import that divides records into companies.
//!
//! During a load (one import), each record is added to the first company that fits it, because this
//! is fast. If all records together may lead to another result, the affected companies are noted in
//! the table `unresolved` (`unresolved.rs`). After the load, this stage does three things for each
//! noted company. It finds the neighbourhood of the company: the companies that can be linked with
//! it ([`neighbourhood`]). It lets [`enrich_core::resolution`] divide the records of the
//! neighbourhood. It moves the records that now belong to another company ([`moves`]). So the
//! result depends only on the records, not on their order. If only records of one source connected
//! two companies, these companies are separate again after the source is removed.
//!
//! The work is divided into parts. Each part is one transaction, which also deletes the companies
//! that it has resolved from the table `unresolved`. So a look-up always sees complete companies,
//! and if the stage is interrupted, the next import continues it.

mod assignment;
mod decided;
mod moves;
mod neighbourhood;
mod noting;

use std::cell::RefCell;
use std::path::Path;

use enrich_core::resolution::{Decisions, RecordClaims, clusters};
use enrich_core::{SubjectId, Timestamp};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{self as sqlite, Statements};
use rusqlite::Connection;
use rustc_hash::FxHashSet;

use super::threads::{in_parts, processors};
use super::turn;
use super::unwritten::KnownKeys;
use super::writer::Writer;
use crate::directory::codes::{sql_id, subject_id};
use crate::directory::hash_index::kept_index::KeptIndex;
use assignment::Assignment;
use neighbourhood::{KnownSharing, Neighbourhood};

pub(super) use neighbourhood::Explorer;

/// Maximum number of companies from the table `unresolved` that one transaction resolves. A larger
/// transaction would need more memory. On the other hand, it would write fewer database pages in
/// total: a transaction writes each changed page once, even if several companies are on it.
const PART: usize = 8192;
/// Maximum number of entries in the [`KnownSharing`] maps of all threads together; they take about
/// 100 MB. An entry says whether many organisations have a certain value, such as a phone number.
/// The number is divided equally among the threads. A thread that has more entries than this drops
/// all its entries before the next transaction.
const MAX_KNOWN: usize = 1 << 20;

/// Minimum number of companies from the table `unresolved` for each thread. With few companies,
/// fewer threads work.
const FEWEST: usize = if cfg!(test) { 2 } else { 256 };
/// Maximum number of threads that find companies which can be linked. During a part (one
/// transaction), each thread keeps in memory all companies that it has read.
const MAX_THREADS: usize = 4;

/// Resolves all companies in the table `unresolved`: decides again which of their records describe
/// the same company, and moves records accordingly. Resolves at most [`PART`] companies in one
/// transaction, and calls `done` after each. `kept_index` collects the changes for the hash index
/// that is stored in a file.
pub(super) fn resolve_all(
    connection: &Connection,
    secrets: &Secrets,
    kept_index: Option<&RefCell<KeptIndex>>,
    mut done: impl FnMut(),
) -> rusqlite::Result<()> {
    turn::write(connection, |transaction| decided::note_unmet(transaction, secrets))?;
    let threads = match connection.path() {
        Some(_) => processors(MAX_THREADS),
        // The path is unknown, because it is not valid UTF-8. So no other thread can open a
        // connection.
        None => 1,
    };
    let mut known: Vec<KnownSharing> = vec![KnownSharing::default(); threads];
    let mut data_version = 0;
    while has_unresolved(connection)? {
        turn::write(connection, |transaction| {
            // If another connection has committed, the records may have changed, so the results in
            // `known` may be wrong.
            let now = transaction.pragma_query_value(None, "data_version", |row| row.get(0))?;
            if std::mem::replace(&mut data_version, now) != now {
                known.iter_mut().for_each(KnownSharing::clear);
            }
            resolve_part(transaction, secrets, (kept_index, &mut known))
        })?;
        done();
        turn::pause();
    }
    Ok(())
}

/// Resolves all companies in the table `unresolved`, like [`resolve_all`], but in the transaction
/// that the caller has begun.
pub(super) fn resolve_within(
    connection: &Connection,
    secrets: &Secrets,
    kept_index: Option<&RefCell<KeptIndex>>,
) -> rusqlite::Result<()> {
    decided::note_unmet(connection, secrets)?;
    // Other connections do not see the uncommitted changes of this transaction. So no other thread
    // can read them, and this thread does all the work.
    let mut known = [KnownSharing::default()];
    while has_unresolved(connection)? {
        resolve_part(connection, secrets, (kept_index, &mut known))?;
    }
    Ok(())
}

fn has_unresolved(connection: &Connection) -> rusqlite::Result<bool> {
    connection.has("SELECT 1 FROM unresolved LIMIT 1", [])
}

/// Resolves the first [`PART`] companies in the table `unresolved`: decides again which of their
/// records describe the same company, and moves records accordingly. Deletes from the table the
/// companies that need no further work.
///
/// `known` has one element for each thread that searches for companies which can be linked. If
/// there are several threads, the caller must not have changed anything in the transaction yet:
/// other threads use their own connections, which do not see uncommitted changes.
fn resolve_part(
    connection: &Connection,
    secrets: &Secrets,
    (kept_index, known): (Option<&RefCell<KeptIndex>>, &mut [KnownSharing]),
) -> rusqlite::Result<()> {
    let most = MAX_KNOWN / known.len();
    known.iter_mut().filter(|known| known.len() > most).for_each(KnownSharing::clear);
    let mut statement =
        connection.prepare_cached("SELECT subject FROM unresolved ORDER BY subject")?;
    let noted = statement.query_map([], |row| Ok(subject_id(row.get(0)?)))?;
    let noted: Vec<SubjectId> = noted.take(PART).collect::<rusqlite::Result<_>>()?;
    drop(statement);
    if let Some(index) = kept_index {
        index.borrow_mut().begin(connection)?;
    }
    // This stage adds no new facts, so the timestamp is not used: facts keep the time of their
    // import.
    let mut writer =
        Writer::of_load(connection, secrets, Timestamp::UNIX_EPOCH, KnownKeys::default())?;
    writer.kept_index = kept_index;
    writer.set_resolving(true);
    let (assignments, settled) = assignments(&writer, &noted, known)?;
    for assignment in assignments {
        writer.apply(assignment)?;
    }
    writer.finish()?;
    if let Some(index) = kept_index {
        index.borrow_mut().end(connection)?;
    }
    for subject in settled {
        let delete = "DELETE FROM unresolved WHERE subject = ?1";
        connection.run(delete, [sql_id(subject)])?;
    }
    Ok(())
}

/// Returns the assignments (which company gets which records) that change companies, ordered by the
/// lowest id of their companies. Also returns the companies of `noted` that need no further work
/// after these assignments.
///
/// A neighbourhood is the set of companies that can be linked with a company. Two neighbourhoods
/// may have some companies in common. If the assignment of the first neighbourhood changes a
/// company of the second one, the second one is left for the next call. Each call makes progress:
/// at least the first company of `noted` is done after it, because no earlier assignment can have
/// changed the neighbourhood of this company.
fn assignments(
    writer: &Writer<'_>,
    noted: &[SubjectId],
    known: &mut [KnownSharing],
) -> rusqlite::Result<(Vec<Assignment>, Vec<SubjectId>)> {
    let (mut seen, mut changed) = (FxHashSet::default(), FxHashSet::default());
    let mut settled: FxHashSet<SubjectId> = FxHashSet::default();
    let mut assignments = Vec::new();
    for Explored { seed, members, assignment } in explore_on_all(writer, noted, known)? {
        // A neighbourhood (companies that can be linked with `seed`) is skipped here if `seed` is
        // already in an earlier neighbourhood. `explore` has already skipped such neighbourhoods,
        // but only among those of one thread. Here the neighbourhoods of all threads are compared,
        // so the result does not depend on the number of threads.
        if seen.contains(&seed) {
            continue;
        }
        seen.extend(members.iter().copied());
        if members.iter().any(|member| changed.contains(member)) {
            continue;
        }
        settled.extend(members.iter().copied());
        if let Some(assignment) = assignment {
            changed.extend(members);
            assignments.push(assignment);
        }
    }
    assignments.sort_by_key(Assignment::first);
    Ok((assignments, noted.iter().copied().filter(|seed| settled.contains(seed)).collect()))
}

/// The neighbourhood of the unresolved company `seed`: the companies that can be linked with it.
struct Explored {
    seed: SubjectId,
    /// The companies that can be linked with `seed`, and `seed` itself. If they have too many
    /// records, only `seed`.
    members: Vec<SubjectId>,
    /// The companies that get the records of `members`; `None` if no record moves to another
    /// company.
    assignment: Option<Assignment>,
}

/// Finds the neighbourhood of each company in `noted`: the companies that can be linked with it.
/// Then decides which records of the neighbourhood describe the same company. Uses at most one
/// thread for each element of `known`. Two threads may find the same neighbourhood.
fn explore_on_all(
    writer: &Writer<'_>,
    noted: &[SubjectId],
    known: &mut [KnownSharing],
) -> rusqlite::Result<Vec<Explored>> {
    let part = noted.len().div_ceil(known.len()).max(FEWEST);
    let (path, secrets) = (Path::new(writer.connection.path().unwrap_or_default()), writer.secrets);
    let explored = in_parts(
        noted.chunks(part).zip(known),
        |(seeds, known)| explore(writer, seeds, known),
        |(seeds, known)| {
            let connection = sqlite::mapped_reader(path)?;
            // This writer only reads, so the timestamp is not used.
            explore(&Writer::new(&connection, secrets, Timestamp::UNIX_EPOCH)?, seeds, known)
        },
    );
    let explored: Vec<Vec<Explored>> = explored.into_iter().collect::<Result<_, _>>()?;
    Ok(explored.into_iter().flatten().collect())
}

/// Finds the neighbourhood of each company in `seeds`: the companies that can be linked with it.
/// Then decides which records of the neighbourhood describe the same company. Leaves out seeds that
/// are in the neighbourhood of an earlier seed.
fn explore(
    writer: &Writer<'_>,
    seeds: &[SubjectId],
    known: &mut KnownSharing,
) -> rusqlite::Result<Vec<Explored>> {
    let mut explorer = Explorer::new(writer)?;
    explorer.known_sharing = std::mem::take(known);
    let mut seen: FxHashSet<SubjectId> = FxHashSet::default();
    let mut explored = Vec::new();
    for &seed in seeds {
        if seen.contains(&seed) {
            continue;
        }
        let neighbourhood = explorer.around(seed)?;
        let members = neighbourhood.iter().flat_map(|it| &it.members);
        let mut members: Vec<SubjectId> = members.map(|member| member.subject).collect();
        if members.is_empty() {
            members.push(seed);
        }
        seen.extend(&members);
        let assignment = neighbourhood.and_then(|it| divide(&it, &explorer.decisions));
        explored.push(Explored { seed, members, assignment });
    }
    *known = explorer.known_sharing;
    Ok(explored)
}

/// Divides the records of a neighbourhood (companies that can be linked) into companies. Returns
/// `None` if the division equals the stored one, so that nothing changes.
fn divide(neighbourhood: &Neighbourhood, decisions: &Decisions) -> Option<Assignment> {
    let members = &neighbourhood.members;
    let records: Vec<&RecordClaims> =
        members.iter().flat_map(|member| member.records.iter().map(|(_, claims)| claims)).collect();
    if records.len() < 2 {
        return None;
    }
    Assignment::of(members, &clusters(&records, &neighbourhood.shared, decisions))
}

#[cfg(test)]
mod tests;
