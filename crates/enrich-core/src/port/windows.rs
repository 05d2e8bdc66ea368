//! Rate windows, counted per key.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::KeyId;
use crate::port::error::StoreError;
use crate::rate::{RateLimit, Standing};

/// Counts requests in fixed windows.
#[async_trait]
pub trait Windows: Send + Sync {
    /// Counts a request of `key` at `now` and tells how the key stands, that request included.
    async fn count(
        &self,
        key: KeyId,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<Standing, StoreError>;
}
