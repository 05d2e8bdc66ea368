//! An entry of the ledger: a grant, a charge or an adjustment.

use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::credits::{Credits, Price};
use crate::id::id;
use crate::subject::DirectoryRevision;

id!(
    /// The id of a ledger entry. It is created before the entry is written.
    ChargeId
);

/// The kind of a ledger entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// The operator has granted credits, or taken credits back.
    Grant,
    /// A call was charged the price of its answer.
    Charge {
        /// The endpoint's path.
        endpoint: String,
        /// The number of items that the answer has.
        items: u64,
        /// The price rule of the endpoint.
        price: Price,
        /// The key that made the call.
        key: KeyId,
        /// The request id, from the caller or generated.
        request_id: String,
        /// The revision of the directory from which the answer was read.
        revision: DirectoryRevision,
    },
    /// The operator has corrected an earlier entry.
    Adjustment {
        /// The earlier entry, which this entry corrects.
        corrects: ChargeId,
    },
}

/// An entry of the ledger. Entries are added and never changed.
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
    /// The note of the operator; empty for a charge.
    pub note: String,
    /// The time of the charge, grant or adjustment.
    pub at: Timestamp,
}
