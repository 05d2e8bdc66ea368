//! Imports records into the SQLite database of the directory: stores their facts, and derives the
//! look-up data from the facts.
//!
//! Each record is matched to its subject, such as a company, and merged with the stored facts of
//! this subject. Then the subject's profile (the values that answers need) and its identifiers are
//! derived again. A transaction contains one batch of records or several. Imports run on separate
//! threads, because importing a batch takes a large part of a second.

mod batch;
mod companies;
mod decisions;
mod derive;
pub(crate) mod deriving;
mod digests;
mod domains;
mod duplicates;
mod fact_rows;
mod group;
mod identifier_rows;
mod known;
mod log;
mod matching;
mod origins;
mod part;
mod people;
mod removal;
mod resolution;
mod rows_at_once;
mod session;
mod sources;
mod stored_decisions;
pub(crate) mod stored_facts;
mod subject_facts;
pub(crate) mod suppression;
pub(crate) mod suppression_lists;
#[cfg(test)]
mod tests;
mod threads;
pub(crate) mod turn;
mod unresolved;
mod unwritten;
mod unwritten_domains;
mod unwritten_records;
mod words;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::importer::{
    ImportOptions, ImportSession, Importer, KnownRecords, Removed, SourceInfo, Suppressed,
};
use enrich_core::{SourceName, Timestamp};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{
    self as sqlite, Statements, in_use::InUse, run_on_new_thread, store_error,
};
use rusqlite::Connection;

use crate::directory::hash_index::{self, stored};
use known::SourceRecords;
use session::{SqliteImportSession, Target};
use writer::Writer;

pub use decisions::{CompanyKey, CompanyRecords, Decided};
pub use deriving::derive_all;
pub use duplicates::{DuplicateCount, DuplicatePair, DuplicateSearch, Duplicates, find_duplicates};
pub(crate) use sources::count_values;
pub use stored_decisions::StoredDecision;

/// Maximum number of attempts to empty the write-ahead log. There is one attempt each millisecond,
/// so they take about a second.
const EMPTYING_TRIES: u32 = 1_000;

/// Imports records into `directory.sqlite`.
#[derive(Debug)]
pub struct SqliteImporter {
    target: Target,
    /// Marks the data folder as in use while this value exists.
    _in_use: Arc<InUse>,
}

impl SqliteImporter {
    /// Opens the database at `path`, which must exist and have the current schema.
    pub(crate) fn open(
        path: &Path,
        secrets: &Secrets,
        index: Arc<hash_index::Current>,
        in_use: Arc<InUse>,
    ) -> Self {
        let (path, secrets) = (path.into(), secrets.clone());
        let (longest_log, unwritten) = (log::LONGEST, session::UNWRITTEN);
        Self { target: Target { path, secrets, index, longest_log, unwritten }, _in_use: in_use }
    }

    /// Runs `write` in a new transaction, on a new thread. Afterwards, removes the hash index from
    /// memory, and deletes the file of the hash index, because both may contain values that `write`
    /// has removed.
    async fn write<T: Send + 'static>(
        &self,
        at: Timestamp,
        write: impl FnOnce(&mut Writer<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let target = self.target.clone();
        run_on_new_thread(move || {
            let written = write_once(&target, at, write);
            target.index.clear();
            if let Err(error) = stored::remove(&target.path) {
                tracing::warn!(%error, "the stored hash index cannot be removed");
            }
            written.map_err(store_error)
        })
        .await
    }
}

/// Runs `write`, and then entity resolution, in one transaction. Syncs the transaction to disk and
/// empties the write-ahead log.
fn write_once<T>(
    target: &Target,
    at: Timestamp,
    write: impl FnOnce(&mut Writer<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let connection = turn::connect(&target.path)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let written = turn::write(&connection, |transaction| {
        let mut writer = Writer::new(transaction, &target.secrets, at)?;
        let written = write(&mut writer)?;
        writer.finish()?;
        resolution::resolve_within(transaction, &target.secrets, None)?;
        Ok(written)
    })?;
    empty_the_log(connection)?;
    Ok(written)
}

#[async_trait]
impl Importer for SqliteImporter {
    async fn begin(&self, options: ImportOptions) -> Result<Box<dyn ImportSession>, StoreError> {
        let session = SqliteImportSession::begin(self.target.clone(), options).await?;
        Ok(Box::new(session))
    }

    async fn known_records(
        &self,
        source: &SourceName,
    ) -> Result<Option<Box<dyn KnownRecords>>, StoreError> {
        let (target, source) = (self.target.clone(), source.clone());
        let records = move || SourceRecords::of(&target.path, &target.secrets, &source);
        let records = run_on_new_thread(move || records().map_err(store_error)).await?;
        Ok(records.map(|records| -> Box<dyn KnownRecords> { Box::new(records) }))
    }

    async fn sources(&self) -> Result<Vec<SourceInfo>, StoreError> {
        let path = self.target.path.clone();
        let list = move || sources::list(&sqlite::reader(&path)?);
        run_on_new_thread(move || list().map_err(store_error)).await
    }

    async fn source_file(&self, name: &SourceName) -> Result<Option<String>, StoreError> {
        let (path, name) = (self.target.path.clone(), name.clone());
        let file = move || sources::file(&sqlite::reader(&path)?, &name);
        run_on_new_thread(move || file().map_err(store_error)).await
    }

    async fn remove_source(&self, name: &SourceName) -> Result<Option<Removed>, StoreError> {
        let name = name.clone();
        // A removal writes no facts, so the timestamp is not used.
        self.write(Timestamp::UNIX_EPOCH, move |writer| writer.remove_source(&name)).await
    }

    async fn forget(&self, what: &[Suppressed], at: Timestamp) -> Result<Removed, StoreError> {
        if what.is_empty() {
            return Ok(Removed::default());
        }
        let what = what.to_vec();
        self.write(at, move |writer| writer.forget(&what)).await
    }
}

/// Moves the content of the write-ahead log into the database and empties the log, so that the log
/// no longer contains removed values.
///
/// An attempt fails while another connection reads an older state of the database, or while another
/// process moves the content. After a failed attempt, there is another one. If the log is not empty
/// after about a second, logs a warning. The next checkpoint of SQLite then empties the log.
pub(crate) fn empty_the_log(connection: Connection) -> rusqlite::Result<()> {
    // With a timeout, an attempt would wait for readers, and keep the write lock during this time.
    // So each attempt fails immediately if it cannot empty the log.
    connection.busy_timeout(Duration::ZERO)?;
    for _ in 0..EMPTYING_TRIES {
        let is_busy: bool = connection.value("PRAGMA wal_checkpoint(TRUNCATE)", [])?;
        if !is_busy {
            return Ok(());
        }
        thread::sleep(turn::LOOK);
    }
    tracing::warn!("removed values stay in the directory's log: others read an older state");
    Ok(())
}
