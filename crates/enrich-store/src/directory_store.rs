//! A data folder without a ledger. It has only the directory (the look-up data) and `secret.key`,
//! because the accounts and the ledger are in a remote store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use enrich_core::port::error::StoreError;
use enrich_secrets::Secrets;
use enrich_store_directory::{
    self as directory, CompactError, CompactReport, DIRECTORY, DirectoryPorts, DirectoryStatistics,
    DuplicateSearch, Duplicates, SqliteDirectory, SqliteImporter,
};
use enrich_store_sqlite::{
    self as sqlite, DatabaseReport, DatabaseSize, OpenError, Options,
    in_use::{self, InUse},
};

use crate::folder::{self, Found, Parts};

/// The directory (the look-up data) of a data folder, with the secrets.
///
/// It is opened from a folder without a ledger, or is a part of a [`Store`](crate::Store). Several
/// processes may have the same folder open.
#[derive(Debug)]
pub struct DirectoryStore {
    /// Answers look-ups.
    pub directory: Arc<SqliteDirectory>,
    /// Imports records into the look-up data.
    pub importer: Arc<SqliteImporter>,
    secrets: Secrets,
    folder: PathBuf,
}

impl DirectoryStore {
    /// Opens an existing data folder that has a directory (look-up data), with the default options.
    /// The folder must have no ledger, or a ledger that was moved to a remote store.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::open`](crate::Store::open). [`OpenError::HasLedger`] when the folder
    /// has a ledger that was not moved.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(folder, &Options::default())
    }

    /// Opens an existing data folder like [`open`](Self::open), with other options.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open).
    pub fn open_with(folder: impl AsRef<Path>, options: &Options) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        let (secrets, in_use) = folder::enter(folder, Parts::Directory, in_use::lock_shared)?;
        Self::open_entered(folder, secrets, options, in_use)
    }

    /// Opens the directory (the look-up data) of a folder that [`folder::enter`] has locked and
    /// migrated.
    pub(crate) fn open_entered(
        folder: &Path,
        secrets: Secrets,
        options: &Options,
        in_use: InUse,
    ) -> Result<Self, OpenError> {
        let path = folder.join(DIRECTORY.file);
        let DirectoryPorts { directory, importer } =
            directory::open(&path, &secrets, options, in_use)?;
        Ok(Self { directory, importer, secrets, folder: folder.into() })
    }

    /// Opens a data folder like [`open`](Self::open). If the folder contains only `secret.key`, as
    /// the folder of a new node does, first creates an empty `directory.sqlite` in it.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open). [`OpenError::Missing`] when the folder does not exist or
    /// is empty, because it must already contain the secrets of the remote store.
    pub fn open_or_create(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_or_create_with(folder, &Options::default())
    }

    /// Opens or creates a data folder like [`open_or_create`](Self::open_or_create), with other
    /// options.
    ///
    /// # Errors
    ///
    /// The errors of [`open_or_create`](Self::open_or_create).
    pub fn open_or_create_with(
        folder: impl AsRef<Path>,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        sqlite::check_version()?;
        if folder::find(folder, Parts::Directory)? == Found::Secrets {
            folder::create_databases(folder, Parts::Directory)?;
        }
        Self::open_with(folder, options)
    }

    /// Returns the secrets of the folder.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Derives all look-up data from the stored facts again, as
    /// [`Store::reindex`](crate::Store::reindex) does, for a folder without a ledger. Calls `done`
    /// in the same way.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::reindex`](crate::Store::reindex).
    pub fn reindex(folder: &Path, done: &mut dyn FnMut(u64, u64)) -> Result<u64, OpenError> {
        reindex(folder, Parts::Directory, done)
    }

    /// Makes `directory.sqlite` smaller, as [`Store::compact`](crate::Store::compact) does,
    /// for a folder without a ledger.
    ///
    /// # Errors
    ///
    /// See [`CompactError`].
    pub fn compact(folder: &Path) -> Result<CompactReport, CompactError> {
        compact(folder, Parts::Directory)
    }

    /// Checks everything in `directory.sqlite`. The check reads all data, so it takes as long as
    /// reading the whole file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read at all. Faults inside the file are in the report.
    pub fn check(&self) -> Result<DatabaseReport, StoreError> {
        directory::check(&self.path()).map_err(StoreError::failed)
    }

    /// Counts the subjects (companies and people) and the domains in the directory (the look-up
    /// data). This reads every subject.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn statistics(&self) -> Result<DirectoryStatistics, StoreError> {
        directory::directory_statistics(&self.path()).map_err(StoreError::failed)
    }

    /// Finds pairs of companies that are stored as two companies but may be the same one, because
    /// they look alike. If `search` names a company, searches only for pairs with this company.
    /// Otherwise, searches all companies, and reads all their identifiers.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn duplicates(&self, search: &DuplicateSearch) -> Result<Duplicates, StoreError> {
        directory::find_duplicates(&self.path(), &self.secrets, search).map_err(StoreError::failed)
    }

    /// Returns the size of `directory.sqlite` on disk.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn size(&self) -> Result<DatabaseSize, StoreError> {
        sqlite::database_size(&self.path()).map_err(StoreError::failed)
    }

    fn path(&self) -> PathBuf {
        self.folder.join(DIRECTORY.file)
    }
}

/// Derives all look-up data from the stored facts again; see
/// [`Store::reindex`](crate::Store::reindex).
pub(crate) fn reindex(
    folder: &Path,
    parts: Parts,
    done: &mut dyn FnMut(u64, u64),
) -> Result<u64, OpenError> {
    let (secrets, _in_use) = folder::enter(folder, parts, in_use::lock_exclusive)?;
    let path = folder.join(DIRECTORY.file);
    directory::derive_all(&path, &secrets, done)
        .map_err(|source| OpenError::of_sqlite(path, source))
}

/// Makes `directory.sqlite` smaller; see [`Store::compact`](crate::Store::compact).
pub(crate) fn compact(folder: &Path, parts: Parts) -> Result<CompactReport, CompactError> {
    let _entered = folder::enter(folder, parts, in_use::lock_shared)?;
    directory::compact(&folder.join(DIRECTORY.file))
}
