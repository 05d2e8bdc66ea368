//! The sizes of databases on disk.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::database::reader;
use crate::log::wal_and_shm_paths;

/// The size of a database on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseSize {
    /// The size of the file and its write-ahead log, in bytes.
    pub bytes: u64,
    /// The unused space inside the file, in bytes.
    pub free_bytes: u64,
}

/// Returns the size of a database on disk, and the unused space in its file.
///
/// # Errors
///
/// When the file cannot be read.
pub fn database_size(path: &Path) -> rusqlite::Result<DatabaseSize> {
    let connection = reader(path)?;
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    let free_bytes = pragma("freelist_count")?.saturating_mul(pragma("page_size")?);
    Ok(DatabaseSize { bytes: file_bytes(path), free_bytes })
}

/// Returns the size on disk of a database file together with its write-ahead log, in bytes; 0 if
/// the file does not exist.
pub fn file_bytes(path: &Path) -> u64 {
    let [log, _] = wal_and_shm_paths(path);
    let of = |path: &Path| fs::metadata(path).map_or(0, |about| about.len());
    of(path) + of(&log)
}

/// Returns the length of the database in bytes, as the connection's present transaction sees it.
pub fn bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let pages: u64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let size: u64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    Ok(pages.saturating_mul(size))
}
