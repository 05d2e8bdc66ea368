//! The ledger: what every account was granted and charged.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::credits::{Credits, Price};
use crate::ledger_entry::{ChargeId, Entry};
use crate::port::error::StoreError;
use crate::repeat::{IdempotencyKey, IdempotencyRecord, RequestId, StoredResponse};
use crate::subject::DirectoryRevision;

/// A charge to be decided. Its `Debug` shows nothing of the answer or the idempotency key.
#[derive(Clone, Debug)]
pub struct Charge {
    /// The row's id.
    pub id: ChargeId,
    /// Who pays.
    pub account: AccountId,
    /// The key that asked.
    pub key: KeyId,
    /// The endpoint's path.
    pub endpoint: &'static str,
    /// The items the answer holds; 0 for a miss, which costs nothing, leaves no row, and is
    /// handed in only so that `keep` is kept.
    pub items: u64,
    /// The rule.
    pub price: Price,
    /// The caller's id for the request, or the one made for it.
    pub request_id: RequestId,
    /// The directory the answer came from.
    pub revision: DirectoryRevision,
    /// When.
    pub at: Timestamp,
    /// The answer to keep for a repeat.
    pub idempotency: Option<IdempotencyRecord>,
}

impl Charge {
    /// What it takes from the balance.
    pub fn credits(&self) -> Credits {
        self.price.of(self.items)
    }
}

/// How a charge was decided. Each is durable when it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Charged {
    /// Taken, or nothing to take; the answer is kept if it was to be.
    Taken {
        /// The balance after it.
        balance: Credits,
    },
    /// Not taken: the idempotency key was there already.
    Replayed(StoredResponse),
    /// Not taken: the balance is too low.
    Insufficient {
        /// The balance.
        balance: Credits,
    },
}

/// Why a charge was not decided.
#[derive(Debug, thiserror::Error)]
pub enum ChargeError {
    /// Nothing was taken, for certain. Whether charging goes on, [`Ledger::is_charging`] tells.
    #[error("the charge could not be written; nothing was charged")]
    NotTaken(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// More charges are waiting than the ledger takes; nothing was taken.
    #[error("too many charges are waiting; nothing was charged")]
    Overloaded,
    /// No more idempotency records fit; nothing was taken.
    #[error("no more idempotency records can be kept; nothing was charged")]
    IdempotencyStoreFull,
    /// Whether it was taken cannot be told; the idempotency record decides on a repeat.
    #[error("it is not known whether the charge was written")]
    Unknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Charging has stopped; nothing was taken. It stops after an unknown outcome, where the ledger
    /// is not as it was written, and where what decides has died.
    #[error("charging has stopped; nothing was charged")]
    Stopped,
}

/// Credits given by the operator, or taken back.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The row's id.
    pub id: ChargeId,
    /// To whom.
    pub account: AccountId,
    /// How many; negative to take back.
    pub credits: i64,
    /// What the operator notes.
    pub note: String,
    /// The row this corrects: makes it an adjustment.
    pub corrects: Option<ChargeId>,
    /// When.
    pub at: Timestamp,
}

impl Grant {
    /// So many credits for `account` at `now`, without a note.
    pub fn new(account: AccountId, credits: i64, now: Timestamp) -> Self {
        let id = ChargeId::new(now);
        Self { id, account, credits, note: String::new(), corrects: None, at: now }
    }
}

/// How a grant was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// Written.
    Written {
        /// The balance after it.
        balance: Credits,
    },
    /// Refused: the balance would leave the range 0 to [`Credits::MAX`].
    OutOfRange {
        /// The balance.
        balance: Credits,
    },
    /// Refused: there is no such account.
    NoAccount,
    /// Refused: the row to correct is none of this account.
    NoSuchEntry,
}

/// What walking the whole ledger found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Accounts walked.
    pub accounts: u64,
    /// Rows walked.
    pub entries: u64,
    /// The sum of grants and adjustments, in credits.
    pub granted: i64,
    /// The sum of charges, in credits.
    pub charged: u64,
    /// Rows that are charges.
    pub charges: u64,
    /// What does not add up, each with its account and row; empty when all does.
    pub faults: Vec<String>,
}

/// Keeps the ledger: append-only, never negative, one decision after the other.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// The credits an account has left, every acknowledged charge counted.
    ///
    /// `None` when there is no such account.
    async fn balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError>;

    /// The same, cheaply: what other processes wrote in the last moment (some 10 ms, at most 100)
    /// may be missing.
    ///
    /// Good enough to be shown, and to look something up for; who is to be refused for want of
    /// credits has them [counted](Self::balance) first.
    async fn cached_balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        self.balance(account).await
    }

    /// What is kept for an idempotency key at `now`; `None` when nothing is.
    async fn kept(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        asked: &[u8],
        now: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError>;

    /// Decides a charge, in order of arrival. Returns after it is durable.
    ///
    /// An account that is not there has nothing to take: [`Charged::Insufficient`] with no credits.
    async fn charge(&self, charge: Charge) -> Result<Charged, ChargeError>;

    /// Gives credits, or takes them back. Returns after it is durable.
    async fn grant(&self, grant: Grant) -> Result<Granted, ChargeError>;

    /// Rows of an account after the sequence number `after`, at most `limit` of them.
    async fn entries(
        &self,
        account: AccountId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError>;

    /// Rows of an account before the sequence number `before` (from the newest on without one), the
    /// newest first, at most `limit` of them.
    async fn newest_entries(
        &self,
        account: AccountId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError>;

    /// The sequence number of an account's first row at or after `at`; one more than its last
    /// row's when all are earlier.
    ///
    /// Rows are in the order of their arrival, which is not that of their times where the clock was
    /// set back: rows behind it may be earlier than `at`.
    async fn first_entry_at(&self, account: AccountId, at: Timestamp) -> Result<u64, StoreError>;

    /// One more than the sequence number of an account's last row before `at`; 1 when none is
    /// earlier. So all rows of a range of times lie from its [first](Self::first_entry_at) to here.
    async fn end_of_entries_before(
        &self,
        account: AccountId,
        at: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Walks every row and adds everything up.
    async fn verify(&self) -> Result<Verification, StoreError>;

    /// Whether charges are being decided: `false` once charging has [stopped](ChargeError::Stopped),
    /// until the ledger is opened anew.
    fn is_charging(&self) -> bool;
}
