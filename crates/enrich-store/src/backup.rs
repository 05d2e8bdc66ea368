//! Backups of a data folder: taken while others use it, checked, and complete or not there at all.
//!
//! Both databases are copied page by page (SQLite's backup API) from read transactions that begin
//! together and stay open until the copy is done. A reader holds up no writer, so charges go on,
//! and an open transaction reads one state, so the copy never begins again however busy the
//! ledger is. `VACUUM INTO` would do as well, and takes a processor for several times as long,
//! since it builds every tree anew.
//!
//! What belongs together is copied in this order:
//!
//! 1. the lists of the account page. Their rows are charged before they are written, so every
//!    answer in them has its charge in the ledger that is read after them;
//! 2. the ledger's transaction begins, then the directory's: every state of the directory that a
//!    charge names is in the directory;
//! 3. `secret.key` last: it may hold more secrets than the databases know, never fewer.
//!
//! A backup is written to a folder beside its place and moved there when it was checked and is on
//! the disk. A restore is written to a folder inside the data folder, which stays refused until
//! the ledger, the last file, is moved to its place.

mod file_entry;
mod files;
mod manifest;
mod restore;
mod take;

use std::path::PathBuf;

use enrich_core::Timestamp;
use enrich_core::port::ledger::Verification;

use crate::error::OpenError;

pub use restore::restore;
pub use take::back_up;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// A complete backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// The moment that the databases are copied from.
    pub made_at: Timestamp,
    /// The size of the directory's copy in bytes.
    pub directory_bytes: u64,
    /// The size of the ledger's copy in bytes.
    pub ledger_bytes: u64,
    /// How many files of other folders were copied.
    pub other_files: u64,
    /// Their size in bytes.
    pub other_bytes: u64,
    /// What the ledger's copy adds up to.
    pub ledger: Verification,
    /// The time of the ledger's last row; `None` where there is no row.
    pub last_entry_at: Option<Timestamp>,
}

/// Why there is no backup, or nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The data folder, or a copy of it, cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is something where the result is to be.
    #[error("{folder} is not empty; name a folder that is not there yet, or an empty one")]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
    },
    /// The backup would be a part of what it is a copy of.
    #[error("{folder} lies in the data folder; name a folder outside it")]
    Inside {
        /// The folder.
        folder: PathBuf,
    },
    /// Another backup is written to the same place.
    #[error("another backup is being written to {folder}; wait for it, or name another folder")]
    UnderWay {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder that a backup is written to at first holds what no backup wrote.
    #[error("{folder} holds other files than an unfinished backup; move it away")]
    NotUnfinished {
        /// The folder.
        folder: PathBuf,
    },
    /// The disk has too little space.
    #[error("{needed} MB are needed on the disk of {folder} and {free} MB are free")]
    NoSpace {
        /// Where.
        folder: PathBuf,
        /// How much is needed, in megabytes.
        needed: u64,
        /// How much is free, in megabytes.
        free: u64,
    },
    /// A file or folder cannot be read or written.
    #[error("{path} cannot be read or written")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What failed.
        #[source]
        source: Source,
    },
    /// The copy was checked, and something is wrong with it.
    #[error(
        "the copy is not sound, and neither is what it was copied from: {}; see `enrich check` and \
         `enrich ledger verify`", .problems.join("; ")
    )]
    Unsound {
        /// What is wrong.
        problems: Vec<String>,
    },
    /// The folder that is to be restored is no backup.
    #[error("{folder} is no complete backup: {why}")]
    NoBackup {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        why: String,
    },
    /// A file of a backup is not as the backup wrote it.
    #[error("{file} of the backup is not as it was written: it was damaged or changed since")]
    Altered {
        /// The file's name in the backup.
        file: String,
    },
}

impl BackupError {
    fn file(path: impl Into<PathBuf>, source: impl Into<Source>) -> Self {
        Self::File { path: path.into(), source: source.into() }
    }
}
