//! The hash index: finds a subject (a company or a person) by an exact identifier, in memory.
//!
//! After HTTP, reading the B-trees of the database file is the largest cost of a look-up
//! (`docs/performance.md` has the figures). A look-up by an identifier reads two B-trees: the table
//! `identifier`, and the table `subject` with the profiles. The hash index replaces the table
//! `identifier`. If the hash index does not contain an identifier, no subject has it. If it
//! contains the identifier, it returns the subject. The hash index stores only hashes, and two
//! identifiers may have the same hash by chance. So the look-up reads the subject's profile and
//! checks that the profile contains the identifier.
//!
//! Each change of the directory gives it a new revision (the number of its state). A hash index is
//! valid for one revision:
//!
//! - A look-up that needs several reads of the database file makes all of them in one state. It
//!   uses the hash index only if the index is valid for this state.
//! - A look-up by one identifier reads the directory's revision together with the profile, so it
//!   notices that the hash index is outdated.
//! - If the hash index says that no subject has the identifier, no profile is read. Then the
//!   refresh gate ([`RefreshGate`]) decides whether the look-up must read the directory's revision.
//!   So if another process imports records, the server notices this within a hundredth of a second,
//!   or within a tenth of a second if the check is delayed. If the server's own process imports
//!   records, it drops the hash index immediately.
//!
//! Without a hash index, look-ups read the table `identifier` in the directory's database file. A
//! hash index is also stored in a separate file, so that a server has one immediately after its
//! start. A load (one import) keeps this file up to date ([`kept_index`]). If the file is not valid
//! for the current state, the server waits until the directory has been unchanged for a while. It
//! then builds a hash index and stores it in the file. Building reads a large part of the table
//! `identifier`, and uses at most a quarter of a processor.

pub(crate) mod kept_index;
mod making;
pub(crate) mod stored;
mod table;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwapOption, Guard};
use enrich_core::{Confidence, DirectoryRevision, SubjectId};
use enrich_store_sqlite::RefreshGate;
use rusqlite::Connection;
use siphasher::sip::SipHasher13;

use super::codes::IdentifierKind;
pub(super) use making::start;
use table::{Entry, Table};

/// The kinds of identifiers in the hash index. Names are not included, because a look-up by name
/// reads many rows anyway, so the hash index would not make it much faster.
const KINDS: [IdentifierKind; 6] = [
    IdentifierKind::CompanyDomain,
    IdentifierKind::CompanyPage,
    IdentifierKind::CompanyEmail,
    IdentifierKind::PersonPage,
    IdentifierKind::PersonEmail,
    IdentifierKind::PersonPhone,
];
/// The hash index of one state of the directory. It contains hashes of identifiers, and for each
/// hash the company or person that has the identifier.
#[derive(Debug)]
pub(crate) struct HashIndex {
    revision: DirectoryRevision,
    keys: HashKeys,
    table: Table,
    /// Decides when a look-up must read the directory's present revision. If this revision differs
    /// from `revision`, the index is outdated.
    refresh_gate: RefreshGate,
}

/// The secret keys of the hashes in a hash index. If an attacker knew the keys, the attacker could
/// import many identifiers with the same hash and make look-ups slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HashKeys([u64; 2]);

impl HashKeys {
    fn random() -> Self {
        // `RandomState` is the standard library's only source of random numbers.
        Self([0, 1].map(|number: u8| RandomState::new().hash_one(number)))
    }

    /// Returns the hash of an identifier. The file of the stored hash index contains these hashes
    /// and the keys. So if this function changes, the `MAGIC` bytes of the file must change too.
    fn hash(&self, kind: IdentifierKind, key: &str) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.0[0], self.0[1]);
        hasher.write(&[kind as u8]);
        hasher.write(key.as_bytes());
        hasher.finish()
    }
}

/// The result of finding an identifier in the hash index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexResult {
    /// No company and no person has the identifier.
    Nowhere,
    /// The company or person that the hash index contains for the hash of the identifier. If
    /// several have the identifier, it is the one to which the identifier belongs most strongly.
    /// Two identifiers may have the same hash by chance. So the look-up must check that the profile
    /// of this company or person contains the identifier.
    At(IndexHit),
    /// The hash index does not know who has the identifier. The table `identifier` in the
    /// directory's file must be read to find out.
    Unknown,
}

/// The subject (a company or a person) to which an identifier leads, in one state of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexHit {
    pub(crate) subject: SubjectId,
    /// The confidence that the identifier means the subject.
    pub(crate) confidence: Confidence,
    /// The revision (the number of the state) in which the identifier leads to the subject.
    pub(crate) revision: DirectoryRevision,
}

/// The hash index that look-ups use now, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Current(ArcSwapOption<HashIndex>);

impl HashIndex {
    pub(crate) fn revision(&self) -> DirectoryRevision {
        self.revision
    }

    /// Finds an identifier in the state of the directory for which this index was built.
    pub(crate) fn locate(&self, kind: IdentifierKind, key: &str) -> IndexResult {
        if !KINDS.contains(&kind) {
            return IndexResult::Unknown;
        }
        match self.table.get(self.keys.hash(kind, key)) {
            None => IndexResult::Nowhere,
            Some(Entry::Elsewhere) => IndexResult::Unknown,
            Some(Entry::Of(subject, confidence)) => {
                IndexResult::At(IndexHit { subject, confidence, revision: self.revision })
            }
        }
    }
}

impl Current {
    /// Returns the current index. The directory may have changed since this index was built. So a
    /// look-up may use the index only if the state that it reads has the same revision as the
    /// index.
    pub(crate) fn get(&self) -> Guard<Option<Arc<HashIndex>>> {
        self.0.load()
    }

    /// Finds an identifier in the current hash index. This method does not read the database file
    /// itself. It only calls `revision`, which reads the directory's present revision, when this
    /// revision must be checked.
    ///
    /// [`IndexResult::Nowhere`] means that no subject had the identifier at the last check of the
    /// revision. If that check was too long ago, or there was none since the index was built, this
    /// method calls `revision`. If the present revision is not that of the index, it drops the
    /// index and returns [`IndexResult::Unknown`].
    ///
    /// For [`IndexResult::At`], this method checks nothing. The result contains the revision of the
    /// index, and the caller must compare it with the present revision.
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

    /// Drops the index if a look-up shows that the index is outdated. `hit` is what the index has
    /// returned to the look-up. `found` is the directory's revision that the look-up then read from
    /// the database file, together with the profile. If `found` differs from the revision of `hit`,
    /// the directory has changed since the index was built.
    pub(crate) fn learn(&self, hit: Option<IndexHit>, found: Option<DirectoryRevision>) {
        if let (Some(hit), Some(found)) = (hit, found)
            && hit.revision != found
            && let Some(index) = &*self.get()
            && index.revision == hit.revision
        {
            self.forget(index);
        }
    }

    /// Builds the index of a snapshot (a file that no process changes) and stores it for look-ups.
    /// Calls `goes_on` from time to time. `goes_on` must pause for the given time, and return
    /// whether to go on. If it returns `false`, no index is built.
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

    /// Drops the current index, because the directory has changed.
    pub(crate) fn clear(&self) {
        self.0.store(None);
    }

    /// Drops `index` if it is still the current index. If another index has replaced it, nothing
    /// changes.
    fn forget(&self, index: &Arc<HashIndex>) {
        self.0.compare_and_swap(index, None);
    }
}

#[cfg(test)]
mod tests;
