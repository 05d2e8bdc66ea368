//! Counts requests in rate-limit windows, per key and optionally per account.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::port::error::StoreError;
use crate::rate::{RateLimit, RateLimitStatus};

/// Counts requests in fixed windows.
#[async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts a request of `key` at `now`. The returned status includes this request.
    async fn count(
        &self,
        key: KeyId,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError>;

    /// Counts a request of any key of `account` at `now`. The returned status includes this
    /// request. Called only if there is a limit per account.
    async fn count_account(
        &self,
        account: AccountId,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError>;
}
