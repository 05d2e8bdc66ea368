//! Where exact identifiers lead, told from memory: a hash index of one state of the directory.
//!
//! Most of what a look-up costs beside HTTP is the way down the trees of the directory. One by an
//! identifier goes two: the index, and the table of subjects. This one in memory stands for the
//! first. What is not in it nobody has; what is in it leads to a subject, whose profile is read and
//! has to have the identifier, since the table keeps hashes alone (`docs/performance.md` has the
//! figures).
//!
//! A hash index is of one generation of the directory and says nothing of another. A look-up that
//! reads several things and so keeps to one state asks only an index of that state. One that asks
//! for a single identifier reads the generation with the profile. Where nobody has it and so nothing
//! is read, it goes by the generation at a glance: what another process has imported is found within
//! a hundredth of a second, or a tenth while somebody is held up looking; what this process has, at
//! once.
//!
//! Where there is none, look-ups read the index in the file. That is so in the first seconds of a
//! process, and from a commit on until nobody has written for a while: making one anew reads a good
//! part of the index, and takes at most a quarter of a processor.

mod table;

use std::cell::Cell;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwapOption, Guard};
use enrich_core::{Confidence, DirectoryRevision, SubjectId};
use rusqlite::{Connection, Rows, params};
use tracing::{info, warn};

use super::codes::IdentifierKind;
use super::identifiers::{Holder, holder_of};
use super::view::View;
use crate::background::{Background, Owner};
use crate::error::OpenError;
use crate::refresh_gate::RefreshGate;
use crate::sqlite;
use table::{Entry, Table};

/// The kinds that are in it: what is asked for by a name reads many rows anyway.
const KINDS: [IdentifierKind; 6] = [
    IdentifierKind::CompanyDomain,
    IdentifierKind::CompanyPage,
    IdentifierKind::CompanyEmail,
    IdentifierKind::PersonPage,
    IdentifierKind::PersonEmail,
    IdentifierKind::PersonPhone,
];
/// The least that an identifier takes in the file.
const LEAST_BYTES: usize = 16;
/// How many identifiers of these kinds are expected of a subject; where there are more, they are
/// read twice.
const EACH_HAS: usize = 4;
/// How many identifiers there is an index of at most, in a gigabyte.
const MOST: usize = 1 << 27;
/// How many identifiers are read without a pause, which keeps no other for long: where one is that of
/// very many, all of them are read, and the first is taken.
const AT_ONCE: usize = 4096;
/// How long is paused then, in what reading them took.
const REST: u32 = 3;
/// How long a process goes without an index at first, since a command may be done by then, and how
/// often it is looked whether there has to be another one.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the directory has to be the same before the index is made anew, in what making the last
/// one took: however often there is an import, making it takes a tenth of a processor at most.
const QUIET: u32 = 2;
/// How long is waited when the identifiers cannot be read.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(60);

/// Where the identifiers of one state lead.
#[derive(Debug)]
pub(crate) struct HashIndex {
    revision: DirectoryRevision,
    hasher: RandomState,
    table: Table,
    /// When the directory was last seen to be of this generation.
    refresh_gate: RefreshGate,
}

/// What is known of an identifier without reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexResult {
    /// Nobody has it.
    Nowhere,
    /// If somebody has it, then this one before all others.
    At(IndexHit),
    /// Nothing.
    Unknown,
}

/// Where an identifier leads in one state of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexHit {
    /// Whose it is.
    pub(crate) subject: SubjectId,
    /// How sure that is.
    pub(crate) confidence: Confidence,
    /// The state.
    pub(crate) revision: DirectoryRevision,
}

/// The index that look-ups go by; there may be none.
#[derive(Debug, Default)]
pub(crate) struct Current(ArcSwapOption<HashIndex>);

impl HashIndex {
    /// The state that it is of.
    pub(crate) fn revision(&self) -> DirectoryRevision {
        self.revision
    }

