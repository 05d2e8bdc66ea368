//! Usage counters: the number of calls by outcome. They also count calls that are not in the
//! ledger, such as calls that found nothing.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::credits::Credits;
use crate::port::error::StoreError;

/// One call that is to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The account that made the call.
    pub account: AccountId,
    /// The id of the API key with which the call was made.
    pub key: KeyId,
    /// The endpoint's path. For a look-up that belongs to no endpoint, its purpose, such as
    /// `candidates`.
    pub endpoint: &'static str,
    /// How the call ended.
    pub outcome: UseOutcome,
    /// The credits that were charged.
    pub credits: Credits,
    /// The time of the call.
    pub at: Timestamp,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UseOutcome {
    /// The requested attribute was found.
    Found,
    /// Nothing was found, so the call was free.
    NotFound,
    /// The call repeats an earlier call, and got the stored response to that call for free.
    Replayed,
    /// The call was refused after its key was identified.
    Refused,
}

/// The calls of one key to one endpoint with one outcome on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayCount {
    /// The day (UTC), in days since 1970-01-01.
    pub day: i64,
    /// The id of the API key with which the calls were made.
    pub key: KeyId,
    /// The endpoint's path. For a look-up that belongs to no endpoint, its purpose, such as
    /// `candidates`.
    pub endpoint: String,
    /// How the counted calls ended.
    pub outcome: UseOutcome,
    /// The number of calls with this day, key, endpoint and outcome.
    pub calls: u64,
    /// The sum of the credits that these calls were charged.
    pub credits: Credits,
}

impl UseOutcome {
    /// All outcomes, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Found, Self::NotFound, Self::Replayed, Self::Refused];

    /// Returns the name of the outcome in storage and output.
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
    /// Counts a call. Returns without waiting for the store: the count is written later, so a crash
    /// may lose the counts of the last seconds.
    fn count(&self, used: Use);

    /// Writes all counts to the store. Call this before the process ends.
    async fn flush(&self) -> Result<(), StoreError>;

    /// Returns the usage of an account from day `first` to day `last` inclusive. Both are numbers
    /// of days since 1970-01-01 (UTC). The result is sorted by day, then API key, endpoint and
    /// outcome. It is empty if the account is unknown. It includes only counts that are already
    /// [written](Usage::flush), by this process or another.
    async fn days(
        &self,
        account: AccountId,
        first: i64,
        last: i64,
    ) -> Result<Vec<DayCount>, StoreError>;
}
