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

mod making;
mod table;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use arc_swap::{ArcSwapOption, Guard};
use enrich_core::{Confidence, DirectoryRevision, SubjectId};
use enrich_store_sqlite::RefreshGate;

use super::codes::IdentifierKind;
pub(super) use making::start;
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

#[cfg(test)]
mod tests;
