//! Backups of a data folder: taken while it is in use, checked, and either complete or absent.
//!
//! Both databases are copied page by page (SQLite's backup API). A read transaction of each
//! database begins before the copy and stays open until the copy is done. A reader blocks no
//! writer, so charges continue. An open transaction reads one state, so the copy need not start
//! again when the ledger changes. `VACUUM INTO` would also work, but it takes several times as much
//! processor time, because it rebuilds every B-tree.
//!
//! The order of copying keeps the files consistent:
//!
//! 1. The lists of the account page come first. A row is charged before its answer is written. The
//!    ledger is copied after the lists, so it contains the charge of every answer.
//! 2. Then the ledger's transaction begins, and then the directory's. The copied directory is
//!    therefore not older than the revisions in the charges.
//! 3. `secret.key` comes last: it may contain more secrets than the databases use, but never fewer.
//!
//! A backup is written to a temporary folder beside its destination, and moved to the destination
//! once the backup is checked and on disk. A restore is written to a folder inside the data folder.
//! The data folder is refused until its last file, the ledger, is moved into place.

mod file_entry;
mod files;
mod manifest;
mod restore;
mod take;

use std::path::PathBuf;

use enrich_core::Timestamp;
use enrich_core::port::ledger::Verification;
use enrich_store_sqlite::OpenError;

pub use restore::restore;
pub use take::back_up;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// A complete backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// The time of the copied state.
    pub made_at: Timestamp,
    /// The size of the directory's copy in bytes.
    pub directory_bytes: u64,
    /// The size of the ledger's copy in bytes.
    pub ledger_bytes: u64,
    /// The number of files copied in addition to the databases, from subfolders of the data folder.
    pub other_files: u64,
    /// The size in bytes of the files copied from subfolders of the data folder.
    pub other_bytes: u64,
    /// The result of verifying the ledger's copy.
    pub ledger: Verification,
    /// The time of the last row of the ledger's copy; `None` when the ledger has no rows.
    pub last_entry_at: Option<Timestamp>,
}

/// Why a backup or a restore failed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The data folder, or a copy of it, cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The destination is not empty.
    #[error("{0} is not empty; name a folder that is not there yet, or an empty one")]
    NotEmpty(PathBuf),
    /// The destination is inside the data folder.
    #[error("{0} lies in the data folder; name a folder outside it")]
    Inside(PathBuf),
    /// Another backup is being written to the same destination.
    #[error("another backup is being written to {0}; wait for it, or name another folder")]
    UnderWay(PathBuf),
    /// The folder for the unfinished backup contains files that no backup wrote.
    #[error("{0} holds other files than an unfinished backup; move it away")]
    NotUnfinished(PathBuf),
    /// The disk has too little space.
    #[error("{needed} MB are needed on the disk of {folder} and {free} MB are free")]
    NoSpace {
        /// The folder.
        folder: PathBuf,
        /// The space needed, in megabytes.
        needed: u64,
        /// The free space, in megabytes.
        free: u64,
    },
    /// A file or folder cannot be read or written.
    #[error("{path} cannot be read or written")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Source,
    },
    /// The check of the copy found faults.
    #[error(
        "the copy is not sound, and neither is what it was copied from: {}; see `enrich check` and \
         `enrich ledger verify`", .0.join("; ")
    )]
    Unsound(Vec<String>),
    /// The folder to restore from is not a backup.
    #[error("{folder} is no complete backup: {why}")]
    NoBackup {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file of the backup was altered.
    #[error("{0} of the backup is not as it was written: it was damaged or changed since")]
    Altered(String),
}

impl BackupError {
    fn file(path: impl Into<PathBuf>, source: impl Into<Source>) -> Self {
        Self::File { path: path.into(), source: source.into() }
    }
}
