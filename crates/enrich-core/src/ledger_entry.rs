//! A row of the ledger.

use jiff::Timestamp;

use crate::account::{AccountId, KeyId};
use crate::credits::{Credits, Price};
use crate::id::id;
use crate::subject::DirectoryRevision;

id!(
    /// The id of a row of the ledger, made before it is written.
    ChargeId
);

/// Why a row stands in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Credits from the operator, or taken back.
    Grant,
    /// The price of an answer.
    Charge {
        /// The endpoint's path.
        endpoint: String,
        /// The items the answer held.
        items: u64,
        /// The rule the price came from.
        price: Price,
        /// The key that asked.
        key: KeyId,
        /// The caller's id for the request, or the one made for it.
        request_id: String,
        /// The directory the answer came from.
        revision: DirectoryRevision,
    },
    /// The correction of an earlier row.
    Adjustment {
        /// The row it corrects.
        corrects: ChargeId,
    },
}

/// A row of the ledger. Rows are added, never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The account whose balance it changes.
    pub account: AccountId,
    /// Its place in the account, from 1 without gaps.
    pub sequence: u64,
    /// Its id.
    pub id: ChargeId,
    /// Why it stands here.
    pub kind: EntryKind,
    /// What it adds to the balance; negative for a charge.
    pub credits: i64,
    /// The balance after it.
    pub balance: Credits,
    /// What the operator noted; empty for a charge.
    pub note: String,
    /// When it was decided.
    pub at: Timestamp,
}
