//! Makes and restores backups of a data folder. A backup can be made while the folder is in use. It
//! gets its final name only when it is complete and checked.
//!
//! Both databases are copied page by page (SQLite's backup API). Before the copying, a read
//! transaction begins in each database, and stays open until the copy is done. A read transaction
//! blocks no writer, so charges continue. All reads of a transaction see the same state, so the
//! copying need not start again when the ledger changes. `VACUUM INTO` could also make a copy. But
//! it rebuilds every B-tree, which takes several times as much processor time.
//!
//! The files are copied in an order that keeps them consistent:
//!
//! 1. First the bulk lists that account owners have uploaded on account pages, and the answers for
//!    the rows of these lists. For each row, the charge is written before the answer. The ledger is
//!    copied after the lists, so its copy contains the charges of all copied answers.
//! 2. Then the read transaction of the ledger begins, and after it the read transaction of the
//!    directory (the look-up data). A charge contains the revision of the directory from which its
//!    answer was read. With this order, the copied directory is not older than these revisions.
//! 3. `secret.key` is copied last. It may contain more secrets than the copied databases use, but
//!    not fewer.
//!
//! A backup is written to a temporary folder beside its destination. When the backup is checked and
//! synced to disk, it is moved to the destination. A restore first writes to a folder inside the
//! data folder, and then moves the files into place. The ledger is moved last. Until it is in
//! place, opening the data folder is refused.

mod file_entry;
mod files;
mod manifest;
mod restore;
mod take;

use std::path::PathBuf;

use enrich_core::Timestamp;
use enrich_core::port::ledger::Verification;
use enrich_store_sqlite::{OpenError, SpaceError};

pub use restore::restore;
pub use take::back_up;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// The content of a complete backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// The time of the backup. The copies of the databases contain the state at this time.
    pub made_at: Timestamp,
    /// The size of the copy of `directory.sqlite` in bytes.
    pub directory_bytes: u64,
    /// The size of the copy of `ledger.sqlite` in bytes.
    pub ledger_bytes: u64,
    /// The number of files that were copied from subfolders of the data folder, in addition to the
    /// databases.
    pub other_files: u64,
    /// The size of the files that were copied from subfolders of the data folder, in bytes.
    pub other_bytes: u64,
    /// The result of verifying the copy of the ledger.
    pub ledger: Verification,
    /// The time of the last row in the copy of the ledger; `None` when the ledger has no rows.
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
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A file or folder cannot be read or written.
    #[error("{path} cannot be read or written")]
    File {
        /// The file or folder that cannot be read or written.
        path: PathBuf,
        /// Why the file or folder cannot be read or written.
        #[source]
        source: Source,
    },
    /// The copy was checked, and has faults.
    #[error("the copy is not sound, and neither is what it was copied from: {}", .0.join("; "))]
    Unsound(Vec<String>),
    /// The folder to restore is not a backup.
    #[error("{folder} is no complete backup: {why}")]
    NoBackup {
        /// The folder that was named as the backup.
        folder: PathBuf,
        /// What is missing or wrong in the folder.
        why: String,
    },
    /// A file of the backup was altered after the backup was made.
    #[error("{0} of the backup is not as it was written: it was damaged or changed since")]
    Altered(String),
}

impl BackupError {
    fn file(path: impl Into<PathBuf>, source: impl Into<Source>) -> Self {
        Self::File { path: path.into(), source: source.into() }
    }
}
