//! Whether the files that the ledger is open on are still those at its path.
//!
//! A process goes on writing into a file that was unlinked or replaced, and all of it is gone once
//! the process is killed. SQLite doesn't look. So the identities of the database, its write-ahead
//! log and the log's index are noted when the ledger is opened, and compared before a group of
//! charges is decided and before it is acknowledged: three calls to the system each time.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rusqlite::Connection;

use crate::error::OpenError;
use crate::sqlite::{self, Durability};

/// The files that a ledger is open on, as they were when it was opened.
pub(crate) struct LedgerFiles {
    database: OpenFile,
    log: OpenFile,
    index: OpenFile,
    /// Has the log open, so that nobody who closes the ledger removes it (the last one does), and
    /// is what a log is moved into the database by after it was unlinked.
    connection: Mutex<Connection>,
    is_told: AtomicBool,
}

/// A file that was there.
struct OpenFile {
    path: PathBuf,
    identity: Option<Identity>,
}

/// What one file is told from another by, whatever its name: the device and the number on it.
type Identity = (u64, u64);

/// A file of the ledger is no longer the one that was opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} was removed or replaced while the ledger was open; what is charged would be lost with the \
     process"
)]
pub(crate) struct FileReplaced(String);

impl LedgerFiles {
    /// Notes the files of the ledger at `path`, which has been prepared.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let failed = |source| OpenError::of_sqlite(path, source);
        let connection = sqlite::writer(path, Durability::Commit).map_err(failed)?;
        // Only a connection that has read something has the log open.
        let read = connection.query_row("SELECT count(*) FROM seal", [], |_| Ok(()));
        read.map_err(failed)?;
        // SQLite puts the log beside the file itself, wherever a link to it is.
        let path = path.canonicalize().map_err(|source| OpenError::unusable(path, source))?;
        let [log, index] = sqlite::beside(&path);
        Ok(Self {
            database: OpenFile::at(path),
            log: OpenFile::at(log),
            index: OpenFile::at(index),
            connection: Mutex::new(connection),
            is_told: AtomicBool::new(false),
        })
    }

    /// Fails when a file is not the one that was opened. Then what the log holds is moved into the
    /// database, if the log is all that is gone, and the first time the system's log says so.
    pub(crate) fn check(&self) -> Result<(), FileReplaced> {
        let files = [&self.log, &self.database, &self.index];
        let Some(replaced) = files.into_iter().find(|file| file.is_replaced()) else {
            return Ok(());
        };
        let error = FileReplaced(replaced.name());
        let is_saved = self.is_log_unlinked_alone() && self.move_log();
        if !self.is_told.swap(true, Ordering::AcqRel) {
            let file = replaced.path.display();
            if is_saved {
                tracing::error!(
                    %file,
                    "a file of the ledger was removed or replaced; nothing more is charged. \
                     Everything that was acknowledged was moved into the database: restart"
                );
            } else {
                tracing::error!(
                    %file,
                    "a file of the ledger was removed or replaced; nothing more is charged. What \
                     was acknowledged since the last checkpoint is lost when this process ends, \
                     unless the file is put back before"
                );
            }
        }
        Err(error)
    }

    /// Whether the log was unlinked and nobody has written another one. Else what stands in the
    /// log's index is not what this process wrote into its log.
    fn is_log_unlinked_alone(&self) -> bool {
        let is_empty = std::fs::metadata(&self.log.path).map_or(true, |log| log.len() == 0);
        is_empty && !self.database.is_replaced() && !self.index.is_replaced()
    }

    /// Moves the log, which is still open though it has no name, into the database; whether all of
    /// it was moved, and is on the disk.
    fn move_log(&self) -> bool {
        sqlite::move_log(&self.connection.lock()).unwrap_or(false)
    }
}

impl fmt::Debug for LedgerFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LedgerFiles").field("database", &self.database.path).finish_non_exhaustive()
    }
}

impl OpenFile {
    fn at(path: PathBuf) -> Self {
        let identity = identity(&path).ok().flatten();
        Self { path, identity }
    }

    /// Whether another file, or none, is there now. What cannot be told is taken to be the same.
    fn is_replaced(&self) -> bool {
        self.identity.is_some() && identity(&self.path).is_ok_and(|now| now != self.identity)
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// What is at a path; `None` when nothing is.
#[cfg(unix)]
fn identity(path: &Path) -> std::io::Result<Option<Identity>> {
    use std::os::unix::fs::MetadataExt;
    match std::fs::metadata(path) {
        Ok(file) => Ok(Some((file.dev(), file.ino()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Elsewhere a file that is open cannot be removed or replaced.
#[cfg(not(unix))]
fn identity(_: &Path) -> std::io::Result<Option<Identity>> {
    Ok(None)
}
