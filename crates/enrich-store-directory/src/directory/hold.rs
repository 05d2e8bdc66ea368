//! Keeps one read open, which saves system calls for all other reads.
//!
//! Every read of a database with a write-ahead log takes a shared lock on a read mark of the log
//! and releases it. In one process, SQLite makes a system call only for the first read that takes a
//! mark and for the last one that releases it (`unixShmLock`). So while one read is open, other
//! reads of the same state need no system calls for the lock; this saves a tenth of the cost of a
//! short look-up. Every read still begins at the current state.

use std::path::Path;
use std::time::Duration;

use enrich_store_sqlite::{self as sqlite, Background, OpenError, Owner, Statements};
use rusqlite::Connection;

/// How long a read of one state is kept open. During this time an import's changes stay in the log,
/// and reads of newer states take their own locks.
const HELD_FOR: Duration = Duration::from_millis(100);
/// Length of the pause between two such reads, in which no read is kept open. An import that waits
/// to empty the log checks every millisecond.
const PAUSE: Duration = Duration::from_millis(3);

/// Starts the thread that keeps a read of the database at `path` open.
pub(super) fn start(path: &Path) -> Result<Background, OpenError> {
    let connection = sqlite::reader(path).map_err(|source| OpenError::of_sqlite(path, source))?;
    Background::start(path, "enrich-hold", move |owner| {
        // If this fails, look-ups take their own locks and report the error.
        while hold(&connection, owner).unwrap_or_else(|_| owner.is_there_after(HELD_FOR)) {}
    })
}

/// Keeps a read of the current state open for a while. Returns whether to continue.
fn hold(connection: &Connection, owner: &Owner) -> rusqlite::Result<bool> {
    let reading = connection.unchecked_transaction()?;
    // A transaction takes its locks only when it reads.
    reading.has("SELECT generation FROM state", [])?;
    let goes_on = owner.is_there_after(HELD_FOR);
    reading.finish()?;
    Ok(goes_on && owner.is_there_after(PAUSE))
}
