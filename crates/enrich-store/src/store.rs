//! An open data folder and its ports.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use enrich_core::port::error::StoreError;
use enrich_core::port::ledger::Verification;
use enrich_core::{Clock, MemoryWindows, Service, ServicePorts, Timestamp};
use enrich_secrets::Secrets;
use enrich_store_directory::{
    self as directory, CompactError, CompactReport, DIRECTORY, DirectoryPorts, DirectoryStatistics,
    SqliteDirectory, SqliteImporter,
};
use enrich_store_ledger::{
    self as ledger, LEDGER, MissCounter, MissedName, SqliteAccounts, SqliteLedger, SqliteSignIns,
    SqliteUsage, UseStatistics,
};
use enrich_store_sqlite::{
    self as sqlite, Database, DatabaseReport, DatabaseSize, Durability, OpenError, Options,
    SystemClock, in_use,
};
use enrich_text::CompanyName;

use crate::directory_store::{self, DirectoryStore};
use crate::folder::{self, Parts};

/// One data folder: `directory.sqlite`, `ledger.sqlite` and `secret.key`.
///
/// Several processes may have the same folder open: for example, a command grants credits while the
/// server charges. When the ports are dropped, queued work is finished and written.
#[derive(Debug)]
pub struct Store {
    /// The look-up data.
    pub directory: Arc<SqliteDirectory>,
    /// Imports into the look-up data.
    pub importer: Arc<SqliteImporter>,
    /// Accounts and keys.
    pub accounts: Arc<SqliteAccounts>,
    /// The sign-ins of owners to the account page.
    pub sign_ins: Arc<SqliteSignIns>,
    /// The ledger.
    pub ledger: Arc<SqliteLedger>,
    /// The usage counters.
    pub usage: Arc<SqliteUsage>,
    misses: Option<Arc<MissCounter>>,
    secrets: Secrets,
    folder: PathBuf,
}

/// The result of [`Store::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// The version of the linked SQLite.
    pub sqlite: &'static str,
    /// The result for the directory, which contains the look-up data.
    pub directory: DatabaseReport,
    /// The result for the ledger, which contains accounts, keys, credits, idempotency records and
    /// sign-ins.
    pub ledger: DatabaseReport,
}

