//! The write-ahead log beside a database: begun, moved into the database, and written once more.

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use crate::OpenError;
use crate::database::{Durability, writer};

/// How much of a write-ahead log is written again at a time.
const LOG_CHUNK_BYTES: usize = 1024 * 1024;

/// Puts a commit that changes nothing into the write-ahead log, which a reader must have open: the
/// last that closes a log removes it.
///
/// While a log is empty, SQLite asks the system for the file's length at the beginning of every read
/// (`pagerPagecount`); else the length stands in the log's index, in memory. That is a fortieth of
/// what a point read's request costs. The index keeps the length once the commit is brought into the
/// file, which nobody may be reading meanwhile, and readers do not look for pages in the log
/// then.
pub fn begin_log(path: &Path) -> rusqlite::Result<()> {
    let connection = writer(path, Durability::Checkpoint)?;
    // Do not wait: another writer has begun the log already.
    connection.busy_timeout(Duration::ZERO)?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    connection.pragma_update(None, "user_version", version)?;
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// Moves the log into the database as far as nobody is in the way; `true` where that is all of it.
pub fn move_log(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let (is_busy, in_log, moved): (bool, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(!is_busy && moved == in_log)
    })
}

/// The files that SQLite keeps beside the database at `path`: its write-ahead log, and the index of
/// that, which all who have it open share.
pub fn beside(path: &Path) -> [PathBuf; 2] {
    ["-wal", "-shm"].map(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        name.into()
    })
}

/// Refuses a database whose log was removed under a process that had it open, whether that still
/// runs or was killed. SQLite would take such a log for an empty one.
///
/// The log is made before its index and removed after it, so the index is never there alone. The
/// files are not opened: closing one gives up the locks that this process has on it.
pub fn refuse_without_log(path: &Path) -> Result<(), OpenError> {
    let path = path.canonicalize().map_err(|source| OpenError::unusable(path, source))?;
    let [log, index] = beside(&path);
    let is_there =
        |file: &Path| file.try_exists().map_err(|source| OpenError::unusable(file, source));
    // The log once more: somebody may have opened the database meanwhile.
    if !is_there(&log)? && is_there(&index)? && !is_there(&log)? {
        return Err(OpenError::LogRemoved { path, log, index });
    }
    Ok(())
}

/// Writes the write-ahead log of the database at `path` once more as it is, and waits until it is on
/// the disk. There has to be one, which a connection has open, and nobody may be adding to it.
///
/// Nobody holds locks on that file, which closing it here would give up.
pub fn write_log_again(path: &Path) -> io::Result<()> {
    // Beside the file itself, wherever a link to it is.
    let [log, _] = beside(&path.canonicalize()?);
    let mut log = OpenOptions::new().read(true).write(true).open(log)?;
    let mut chunk = vec![0; LOG_CHUNK_BYTES];
    let mut at = 0;
    loop {
        log.seek(SeekFrom::Start(at))?;
        let read = log.read(&mut chunk)?;
        if read == 0 {
            return log.sync_all();
        }
        log.seek(SeekFrom::Start(at))?;
        log.write_all(&chunk[..read])?;
        at += read as u64;
    }
}
