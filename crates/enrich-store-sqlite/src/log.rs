//! The write-ahead log of a database, a file in the same folder.

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use crate::OpenError;
use crate::database::{Durability, writer};

/// The most bytes that are read and written at a time.
const LOG_CHUNK_BYTES: usize = 1024 * 1024;

/// Commits a transaction without changes to the write-ahead log. A reader must have the log open,
/// because the last connection that closes the log removes it.
///
/// While the log is empty, SQLite asks the system for the file's length at the beginning of each
/// read (`pagerPagecount`). After a commit, SQLite reads the length from the log's index, in
/// memory; this saves a fortieth of the cost of a short look-up. The index keeps the length even
/// after the commit is moved from the log into the file. The log then contains no pages that
/// readers must search.
pub fn begin_log(path: &Path) -> rusqlite::Result<()> {
    let connection = writer(path, Durability::Checkpoint)?;
    // Fails immediately if another writer is active, because that writer begins the log too.
    connection.busy_timeout(Duration::ZERO)?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    connection.pragma_update(None, "user_version", version)?;
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// Moves the log into the database, as far as other readers allow. Returns whether all of it was
/// moved.
pub fn move_log(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let (is_busy, in_log, moved): (bool, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(!is_busy && moved == in_log)
    })
}

/// Returns the paths of the write-ahead log of the database at `path`, and of the log's index,
/// which all processes share.
pub fn wal_and_shm_paths(path: &Path) -> [PathBuf; 2] {
    ["-wal", "-shm"].map(|end| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        name.into()
    })
}

/// Refuses a database whose log was removed while a process had it open. SQLite would treat the
/// removed log as empty.
///
/// SQLite creates the log before the index and removes it after the index, so an index without a
/// log shows that the log was removed. The files are not opened, because closing a file would
/// release the locks that this process has on it.
pub fn refuse_without_log(path: &Path) -> Result<(), OpenError> {
    let path = path.canonicalize().map_err(|source| OpenError::unusable(path, source))?;
    let [log, index] = wal_and_shm_paths(&path);
    let is_there =
        |file: &Path| file.try_exists().map_err(|source| OpenError::unusable(file, source));
    // The log is checked again, because another process may have opened the database meanwhile.
    if !is_there(&log)? && is_there(&index)? && !is_there(&log)? {
        return Err(OpenError::LogRemoved { path, log, index });
    }
    Ok(())
}

/// Writes the write-ahead log of the database at `path` again, unchanged, and syncs it to disk. A
/// connection must have the log open, and no other connection may append to it.
///
/// SQLite takes no locks on the log's file, so closing the file here releases no lock.
pub fn write_log_again(path: &Path) -> io::Result<()> {
    // The log is in the folder of the database file itself, not in the folder of a link to that
    // file.
    let [log, _] = wal_and_shm_paths(&path.canonicalize()?);
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
