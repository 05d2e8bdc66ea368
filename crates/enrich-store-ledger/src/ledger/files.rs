//! Checks that the ledger's paths still lead to the files that this process has open. If somebody
//! has unlinked or replaced a file, this process can still write to the old file. But everything
//! that it writes to the old file is lost when this process ends. SQLite does not check this. So
//! this process stores the identities of three files when it opens the ledger: of the database, its
//! write-ahead log (`-wal`) and the log's index (`-shm`). This process compares the identities with
//! the files at the paths before each group of charges is decided, and again before the callers of
//! the group get their answers. Each comparison takes three system calls. If an identity cannot be
//! read, nobody knows whether the file was replaced. So this counts like a replaced file.

use std::fmt;
use std::io;
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
    identity: Identity,
}

/// The device number and the inode number of a file. They identify the file whatever its name is.
type Identity = (u64, u64);

/// The error when a path of the ledger may no longer lead to the file that this process has open.
/// The first text is the name of the file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileFault {
    /// The path leads to no file, or to another file.
    #[error(
        "{0} was removed or replaced while the ledger was open; what is charged would be lost with \
         the process"
    )]
    Replaced(String),
    /// The identity of the file at the path cannot be read.
    #[error("whether {0} is still the file that the ledger has open cannot be read")]
    Unreadable(String, #[source] io::Error),
}

impl LedgerFiles {
    /// Stores the identities (device and inode numbers) of the files of the ledger at `path`, which
    /// must already have its tables.
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
            database: OpenFile::at(path)?,
            log: OpenFile::at(log)?,
            index: OpenFile::at(index)?,
            connection: Mutex::new(connection),
            is_reported: AtomicBool::new(false),
        })
    }

    /// Returns an error when one of the paths no longer leads to the file that this process has
    /// open, or when the identity of the file at a path cannot be read. If only the write-ahead log
    /// was unlinked, moves its content into the database. Only the first error is logged.
    pub(crate) fn check(&self) -> Result<(), FileFault> {
        for file in [&self.log, &self.database, &self.index] {
            if let Err(fault) = file.check() {
                let is_saved = matches!(fault, FileFault::Replaced(_))
                    && self.is_log_unlinked_alone()
                    && self.move_log();
                if !self.is_reported.swap(true, Ordering::AcqRel) {
                    report(&file.path, &fault, is_saved);
                }
                return Err(fault);
            }
        }
        Ok(())
    }

    /// Whether this process can still save the content of its write-ahead log, although somebody
    /// has removed the log's file. It can if the database file and the log's index (`-shm`) are
    /// still there, and if no other process has written to a new log. If another process has done
    /// so, the index describes the new log, not the one that this process has open.
    fn is_log_unlinked_alone(&self) -> bool {
        let is_empty = match std::fs::metadata(&self.log.path) {
            Ok(log) => log.len() == 0,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        is_empty && self.database.check().is_ok() && self.index.check().is_ok()
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
    fn at(path: PathBuf) -> Result<Self, OpenError> {
        match identity(&path) {
            Ok(identity) => Ok(Self { path, identity }),
            Err(source) => Err(OpenError::unusable(path, source)),
        }
    }

    /// Returns an error if the path leads to no file or to another file, or if the identity of the
    /// file at the path cannot be read.
    fn check(&self) -> Result<(), FileFault> {
        match identity(&self.path) {
            Ok(now) if now == self.identity => Ok(()),
            Ok(_) => Err(FileFault::Replaced(self.name())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(FileFault::Replaced(self.name()))
            }
            Err(error) => Err(FileFault::Unreadable(self.name(), error)),
        }
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Logs that a file of the ledger is not, or may not be, the file that this process has open.
/// `is_saved`: whether the content of the unlinked write-ahead log was moved into the database.
fn report(path: &Path, fault: &FileFault, is_saved: bool) {
    let file = path.display();
    match fault {
        FileFault::Replaced(_) if is_saved => tracing::error!(
            %file,
            "a file of the ledger was removed or replaced; nothing more is charged. Everything \
             that was acknowledged was moved into the database: restart"
        ),
        FileFault::Replaced(_) => tracing::error!(
            %file,
            "a file of the ledger was removed or replaced; nothing more is charged. What was \
             acknowledged since the last checkpoint is lost when this process ends, unless the \
             file is put back before"
        ),
        FileFault::Unreadable(_, error) => tracing::error!(
            %file,
            %error,
            "whether a file of the ledger was replaced cannot be read; nothing more is charged. \
             Restart when the file can be read"
        ),
    }
}

/// Returns the identity of the file at a path. Repeats the system call if a signal has interrupted
/// it.
#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    loop {
        match std::fs::metadata(path) {
            Ok(file) => return Ok((file.dev(), file.ino())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the same identity for all files, because on systems other than Unix, nobody can remove
/// or replace an open file.
#[cfg(not(unix))]
fn identity(_: &Path) -> io::Result<Identity> {
    Ok((0, 0))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_whose_identity_cannot_be_read_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite");
        assert!(matches!(OpenFile::at(path.clone()), Err(OpenError::Unusable { .. })));
        symlink(&path, &path).unwrap();
        assert!(matches!(OpenFile::at(path), Err(OpenError::Unusable { .. })));
    }

    #[test]
    fn a_file_whose_identity_can_no_longer_be_read_is_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite");
        std::fs::write(&path, "").unwrap();
        let Ok(file) = OpenFile::at(path.clone()) else { panic!("it is there") };
        assert!(file.check().is_ok());
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(file.check(), Err(FileFault::Replaced(_))));
        symlink(&path, &path).unwrap();
        assert!(matches!(file.check(), Err(FileFault::Unreadable(..))));
    }
}
