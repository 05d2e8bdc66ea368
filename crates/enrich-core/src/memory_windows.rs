//! Rate-limit windows in the memory of one process.

use std::hash::Hash;

use async_trait::async_trait;
use jiff::Timestamp;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::account::{AccountId, KeyId};
use crate::port::error::StoreError;
use crate::port::rate_limiter::RateLimiter;
use crate::rate::{RateLimit, RateLimitStatus, RateScope, Window};

/// Counts requests in rate-limit windows, in the memory of this process. A restart loses the
/// counts.
#[derive(Debug, Default)]
pub struct MemoryWindows {
    keys: Mutex<FxHashMap<KeyId, Window>>,
    accounts: Mutex<FxHashMap<AccountId, Window>>,
}

/// Windows that have ended are removed only if at least this number of windows is in memory.
const SWEEP_FROM: usize = 4096;

#[async_trait]
impl RateLimiter for MemoryWindows {
    async fn count(
        &self,
        key: KeyId,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError> {
        Ok(count_in(&self.keys, key, limit, now))
    }

    async fn count_account(
        &self,
        account: AccountId,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError> {
        let rate_limit_status = count_in(&self.accounts, account, limit, now);
        Ok(RateLimitStatus { scope: RateScope::Account, ..rate_limit_status })
    }
}

fn count_in<Id: Copy + Eq + Hash>(
    windows: &Mutex<FxHashMap<Id, Window>>,
    id: Id,
    limit: RateLimit,
    now: Timestamp,
) -> RateLimitStatus {
    let mut windows = windows.lock();
    // Removing ended windows visits all windows, so it is done only when the map is full, not for
    // each request. Windows of the same length end at the same time, so one removal usually frees
    // many places. If it frees no place, the map grows.
    let is_full = windows.len() >= SWEEP_FROM && windows.len() == windows.capacity();
    if is_full && !windows.contains_key(&id) {
        windows.retain(|_, window| !window.has_ended(now));
    }
    windows.entry(id).or_default().count(limit, now)
}
