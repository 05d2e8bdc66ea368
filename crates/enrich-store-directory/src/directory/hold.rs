//! One open read, which saves all other reads the file locks.
//!
//! Every read of a database with a write-ahead log takes a shared lock on a read mark of the log
//! and releases it: two system calls. SQLite makes them only for the first read of a process that
//! takes a mark and for the last that releases it (`unixShmLock`). So no read makes them while
//! another read of the same state is open; that saves a tenth of the cost of a point read's
//! request. Reads are no older for it: every read still begins at the current state.

use std::path::Path;
use std::time::Duration;

use enrich_store_sqlite::{self as sqlite, Background, OpenError, Owner, Statements};
use rusqlite::Connection;

/// How long one state is held. During this time an import's changes stay in the log, and reads of
/// newer states take their own locks.
const HELD_FOR: Duration = Duration::from_millis(100);
/// How long nothing is held then: an import that waits to empty the log looks every millisecond.
const PAUSE: Duration = Duration::from_millis(3);

/// Starts to hold the database at `path`.
pub(super) fn start(path: &Path) -> Result<Background, OpenError> {
    let connection = sqlite::reader(path).map_err(|source| OpenError::of_sqlite(path, source))?;
    Background::start(path, "enrich-hold", move |owner| {
        // If a state cannot be held, reads take their own locks and report the error.
        while hold(&connection, owner).unwrap_or_else(|_| owner.is_there_after(HELD_FOR)) {}
    })
}

/// Holds the current state for a while; returns whether to go on.
fn hold(connection: &Connection, owner: &Owner) -> rusqlite::Result<bool> {
    let reading = connection.unchecked_transaction()?;
    // A transaction holds nothing until it reads something.
    reading.has("SELECT generation FROM state", [])?;
    let goes_on = owner.is_there_after(HELD_FOR);
    reading.finish()?;
    Ok(goes_on && owner.is_there_after(PAUSE))
}
