//! Shows a writer of a database whether other writers wait for it. SQLite has one writer at a time,
//! and does not show whether others wait. So each waiting writer takes a shared lock on an empty
//! file beside the database. A long transaction checks from time to time whether the file is
//! locked. If it is, the transaction ends early. When a process ends, even by a crash, the system
//! releases its lock.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use enrich_secrets::private_file;
use rusqlite::Connection;

/// The name of the lock file. The file must never be replaced or removed: two processes could then
/// lock different files.
pub const FILE: &str = "writers.lock";

/// The mark of a writer that waits for its turn to write to a database. The mark is a lock on a
/// file. Dropping this value removes the mark.
#[derive(Debug)]
pub struct Waiting {
    _locked: Option<File>,
}

impl Waiting {
    /// Marks that the writer of `connection` waits for its turn. If the file cannot be locked,
    /// there is no mark. The writer then waits longer, because a long transaction of another writer
    /// does not end early.
    pub fn for_turn(connection: &Connection) -> Self {
        let file = path(connection).and_then(|path| open(&path));
        Self { _locked: file.filter(|file| file.lock_shared().is_ok()) }
    }
}

/// Whether another writer of the database of `connection` waits for its turn.
pub fn is_awaited(connection: &Connection) -> bool {
    let file = path(connection).and_then(|path| open(&path));
    // The lock is released when the file is dropped.
    file.is_some_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

fn path(connection: &Connection) -> Option<PathBuf> {
    let database = Path::new(connection.path()?);
    Some(database.parent()?.join(FILE))
}

fn open(path: &Path) -> Option<File> {
    private_file().create(true).truncate(false).open(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_sees_that_others_wait() {
        let folder = tempfile::tempdir().unwrap();
        let connect = || Connection::open(folder.path().join("a.sqlite")).unwrap();
        let (writer, other) = (connect(), connect());
        assert!(!is_awaited(&writer));
        let waiting = [Waiting::for_turn(&other), Waiting::for_turn(&other)];
        assert!(is_awaited(&writer));
        drop(waiting);
        assert!(!is_awaited(&writer));
    }
}
