//! The ledger: the grants and charges of all accounts.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::credits::{Credits, Price};
use crate::ledger_entry::{ChargeId, Entry};
use crate::port::error::StoreError;
use crate::repeat::{IdempotencyKey, IdempotencyRecord, RequestId, StoredResponse};
use crate::subject::DirectoryRevision;

/// A charge that the ledger is to decide. Its `Debug` output hides the answer and the idempotency
/// key.
#[derive(Clone, Debug)]
pub struct Charge {
    /// The id that the ledger entry will have.
    pub id: ChargeId,
    /// The account that pays.
    pub account: AccountId,
    /// The key that made the call.
    pub key: KeyId,
    /// The endpoint's path.
    pub endpoint: &'static str,
    /// The number of items in the answer. A miss has 0 items: it is free and adds no entry. The
    /// ledger gets a miss only to store its idempotency record.
    pub items: u64,
    /// The price rule of the endpoint.
    pub price: Price,
    /// The request id, from the caller or generated.
    pub request_id: RequestId,
    /// The revision of the directory from which the answer was read.
    pub revision: DirectoryRevision,
    /// The time of the charge.
    pub at: Timestamp,
    /// The answer that is to be stored for repeats; `None` if the call has no idempotency key.
    pub idempotency: Option<IdempotencyRecord>,
}

impl Charge {
    /// Returns the credits that the answer costs.
    pub fn credits(&self) -> Credits {
        self.price.of(self.items)
    }
}

/// The result of a charge. When the caller gets the result, the charge is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Charged {
    /// The price was deducted, and the idempotency record was stored, if there is one. For a miss,
    /// the price is 0.
    Taken {
        /// The balance after the charge.
        balance: Credits,
    },
    /// Nothing was charged, because the idempotency key was used before. The value is the response
    /// that is stored for the key.
    Replayed(StoredResponse),
    /// Nothing was charged, because the balance is too low.
    Insufficient {
        /// The current balance.
        balance: Credits,
    },
}

/// Why a charge was not made, or may not have been made.
#[derive(Debug, thiserror::Error)]
pub enum ChargeError {
    /// The charge could not be written, and nothing was charged. [`Ledger::is_charging`] returns
    /// whether the ledger accepts further charges.
    #[error("the charge could not be written; nothing was charged")]
    NotTaken(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Too many charges are waiting; nothing was charged.
    #[error("too many charges are waiting; nothing was charged")]
    Overloaded,
    /// No further idempotency record can be stored; nothing was charged.
    #[error("no more idempotency records can be kept; nothing was charged")]
    IdempotencyStoreFull,
    /// Nobody knows whether the charge was written. If the caller repeats the call with the same
    /// idempotency key, the call is not charged twice, because the idempotency record shows whether
    /// the first call was charged.
    #[error("it is not known whether the charge was written")]
    Unknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Charging has stopped; nothing was charged. With SQLite, charging stops in three cases: after
    /// a commit with an unknown outcome, when the ledger differs from what this process has
    /// written, and when the thread that decides charges has died. Charging starts again when the
    /// store is opened again. With PostgreSQL, charging stops while there is no primary server.
    #[error("charging has stopped; nothing was charged")]
    Stopped,
}

/// Credits that the operator grants to an account, or takes back.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The id that the ledger entry will have.
    pub id: ChargeId,
    /// The account whose balance the grant changes.
    pub account: AccountId,
    /// The number of credits. It is negative if credits are taken back.
    pub credits: i64,
    /// The operator's note.
    pub note: String,
    /// The entry that this entry corrects. If this is present, the new entry is an adjustment.
    pub corrects: Option<ChargeId>,
    /// The time of the grant.
    pub at: Timestamp,
}

impl Grant {
    /// Creates a grant of `credits` to `account` at `now`, without a note.
    pub fn new(account: AccountId, credits: i64, now: Timestamp) -> Self {
        let id = ChargeId::new(now);
        Self { id, account, credits, note: String::new(), corrects: None, at: now }
    }
}

