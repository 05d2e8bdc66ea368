//! Makes the rare changes of the ledger's tables: an operator's changes, and the changes that
//! owners make on account pages.

use std::path::Path;
use std::sync::Arc;

use enrich_core::port::error::StoreError;
use enrich_store_sqlite::{self as sqlite, Durability, OpenError, run_on_new_thread, store_error};
use parking_lot::Mutex;
use rusqlite::{Connection, TransactionBehavior};

use crate::ledger::LedgerFiles;

/// A connection for writing. It makes one change at a time.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    connection: Arc<Mutex<Connection>>,
    files: Arc<LedgerFiles>,
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotChanged {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Other(#[from] StoreError),
}

impl Changes {
    /// Opens a connection to the ledger at `path`, which must already have its tables.
    pub(crate) fn open(
        path: &Path,
        durability: Durability,
        files: &Arc<LedgerFiles>,
    ) -> Result<Self, OpenError> {
        let connection = sqlite::writer(path, durability)
            .map_err(|source| OpenError::of_sqlite(path, source))?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)), files: Arc::clone(files) })
    }

    /// Runs `change` in a transaction. The transaction runs on a new thread, because its commit
    /// waits for the disk. If `change` succeeds, calls `after` after the commit, even if the commit
    /// fails: the change may be on disk nevertheless.
    pub(crate) async fn make<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, NotChanged> + Send + 'static,
        after: impl FnOnce() + Send + 'static,
    ) -> Result<T, StoreError> {
        let Self { connection, files } = self.clone();
        let make = move || -> Result<T, NotChanged> {
            let mut connection = connection.lock();
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = change(&transaction)?;
            let committed = transaction.commit();
            after();
            committed?;
            files.check().map_err(StoreError::failed)?;
            Ok(result)
        };
        run_on_new_thread(move || {
            make().map_err(|error| match error {
                NotChanged::Sqlite(error) => store_error(error),
                NotChanged::Other(error) => error,
            })
        })
        .await
    }
}
