//! An entry of the ledger.

use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::credits::{Credits, Price};
use crate::id::id;
use crate::subject::DirectoryRevision;

id!(
    /// The id of a ledger entry, created before the entry is written.
    ChargeId
);

/// The kind of a ledger entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Credits granted or taken back by the operator.
    Grant,
    /// The price of an answer.
    Charge {
        /// The endpoint's path.
        endpoint: String,
        /// The number of items in the answer.
        items: u64,
        /// The price rule.
        price: Price,
        /// The key that made the call.
        key: KeyId,
        /// The request id, from the caller or generated.
        request_id: String,
        /// The directory revision that the answer was read from.
        revision: DirectoryRevision,
    },
    /// A correction of an earlier entry.
    Adjustment {
        /// The corrected entry.
        corrects: ChargeId,
    },
}

/// An entry of the ledger. Entries are added, never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The account whose balance the entry changes.
    pub account: AccountId,
    /// The entry's number within the account, from 1 without gaps.
    pub sequence: u64,
    /// The entry's id.
    pub id: ChargeId,
    /// The entry's kind.
    pub kind: EntryKind,
    /// The change of the balance; negative for a charge.
    pub credits: i64,
    /// The balance after the entry.
    pub balance: Credits,
    /// The operator's note; empty for a charge.
    pub note: String,
    /// The time of the decision.
    pub at: Timestamp,
}
