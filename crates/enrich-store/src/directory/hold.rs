//! One read that is always under way, which spares all others the locks of the file.
//!
//! Every read of a database with a write-ahead log takes a shared lock on a mark of that log and
//! gives it back: two system calls. SQLite asks the system only for the first of a process that
//! takes a mark and the last that gives it back, so that none does while another read of the same
//! state is under way (`unixShmLock`); that is a tenth of what a point read's request costs. What
//! is read is no older for it: every read still begins at the state that is there.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;

use crate::error::OpenError;
use crate::sqlite;

/// How long one state is held. For as long, what an import writes stays in the log, and the reads
/// of newer states take their locks themselves.
const HELD_FOR: Duration = Duration::from_millis(100);

/// The read that is under way.
#[derive(Debug)]
pub(super) struct Hold {
    /// Absent only while it is dropped.
    lives: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Hold {
    /// Begins to hold the database at `path`.
    pub(super) fn start(path: &Path) -> Result<Self, OpenError> {
        let connection =
            sqlite::reader(path).map_err(|source| OpenError::of_sqlite(path, source))?;
        let (lives, ended) = mpsc::sync_channel(0);
        let thread = thread::Builder::new()
            .name("enrich-hold".to_owned())
            .spawn(move || hold(&connection, &ended))
            .map_err(|source| OpenError::unusable(path, source))?;
        Ok(Self { lives: Some(lives), thread: Some(thread) })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.lives = None;
        if let Some(thread) = self.thread.take() {
            // Had it panicked, reads would have been slower and nothing else.
            let _ = thread.join();
        }
    }
}

fn hold(connection: &Connection, ended: &Receiver<()>) {
    // Where a state cannot be held, reads take their locks themselves, and say what is wrong.
    while hold_once(connection, ended).unwrap_or_else(|_| wait(ended)) {}
}

/// Holds the state of this moment for a while; whether to go on then.
fn hold_once(connection: &Connection, ended: &Receiver<()>) -> rusqlite::Result<bool> {
    let reading = connection.unchecked_transaction()?;
    // A transaction reads nothing, and holds nothing, until something is read in it.
    reading.prepare_cached("SELECT generation FROM state")?.exists([])?;
    let goes_on = wait(ended);
    reading.finish()?;
    Ok(goes_on)
}

fn wait(ended: &Receiver<()>) -> bool {
    ended.recv_timeout(HELD_FOR) == Err(RecvTimeoutError::Timeout)
}
