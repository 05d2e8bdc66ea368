//! The keys that were asked for lately, so that the next call with one needs no database.
//!
//! A key is remembered by the keyed hash it is stored under, never by itself. Every half second
//! somebody reads the number of changes that were made to keys (`key_changes`); where that has
//! grown, all are forgotten. So what another process changes is seen within that time, and what
//! this process changes at once. Keys that are not there are never remembered, so that a new one
//! works at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use enrich_core::KeyInfo;
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;

/// How long what is remembered counts without a look at the number of changes: half of the second
/// within which a revocation has to be seen.
const BELIEVED_FOR: Duration = Duration::from_millis(500);
/// The parts, each with a lock of its own: who remembers a key holds up few who look for theirs.
const PARTS: usize = 16;
/// The most keys that are remembered, about 40 MB; a part that is full begins anew.
const MOST: usize = 100_000;

/// A key's hash.
pub(super) type KeyHash = [u8; 32];

/// The keys that were asked for lately.
#[derive(Debug)]
pub(super) struct RecentKeys {
    parts: [RwLock<FxHashMap<KeyHash, Arc<KeyInfo>>>; PARTS],
    /// How often all were forgotten.
    clearings: AtomicU64,
    began: Instant,
    /// Until when they are believed, in milliseconds since then.
    believed_until: AtomicU64,
    /// The number of changes when it was last looked at.
    changes: Mutex<Option<i64>>,
}

/// How often all were forgotten when a read of the database began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading(u64);

impl RecentKeys {
    pub(super) fn new() -> Self {
        Self {
            parts: Default::default(),
            clearings: AtomicU64::new(0),
            began: Instant::now(),
            believed_until: AtomicU64::new(0),
            changes: Mutex::new(None),
        }
    }

    /// Sees to it that what is remembered may be believed; `read` reads the number of changes,
    /// where it is time for that.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub(super) fn confirm<E>(&self, read: impl FnOnce() -> Result<i64, E>) -> Result<(), E> {
        if self.is_believed() {
            return Ok(());
        }
        let mut known = self.changes.lock();
        if self.is_believed() {
            // Somebody else looked while we waited.
            return Ok(());
        }
        let looked_at = self.began.elapsed();
        let changes = read()?;
        if *known != Some(changes) {
            self.clear();
            *known = Some(changes);
        }
        self.believed_until.store(millis(looked_at + BELIEVED_FOR), Ordering::Release);
        Ok(())
    }

    fn is_believed(&self) -> bool {
        millis(self.began.elapsed()) < self.believed_until.load(Ordering::Acquire)
    }

    /// The key of this hash, if it is remembered.
    pub(super) fn get(&self, hash: &KeyHash) -> Option<Arc<KeyInfo>> {
        self.part(hash).read().get(hash).map(Arc::clone)
    }

    /// To be called before a key is read, and handed in with what was read.
    pub(super) fn begin(&self) -> Reading {
        Reading(self.clearings.load(Ordering::SeqCst))
    }

    /// Remembers what was read, unless all were forgotten meanwhile: it may be from before.
    pub(super) fn remember(&self, hash: KeyHash, info: &Arc<KeyInfo>, reading: Reading) {
        let mut part = self.part(&hash).write();
        if self.clearings.load(Ordering::SeqCst) != reading.0 {
            return;
        }
        if part.len() >= MOST / PARTS && !part.contains_key(&hash) {
            part.clear();
        }
        part.insert(hash, Arc::clone(info));
    }

    /// Forgets all of them; to be called when a change is written. What is being read at this
    /// moment is not remembered.
    pub(super) fn clear(&self) {
        self.clearings.fetch_add(1, Ordering::SeqCst);
        for part in &self.parts {
            part.write().clear();
        }
    }

    fn part(&self, hash: &KeyHash) -> &RwLock<FxHashMap<KeyHash, Arc<KeyInfo>>> {
        &self.parts[usize::from(hash[0]) % PARTS]
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
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
        let (recent, info) = (RecentKeys::new(), info());
        let look = |changes: i64| recent.confirm(|| Ok::<_, ()>(changes)).unwrap();
        look(7);
        recent.remember(hash(1), &info, recent.begin());
        look(8);
        assert_eq!(recent.get(&hash(1)), Some(info.clone()), "it was looked at a moment ago");
        assert_eq!(recent.get(&hash(2)), None);
        recent.believed_until.store(0, Ordering::SeqCst);
        look(7);
        assert_eq!(recent.get(&hash(1)), Some(info));
        recent.believed_until.store(0, Ordering::SeqCst);
        look(8);
        assert_eq!(recent.get(&hash(1)), None);
    }

    #[test]
    fn nothing_is_believed_while_the_changes_cannot_be_read() {
        let recent = RecentKeys::new();
        assert_eq!(recent.confirm(|| Err("a damaged file")), Err("a damaged file"));
        assert!(!recent.is_believed());
    }

    #[test]
    fn what_was_read_before_a_change_is_not_remembered_after_it() {
        let (recent, info) = (RecentKeys::new(), info());
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
        let (recent, info) = (RecentKeys::new(), info());
        let reading = recent.begin();
        let many = u32::try_from(MOST).unwrap() + 50_000;
        for number in 0..many {
            recent.remember(hash(number), &info, reading);
        }
        let remembered: usize = recent.parts.iter().map(|part| part.read().len()).sum();
        assert!((1..=MOST).contains(&remembered), "{remembered}");
        assert_eq!(recent.get(&hash(many - 1)), Some(info), "the last one is there");
    }
}
