//! Keeps one read of the database open, which saves system calls for all other reads.
//!
//! In a database with a write-ahead log, every read takes a shared lock on a read mark of the log,
//! and releases the lock at its end. In one process, SQLite makes a system call only for the first
//! read that locks a mark, and for the last read that releases it (`unixShmLock`). So while one
//! read stays open, other reads of the same state take and release their locks without system
//! calls. This saves a tenth of the cost of a short look-up. Every read still begins at the current
//! state.

use std::path::Path;
use std::time::Duration;

use enrich_store_sqlite::{self as sqlite, Background, OpenError, Owner, Statements};
use rusqlite::Connection;

/// The time for which one read transaction is kept open. The time is short for two reasons. While
/// the transaction is open, an import cannot empty the write-ahead log. And an old transaction does
/// not help reads of a newer state: they lock another read mark.
const HELD_FOR: Duration = Duration::from_millis(100);
/// Length of the pause between two read transactions that are kept open. An import that waits to
/// empty the write-ahead log tries it every millisecond, so at least one attempt falls into the
/// pause.
const PAUSE: Duration = Duration::from_millis(3);

/// Starts the thread that keeps a read transaction open on the database at `path`. As long as one
/// is open, other reads of this process need fewer system calls.
pub(super) fn start(path: &Path) -> Result<Background, OpenError> {
    let connection = sqlite::reader(path).map_err(|source| OpenError::of_sqlite(path, source))?;
    Background::start(path, "enrich-hold", move |owner| {
        // An error is ignored here. Without the open read transaction, look-ups still work, but
        // make more system calls. If look-ups fail too, they report the error themselves.
        while hold(&connection, owner).unwrap_or_else(|_| owner.wait_or_stopped(HELD_FOR)) {}
    })
}

/// Keeps a read transaction of the current state open for [`HELD_FOR`], and then waits for
/// [`PAUSE`]. Returns `false` if the [`Background`] was dropped, so that the thread must end.
fn hold(connection: &Connection, owner: &Owner) -> rusqlite::Result<bool> {
    let reading = connection.unchecked_transaction()?;
    // A transaction takes its lock only when it reads for the first time. This is the first read.
    reading.has("SELECT generation FROM state", [])?;
    let goes_on = owner.wait_or_stopped(HELD_FOR);
    reading.finish()?;
    Ok(goes_on && owner.wait_or_stopped(PAUSE))
}