    /// Where an identifier leads, in the state that the index is of.
    pub(crate) fn locate(&self, kind: IdentifierKind, key: &str) -> IndexResult {
        if !KINDS.contains(&kind) {
            return IndexResult::Unknown;
        }
        match self.table.get(self.hasher.hash_one((kind, key))) {
            None => IndexResult::Nowhere,
            Some(Entry::Elsewhere) => IndexResult::Unknown,
            Some(Entry::Of(subject, confidence)) => {
                IndexResult::At(IndexHit { subject, confidence, revision: self.revision })
            }
        }
    }

    /// Reads all that is held. Every now and then it asks `goes_on`, which pauses for so long.
    fn read(
        connection: &Connection,
        goes_on: impl Fn(Duration) -> bool,
    ) -> rusqlite::Result<Reading> {
        let view = View::of(connection);
        let revision = view.revision()?;
        let is_same = || Ok::<_, rusqlite::Error>(view.revision()? == revision);
        let hasher = RandomState::new();
        // Some of the subjects may be gone, and what a file says of itself may not be so.
        let most = usize::try_from(sqlite::bytes(connection)?).unwrap_or(usize::MAX) / LEAST_BYTES;
        let mut expected = view.subjects_ever()?.saturating_mul(EACH_HAS).min(most);
        // If what was expected was wrong, then it is known the second time.
        for _ in 0..2 {
            expected = expected.clamp(1, MOST);
            let Some(mut table) = Table::with_room_for(expected) else {
                return Ok(Reading::TooLarge(revision));
            };
            let (count, mut fits) = (Cell::new(0), true);
            let may_go_on = |pause| Ok(count.get() <= MOST && goes_on(pause) && is_same()?);
            let is_whole = each_identifier(connection, AT_ONCE, may_go_on, |kind, key, holder| {
                let hash = hasher.hash_one((kind, key));
                fits &= table.insert(hash, holder.subject, holder.confidence);
                count.set(count.get() + 1);
            })?;
            if count.get() > MOST {
                break;
            }
            if !is_whole {
                return Ok(Reading::Changed);
            }
            // What is much too large wastes memory.
            if fits && expected / 2 <= count.get().max(1) {
                let refresh_gate = RefreshGate::new();
                return Ok(Reading::Made(Self { revision, hasher, table, refresh_gate }));
            }
            expected = count.get();
        }
        Ok(Reading::TooLarge(revision))
    }
}

/// What came of reading all identifiers.
enum Reading {
    /// The index.
    Made(HashIndex),
    /// Nothing: it is another state now, or the owner is gone.
    Changed,
    /// Nothing: there are more identifiers in this state than there is room for.
    TooLarge(DirectoryRevision),
}

impl Current {
    /// The index, for a look-up that keeps to one state.
    pub(crate) fn get(&self) -> Guard<Option<Arc<HashIndex>>> {
        self.0.load()
    }

    /// Where an identifier leads, as far as is known without reading. That nobody has it was so at
    /// the last glance; `revision` reads the state of the directory, where it is time for that. What
    /// somebody has, they have in the state that the lead is of.
    ///
    /// An index that was just put here was never seen to be of the present state, so that the first
    /// to ask looks: what was written between its last look and now is not missed.
    pub(crate) fn locate(
        &self,
        kind: IdentifierKind,
        key: &str,
        revision: impl FnOnce() -> Option<DirectoryRevision>,
    ) -> IndexResult {
        let current = self.get();
        let Some(index) = &*current else { return IndexResult::Unknown };
        let index_result = index.locate(kind, key);
        if index_result == IndexResult::Nowhere && index.refresh_gate.is_due() {
            let moment = index.refresh_gate.moment();
            if revision() != Some(index.revision) {
                self.forget(index);
                return IndexResult::Unknown;
            }
            index.refresh_gate.seen(moment);
        }
        index_result
    }

    /// What was found by a lead is of this state: if that is another, an index of the lead's is of no
    /// use any more.
    pub(crate) fn learn(&self, hit: Option<IndexHit>, found: Option<DirectoryRevision>) {
        if let (Some(hit), Some(found)) = (hit, found)
            && hit.revision != found
            && let Some(index) = &*self.get()
            && index.revision == hit.revision
        {
            self.forget(index);
        }
    }

    /// The directory is another one now.
    pub(crate) fn clear(&self) {
        self.0.store(None);
    }

