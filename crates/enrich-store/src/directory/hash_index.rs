//! The hash index: exact identifiers of one state of the directory, in memory.
//!
//! Apart from HTTP, a look-up costs most for its way through the B-trees of the directory. A
//! look-up by an identifier reads two of them: the index and the table of subjects. The hash index
//! replaces the first. An identifier that is not in it belongs to no subject. An identifier that is
//! in it leads to a subject, whose profile is read and checked for it, since the table stores
//! hashes only (`docs/performance.md` has the figures).
//!
//! A hash index is valid for one revision of the directory. A look-up that reads several things in
//! one state uses only an index of that state. A look-up by a single identifier reads the revision
//! with the profile. If no subject has the identifier, nothing is read, and the revision comes from
//! the refresh gate: another process's import is found within a hundredth of a second, or a tenth
//! while the check is held up; this process's imports are found at once.
//!
//! Without a hash index, look-ups read the index in the file. That is so in the first seconds of a
//! process, and from a commit until no import has run for a while: building the index reads a large
//! part of the file's index, and takes at most a quarter of a processor.

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

/// The kinds in the index. Look-ups by name read many rows anyway.
const KINDS: [IdentifierKind; 6] = [
    IdentifierKind::CompanyDomain,
    IdentifierKind::CompanyPage,
    IdentifierKind::CompanyEmail,
    IdentifierKind::PersonPage,
    IdentifierKind::PersonEmail,
    IdentifierKind::PersonPhone,
];
/// The fewest bytes of an identifier in the file.
const LEAST_BYTES: usize = 16;
/// Expected identifiers of these kinds per subject; if there are more, they are read twice.
const EACH_HAS: usize = 4;
/// The most identifiers in an index, which takes a gigabyte.
const MOST: usize = 1 << 27;
/// Identifiers read without a pause, so that others are not held up for long. All holders of one
/// identifier are read together, and the first is taken.
const AT_ONCE: usize = 4096;
/// Length of the pause after them, as a multiple of the time that reading them took.
const REST: u32 = 3;
/// Delay before the first index is built, since a command may be done by then, and interval of the
/// check whether a new one is needed.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the directory must be unchanged before the index is built again, as a multiple of the
/// last build's time. So building takes a tenth of a processor at most, even with frequent imports.
const QUIET: u32 = 2;
/// Delay after the identifiers could not be read.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(60);

/// The identifiers of one state and their subjects.
#[derive(Debug)]
pub(crate) struct HashIndex {
    revision: DirectoryRevision,
    hasher: RandomState,
    table: Table,
    /// When the directory was last seen to have this revision.
    refresh_gate: RefreshGate,
}

/// The result of a look-up in the hash index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexResult {
    /// No subject has it.
    Nowhere,
    /// If any subject has it, this is the first one.
    At(IndexHit),
    /// Unknown; the file has to be read.
    Unknown,
}

/// The subject of an identifier in one state of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexHit {
    /// The subject.
    pub(crate) subject: SubjectId,
    /// The confidence of the match.
    pub(crate) confidence: Confidence,
    /// The state's revision.
    pub(crate) revision: DirectoryRevision,
}

/// The current hash index, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Current(ArcSwapOption<HashIndex>);

impl HashIndex {
    /// The revision of the index.
    pub(crate) fn revision(&self) -> DirectoryRevision {
        self.revision
    }

    /// Finds an identifier in the state of the index.
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

    /// Reads all identifiers. Calls `goes_on` from time to time with the length of the pause to
    /// make.
    fn read(
        connection: &Connection,
        goes_on: impl Fn(Duration) -> bool,
    ) -> rusqlite::Result<Reading> {
        let view = View::of(connection);
        let revision = view.revision()?;
        let is_same = || Ok::<_, rusqlite::Error>(view.revision()? == revision);
        let hasher = RandomState::new();
        // Some subjects may be gone, and the counts in the file may be wrong.
        let most = usize::try_from(sqlite::bytes(connection)?).unwrap_or(usize::MAX) / LEAST_BYTES;
        let mut expected = view.subjects_ever()?.saturating_mul(EACH_HAS).min(most);
        // If the expected size was wrong, the second round knows the size.
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
            // A table that is much too large wastes memory.
            if fits && expected / 2 <= count.get().max(1) {
                let refresh_gate = RefreshGate::new();
                return Ok(Reading::Made(Self { revision, hasher, table, refresh_gate }));
            }
            expected = count.get();
        }
        Ok(Reading::TooLarge(revision))
    }
}

/// The result of reading all identifiers.
enum Reading {
    /// The index.
    Made(HashIndex),
    /// No index: the directory changed, or the owner is gone.
    Changed,
    /// No index: this revision has more identifiers than fit.
    TooLarge(DirectoryRevision),
}

impl Current {
    /// The index, for a look-up that reads one state.
    pub(crate) fn get(&self) -> Guard<Option<Arc<HashIndex>>> {
        self.0.load()
    }

    /// Finds an identifier without reading the file. "Nowhere" was true at the last check of the
    /// revision; `revision` reads the revision when a check is due. A hit names the revision that
    /// it is valid for.
    ///
    /// A new index was never checked against the present revision, so the first look-up checks it:
    /// what was written between the end of its build and now is not missed.
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

    /// Records the revision in which a hit was followed. If it differs from the hit's, an index of
    /// the hit's revision is dropped.
    pub(crate) fn learn(&self, hit: Option<IndexHit>, found: Option<DirectoryRevision>) {
        if let (Some(hit), Some(found)) = (hit, found)
            && hit.revision != found
            && let Some(index) = &*self.get()
            && index.revision == hit.revision
        {
            self.forget(index);
        }
    }

    /// Drops the index, because the directory changed.
    pub(crate) fn clear(&self) {
        self.0.store(None);
    }

    /// Drops the index, because the directory no longer has its revision.
    fn forget(&self, index: &Arc<HashIndex>) {
        self.0.compare_and_swap(index, None);
    }
}

/// Builds an index whenever there is none and the directory at `path` is not being changed.
pub(super) fn start(path: &Path, current: Arc<Current>) -> Result<Background, OpenError> {
    let connection =
        sqlite::mapped_reader(path).map_err(|source| OpenError::of_sqlite(path, source))?;
    Background::start(path, "enrich-index", move |owner| maintain(&connection, &current, owner))
}

fn maintain(connection: &Connection, current: &Current, owner: &Owner) {
    let mut quiet = Duration::ZERO;
    let mut seen = None;
    let mut too_large = None;
    // A second reference, so that the memory of a dropped index is freed by this thread and not by
    // a look-up.
    let mut made = None;
    while owner.is_there_after(PAUSE) {
        // If it cannot be read, look-ups report the error.
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

/// Reads the identifiers of [`KINDS`], each with its first holder. Returns whether all were read.
/// After each `at_once` identifiers it calls `goes_on`, which pauses for the given time, so that
/// neither the processor nor one state of the file is held for long. No key is empty.
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

/// Reads so many identifiers from ordered rows, each with its first holder. Returns whether those
/// were all. `last` becomes the last identifier read.
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
