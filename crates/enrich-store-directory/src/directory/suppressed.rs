//! The suppressed values (values that must be forgotten), in memory. The service stores its
//! responses and may return one again. A stored response may be older than a suppression, so its
//! values are compared with the suppressed values.

use std::sync::Arc;

use enrich_core::port::importer::Suppressed;
use enrich_core::{DirectoryRevision, SuppressedValues, Timestamp};
use enrich_secrets::Secrets;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::view::View;
use crate::importer::suppression;

/// Caches the suppressed values, and reads them again when they have changed.
#[derive(Debug)]
pub(super) struct Suppression {
    secrets: Secrets,
    known: Mutex<Option<(DirectoryRevision, Arc<SuppressedHashes>)>>,
}

/// Suppressed values as keyed hashes, each with the time from which it is suppressed.
#[derive(Clone, Debug)]
pub struct SuppressedHashes {
    secrets: Secrets,
    hashes: FxHashMap<[u8; 32], Timestamp>,
    /// The number of changes that `hashes` does not show. For example, a value that was suppressed,
    /// taken back and suppressed again has three changes, but `hashes` shows only one.
    past_changes: u64,
}

impl Suppression {
    pub(super) fn new(secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone(), known: Mutex::new(None) }
    }

    /// Returns the suppressed values in the state that `view` reads. Reads them from the database
    /// only if both the directory's revision and the suppressed values have changed.
    pub(super) fn current(&self, view: View<'_>) -> rusqlite::Result<Arc<dyn SuppressedValues>> {
        let revision = view.revision()?;
        let mut known = self.known.lock();
        if let Some((of, hashes)) = known.as_mut() {
            if *of == revision {
                return Ok(Arc::clone(hashes) as _);
            }
            let changes = view.suppression_changes()?;
            if hashes.version() == changes {
                *of = revision;
                return Ok(Arc::clone(hashes) as _);
            }
        }
        let mut hashes = SuppressedHashes::none(&self.secrets);
        hashes.hashes = view.suppressed_hashes()?;
        let hashes = Arc::new(hashes.with_changes(view.suppression_changes()?));
        *known = Some((revision, Arc::clone(&hashes)));
        Ok(hashes)
    }
}

impl SuppressedHashes {
    /// Creates an empty set of suppressed values.
    pub fn none(secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone(), hashes: FxHashMap::default(), past_changes: 0 }
    }

    /// Returns the hash under which `value` would be suppressed, made with the current secret.
    pub fn hash(secrets: &Secrets, value: &Suppressed) -> [u8; 32] {
        suppression::current_hash(secrets, value)
    }

    /// Adds a hash with the time from which its value is suppressed. If the hash is already
    /// present, the later of the two times is stored.
    pub fn add(&mut self, hash: [u8; 32], at: Timestamp) {
        let known = self.hashes.entry(hash).or_insert(at);
        *known = at.max(*known);
    }

    /// Sets the number of all changes of these values: suppressing a value is one change, and
    /// taking it back is another. So the number may be larger than the number of values.
    pub fn with_changes(mut self, changes: u64) -> Self {
        self.past_changes = changes.saturating_sub(self.hashes.len() as u64);
        self
    }

    /// Removes the values whose suppression was taken back. Each element of `all` is the hash of
    /// such a value, and the time at which its suppression was taken back. A value that was
    /// suppressed again after this time is not removed.
    pub fn take_back<'a>(&mut self, all: impl Iterator<Item = &'a ([u8; 32], Timestamp)>) {
        for (hash, taken_back_at) in all {
            if self.hashes.get(hash).is_some_and(|at| at <= taken_back_at) {
                self.hashes.remove(hash);
            }
        }
    }

    /// Returns the hashes with their times, in any order.
    pub fn iter(&self) -> impl Iterator<Item = ([u8; 32], Timestamp)> {
        self.hashes.iter().map(|(hash, at)| (*hash, *at))
    }

    /// Returns the suppressed values that are not in `other`.
    pub fn without(&self, other: &Self) -> Self {
        let is_new = |hash: &[u8; 32]| !other.hashes.contains_key(hash);
        let new = self.iter().filter(|(hash, _)| is_new(hash));
        Self { secrets: self.secrets.clone(), hashes: new.collect(), past_changes: 0 }
    }
}

impl SuppressedValues for SuppressedHashes {
    fn version(&self) -> u64 {
        self.hashes.len() as u64 + self.past_changes
    }

    fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    fn holds(&self, value: &Suppressed) -> bool {
        self.holds_suppressed_since(value, Timestamp::MIN)
    }

    fn holds_suppressed_since(&self, value: &Suppressed, since: Timestamp) -> bool {
        let is_since = |hash| self.hashes.get(&hash).is_some_and(|&at| at >= since);
        !self.hashes.is_empty() && suppression::hashes(&self.secrets, value).any(is_since)
    }
}