/// The result of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// The ledger entry was written and is durable.
    Written {
        /// The balance after the grant.
        balance: Credits,
    },
    /// Nothing was written, because the new balance would be below 0 or above [`Credits::MAX`].
    OutOfRange {
        /// The current balance.
        balance: Credits,
    },
    /// Nothing was written, because the account does not exist.
    NoAccount,
    /// Nothing was written, because the account has no entry with the id in [`Grant::corrects`].
    NoSuchEntry,
}

/// The result of verifying the whole ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Number of accounts checked.
    pub accounts: u64,
    /// Number of entries checked.
    pub entries: u64,
    /// The sum of grants and adjustments, in credits.
    pub granted: i64,
    /// The sum of charges, in credits.
    pub charged: u64,
    /// Number of entries that are charges.
    pub charges: u64,
    /// The faults that were found, each with its account and entry.
    pub faults: Vec<String>,
}

/// The ledger of all accounts. Entries are only added, and a balance is never negative. The ledger
/// decides charges and grants one after the other.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Returns the balance of an account. The balance includes every charge whose result a caller
    /// has received.
    ///
    /// `None` if the account does not exist.
    async fn balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError>;

    /// Returns a balance that is faster to read, but may be out of date. The balance may lack
    /// changes that other processes have written recently: in the last 100 ms with SQLite, in the
    /// last second with PostgreSQL.
    ///
    /// Use this balance for display, and for the check before a look-up. Before a call is refused
    /// for too few credits, read the exact [`balance`](Self::balance).
    async fn cached_balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        self.balance(account).await
    }

    /// Returns the stored response for an idempotency key of an account. `question` is the question
    /// as bytes, as in [`IdempotencyRecord::question`]. If the key was used for another question,
    /// the response is [`StoredResponse::OtherQuestion`]. Returns `None` if nothing is stored, or
    /// if the stored response has expired at `now`.
    async fn stored_response(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        question: &[u8],
        now: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError>;

    /// Decides a charge, after all charges that arrived before it. Returns when the result is
    /// durable.
    ///
    /// For an account that does not exist, the result is [`Charged::Insufficient`] with zero
    /// credits.
    async fn charge(&self, charge: Charge) -> Result<Charged, ChargeError>;

    /// Grants credits, or takes credits back. Returns when the result is durable.
    async fn grant(&self, grant: Grant) -> Result<Granted, ChargeError>;

    /// Returns at most `limit` entries of an account, in the order of their sequence numbers. The
    /// first returned entry is the entry after the sequence number `after`.
    async fn entries(
        &self,
        account: AccountId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError>;

    /// Returns at most `limit` entries of an account, the newest first. The first returned entry is
    /// the entry before the sequence number `before`, or the account's last entry if `before` is
    /// `None`.
    async fn newest_entries(
        &self,
        account: AccountId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError>;

    /// Returns the sequence number of the first entry of an account whose time is `at` or later. If
    /// all entries are earlier, returns the last sequence number plus one.
    ///
    /// Entries are in the order in which they arrived. If the clock was set back, an entry after
    /// the returned one may have a time before `at`.
    async fn first_entry_at(&self, account: AccountId, at: Timestamp) -> Result<u64, StoreError>;

    /// Returns the sequence number after the last entry of an account whose time is before `at`; 1
    /// if no entry is earlier.
    ///
    /// So the entries with a time from `start` until before `end` have sequence numbers from
    /// [`first_entry_at(start)`](Self::first_entry_at) on and below `end_of_entries_before(end)`.
    async fn end_of_entries_before(
        &self,
        account: AccountId,
        at: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Checks every entry of the ledger, and adds up the totals.
    async fn verify(&self) -> Result<Verification, StoreError>;

    /// Whether the ledger decides charges. This is `false` while charging has
    /// [stopped](ChargeError::Stopped).
    fn is_charging(&self) -> bool;
}
