//! A data folder whose accounts and ledger are in a remote store: the directory and `secret.key`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use enrich_core::port::error::StoreError;
use enrich_secrets::Secrets;
use enrich_store_directory::{
    self as directory, CompactError, CompactReport, DIRECTORY, DirectoryPorts, DirectoryStatistics,
    SqliteDirectory, SqliteImporter,
};
use enrich_store_sqlite::{
    self as sqlite, DatabaseReport, DatabaseSize, OpenError, Options, in_use,
};

use crate::folder::{self, Found, Parts};

/// The directory of a data folder.
///
/// It is opened from a folder without a ledger, or is what is left of a [`Store`](crate::Store).
/// Several processes may have the same folder open.
#[derive(Debug)]
pub struct DirectoryStore {
    /// The look-up data.
    pub directory: Arc<SqliteDirectory>,
    /// Imports into the look-up data.
    pub importer: Arc<SqliteImporter>,
    secrets: Secrets,
    folder: PathBuf,
}

impl DirectoryStore {
    pub(crate) fn new(
        directory: Arc<SqliteDirectory>,
        importer: Arc<SqliteImporter>,
        secrets: Secrets,
        folder: PathBuf,
    ) -> Self {
        Self { directory, importer, secrets, folder }
    }

    /// Opens an existing folder that has a directory and no ledger in use.
    ///
    /// # Errors
    ///
    /// As [`Store::open`](crate::Store::open); [`OpenError::HasLedger`] when the folder has a
    /// ledger that was not moved.
    pub fn open_with(folder: impl AsRef<Path>, options: &Options) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        let (secrets, in_use) = folder::enter(folder, Parts::Directory, in_use::lock_shared)?;
        let path = folder.join(DIRECTORY.file);
        let DirectoryPorts { directory, importer } =
            directory::open(&path, &secrets, options, in_use)?;
        Ok(Self::new(directory, importer, secrets, folder.into()))
    }

    /// As [`open_with`](Self::open_with), but creates an empty directory in a folder that holds
    /// only `secret.key`, as that of a new node does.
    ///
    /// # Errors
    ///
    /// As [`open_with`](Self::open_with). [`OpenError::Missing`] when the folder does not exist or
    /// is empty: its secrets must be those of the remote store.
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

    /// The secrets of the folder.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// As [`Store::reindex`](crate::Store::reindex), for a folder without a ledger.
    ///
    /// # Errors
    ///
    /// As [`Store::reindex`](crate::Store::reindex).
    pub fn reindex(folder: &Path, done: &mut dyn FnMut(u64, u64)) -> Result<u64, OpenError> {
        reindex(folder, Parts::Directory, done)
    }

    /// As [`compact`](crate::compact), for a folder without a ledger.
    ///
    /// # Errors
    ///
    /// See [`CompactError`].
    pub fn compact(folder: &Path) -> Result<CompactReport, CompactError> {
        compact(folder, Parts::Directory)
    }

    /// Checks the directory in full. It takes as long as reading everything.
    ///
    /// # Errors
    ///
    /// When the file cannot be read at all. Faults in it are in the report.
    pub fn check(&self) -> Result<DatabaseReport, StoreError> {
        directory::check(&self.path()).map_err(StoreError::failed)
    }

    /// Counts the directory's content. Reads every subject.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn statistics(&self) -> Result<DirectoryStatistics, StoreError> {
        directory::directory_statistics(&self.path()).map_err(StoreError::failed)
    }

    /// The size of the directory on disk.
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

/// Derives everything in the directory again; see [`Store::reindex`](crate::Store::reindex).
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

/// Rewrites the directory without unused space; see [`compact`](crate::compact).
pub(crate) fn compact(folder: &Path, parts: Parts) -> Result<CompactReport, CompactError> {
    let _entered = folder::enter(folder, parts, in_use::lock_shared)?;
    directory::compact(&folder.join(DIRECTORY.file))
}
