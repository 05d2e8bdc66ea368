//! Turns at writing: the directory has one writer at a time, across all processes.
//!
//! SQLite's own wait checks the lock only ten times a second. A load releases the lock only briefly
//! between two transactions, so it would always get the lock again. Therefore waiting writers check
//! every millisecond, and a load pauses for a few milliseconds.

use std::path::Path;
use std::thread;
use std::time::Duration;

use enrich_store_sqlite::{self as sqlite, Durability};
use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Page cache, at most 512 MiB, in SQLite's unit of −1 KiB. An import whose pages fit into it is as
/// fast in a large directory as in a small one.
const CACHE: i64 = -512 * 1024;
/// Amount written before it is moved from the log into the database: 64 MiB in pages of 4 KiB. A
/// page that several transactions change is moved once.
const CHECKPOINT_PAGES: i64 = 16 * 1024;
/// Number of cached prepared statements; there are about forty.
const STATEMENTS: usize = 128;

/// Interval at which a waiting writer checks the lock.
const LOOK: Duration = Duration::from_millis(1);
/// Number of checks before a writer gives up: about ten seconds, several turns of a load.
const LOOKS: i32 = 10_000;
/// Pause of a load between two transactions: several checks.
const PAUSE: Duration = Duration::from_millis(4);

/// A connection for large writes, which waits for its turn.
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = sqlite::writer(path, Durability::Checkpoint)?;
    connection.busy_handler(Some(wait))?;
    connection.pragma_update(None, "cache_size", CACHE)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Deleted content is overwritten, so that the file no longer contains a forgotten value. A load
    // may have moved or rewritten its row before; otherwise a copy could stay.
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// Begins a transaction that has the write lock.
pub(crate) fn begin(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
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

/// Lets other writers have a turn.
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
