//! One read that is always under way, which spares all others the locks of the file.
//!
//! Every read of a database with a write-ahead log takes a shared lock on a mark of that log and
//! gives it back: two system calls. SQLite asks the system only for the first of a process that
//! takes a mark and the last that gives it back, so that none does while another read of the same
//! state is under way (`unixShmLock`); that is a tenth of what a point read's request costs. What
//! is read is no older for it: every read still begins at the state that is there.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use crate::background::{Background, Owner};
use crate::error::OpenError;
use crate::sqlite;

/// How long one state is held. For as long, what an import writes stays in the log, and the reads
/// of newer states take their locks themselves.
const HELD_FOR: Duration = Duration::from_millis(100);

/// Begins to hold the database at `path`.
pub(super) fn start(path: &Path) -> Result<Background, OpenError> {
    let connection = sqlite::reader(path).map_err(|source| OpenError::of_sqlite(path, source))?;
    Background::start(path, "enrich-hold", move |owner| {
        // Where a state cannot be held, reads take their locks themselves, and say what is wrong.
        while hold(&connection, owner).unwrap_or_else(|_| owner.is_there_after(HELD_FOR)) {}
    })
}

/// Holds the state of this moment for a while; whether to go on then.
fn hold(connection: &Connection, owner: &Owner) -> rusqlite::Result<bool> {
    let reading = connection.unchecked_transaction()?;
    // A transaction reads nothing, and holds nothing, until something is read in it.
    reading.prepare_cached("SELECT generation FROM state")?.exists([])?;
    let goes_on = owner.is_there_after(HELD_FOR);
    reading.finish()?;
    Ok(goes_on)
}
