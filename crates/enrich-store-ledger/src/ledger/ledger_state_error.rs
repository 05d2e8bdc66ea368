//! The error type of the ledger state.

use crate::ledger::NotAsWritten;

/// Why the ledger state cannot be built or brought up to date.
#[derive(Debug, thiserror::Error)]
pub(super) enum LedgerStateError {
    /// The log cannot be read.
    #[error("the ledger cannot be read")]
    Read(#[from] rusqlite::Error),
    /// The log was altered.
    #[error(transparent)]
    NotAsWritten(#[from] NotAsWritten),
}
