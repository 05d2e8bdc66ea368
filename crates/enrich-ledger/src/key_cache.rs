//! A cache of recently used API keys. A call with a cached key needs no read from the database.
//!
//! A key is cached under its keyed hash; its text is not cached. If a key changes in the database,
//! the cache must be cleared. So the store regularly passes a value that differs after each change
//! of a key, such as the number of changes so far. If the value differs from the last one, the
//! cache is cleared.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use enrich_core::KeyInfo;
use parking_lot::{Mutex, RwLock};
use rustc_hash::{FxHashMap, FxHashSet};

/// A keyed hash of an API key, by which stores and the cache find the key.
pub type KeyHash = [u8; 32];

/// The number of parts (shards) of the cache. Each shard has its own lock, so that calls with
/// different keys seldom use the same lock. Processors that use the same lock slow each other down.
const SHARDS: usize = 16;
/// Maximum number of keys in the cache; they take about 40 MB. It is also the maximum number of
/// unknown hashes: hashes to which no key belongs. Each shard may contain a sixteenth of either
/// number. A shard with too many keys drops all its keys. A shard with too many unknown hashes
/// drops all its unknown hashes.
const MAX: usize = 100_000;

/// The recently used keys. A value of type `Changes` shows whether a key has changed since the last
/// check: for example, it is the number of changes of keys so far.
#[derive(Debug)]
pub struct KeyCache<Changes> {
    shards: [RwLock<Shard>; SHARDS],
    /// The number of times that the cache was cleared. The result of a read that began before the
    /// last clearing must not be cached.
    clearings: AtomicU64,
    /// The value from the last call of [`Self::confirm`]. The next call compares its value with
    /// this one.
    changes: Mutex<Option<Changes>>,
}

#[derive(Debug, Default)]
struct Shard {
    keys: FxHashMap<KeyHash, Arc<KeyInfo>>,
    unknown: FxHashSet<KeyHash>,
}

/// Marks the beginning of a read from the database. The value is the number of times that the cache
/// was cleared before this read.
#[derive(Clone, Copy, Debug)]
pub struct KeyReading(u64);

impl<Changes> Default for KeyCache<Changes> {
    fn default() -> Self {
        Self { shards: Default::default(), clearings: AtomicU64::new(0), changes: Mutex::new(None) }
    }
}

impl<Changes: PartialEq> KeyCache<Changes> {
    /// Makes sure that the cache contains no outdated key. If `changes` differs from the value in
    /// the last call of this method, a key has changed, so the cache is cleared.
    pub fn confirm(&self, changes: Changes) {
        let mut last = self.changes.lock();
        if last.as_ref() != Some(&changes) {
            *last = Some(changes);
            // The lock on `self.changes` is held until the cache is cleared. Otherwise, another
            // thread could call this method with the same value before that. The call would return
            // at once, and the thread could get an outdated key from the cache.
            self.clear();
        }
    }
}

impl<Changes> KeyCache<Changes> {
    /// Returns the key with this hash; `Some(None)` if the cache knows that no key has this hash;
    /// `None` if the cache does not know.
    pub fn get(&self, hash: &KeyHash) -> Option<Option<Arc<KeyInfo>>> {
        let shard = self.shard(hash).read();
        let key = shard.keys.get(hash).map(|key| Some(Arc::clone(key)));
        key.or_else(|| shard.unknown.contains(hash).then_some(None))
    }

    /// Marks the beginning of a read from the database. Call this before a key is read, and pass
    /// the result to [`Self::remember`].
    pub fn begin(&self) -> KeyReading {
        KeyReading(self.clearings.load(Ordering::SeqCst))
    }

    /// Caches the key that was read from the database, or the fact that no key has this hash. If
    /// the cache was cleared after the read began, the key may be outdated, and nothing is cached.
    pub fn remember(&self, hash: KeyHash, key: Option<&Arc<KeyInfo>>, reading: KeyReading) {
        let mut shard = self.shard(&hash).write();
        if self.clearings.load(Ordering::SeqCst) != reading.0 {
            return;
        }
        match key {
            Some(key) => {
                if shard.keys.len() >= MAX / SHARDS {
                    shard.keys.clear();
                }
                shard.keys.insert(hash, Arc::clone(key));
            }
            None => {
                if shard.unknown.len() >= MAX / SHARDS {
                    shard.unknown.clear();
                }
                shard.unknown.insert(hash);
            }
        }
    }

    /// Clears the cache. The store calls this after it has written a change of a key. A key that is
    /// being read from the database at this moment will not be cached.
    pub fn clear(&self) {
        self.clearings.fetch_add(1, Ordering::SeqCst);
        for shard in &self.shards {
            let mut shard = shard.write();
            shard.keys.clear();
            shard.unknown.clear();
        }
    }

    fn shard(&self, hash: &KeyHash) -> &RwLock<Shard> {
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
        let (recent, info) = (KeyCache::default(), info());
        for changes in [8, 7] {
            recent.confirm(changes);
            recent.remember(hash(1), Some(&info), recent.begin());
            recent.remember(hash(2), None, recent.begin());
            recent.confirm(changes);
            assert_eq!(recent.get(&hash(1)), Some(Some(info.clone())), "nothing was changed");
            assert_eq!(recent.get(&hash(2)), Some(None), "there is no such key");
            assert_eq!(recent.get(&hash(3)), None, "it was not read");
            recent.confirm(9);
            assert_eq!((recent.get(&hash(1)), recent.get(&hash(2))), (None, None));
        }
    }

    #[test]
    fn what_was_read_before_a_change_is_not_remembered_after_it() {
        let (recent, info) = (KeyCache::<i64>::default(), info());
        let reading = recent.begin();
        recent.remember(hash(1), Some(&info), reading);
        recent.clear();
        assert_eq!(recent.get(&hash(1)), None);
        recent.remember(hash(1), Some(&info), reading);
        recent.remember(hash(2), None, reading);
        assert_eq!((recent.get(&hash(1)), recent.get(&hash(2))), (None, None));
        recent.remember(hash(1), Some(&info), recent.begin());
        assert_eq!(recent.get(&hash(1)), Some(Some(info)));
    }

    #[test]
    fn never_more_are_remembered_than_fit() {
        let (recent, info) = (KeyCache::<i64>::default(), info());
        let reading = recent.begin();
        let many = u32::try_from(MAX).unwrap() + 50_000;
        recent.remember(hash(many), Some(&info), reading);
        for number in 0..many {
            recent.remember(hash(number), None, reading);
        }
        assert_eq!(recent.get(&hash(many)), Some(Some(info.clone())), "wrong keys displace none");
        let count = |count: fn(&Shard) -> usize| -> usize {
            recent.shards.iter().map(|shard| count(&shard.read())).sum()
        };
        assert!((1..=MAX).contains(&count(|shard| shard.unknown.len())));
        for number in 0..many {
            recent.remember(hash(number), Some(&info), reading);
        }
        assert!((1..=MAX).contains(&count(|shard| shard.keys.len())));
        assert_eq!(recent.get(&hash(many - 1)), Some(Some(info)), "the last one is there");
    }
}
