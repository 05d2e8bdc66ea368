//! Checks that the ledger's paths still lead to the files that this process has open. If somebody
//! has unlinked or replaced a file, this process can still write to the old file. But everything
//! that it writes to the old file is lost when this process ends. SQLite does not check this. So
//! this process stores the identities of three files when it opens the ledger: of the database, its
//! write-ahead log (`-wal`) and the log's index (`-shm`). This process compares the identities with
//! the files at the paths before each group of charges is decided, and again before the callers of
//! the group get their answers. Each comparison takes three system calls.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use enrich_store_sqlite::{self as sqlite, Durability, OpenError};
use parking_lot::Mutex;
use rusqlite::Connection;

/// The files of a ledger, with the identities that they had when the ledger was opened.
pub(crate) struct LedgerFiles {
    database: OpenFile,
    log: OpenFile,
    index: OpenFile,
    /// A connection that stays open, so that SQLite does not remove the write-ahead log: SQLite
    /// removes it when the last connection to the ledger closes. If somebody has unlinked the log,
    /// this connection moves the log's content into the database.
    connection: Mutex<Connection>,
    is_reported: AtomicBool,
}

/// A file of the ledger, with its device and inode number when the ledger was opened. If the path
/// later leads to a file with other numbers, the file was replaced.
struct OpenFile {
    path: PathBuf,
    identity: Option<Identity>,
}

/// The device number and the inode number of a file. They identify the file whatever its name is.
type Identity = (u64, u64);

/// The error when the path of a ledger's file no longer leads to the file that this process has
/// open. The text is the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} was removed or replaced while the ledger was open; what is charged would be lost with the \
     process"
)]
pub(crate) struct FileReplaced(String);

impl LedgerFiles {
    /// Stores the identities of the files of the ledger at `path`, which must already have its
    /// tables.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let failed = |source| OpenError::of_sqlite(path, source);
        let connection = sqlite::writer(path, Durability::Commit).map_err(failed)?;
        // A connection opens the write-ahead log only when it reads for the first time. After this
        // read, the log's file exists, so its identity can be stored.
        let read = connection.query_row("SELECT count(*) FROM seal", [], |_| Ok(()));
        read.map_err(failed)?;
        // If `path` is a link, the log is in the folder of the file to which it leads.
        let path = path.canonicalize().map_err(|source| OpenError::unusable(path, source))?;
        let [log, index] = sqlite::wal_and_shm_paths(&path);
        Ok(Self {
            database: OpenFile::at(path),
            log: OpenFile::at(log),
            index: OpenFile::at(index),
            connection: Mutex::new(connection),
            is_reported: AtomicBool::new(false),
        })
    }

    /// Returns an error when one of the paths no longer leads to the file that this process has
    /// open. If only the write-ahead log was unlinked, moves its content into the database. Only
    /// the first error is logged.
    pub(crate) fn check(&self) -> Result<(), FileReplaced> {
        let files = [&self.log, &self.database, &self.index];
        let Some(replaced) = files.into_iter().find(|file| file.is_replaced()) else {
            return Ok(());
        };
        let error = FileReplaced(replaced.name());
        let is_saved = self.is_log_unlinked_alone() && self.move_log();
        if !self.is_reported.swap(true, Ordering::AcqRel) {
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

    /// Whether this process can still save the content of its write-ahead log, although somebody
    /// has removed the log's file. It can if the database file and the log's index (`-shm`) are
    /// still there, and if no other process has written to a new log. If another process has done
    /// so, the index describes the new log, not the one that this process has open.
    fn is_log_unlinked_alone(&self) -> bool {
        let is_empty = std::fs::metadata(&self.log.path).map_or(true, |log| log.len() == 0);
        is_empty && !self.database.is_replaced() && !self.index.is_replaced()
    }

    /// Moves the content of the unlinked log into the database. Returns whether the whole content
    /// was moved and is on disk.
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

    /// Whether the opened file is no longer at its path: the path leads to no file, or to another
    /// file. Returns `false` if the identity cannot be read.
    fn is_replaced(&self) -> bool {
        self.identity.is_some() && identity(&self.path).is_ok_and(|now| now != self.identity)
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Returns the identity of the file at a path; `None` when there is no file.
#[cfg(unix)]
fn identity(path: &Path) -> std::io::Result<Option<Identity>> {
    use std::os::unix::fs::MetadataExt;
    match std::fs::metadata(path) {
        Ok(file) => Ok(Some((file.dev(), file.ino()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns `None`, because on systems other than Unix, nobody can remove or replace an open file.
#[cfg(not(unix))]
fn identity(_: &Path) -> std::io::Result<Option<Identity>> {
    Ok(None)
}
