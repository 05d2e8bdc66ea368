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

/// Size of the page cache: at most 256 MiB. SQLite takes a negative number as a size in KiB. The
/// cache is for pages to which a load (one import) adds many rows. Rows that belong to many
/// different pages are collected in memory instead (`Writer::of_load`), because a page takes much
/// more memory than a row.
const CACHE: i64 = -256 * 1024;
/// Length of the write-ahead log at which its content is moved into the database: 64 MiB, in pages
/// of 4 KiB. A page that several transactions have changed until then is moved only once.
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
    // With this setting, SQLite overwrites deleted content, so that no forgotten value stays in the
    // file. A load (one import) needs this too: when SQLite moves or rewrites a row, no old copy of
    // its values may stay in the file.
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// Begins a transaction and takes the write lock. While this function waits for the lock, the
/// writer that has the lock can see this ([`Waiting`]).
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
