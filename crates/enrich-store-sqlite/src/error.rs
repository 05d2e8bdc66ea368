//! The errors of opening a data folder. The messages name no commands or options, because programs
//! that embed Enrich do not have them.

use std::fmt;
use std::path::PathBuf;

use enrich_secrets::{SECRET_FILE, SecretError};

type Source = Box<dyn std::error::Error + Send + Sync>;

/// A file that a data folder must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFile {
    /// The secrets.
    Secrets,
    /// The directory (the look-up data).
    Directory,
    /// The accounts and the ledger.
    Ledger,
}

impl DataFile {
    /// Returns the name of the file in the data folder.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Secrets => SECRET_FILE,
            Self::Directory => "directory.sqlite",
            Self::Ledger => "ledger.sqlite",
        }
    }
}

impl fmt::Display for DataFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a data folder could not be opened. Nothing in the folder was changed: a file that cannot be
/// used is never replaced or repaired.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The linked version of SQLite has the WAL-reset bug, which corrupts databases.
    #[error("SQLite {found} can corrupt a database; build with {needed} or newer")]
    OldSqlite {
        /// The version of the linked SQLite library.
        found: &'static str,
        /// The oldest version of SQLite that is accepted.
        needed: &'static str,
    },
    /// The folder does not exist or is empty.
    #[error("there is no data folder at {0}")]
    Missing(PathBuf),
    /// The folder contains files, but none of Enrich's.
    #[error("{0} holds other files; name a new or empty folder for the data")]
    NotOurs(PathBuf),
    /// Some files of the data folder exist, and others are missing.
    #[error(
        "{folder} lacks {}; restore it from a backup of the whole folder, or, if the folder was \
         never in use, remove the folder and start again",
        .missing.iter().map(|file| file.name()).collect::<Vec<_>>().join(", ")
    )]
    Incomplete {
        /// The data folder that is incomplete.
        folder: PathBuf,
        /// The files that are missing.
        missing: Vec<DataFile>,
    },
    /// The folder's ledger was moved to a remote store (PostgreSQL), but the caller wants to open
    /// the folder with its own ledger.
    #[error("the accounts and the ledger of {0} were moved to PostgreSQL")]
    LedgerMoved(PathBuf),
    /// The folder has a ledger that was not moved to a remote store (PostgreSQL), but the caller
    /// wants to open the folder for a remote store.
    #[error(
        "{0} has accounts and a ledger of its own, which are not used together with those in \
         PostgreSQL"
    )]
    HasLedger(PathBuf),
    /// The write-ahead log of a database is missing, but the index of the log exists. So somebody
    /// has removed the log while a process had the database open.
    #[error(
        "{log} was removed while {path} was open, and with it perhaps charges that were \
         acknowledged; restore a backup of the whole folder, or, to go on without what was in it, \
         remove {index}"
    )]
    LogRemoved {
        /// The file of the database.
        path: PathBuf,
        /// The write-ahead log that is missing.
        log: PathBuf,
        /// The file of the log's index (`-shm`). This file still exists.
        index: PathBuf,
    },
    /// A restore into the folder is still running, or was interrupted.
    #[error("{0} holds a restore that is not finished")]
    UnfinishedRestore(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{path} cannot be used; check that it exists and that this user may read and write it")]
    Unusable {
        /// The file or folder that cannot be used.
        path: PathBuf,
        /// Why the file or folder cannot be used.
        #[source]
        source: Source,
    },
    /// SQLite cannot read a database, because its file is damaged.
    #[error("{path} is damaged; restore it from a backup")]
    Damaged {
        /// The file of the damaged database.
        path: PathBuf,
        /// How the damage was found.
        #[source]
        source: Source,
    },
    /// This process must be the only one that has the folder open, but other processes have it open
    /// too.
    #[error("{0} is in use")]
    InUse(PathBuf),
    /// Another process uses the folder exclusively, to reindex or restore it.
    #[error("{0} is being reindexed or restored")]
    BeingReindexed(PathBuf),
    /// The look-up data was made by the rules of an earlier version of Enrich, or its reindexing
    /// was interrupted.
    #[error("{0} was made by an earlier Enrich, or was not reindexed to its end")]
    DerivedBefore(PathBuf),
    /// SQLite can read the ledger, but keyed hashes show that somebody has altered its rows, or its
    /// seal (which shows whether rows were removed).
    #[error("{path} is not as it was written; restore it from a backup")]
    NotAsWritten {
        /// The file of the ledger.
        path: PathBuf,
        /// Which content of the ledger was altered.
        #[source]
        source: Source,
    },
    /// A file is the database of another program, or the wrong one of Enrich's two databases.
    #[error("{path} is not the {expected} database of Enrich; restore the right file")]
    Foreign {
        /// The file that is not the expected database.
        path: PathBuf,
        /// The name of the expected database.
        expected: &'static str,
    },
    /// A database was written by a newer Enrich.
    #[error(
        "{path} has schema {found} and this Enrich knows up to {known}; use the Enrich that wrote \
         it, or a newer one"
    )]
    NewerSchema {
        /// The file with the newer schema.
        path: PathBuf,
        /// The schema version of the database.
        found: i64,
        /// The newest schema version that this Enrich knows.
        known: i64,
    },
    /// A database has an older schema, because it was last opened by an earlier Enrich. The
    /// function that returned this error does not migrate the schema.
    #[error(
        "{path} has schema {found} and this Enrich needs {known}; open the folder with this Enrich \
         once and try again, or use the Enrich that wrote it"
    )]
    OlderSchema {
        /// The file with the older schema.
        path: PathBuf,
        /// The schema version of the database.
        found: i64,
        /// The schema version that this Enrich uses.
        known: i64,
    },
    /// A database's tables do not fit its schema version, or its schema could not be migrated.
    #[error("the schema of {path} cannot be brought up to date; restore the file from a backup")]
    Schema {
        /// The file of the database.
        path: PathBuf,
        /// Why the schema could not be migrated.
        #[source]
        source: Source,
    },
    /// The secrets cannot be used.
    #[error("the secrets in {path} cannot be used")]
    Secret {
        /// The file of the secrets.
        path: PathBuf,
        /// Why the secrets cannot be used.
        #[source]
        source: SecretError,
    },
}

impl OpenError {
    /// Creates the error for a file or folder that cannot be read or written.
    pub fn unusable(path: impl Into<PathBuf>, source: impl Into<Source>) -> Self {
        Self::Unusable { path: path.into(), source: source.into() }
    }

    /// Converts an error of SQLite about the file at `path` to [`Self::Damaged`] or
    /// [`Self::Unusable`].
    pub fn of_sqlite(path: impl Into<PathBuf>, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let path = path.into();
        match source.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged { path, source: source.into() },
            _ => Self::Unusable { path, source: source.into() },
        }
    }
}
