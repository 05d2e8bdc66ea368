//! The hash index: exact identifiers of one state of the directory, in memory.
//!
//! Apart from HTTP, reading the B-trees of the directory is the largest cost of a look-up. A
//! look-up by an identifier reads two B-trees: the index of identifiers and the table of subjects.
//! The hash index replaces the first one. If the hash index does not contain an identifier, no
//! subject has the identifier. Otherwise it returns a subject. The hash index stores only hashes,
//! so the look-up reads the subject's profile and checks that the profile contains the identifier
//! (`docs/performance.md` has the figures).
//!
//! A hash index is valid for one revision of the directory. A look-up that reads several things in
//! one state uses only an index of that state. A look-up by one identifier reads the revision
//! together with the profile. If no subject has the identifier, nothing is read, and the refresh
//! gate shows whether the revision may have changed. The gate notices an import of another process
//! within a hundredth of a second, or within a tenth if the check is delayed. It notices an import
//! of this process immediately.
//!
//! Without a hash index, look-ups read the index in the file. There is no hash index in the first
//! seconds of a process, and from an import until no further import has run for a while. Building
//! the hash index reads a large part of the file's index, and uses at most a quarter of a
//! processor.

mod making;
mod table;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwapOption, Guard};
use enrich_core::{Confidence, DirectoryRevision, SubjectId};
use enrich_store_sqlite::RefreshGate;
use rusqlite::Connection;

use super::codes::IdentifierKind;
pub(super) use making::start;
use table::{Entry, Table};

/// The kinds of identifiers in the hash index. Names are not included, because a look-up by name
/// reads many rows.
const KINDS: [IdentifierKind; 6] = [
    IdentifierKind::CompanyDomain,
    IdentifierKind::CompanyPage,
    IdentifierKind::CompanyEmail,
    IdentifierKind::PersonPage,
    IdentifierKind::PersonEmail,
    IdentifierKind::PersonPhone,
];
/// The identifiers of one state of the directory, with their subjects.
#[derive(Debug)]
pub(crate) struct HashIndex {
    revision: DirectoryRevision,
    hasher: RandomState,
    table: Table,
    /// When the directory was last known to have this revision.
    refresh_gate: RefreshGate,
}

/// The result of a look-up in the hash index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexResult {
    /// No subject has the identifier.
    Nowhere,
    /// If any subject has the identifier, this is the first such subject.
    At(IndexHit),
    /// The hash index does not know; the index in the file must be read.
    Unknown,
}

/// The subject that an identifier leads to, in one state of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexHit {
    pub(crate) subject: SubjectId,
    /// The confidence of the match.
    pub(crate) confidence: Confidence,
    /// The revision of this state of the directory.
    pub(crate) revision: DirectoryRevision,
}

/// The current hash index, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Current(ArcSwapOption<HashIndex>);

impl HashIndex {
    pub(crate) fn revision(&self) -> DirectoryRevision {
        self.revision
    }

    /// Finds an identifier, in the state of the directory for which the index was built.
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
}

impl Current {
    /// Returns the current index, for a look-up that reads one state of the directory.
    pub(crate) fn get(&self) -> Guard<Option<Arc<HashIndex>>> {
        self.0.load()
    }

    /// Finds an identifier without reading the file. [`IndexResult::Nowhere`] is true for the time
    /// of the last check of the revision. If the last check was too long ago, calls `revision` to
    /// read the present revision. A hit contains the revision for which it is valid.
    ///
    /// The first look-up in a new index also checks the revision, so that changes since the index
    /// was built are noticed.
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

    /// Compares the revision of a hit with the revision `found` that was read together with the
    /// subject. If they differ, the index is outdated and is dropped.
    pub(crate) fn learn(&self, hit: Option<IndexHit>, found: Option<DirectoryRevision>) {
        if let (Some(hit), Some(found)) = (hit, found)
            && hit.revision != found
            && let Some(index) = &*self.get()
            && index.revision == hit.revision
        {
            self.forget(index);
        }
    }

    /// Builds the index of a file that no process changes. Calls `goes_on` from time to time with
    /// the length of a pause that `goes_on` must make. Stops when `goes_on` returns `false`.
    pub(crate) fn build(
        &self,
        connection: &Connection,
        goes_on: impl Fn(Duration) -> bool,
    ) -> rusqlite::Result<()> {
        if let Some(index) = making::build(connection, goes_on)? {
            self.0.store(Some(Arc::new(index)));
        }
        Ok(())
    }

    /// Drops the index, because the directory changed.
    pub(crate) fn clear(&self) {
        self.0.store(None);
    }

    /// Drops this index, unless another one has already replaced it.
    fn forget(&self, index: &Arc<HashIndex>) {
        self.0.compare_and_swap(index, None);
    }
}

#[cfg(test)]
mod tests;
