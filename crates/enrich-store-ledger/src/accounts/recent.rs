//! A cache of recently used keys, so that the next call with such a key needs no database.
//!
//! A key is cached under its stored keyed hash, never in plain. Every half second a caller reads
//! the number of changes to keys (`key_changes`), and clears the cache if the number has changed. A
//! change by this process clears the cache immediately. Unknown keys are not cached, so that a new
//! key works immediately.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use enrich_core::KeyInfo;
use enrich_store_sqlite::RefreshGate;
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;

/// How long the cache is valid without a check of the number of changes. It is half a second,
/// because a revocation must take effect within a second.
const VALID_FOR: Duration = Duration::from_millis(500);
/// The number of shards, each with its own lock. The cache line of a single lock would move between
/// processors at each call.
const SHARDS: usize = 16;
/// The most cached keys, about 40 MB. A shard that has reached its part of this number is emptied.
const MOST: usize = 100_000;

pub(super) type KeyHash = [u8; 32];
type Shard = RwLock<FxHashMap<KeyHash, Arc<KeyInfo>>>;

/// The recently used keys.
#[derive(Debug)]
pub(super) struct RecentKeys {
    shards: [Shard; SHARDS],
    /// The number of times that the cache was cleared.
    clearings: AtomicU64,
    gate: RefreshGate,
    /// The number of changes to keys that the last check read.
    changes: Mutex<Option<i64>>,
}

/// Remembers how often the cache had been cleared when a database read began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading(u64);

impl Default for RecentKeys {
    fn default() -> Self {
        Self {
            shards: Default::default(),
            clearings: AtomicU64::new(0),
            gate: RefreshGate::new(VALID_FOR, VALID_FOR),
            changes: Mutex::new(None),
        }
    }
}

impl RecentKeys {
    /// Ensures that the cache is valid. If the last check was too long ago, calls `read` for the
    /// number of changes, and clears the cache if the number is another one.
    ///
    /// # Errors
    ///
    /// Returns the error of `read`.
    pub(super) fn confirm<E>(&self, read: impl FnOnce() -> Result<i64, E>) -> Result<(), E> {
        if !self.gate.is_due() {
            return Ok(());
        }
        let moment = self.gate.moment();
        let changes = read()?;
        if self.changes.lock().replace(changes) != Some(changes) {
            self.clear();
        }
        self.gate.seen(moment);
        Ok(())
    }

    /// Returns the key with this hash, if it is cached.
    pub(super) fn get(&self, hash: &KeyHash) -> Option<Arc<KeyInfo>> {
        self.shard(hash).read().get(hash).map(Arc::clone)
    }

    /// Begins the read of a key from the database. The result is passed to [`Self::remember`].
    pub(super) fn begin(&self) -> Reading {
        Reading(self.clearings.load(Ordering::SeqCst))
    }

    /// Caches a key. If the cache was cleared since the read began, the key may be outdated and is
    /// not cached.
    pub(super) fn remember(&self, hash: KeyHash, info: &Arc<KeyInfo>, reading: Reading) {
        let mut shard = self.shard(&hash).write();
        if self.clearings.load(Ordering::SeqCst) != reading.0 {
            return;
        }
        if shard.len() >= MOST / SHARDS {
            shard.clear();
        }
        shard.insert(hash, Arc::clone(info));
    }

    /// Clears the cache, after a change is written. Keys that are being read at this moment are not
    /// cached.
    pub(super) fn clear(&self) {
        self.clearings.fetch_add(1, Ordering::SeqCst);
        self.shards.iter().for_each(|shard| shard.write().clear());
    }

    fn shard(&self, hash: &KeyHash) -> &Shard {
        &self.shards[usize::from(hash[0]) % SHARDS]
    }
}

#[cfg(test)]
mod tests {
    use enrich_core::{AccountId, KeyId, RateOverride, Timestamp};

    use super::*;

    fn info() -> Arc<KeyInfo> {
        let now = Timestamp::UNIX_EPOCH;
        Arc::new(KeyInfo {
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
        })
    }

    fn hash(number: u32) -> KeyHash {
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&number.to_le_bytes());
        hash
    }

    #[test]
    fn keys_are_remembered_until_one_has_changed() {
        let (mut recent, info) = (RecentKeys::default(), info());
        let confirm =
            |recent: &RecentKeys, changes| recent.confirm(|| Ok::<_, ()>(changes)).unwrap();
        confirm(&recent, 7);
        recent.remember(hash(1), &info, recent.begin());
        confirm(&recent, 8);
        assert_eq!(recent.get(&hash(1)), Some(info.clone()), "the last check is a moment ago");
        assert_eq!(recent.get(&hash(2)), None);
        recent.gate = RefreshGate::new(VALID_FOR, VALID_FOR);
        confirm(&recent, 7);
        assert_eq!(recent.get(&hash(1)), Some(info));
        recent.gate = RefreshGate::new(VALID_FOR, VALID_FOR);
        confirm(&recent, 8);
        assert_eq!(recent.get(&hash(1)), None);
    }

    #[test]
    fn nothing_is_believed_while_the_changes_cannot_be_read() {
        let recent = RecentKeys::default();
        assert_eq!(recent.confirm(|| Err("a damaged file")), Err("a damaged file"));
        assert!(recent.gate.is_due());
    }

    #[test]
    fn what_was_read_before_a_change_is_not_remembered_after_it() {
        let (recent, info) = (RecentKeys::default(), info());
        let reading = recent.begin();
        recent.remember(hash(1), &info, reading);
        recent.clear();
        assert_eq!(recent.get(&hash(1)), None);
        recent.remember(hash(1), &info, reading);
        assert_eq!(recent.get(&hash(1)), None);
        recent.remember(hash(1), &info, recent.begin());
        assert_eq!(recent.get(&hash(1)), Some(info));
    }

    #[test]
    fn never_more_are_remembered_than_fit() {
        let (recent, info) = (RecentKeys::default(), info());
        let reading = recent.begin();
        let many = u32::try_from(MOST).unwrap() + 50_000;
        for number in 0..many {
            recent.remember(hash(number), &info, reading);
        }
        let remembered: usize = recent.shards.iter().map(|shard| shard.read().len()).sum();
        assert!((1..=MOST).contains(&remembered), "{remembered}");
        assert_eq!(recent.get(&hash(many - 1)), Some(info), "the last one is there");
    }
}
