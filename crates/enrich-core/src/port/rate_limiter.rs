//! Rate windows, counted per key and, where that is limited, per account.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::port::error::StoreError;
use crate::rate::{RateLimit, RateLimitStatus};

/// Counts requests in fixed windows.
#[async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts a request of `key` at `now` and tells how the key stands, that request included.
    async fn count(
        &self,
        key: KeyId,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError>;

    /// Counts a request of any key of `account` at `now` and tells how the account stands, that
    /// request included. Called only where there is a limit per account.
    async fn count_account(
        &self,
        account: AccountId,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<RateLimitStatus, StoreError>;
}
