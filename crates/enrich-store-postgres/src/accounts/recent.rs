//! A cache of recently used keys, so that the next call with one needs no database.
//!
//! A key is cached under its keyed hash, never in plain. The pulse reads the number of changes to
//! keys; when it differs from the last one, or after the connection was lost, the cache is cleared.
//! So another node's change is seen within a second, and this node's at once. Hashes of no key are cached too, so that repeated calls
//! with a wrong key do not read the database; a new key raises the number.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use enrich_core::KeyInfo;
use parking_lot::{Mutex, RwLock};
use rustc_hash::{FxHashMap, FxHashSet};
use uuid::Uuid;

use crate::columns::Hash;
use crate::pulse;

/// The most cached keys, about 40 MB, and the most cached hashes of no key; when either is full, it
/// is emptied.
const MOST: usize = 100_000;

/// The recently used keys.
#[derive(Debug, Default)]
pub(super) struct RecentKeys {
    cached: RwLock<Cached>,
    /// How often the cache was cleared.
    clearings: AtomicU64,
    /// The changes at the last check.
    changes: Mutex<Option<Changes>>,
}

#[derive(Debug, Default)]
struct Cached {
    keys: FxHashMap<Hash, Arc<KeyInfo>>,
    unknown: FxHashSet<Hash>,
}

/// What differs after a change of a key: the number of changes, or the history that it belongs to.
/// A new connection may lead to another primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Changes {
    number: i64,
    lineage: Uuid,
    connection: u64,
}

/// The number of clearings when a database read began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading(u64);

impl RecentKeys {
    /// Clears the cache if a key was changed since the last reading.
    pub(super) fn confirm(&self, newest: &pulse::Reading) {
        let (state, connection) = (&newest.state, newest.connection);
        let (number, lineage) = (state.key_changes, state.lineage);
        self.confirm_changes(Changes { number, lineage, connection });
    }

    fn confirm_changes(&self, changes: Changes) {
        let mut last = self.changes.lock();
        if last.replace(changes) != Some(changes) {
            // Before the lock is released, so that nobody uses what is outdated.
            self.clear();
        }
    }

    /// The key of this hash, or `Some(None)` if there is none; `None` if that is not cached.
    pub(super) fn get(&self, hash: &Hash) -> Option<Option<Arc<KeyInfo>>> {
        let cached = self.cached.read();
        let key = cached.keys.get(hash).map(|key| Some(Arc::clone(key)));
        key.or_else(|| cached.unknown.contains(hash).then_some(None))
    }

    /// To be called before a key is read; the result is passed to [`Self::remember`].
    pub(super) fn begin(&self) -> Reading {
        Reading(self.clearings.load(Ordering::SeqCst))
    }

    /// Caches a key, or that there is none, unless the cache was cleared since the read began: the
    /// key may be outdated.
    pub(super) fn remember(&self, hash: Hash, key: &Option<Arc<KeyInfo>>, reading: Reading) {
        let mut cached = self.cached.write();
        if self.clearings.load(Ordering::SeqCst) != reading.0 {
            return;
        }
        match key {
            Some(key) => {
                if cached.keys.len() >= MOST {
                    cached.keys.clear();
                }
                cached.keys.insert(hash, Arc::clone(key));
            }
            None => {
                if cached.unknown.len() >= MOST {
                    cached.unknown.clear();
                }
                cached.unknown.insert(hash);
            }
        }
    }

    /// Clears the cache; to be called when a change is written. Keys that are being read at this
    /// moment are not cached.
    pub(super) fn clear(&self) {
        self.clearings.fetch_add(1, Ordering::SeqCst);
        let mut cached = self.cached.write();
        cached.keys.clear();
        cached.unknown.clear();
    }
}

#[cfg(test)]
mod tests {
    use enrich_core::{AccountId, KeyId, RateOverride, Timestamp};

    use super::*;

    fn info() -> Option<Arc<KeyInfo>> {
        let now = Timestamp::UNIX_EPOCH;
        Some(Arc::new(KeyInfo {
            id: KeyId::new(now),
            account: AccountId::new(now),
            label: "first".into(),
            hint: "enr_live_abcd".into(),
            rate: RateOverride::default(),
            created_at: now,
            expires_at: None,
            has_ended: false,
            last_used_at: None,
            is_account_active: true,
            country: None,
        }))
    }

    fn hash(number: u32) -> Hash {
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&number.to_le_bytes());
        hash
    }

    #[test]
    fn keys_are_remembered_until_one_has_changed() {
        let (recent, info) = (RecentKeys::default(), info());
        let confirm = |number, lineage, connection| {
            let lineage = Uuid::from_u128(lineage);
            recent.confirm_changes(Changes { number, lineage, connection });
        };
        for (number, lineage, connection) in [(8, 1, 1), (8, 2, 1), (7, 2, 1), (7, 2, 2)] {
            recent.remember(hash(1), &info, recent.begin());
            recent.remember(hash(2), &None, recent.begin());
            assert_eq!(recent.get(&hash(1)), Some(info.clone()));
            assert_eq!(recent.get(&hash(2)), Some(None), "there is no such key");
            assert_eq!(recent.get(&hash(3)), None, "it was not read");
            confirm(number, lineage, connection);
            assert_eq!((recent.get(&hash(1)), recent.get(&hash(2))), (None, None));
        }
        recent.remember(hash(1), &info, recent.begin());
        confirm(7, 2, 2);
        assert_eq!(recent.get(&hash(1)), Some(info), "nothing was changed");
    }

    #[test]
    fn what_was_read_before_a_change_is_not_remembered_after_it() {
        let (recent, info) = (RecentKeys::default(), info());
        let reading = recent.begin();
        recent.remember(hash(1), &info, reading);
        recent.clear();
        recent.remember(hash(1), &info, reading);
        recent.remember(hash(2), &None, reading);
        assert_eq!((recent.get(&hash(1)), recent.get(&hash(2))), (None, None));
        recent.remember(hash(1), &info, recent.begin());
        assert_eq!(recent.get(&hash(1)), Some(info));
    }

    #[test]
    fn never_more_are_remembered_than_fit() {
        let (recent, info) = (RecentKeys::default(), info());
        let reading = recent.begin();
        let many = u32::try_from(MOST).unwrap() + 50_000;
        recent.remember(hash(many), &info, reading);
        for number in 0..many {
            recent.remember(hash(number), &None, reading);
        }
        assert!((1..=MOST).contains(&recent.cached.read().unknown.len()));
        assert_eq!(recent.get(&hash(many - 1)), Some(None), "the last one is there");
        assert_eq!(recent.get(&hash(many)), Some(info.clone()), "wrong keys push out no key");
        for number in 0..many {
            recent.remember(hash(number), &info, reading);
        }
        assert!((1..=MOST).contains(&recent.cached.read().keys.len()));
        assert_eq!(recent.get(&hash(many - 1)), Some(info));
    }
}
