//! Usage counters: how often what was asked and what came of it. The ledger never sees misses.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::credits::Credits;
use crate::port::error::StoreError;

/// One call, to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The account.
    pub account: AccountId,
    /// The key.
    pub key: KeyId,
    /// The endpoint's path.
    pub endpoint: &'static str,
    /// What came of it.
    pub outcome: UseOutcome,
    /// What it cost.
    pub credits: Credits,
    /// When.
    pub at: Timestamp,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UseOutcome {
    /// An answer.
    Found,
    /// Nothing.
    NotFound,
    /// The first answer once more.
    Replayed,
    /// A refusal after the key was known.
    Refused,
}

impl UseOutcome {
    /// The name it is stored and shown by.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::NotFound => "not_found",
            Self::Replayed => "replayed",
            Self::Refused => "refused",
        }
    }
}

/// Counts calls by day (UTC), account, key, endpoint and outcome.
#[async_trait]
pub trait Usage: Send + Sync {
    /// Counts a call. Returns at once: counts are written behind, and a crash may lose the last
    /// seconds of them.
    fn count(&self, used: Use);

    /// Writes what has been counted; called before the process ends.
    async fn flush(&self) -> Result<(), StoreError>;
}
