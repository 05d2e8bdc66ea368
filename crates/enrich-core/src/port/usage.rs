//! Usage counters: the number of calls and their outcomes. The ledger does not record misses.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::credits::Credits;
use crate::port::error::StoreError;

/// One call to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The account.
    pub account: AccountId,
    /// The key.
    pub key: KeyId,
    /// The endpoint's path.
    pub endpoint: &'static str,
    /// The outcome.
    pub outcome: UseOutcome,
    /// The credits charged.
    pub credits: Credits,
    /// The time of the call.
    pub at: Timestamp,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UseOutcome {
    /// An answer was found.
    Found,
    /// Nothing was found.
    NotFound,
    /// A stored answer was returned again.
    Replayed,
    /// The call was refused after its key was identified.
    Refused,
}

/// The calls of one key to one endpoint with one outcome on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayCount {
    /// The day (UTC), in days since 1970-01-01.
    pub day: i64,
    /// The key that made the calls.
    pub key: KeyId,
    /// The endpoint's path.
    pub endpoint: String,
    /// The outcome.
    pub outcome: UseOutcome,
    /// The number of calls.
    pub calls: u64,
    /// The credits charged in total.
    pub credits: Credits,
}

impl UseOutcome {
    /// Every outcome.
    pub const ALL: [Self; 4] = [Self::Found, Self::NotFound, Self::Replayed, Self::Refused];

    /// The name used in storage and output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::NotFound => "not_found",
            Self::Replayed => "replayed",
            Self::Refused => "refused",
        }
    }

    /// Returns the outcome with this name; `None` for an unknown name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }
}

/// Counts calls by day (UTC), account, key, endpoint and outcome.
#[async_trait]
pub trait Usage: Send + Sync {
    /// Counts a call. Does not wait for the store. Counts are written later; a crash may lose the
    /// last seconds.
    fn count(&self, used: Use);

    /// Writes all counts to the store; called before the process ends.
    async fn flush(&self) -> Result<(), StoreError>;

    /// Returns the usage of an account from day `first` to day `last` inclusive, in days since
    /// 1970-01-01 (UTC), sorted by day, then key, endpoint and outcome. Empty for an unknown
    /// account. Counts of all processes are summed, as far as they are [written](Usage::flush).
    async fn days(
        &self,
        account: AccountId,
        first: i64,
        last: i64,
    ) -> Result<Vec<DayCount>, StoreError>;
}
