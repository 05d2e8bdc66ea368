//! The limits and settings of a ledger.

use enrich_store_sqlite::Durability;

/// The limits of a ledger.
#[derive(Clone, Copy, Debug)]
pub struct LedgerOptions {
    /// The most charges and grants that wait for a decision; one more is refused as overloaded.
    pub charge_queue: usize,
    /// The most decisions in one transaction.
    pub charge_group: usize,
    /// The most idempotency records.
    pub max_kept: u64,
    /// When an acknowledged charge reaches the disk.
    pub durability: Durability,
}
