//! Counts requests in rate-limit windows. Every key has a window, and if configured also every
//! account.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::port::error::StoreError;
use crate::rate::{RateLimit, RateLimitStatus};

/// Counts requests in fixed windows of time.
#[async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts a request of `key` at `now`. Returns the rate-limit status, in which this request is
    /// already counted.
    async fn count(
        &self,
        key: KeyId,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError>;

    /// Counts a request of `account` at `now`. The requests of all keys of the account count
    /// together. Returns the rate-limit status, in which this request is already counted. The
    /// service calls this only if there is a rate limit for accounts.
    async fn count_account(
        &self,
        account: AccountId,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError>;
}
