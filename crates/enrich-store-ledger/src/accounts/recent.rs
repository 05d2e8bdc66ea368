//! The cache of recently used keys, and when it is cleared.
//!
//! Every half second, one of the callers reads from the database how often keys were changed so far
//! (`key_changes`). If this number has changed, the cache is cleared. A change that this process
//! makes clears the cache immediately. Unknown keys are not cached, so a new key works immediately.

use std::time::Duration;

use enrich_ledger::KeyCache;
use enrich_store_sqlite::RefreshGate;

/// Maximum time for which keys in the cache are used before the database is asked whether any key
/// has changed. It is half a second, because a revoked key must be refused within a second.
const VALID_FOR: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct RecentKeys {
    /// The cached keys. Call [`Self::confirm`] before you use a cached key.
    pub(super) keys: KeyCache<i64>,
    gate: RefreshGate,
}

impl Default for RecentKeys {
    fn default() -> Self {
        Self { keys: KeyCache::default(), gate: RefreshGate::new(VALID_FOR, VALID_FOR) }
    }
}

impl RecentKeys {
    /// Makes sure that the cache is at most [`VALID_FOR`] out of date. If the last check was too
    /// long ago, calls `read`, which reads how many times keys were changed so far. If this number
    /// has changed since the last check, clears the cache.
    ///
    /// # Errors
    ///
    /// The error that `read` returns.
    pub(super) fn confirm<E>(&self, read: impl FnOnce() -> Result<i64, E>) -> Result<(), E> {
        if !self.gate.is_due() {
            return Ok(());
        }
        let moment = self.gate.moment();
        self.keys.confirm(read()?);
        self.gate.seen(moment);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [7; 32];

    #[test]
    fn the_changes_are_read_when_a_check_is_due() {
        let mut recent = RecentKeys::default();
        let confirm =
            |recent: &RecentKeys, changes| recent.confirm(|| Ok::<_, ()>(changes)).unwrap();
        confirm(&recent, 7);
        recent.keys.remember(KEY, None, recent.keys.begin());
        confirm(&recent, 8);
        assert_eq!(recent.keys.get(&KEY), Some(None), "the last check is a moment ago");
        recent.gate = RefreshGate::new(VALID_FOR, VALID_FOR);
        confirm(&recent, 7);
        assert_eq!(recent.keys.get(&KEY), Some(None));
        recent.gate = RefreshGate::new(VALID_FOR, VALID_FOR);
        confirm(&recent, 8);
        assert_eq!(recent.keys.get(&KEY), None);
    }

    #[test]
    fn nothing_is_believed_while_the_changes_cannot_be_read() {
        let recent = RecentKeys::default();
        assert_eq!(recent.confirm(|| Err("a damaged file")), Err("a damaged file"));
        assert!(recent.gate.is_due());
    }
}