    /// The directory is not that of this index any more.
    fn forget(&self, index: &Arc<HashIndex>) {
        self.0.compare_and_swap(index, None);
    }
}

/// Makes an index whenever there is none and the directory of `path` is left alone.
pub(super) fn start(path: &Path, current: Arc<Current>) -> Result<Background, OpenError> {
    let connection =
        sqlite::mapped_reader(path).map_err(|source| OpenError::of_sqlite(path, source))?;
    Background::start(path, "enrich-index", move |owner| keep(&connection, &current, owner))
}

fn keep(connection: &Connection, current: &Current, owner: &Owner) {
    let mut quiet = Duration::ZERO;
    let mut seen = None;
    let mut too_large = None;
    // Kept here as well, so that the memory of one that is gone is given back here, by nobody's
    // look-up.
    let mut made = None;
    while owner.is_there_after(PAUSE) {
        // Where it cannot be read, look-ups say so.
        let Ok(now) = View::of(connection).revision() else { continue };
        let since = match seen {
            Some((revision, since)) if revision == now => since,
            _ => Instant::now(),
        };
        seen = Some((now, since));
        if let Some(index) = &*current.get() {
            if index.revision == now {
                continue;
            }
            current.forget(index);
        }
        made = None;
        if since.elapsed() < quiet || too_large == Some(now) {
            continue;
        }
        let begun = Instant::now();
        match HashIndex::read(connection, |pause| owner.is_there_after(pause)) {
            Ok(Reading::Made(index)) => {
                made = Some(Arc::new(index));
                current.0.store(made.clone());
            }
            Ok(Reading::Changed) => {}
            Ok(Reading::TooLarge(revision)) => {
                info!("there are more identifiers than a memory index has room for: they are read");
                too_large = Some(revision);
            }
            Err(error) => {
                warn!(%error, "the identifiers cannot be read to their end");
                if !owner.is_there_after(PAUSE_AFTER_ERROR) {
                    break;
                }
            }
        }
        quiet = PAUSE.max(begun.elapsed() * QUIET);
    }
    drop(made);
}

/// Reads the identifiers of [`KINDS`], each with the first who has it; tells whether to the end. After
/// so many `at_once` it asks `goes_on`, which pauses for as long as it is told, so that neither the
/// processor nor one state of the file is kept for long. No key is empty.
fn each_identifier(
    connection: &Connection,
    at_once: usize,
    goes_on: impl Fn(Duration) -> rusqlite::Result<bool>,
    mut take: impl FnMut(IdentifierKind, &str, Holder),
) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT key, subject, tier, confidence FROM identifier WHERE kind = ?1 AND key > ?2
         ORDER BY key, tier, subject",
    )?;
    for kind in KINDS {
        let mut last = String::new();
        loop {
            let begun = Instant::now();
            let mut rows = statement.query(params![kind, last])?;
            let is_end = some_identifiers(&mut rows, at_once, &mut last, |key, first| {
                take(kind, key, first);
            })?;
            drop(rows);
            if !goes_on(begun.elapsed() * REST)? {
                return Ok(false);
            }
            if is_end {
                break;
            }
        }
    }
    Ok(true)
}

/// Takes so many identifiers from rows in their order, of each the first who has it; tells whether
/// those were all. `last` becomes the last that was taken.
fn some_identifiers(
    rows: &mut Rows<'_>,
    mut left: usize,
    last: &mut String,
    mut take: impl FnMut(&str, Holder),
) -> rusqlite::Result<bool> {
    let mut first = None::<Holder>;
    while let Some(row) = rows.next()? {
        let (key, holder) = (row.get_ref(0)?.as_str()?, holder_of(row, 1)?);
        match &mut first {
            Some(first) if key == last => {
                first.confidence = first.sure_beside(Some(holder.tier));
                continue;
            }
            Some(first) => {
                take(last, *first);
                left -= 1;
                if left == 0 {
                    return Ok(false);
                }
            }
            None => {}
        }
        first = Some(holder);
        key.clone_into(last);
    }
    if let Some(first) = first {
        take(last, first);
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
