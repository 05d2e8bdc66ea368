//! Counts requests in rate-limit windows. Every API key has a window. If a rate limit for
//! accounts is configured, every account has one too.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::port::error::StoreError;
use crate::rate::{RateLimit, RateLimitStatus};

/// Counts requests in fixed windows of time.
#[async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts a request of `key` at `now`. Returns how many requests are left in the window. The
    /// result already includes this request.
    async fn count(
        &self,
        key: KeyId,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError>;

    /// Counts a request of `account` at `now`. The requests of all keys of the account count
    /// together. Returns how many requests are left in the window. The result already includes
    /// this request. The service calls this only if there is a rate limit for accounts.
    async fn count_account(
        &self,
        account: AccountId,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError>;
}
