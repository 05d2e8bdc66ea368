//! The error type for reading the ledger and building its state in memory.

use crate::ledger::NotAsWritten;

/// Why the content of the ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum LedgerStateError {
    /// The ledger cannot be read.
    #[error("the ledger cannot be read")]
    Read(#[from] rusqlite::Error),
    /// Stored content of the ledger was altered.
    #[error(transparent)]
    NotAsWritten(#[from] NotAsWritten),
}
