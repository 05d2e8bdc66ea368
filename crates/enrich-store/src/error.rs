//! What can be wrong with a data folder, and what to do about it.

use std::path::PathBuf;

use crate::secret::SecretError;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// A data folder could not be opened. Nothing in it was changed: a file that cannot be used is
/// never made anew and never repaired.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The SQLite that was linked has the WAL-reset corruption bug.
    #[error("SQLite {found} can corrupt a database; build with {needed} or newer")]
    OldSqlite {
        /// Its version.
        found: &'static str,
        /// The oldest that is accepted.
        needed: &'static str,
    },
    /// There is no folder, or an empty one.
    #[error("there is no data folder at {folder}")]
    Missing {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds other files and none of ours.
    #[error("{folder} holds other files; name a new or empty folder for the data")]
    NotOurs {
        /// The folder.
        folder: PathBuf,
    },
    /// Some of the folder's files are there and some are not.
    #[error(
        "{folder} lacks {missing}; restore it from a backup of the whole folder, or, if the \
         folder was never in use, remove the folder and start again"
    )]
    Incomplete {
        /// The folder.
        folder: PathBuf,
        /// The files that are missing, separated by commas.
        missing: String,
    },
    /// A database's write-ahead log was removed while a process had it open, and nobody has opened
    /// it since.
    #[error(
        "{log} was removed while {path} was open, and with it perhaps charges that were \
         acknowledged; restore a backup of the whole folder, or, to go on without what was in it, \
         remove {index}"
    )]
    LogRemoved {
        /// The database.
        path: PathBuf,
        /// Its log, which is not there.
        log: PathBuf,
        /// The index of the log, which is.
        index: PathBuf,
    },
    /// A restore into the folder was broken off.
    #[error(
        "{folder} holds an `enrich restore` that is not finished; wait for it, or run it again if it \
         was broken off"
    )]
    UnfinishedRestore {
        /// The folder.
        folder: PathBuf,
    },
    /// A file or folder cannot be read or written.
    #[error("{path} cannot be used; check that it exists and that this user may read and write it")]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// What failed.
        #[source]
        source: Source,
    },
    /// A database is damaged.
    #[error("{path} is damaged; restore it from a backup")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How that was noticed.
        #[source]
        source: Source,
    },
    /// Others use the folder, and what was to be done needs it alone.
    #[error(
        "{folder} is in use; stop the server and other commands that use it, or wait for another \
         `enrich reindex` or `enrich restore`, and try again"
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// Somebody derives the directory once more.
    #[error(
        "{folder} is being reindexed or restored; wait until `enrich reindex` or `enrich restore` is \
         done with it"
    )]
    BeingReindexed {
        /// The folder.
        folder: PathBuf,
    },
    /// A directory was made by an earlier Enrich, which found names by other rules.
    #[error(
        "{path} was made by an earlier Enrich, or was not reindexed to its end; run `enrich \
         reindex` on its folder once, while no server uses it"
    )]
    DerivedBefore {
        /// The file.
        path: PathBuf,
    },
    /// The ledger is not what was written into it.
    #[error(
        "{path} is not as it was written; see what `enrich ledger verify` says, and restore it from \
         a backup"
    )]
    NotAsWritten {
        /// The file.
        path: PathBuf,
        /// Where that shows.
        #[source]
        source: Source,
    },
    /// A database is one of another program, or another one of ours.
    #[error("{path} is not the {expected} database of Enrich; restore the right file")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Which database it should be.
        expected: &'static str,
    },
    /// A database was written by a newer Enrich.
    #[error(
        "{path} has schema {found} and this Enrich knows up to {known}; use the Enrich that wrote \
         it, or a newer one"
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// A database's schema is not what its version says, or could not be brought forward.
    #[error("the schema of {path} cannot be brought up to date; restore the file from a backup")]
    Schema {
        /// The file.
        path: PathBuf,
        /// What failed.
        #[source]
        source: Source,
    },
    /// The secrets cannot be used.
    #[error("the secrets in {path} cannot be used")]
    Secret {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: SecretError,
    },
}

impl OpenError {
    pub(crate) fn unusable(path: impl Into<PathBuf>, source: impl Into<Source>) -> Self {
        Self::Unusable { path: path.into(), source: source.into() }
    }

    /// What an error of SQLite says about the file at `path`.
    pub(crate) fn of_sqlite(path: impl Into<PathBuf>, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let path = path.into();
        match source.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Damaged { path, source: source.into() },
            _ => Self::Unusable { path, source: source.into() },
        }
    }
}
