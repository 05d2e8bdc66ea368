//! Why the log cannot be followed.

use crate::ledger::NotAsWritten;

/// Why the log cannot be followed.
#[derive(Debug, thiserror::Error)]
pub(super) enum LedgerStateError {
    /// The log cannot be read.
    #[error("the ledger cannot be read")]
    Read(#[from] rusqlite::Error),
    /// The log was altered.
    #[error(transparent)]
    NotAsWritten(#[from] NotAsWritten),
}