impl Store {
    /// Opens an existing data folder with the default options.
    ///
    /// # Errors
    ///
    /// [`OpenError::Missing`] when the folder does not exist or is empty. The messages of the other
    /// errors say what to do; existing files are never replaced or repaired. A folder is refused if
    /// one of its files is missing. It is also refused if a database is damaged, foreign or from a
    /// newer Enrich. The secrets must match the ledger, and only their owner may read them.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(folder, Options::default())
    }

    /// Opens an existing data folder.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::open`].
    pub fn open_with(folder: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        let (secrets, in_use) = folder::enter(folder, Parts::Both, in_use::lock_shared)?;
        let ledger = ledger::open(&folder.join(LEDGER.file), &secrets, &options)?;
        let directory = directory::open(&folder.join(DIRECTORY.file), &secrets, &options, in_use)?;
        let DirectoryPorts { directory, importer } = directory;
        Ok(Self {
            directory,
            importer,
            accounts: ledger.accounts,
            sign_ins: ledger.sign_ins,
            ledger: ledger.ledger,
            usage: ledger.usage,
            misses: ledger.misses,
            secrets,
            folder: folder.into(),
        })
    }

    /// Opens a data folder with the default options; creates it if it does not exist or is empty.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], but never [`OpenError::Missing`].
    pub fn open_or_create(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_or_create_with(folder, Options::default())
    }

    /// Opens a data folder; creates it if it does not exist or is empty.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::open_or_create`].
    pub fn open_or_create_with(
        folder: impl AsRef<Path>,
        options: Options,
    ) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        sqlite::check_version()?;
        if folder::is_new(folder)? {
            folder::create(folder)?;
        }
        Self::open_with(folder, options)
    }

    /// The directory of this store, without the rest of it.
    pub fn into_directory(self) -> DirectoryStore {
        let Self { directory, importer, secrets, folder, .. } = self;
        DirectoryStore::new(directory, importer, secrets, folder)
    }

    /// The metered service of this store, with the system's clock. It counts the interface's rate
    /// limit in memory and does not enforce it.
    pub fn service(&self) -> Service {
        self.service_with(Arc::new(SystemClock))
    }

    /// Creates the same service as [`service`](Self::service), with another clock.
    pub fn service_with(&self, clock: Arc<dyn Clock>) -> Service {
        let mut service = Service::new(ServicePorts {
            directory: Arc::clone(&self.directory) as _,
            accounts: Arc::clone(&self.accounts) as _,
            ledger: Arc::clone(&self.ledger) as _,
            rate_limiter: Arc::new(MemoryWindows::default()),
            usage: Arc::clone(&self.usage) as _,
            clock,
        });
        service.misses = self.misses.clone().map(|misses| misses as _);
        service
    }

    /// Verifies the ledger of a folder. The ledger may have been altered, so that the folder cannot
    /// be opened.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::open`], when the file itself cannot be read. Faults in the ledger's
    /// content are part of the result.
    pub fn verify(folder: &Path) -> Result<Verification, OpenError> {
        let secrets = folder::load(folder, Parts::Both)?;
        let path = folder.join(LEDGER.file);
        ledger::verify(&path, &secrets).map_err(|source| OpenError::of_sqlite(path, source))
    }

    /// Derives all look-up data in the directory from the facts again, if an earlier Enrich derived
    /// it by other rules ([`OpenError::DerivedBefore`]). From time to time, calls `done` with the
    /// number of subjects that are done and the total number. Returns the total number. The folder
    /// cannot be opened meanwhile.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::open`]; [`OpenError::InUse`] when another process has the folder
    /// open; and when the file cannot be written. The call can then be repeated.
    pub fn reindex(folder: &Path, done: &mut dyn FnMut(u64, u64)) -> Result<u64, OpenError> {
        directory_store::reindex(folder, Parts::Both, done)
    }

    /// Checks both files in full: schema versions, SQLite's own integrity check, the index of
    /// words, and the counts of rows. The check reads all data.
    /// [`enrich_core::port::ledger::Ledger::verify`] checks the ledger's sums.
    ///
    /// # Errors
    ///
    /// When a file cannot be read at all. Faults in a file are in the report.
    pub fn check(&self) -> Result<CheckReport, StoreError> {
        let directory = directory::check(&self.folder.join(DIRECTORY.file));
        let ledger = ledger::check(&self.folder.join(LEDGER.file));
        Ok(CheckReport {
            sqlite: sqlite_version(),
            directory: directory.map_err(StoreError::failed)?,
            ledger: ledger.map_err(StoreError::failed)?,
        })
    }

    /// Counts the subjects and domains in the directory. Reads every subject.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn directory_statistics(&self) -> Result<DirectoryStatistics, StoreError> {
        directory::directory_statistics(&self.folder.join(DIRECTORY.file))
            .map_err(StoreError::failed)
    }

    /// Adds up the usage counters from day `first` to day `last`, both included, in days since
    /// 1970-01-01 (UTC). At most `most` accounts are listed. Counts that are not yet written are
    /// missing.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn use_statistics(
        &self,
        first: i64,
        last: i64,
        most: usize,
    ) -> Result<UseStatistics, StoreError> {
        ledger::use_statistics(&self.folder.join(LEDGER.file), first, last, most)
    }

    /// Returns the company names that were missed most often in the last 30 days, at most `most`
    /// names.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn most_missed(&self, now: Timestamp, most: usize) -> Result<Vec<MissedName>, StoreError> {
        let connection = sqlite::reader(&self.folder.join(LEDGER.file));
        let missed = connection.and_then(|file| ledger::most_missed(&file, now, most));
        missed.map_err(StoreError::failed)
    }

    /// Returns how often a name was missed in the last 30 days.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn missed(&self, now: Timestamp, name: &CompanyName) -> Result<u64, StoreError> {
        let connection = sqlite::reader(&self.folder.join(LEDGER.file));
        let missed = connection.and_then(|file| ledger::missed(&file, &self.secrets, now, name));
        missed.map_err(StoreError::failed)
    }

    /// Removes the counts of a missed name on all days. Returns the number of removed counts.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn forget_missed(&self, name: &CompanyName) -> Result<u64, StoreError> {
        let connection = sqlite::writer(&self.folder.join(LEDGER.file), Durability::Commit);
        let removed = connection.and_then(|file| ledger::forget_missed(&file, &self.secrets, name));
        removed.map_err(StoreError::failed)
    }

    /// Returns the sizes of the directory and the ledger on disk, in this order.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn sizes(&self) -> Result<[DatabaseSize; 2], StoreError> {
        let size = |database: Database| {
            sqlite::database_size(&self.folder.join(database.file)).map_err(StoreError::failed)
        };
        Ok([size(DIRECTORY)?, size(LEDGER)?])
    }
}

/// The version of SQLite.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Rewrites the directory of a data folder without unused space. Other processes may use the folder
/// meanwhile.
///
/// # Errors
///
/// See [`CompactError`].
pub fn compact(folder: &Path) -> Result<CompactReport, CompactError> {
    directory_store::compact(folder, Parts::Both)
}
