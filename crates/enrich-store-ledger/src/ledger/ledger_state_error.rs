//! The error type of the ledger state.

use crate::ledger::NotAsWritten;

/// Why content of the ledger, or a state that is built from it, cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum LedgerStateError {
    /// The ledger cannot be read.
    #[error("the ledger cannot be read")]
    Read(#[from] rusqlite::Error),
    /// Stored content of the ledger was altered.
    #[error(transparent)]
    NotAsWritten(#[from] NotAsWritten),
}
