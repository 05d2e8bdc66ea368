//! Turns at writing: the directory has one writer at a time, in all processes together.
//!
//! SQLite's own waiting looks ten times a second whether the lock is free. A load would win every
//! time: it gives the lock up for a moment only, between two transactions. So whoever waits here
//! looks every millisecond, and a load pauses for a few of them.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::sqlite::{self, Durability};

/// Memory for pages: an import that finds its pages there is not slowed by the directory's size.
/// 512 MiB at most, in SQLite's unit of −1 KiB.
const CACHE: i64 = -512 * 1024;
/// How much is written before it is moved from the log into the database: 64 MiB in pages of
/// 4 KiB. Pages that several transactions change are moved once.
const CHECKPOINT_PAGES: i64 = 16 * 1024;
/// How many prepared statements are kept; there are some forty.
const STATEMENTS: usize = 128;

/// How often somebody who waits looks whether it is their turn.
const LOOK: Duration = Duration::from_millis(1);
/// How often they look before they give up: about ten seconds, several turns of a load.
const LOOKS: i32 = 10_000;
/// How long a load stays away from the lock between two transactions: several looks.
const PAUSE: Duration = Duration::from_millis(4);

/// A connection for writing much, which waits for its turn.
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = sqlite::writer(path, Durability::Checkpoint)?;
    connection.busy_handler(Some(wait))?;
    connection.pragma_update(None, "cache_size", CACHE)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Where a row was, nothing of it stays readable. A value that is forgotten has to be gone, and
    // a load that moves or rewrites its row before would leave a copy behind.
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

/// Lets others have a turn.
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
