//! The keys that were asked for a moment ago, so that the next call with one needs no database.
//!
//! A key is remembered by the keyed hash it is stored under, never by itself, and for less than
//! a second: what another process changes is seen within that time. What this process changes is
//! seen at once. Keys that are not there are never remembered, so that a new one works at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use enrich_core::KeyInfo;
use parking_lot::RwLock;

/// How long a key is believed: a revocation has to be seen within a second.
const BELIEVED_FOR: Duration = Duration::from_millis(800);
/// The parts, each with a lock of its own: who remembers a key holds up few who look for theirs.
const PARTS: usize = 16;
/// The most keys that are remembered, about 40 MB; a part that is full begins anew.
const MOST: usize = 100_000;

/// A key's hash.
pub(super) type KeyHash = [u8; 32];

/// The keys that were asked for lately.
#[derive(Debug, Default)]
pub(super) struct RecentKeys {
    parts: [RwLock<HashMap<KeyHash, Seen>>; PARTS],
    changes: AtomicU64,
}

/// A key as it was read.
#[derive(Debug)]
struct Seen {
    info: Arc<KeyInfo>,
    at: Instant,
}

/// When a read of the database began, and how many changes had been made here by then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    at: Instant,
    changes: u64,
}

impl RecentKeys {
    /// The key of this hash, if it was read a moment ago.
    pub(super) fn get(&self, hash: &KeyHash) -> Option<Arc<KeyInfo>> {
        let part = self.part(hash).read();
        let seen = part.get(hash)?;
        (seen.at.elapsed() < BELIEVED_FOR).then(|| Arc::clone(&seen.info))
    }

    /// To be called before a key is read, and handed in with what was read.
    pub(super) fn begin(&self) -> Reading {
        Reading { at: Instant::now(), changes: self.changes.load(Ordering::SeqCst) }
    }

    /// Remembers what was read, unless a change was made here meanwhile: it may be from before.
    pub(super) fn remember(&self, hash: KeyHash, info: &Arc<KeyInfo>, reading: Reading) {
        let mut part = self.part(&hash).write();
        if self.changes.load(Ordering::SeqCst) != reading.changes {
            return;
        }
        if part.len() >= MOST / PARTS && !part.contains_key(&hash) {
            part.clear();
        }
        part.insert(hash, Seen { info: Arc::clone(info), at: reading.at });
    }

    /// Forgets all of them; to be called when a change is written. What is being read at this
    /// moment is not remembered.
    pub(super) fn clear(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        for part in &self.parts {
            part.write().clear();
        }
    }

    fn part(&self, hash: &KeyHash) -> &RwLock<HashMap<KeyHash, Seen>> {
        &self.parts[usize::from(hash[0]) % PARTS]
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
            last_used_at: None,
        })
    }

    fn hash(number: u32) -> KeyHash {
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&number.to_le_bytes());
        hash
    }

    #[test]
    fn a_key_is_believed_for_less_than_a_second() {
        let (recent, info) = (RecentKeys::default(), info());
        let reading = recent.begin();
        recent.remember(hash(1), &info, reading);
        assert_eq!(recent.get(&hash(1)), Some(info.clone()));
        assert_eq!(recent.get(&hash(2)), None);
        let before = Instant::now().checked_sub(BELIEVED_FOR).unwrap();
        recent.remember(hash(1), &info, Reading { at: before, ..reading });
        assert_eq!(recent.get(&hash(1)), None);
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
        let remembered: usize = recent.parts.iter().map(|part| part.read().len()).sum();
        assert!((1..=MOST).contains(&remembered), "{remembered}");
        assert_eq!(recent.get(&hash(many - 1)), Some(info), "the last one is there");
    }
}
