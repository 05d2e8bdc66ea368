//! Makes the directory's file smaller: removes its unused pages.
//!
//! SQLite reuses the pages of deleted rows, but never makes the file smaller. `VACUUM` writes the
//! whole directory to a temporary file, and from there into the write-ahead log. The next
//! checkpoint of SQLite copies the pages from the log into the database file and shortens the file.
//! `VACUUM` is one transaction:
//!
//! - Look-ups continue, as during an import. Look-up data and ids stay the same, so the revision of
//!   the directory does not change. So a server can keep its hash index (the index of identifiers
//!   in memory).
//! - Imports, `forget` and other removals wait until the compaction is done. If one of them has to
//!   wait longer than about two minutes, it fails.
//! - If the process is killed, the directory is either unchanged or completely compacted.
//!
//! The ledger (the database of credits and charges) is not compacted, because all charges would
//! have to wait. Its file stays small enough: the ledger deletes expired responses, and new ones
//! reuse their pages.

use std::path::{Path, PathBuf};

use enrich_store_sqlite::turns::Waiting;
use enrich_store_sqlite::{self as sqlite, OpenError, SpaceError};
use rusqlite::Connection;

use crate::importer::{empty_the_log, turn};

/// Size of the page cache: 64 MiB. SQLite takes a negative number as a size in KiB.
const CACHE: i64 = -64 * 1024;
/// Each page in the write-ahead log has a header. All headers together take less than a 64th of the
/// size of the pages, so [`needed_bytes`] adds a 64th for them.
const LOG_PART: u64 = 64;

/// The size of the directory before and after a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactReport {
    /// The size of the directory's file and its write-ahead log before the compaction, in bytes.
    pub before_bytes: u64,
    /// The size of the directory's file and its write-ahead log after the compaction, in bytes.
    pub after_bytes: u64,
}

/// Why the directory was not compacted. In all cases, the directory is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum CompactError {
    /// The data folder cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The disk has too little space.
    #[error(
        "{needed} MB are needed on the disk of {folder} while the directory is compacted, and \
         {free} MB are free; nothing was changed"
    )]
    NoSpace {
        /// The data folder.
        folder: PathBuf,
        /// The required space, in megabytes.
        needed: u64,
        /// The free space, in megabytes.
        free: u64,
    },
    /// Another process is writing to the directory, and did not finish within about two minutes.
    #[error("an import or another command writes to the directory; try again when it is done")]
    Busy,
}

/// Rewrites the directory at `path` without unused space. Other processes may use the directory at
/// the same time.
///
/// # Errors
///
/// See [`CompactError`]. The directory is then unchanged.
pub fn compact(path: &Path) -> Result<CompactReport, CompactError> {
    let failed = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy) => CompactError::Busy,
        _ => OpenError::of_sqlite(path, error).into(),
    };
    let connection = connect(path).map_err(failed)?;
    let before_bytes = sqlite::file_bytes(path);
    let folder = path.parent().unwrap_or(Path::new("."));
    let needed = needed_bytes(&connection).map_err(failed)?;
    sqlite::check_space(folder, needed).map_err(|error| match error {
        SpaceError::Unknown { folder, source } => OpenError::unusable(folder, source).into(),
        SpaceError::TooLittle { folder, needed, free } => {
            CompactError::NoSpace { folder, needed, free }
        }
    })?;
    let waiting = Waiting::for_turn(&connection);
    connection.execute_batch("VACUUM").map_err(failed)?;
    drop(waiting);
    empty_the_log(connection).map_err(failed)?;
    // `begin_log` makes the reads of a server a little faster. The compaction has already
    // succeeded, so a failure of `begin_log` is ignored.
    let _ = sqlite::begin_log(path);
    Ok(CompactReport { before_bytes, after_bytes: sqlite::file_bytes(path) })
}

/// Opens a connection that waits for other writers and syncs its commits to disk. SQLite creates
/// its temporary file in the data folder, because [`compact`] has checked the free space of this
/// folder's disk only. The temporary file has no name in the folder, so the operating system
/// removes it when the process ends.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = turn::connect(path)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", CACHE)?;
    if let Some(folder) = path.parent().and_then(|folder| folder.canonicalize().ok())
        && let Some(folder) = folder.to_str()
    {
        connection.pragma_update(None, "temp_store_directory", folder)?;
    }
    Ok(connection)
}

/// Returns the disk space, in bytes, that the compaction needs in addition to the database file.
/// Every used page is written once to the temporary file and once to the log, where it gets a
/// header ([`LOG_PART`]).
fn needed_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    let used = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
    let bytes = used.saturating_mul(pragma("page_size")?);
    Ok(bytes.saturating_mul(2).saturating_add(bytes / LOG_PART))
}
