//! Lets writers take turns: the directory has one writer at a time, over all processes.
//!
//! A load (one import) releases SQLite's lock only for a moment between two transactions. With
//! SQLite's own way of waiting, a writer checks the lock only ten times a second, so the load would
//! always get the lock first. Therefore, writers of the directory check every millisecond while
//! they wait, and a load pauses for a few milliseconds.

use std::path::Path;
use std::thread;
use std::time::Duration;

use enrich_store_sqlite::turns::Waiting;
use enrich_store_sqlite::{self as sqlite, Durability};
use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Maximum size of SQLite's page cache: 256 MiB. SQLite takes a negative number as a size in KiB.
/// The cache is for database pages to which a load (one import) adds many rows. Some tables get
/// their new rows in many different pages, only a few rows in each. `Writer::of_load` collects such
/// rows in memory, because they take much less memory than their pages would take in the cache.
const CACHE: i64 = -256 * 1024;
/// Length of the write-ahead log at which a checkpoint copies its content into the database file:
/// 64 MiB, in database pages of 4 KiB. The log contains a page once for each transaction that
/// changed it, but a checkpoint copies the page only once. So with a long log, fewer pages are
/// copied.
const CHECKPOINT_PAGES: i64 = 16 * 1024;
/// Maximum number of prepared statements in the cache of a connection. About forty statements are
/// in use.
const STATEMENTS: usize = 128;

/// Interval at which a waiting writer checks the lock.
pub(super) const LOOK: Duration = Duration::from_millis(1);
/// Maximum number of times that a waiting writer checks the lock before it gives up with an error.
/// All these checks take about two minutes. If a load (one import) sees a waiting writer, it
/// commits its transaction. In the worst case, this takes about half a minute on a slow disk, so
/// the writer gets its turn in time.
const LOOKS: i32 = 120_000;
/// Pause of a load (one import) between two transactions. A waiting writer checks the lock several
/// times during this pause, so it gets the lock.
const PAUSE: Duration = Duration::from_millis(4);

/// Opens a connection for large writes. When the connection needs the write lock, it waits until
/// other writers are done, but at most about two minutes ([`LOOKS`]).
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = sqlite::writer(path, Durability::Checkpoint)?;
    connection.busy_handler(Some(wait))?;
    connection.pragma_update(None, "cache_size", CACHE)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // With this setting, SQLite overwrites deleted content with zeros. So a value that must be
    // forgotten (`Writer::forget`) does not stay in the file. A load (one import) needs this too:
    // when SQLite moves or rewrites a row, an old copy of its values could stay in the file. A
    // later `forget` could not overwrite this copy.
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// Begins a transaction and takes the write lock. While this function waits for the lock, it sets
/// the mark [`Waiting`]. By this mark, the writer that has the lock sees that another writer waits.
pub(crate) fn begin(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    let _waiting = Waiting::for_turn(connection);
    Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
}

/// Runs `write` in a transaction of its own and commits it.
pub(crate) fn write<T>(
    connection: &Connection,
    write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = begin(connection)?;
    let written = write(&transaction)?;
    transaction.commit()?;
    Ok(written)
}

/// Pauses, so that other writers get a turn.
pub(crate) fn pause() {
    thread::sleep(PAUSE);
}

fn wait(looks: i32) -> bool {
    thread::sleep(LOOK);
    looks < LOOKS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_has_an_end() {
        assert!(wait(0));
        assert!(!wait(LOOKS));
    }
}
