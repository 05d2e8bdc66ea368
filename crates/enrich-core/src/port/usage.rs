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

/// How often a key asked something on a day, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayCount {
    /// The day (UTC), in days since 1970-01-01.
    pub day: i64,
    /// The key that asked.
    pub key: KeyId,
    /// The endpoint's path.
    pub endpoint: String,
    /// What came of it.
    pub outcome: UseOutcome,
    /// How often.
    pub calls: u64,
    /// What it cost in all.
    pub credits: Credits,
}

impl UseOutcome {
    /// Every outcome.
    pub const ALL: [Self; 4] = [Self::Found, Self::NotFound, Self::Replayed, Self::Refused];

    /// The name it is stored and shown by.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::NotFound => "not_found",
            Self::Replayed => "replayed",
            Self::Refused => "refused",
        }
    }

    /// The outcome of this name; `None` when there is none.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
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

    /// What an account used from day `first` to day `last`, both included, in days since
    /// 1970-01-01 (UTC): by day, then key, endpoint and outcome. Counts of every process add up;
    /// those that are not yet [written](Usage::flush) are missing. Empty for an unknown account.
    async fn days(
        &self,
        account: AccountId,
        first: i64,
        last: i64,
    ) -> Result<Vec<DayCount>, StoreError>;
}
