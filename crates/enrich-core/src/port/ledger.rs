//! The ledger: the grants and charges of all accounts.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::credits::{Credits, Price};
use crate::ledger_entry::{ChargeId, Entry};
use crate::port::error::StoreError;
use crate::repeat::{IdempotencyKey, IdempotencyRecord, RequestId, StoredResponse};
use crate::subject::DirectoryRevision;

/// A charge to be decided. Its `Debug` output hides the answer and the idempotency key.
#[derive(Clone, Debug)]
pub struct Charge {
    /// The id of the entry.
    pub id: ChargeId,
    /// The account that pays.
    pub account: AccountId,
    /// The key that made the call.
    pub key: KeyId,
    /// The endpoint's path.
    pub endpoint: &'static str,
    /// The number of items in the answer. A miss has 0 items: it is free and adds no entry. A miss
    /// is passed to the ledger only to store its idempotency record.
    pub items: u64,
    /// The price rule.
    pub price: Price,
    /// The request id, from the caller or generated.
    pub request_id: RequestId,
    /// The directory revision that the answer was read from.
    pub revision: DirectoryRevision,
    /// The time of the charge.
    pub at: Timestamp,
    /// The answer to store for repeats; `None` if the call has no idempotency key.
    pub idempotency: Option<IdempotencyRecord>,
}

impl Charge {
    /// The credits to deduct.
    pub fn credits(&self) -> Credits {
        self.price.of(self.items)
    }
}

/// The result of a charge. A charge is durable when the result is returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Charged {
    /// The price was deducted, and the idempotency record was stored if there is one. A miss
    /// deducts nothing.
    Taken {
        /// The balance after the charge.
        balance: Credits,
    },
    /// Not charged: the idempotency key was already used.
    Replayed(StoredResponse),
    /// Not charged: the balance is too low.
    Insufficient {
        /// The current balance.
        balance: Credits,
    },
}

/// Why a charge was not decided.
#[derive(Debug, thiserror::Error)]
pub enum ChargeError {
    /// Nothing was charged. [`Ledger::is_charging`] says whether later charges are decided.
    #[error("the charge could not be written; nothing was charged")]
    NotTaken(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Too many charges are waiting; nothing was charged.
    #[error("too many charges are waiting; nothing was charged")]
    Overloaded,
    /// No further idempotency record can be stored; nothing was charged.
    #[error("no more idempotency records can be kept; nothing was charged")]
    IdempotencyStoreFull,
    /// It is not known whether the charge was written. If the call is repeated with its idempotency
    /// key, the stored record shows whether the first call was charged.
    #[error("it is not known whether the charge was written")]
    Unknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Charging has stopped; nothing was charged. Over SQLite, charging stops after an unknown
    /// outcome, when the ledger differs from what was written, and when the deciding thread has
    /// died. It starts again when the store is opened again. Over PostgreSQL, charging stops while
    /// there is no primary server.
    #[error("charging has stopped; nothing was charged")]
    Stopped,
}

/// Credits granted by the operator, or taken back.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The id of the entry.
    pub id: ChargeId,
    /// The account.
    pub account: AccountId,
    /// The number of credits; negative to take back.
    pub credits: i64,
    /// The operator's note.
    pub note: String,
    /// The entry to correct. If present, the new entry is an adjustment.
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
    /// The entry was written.
    Written {
        /// The balance after the grant.
        balance: Credits,
    },
    /// Refused: the new balance would be below 0 or above [`Credits::MAX`].
    OutOfRange {
        /// The current balance.
        balance: Credits,
    },
    /// Refused: the account does not exist.
    NoAccount,
    /// Refused: the account has no entry with the id to correct.
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
    /// Number of charges.
    pub charges: u64,
    /// The inconsistencies, each with its account and entry; empty if there are none.
    pub faults: Vec<String>,
}

/// The ledger of all accounts: append-only, with balances that are never negative. The ledger
/// decides one charge or grant at a time.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Returns the balance of an account, including every acknowledged charge.
    ///
    /// `None` if the account does not exist.
    async fn balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError>;

    /// Returns a balance that is faster to read. It may lack what other processes wrote recently:
    /// in the last 100 ms over SQLite, in the last second over PostgreSQL.
    ///
    /// Use this balance for display and before a look-up. Before refusing a call for lack of
    /// credits, read the exact [`balance`](Self::balance).
    async fn cached_balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        self.balance(account).await
    }

    /// Returns the response that is stored for an idempotency key of an account and has not expired
    /// at `now`; `None` if there is none.
    async fn stored_response(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        question: &[u8],
        now: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError>;

    /// Decides a charge, in order of arrival. Returns when it is durable.
    ///
    /// For an account that does not exist, the result is [`Charged::Insufficient`] with zero
    /// credits.
    async fn charge(&self, charge: Charge) -> Result<Charged, ChargeError>;

    /// Grants credits or takes them back. Returns when it is durable.
    async fn grant(&self, grant: Grant) -> Result<Granted, ChargeError>;

    /// Returns the entries of an account after the sequence number `after`, in order, at most
    /// `limit`.
    async fn entries(
        &self,
        account: AccountId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError>;

    /// Returns the entries of an account before the sequence number `before` (`None` for all),
    /// newest first, at most `limit`.
    async fn newest_entries(
        &self,
        account: AccountId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError>;

    /// Returns the sequence number of an account's first entry at or after `at`. If all entries are
    /// earlier, returns the last entry's number plus one.
    ///
    /// Entries are in order of arrival. If the clock was set back, later entries may have times
    /// before `at`.
    async fn first_entry_at(&self, account: AccountId, at: Timestamp) -> Result<u64, StoreError>;

    /// Returns the sequence number of an account's last entry before `at`, plus one; 1 if no entry
    /// is earlier. All entries of a time range lie between [`first_entry_at`](Self::first_entry_at)
    /// and this number.
    async fn end_of_entries_before(
        &self,
        account: AccountId,
        at: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Checks every entry and adds up the totals.
    async fn verify(&self) -> Result<Verification, StoreError>;

    /// Whether charges are decided; `false` while charging has [stopped](ChargeError::Stopped).
    fn is_charging(&self) -> bool;
}
