//! An open data folder, and the objects that implement the ports (such as `Ledger`) with its files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use enrich_core::port::error::StoreError;
use enrich_core::port::ledger::Verification;
use enrich_core::{Clock, MemoryWindows, Service, ServicePorts, Timestamp};
use enrich_store_directory::{CompactError, CompactReport, SqliteDirectory, SqliteImporter};
use enrich_store_ledger::{
    self as ledger, LEDGER, MissCounter, MissedName, SqliteAccounts, SqliteLedger, SqliteSignIns,
    SqliteUsage, UseStatistics,
};
use enrich_store_sqlite::{
    self as sqlite, DatabaseReport, DatabaseSize, Durability, OpenError, Options, SystemClock,
    in_use,
};
use enrich_text::CompanyName;

use crate::directory_store::{self, DirectoryStore};
use crate::folder::{self, Parts};

/// One data folder: `directory.sqlite`, `ledger.sqlite` and `secret.key`.
///
/// Several processes may have the same folder open: for example, a command grants credits while the
/// server charges. When the ports (the fields `directory`, `importer` and so on) are dropped, they
/// finish and write the work that is queued.
#[derive(Debug)]
pub struct Store {
    /// Answers look-ups.
    pub directory: Arc<SqliteDirectory>,
    /// Imports records into the directory (the look-up data).
    pub importer: Arc<SqliteImporter>,
    /// Stores accounts and their API keys.
    pub accounts: Arc<SqliteAccounts>,
    /// Stores the owners' sign-ins to account pages.
    pub sign_ins: Arc<SqliteSignIns>,
    /// Decides and stores charges and grants, and reads the ledger.
    pub ledger: Arc<SqliteLedger>,
    /// Counts calls by day, account, key, endpoint and outcome.
    pub usage: Arc<SqliteUsage>,
    misses: Option<Arc<MissCounter>>,
    directory_store: DirectoryStore,
    folder: PathBuf,
}

/// The result of [`Store::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// The version of the linked SQLite library.
    pub sqlite: &'static str,
    /// The report on `directory.sqlite`, the database of the look-up data.
    pub directory: DatabaseReport,
    /// The report on the ledger's file. This file also contains accounts, keys, idempotency records
    /// and sign-ins.
    pub ledger: DatabaseReport,
}

/// The result of [`Store::sizes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The size of `directory.sqlite`.
    pub directory: DatabaseSize,
    /// The size of `ledger.sqlite`.
    pub ledger: DatabaseSize,
}

impl Store {
    /// Opens an existing data folder with the default options.
    ///
    /// # Errors
    ///
    /// [`OpenError::Missing`] when the folder does not exist or is empty. Existing files are
    /// never replaced or repaired. Reasons for other errors are: a file of the folder is missing; a
    /// database is damaged, belongs to another program, or is from a newer Enrich; the databases
    /// were made with other secrets; other users may read `secret.key`.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(folder, &Options::default())
    }

    /// Opens an existing data folder.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::open`].
    pub fn open_with(folder: impl AsRef<Path>, options: &Options) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        let (secrets, in_use) = folder::enter(folder, Parts::Both, in_use::lock_shared)?;
        let ledger = ledger::open(&folder.join(LEDGER.file), &secrets, options)?;
        let directory_store = DirectoryStore::open_entered(folder, secrets, options, in_use)?;
        Ok(Self {
            directory: Arc::clone(&directory_store.directory),
            importer: Arc::clone(&directory_store.importer),
            accounts: ledger.accounts,
            sign_ins: ledger.sign_ins,
            ledger: ledger.ledger,
            usage: ledger.usage,
            misses: ledger.misses,
            directory_store,
            folder: folder.into(),
        })
    }

    /// Opens a data folder with the default options; creates it if it does not exist or is empty.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::open`], except [`OpenError::Missing`].
    pub fn open_or_create(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_or_create_with(folder, &Options::default())
    }

    /// Opens a data folder; creates it if it does not exist or is empty.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::open_or_create`].
    pub fn open_or_create_with(
        folder: impl AsRef<Path>,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        sqlite::check_version()?;
        if folder::is_new(folder)? {
            folder::create(folder)?;
        }
        Self::open_with(folder, options)
    }

    /// Returns the directory (the look-up data). It has methods for statistics, for its size, and
    /// for the search for duplicate companies.
    pub fn directory_store(&self) -> &DirectoryStore {
        &self.directory_store
    }

    /// Closes the ledger. Returns only the directory (the look-up data) and the secrets.
    pub fn into_directory_store(self) -> DirectoryStore {
        self.directory_store
    }

    /// Creates the service that checks, charges and counts calls with this store. It uses the
    /// system's clock. It counts the requests of each key in memory. By default, it does not refuse
    /// requests beyond a rate limit ([`RatePolicy::Observe`](enrich_core::RatePolicy::Observe)).
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

    /// Verifies the ledger of a folder. If the ledger was altered, the folder cannot be opened, but
    /// this function still works. Writes nothing to the databases.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::open`] when the file itself cannot be read.
    /// [`OpenError::OlderSchema`] when the ledger was last opened by an earlier Enrich, because
    /// this function does not migrate it. Faults in the ledger's content are part of the result.
    pub fn verify(folder: &Path) -> Result<Verification, OpenError> {
        let secrets = folder::read_for_verification(folder)?;
        let path = folder.join(LEDGER.file);
        ledger::verify(&path, &secrets).map_err(|source| OpenError::of_sqlite(path, source))
    }

    /// Derives all look-up data of the directory from the imported facts again. This is needed if
    /// an earlier Enrich derived it by other rules ([`OpenError::DerivedBefore`]). No other process
    /// can open the folder during this time.
    ///
    /// From time to time, calls `done` with two numbers: the number of finished subjects (companies
    /// and people), and the number of all subjects. Returns the number of all subjects.
    ///
    /// # Errors
    ///
    /// The errors of [`Store::open`]. [`OpenError::InUse`] when another process has the folder
    /// open. Another error when the file cannot be written; the caller can then try again.
    pub fn reindex(folder: &Path, done: &mut dyn FnMut(u64, u64)) -> Result<u64, OpenError> {
        directory_store::reindex(folder, Parts::Both, done)
    }

    /// Makes `directory.sqlite` (the look-up data) smaller: rewrites it without unused space. Other
    /// processes may use the folder at the same time.
    ///
    /// # Errors
    ///
    /// See [`CompactError`].
    pub fn compact(folder: &Path) -> Result<CompactReport, CompactError> {
        directory_store::compact(folder, Parts::Both)
    }

    /// Checks `directory.sqlite` and `ledger.sqlite` in full: the versions of their schemas,
    /// SQLite's own integrity check, the index of the words in names, and the counts of rows. This
    /// reads all data. It does not verify the content of the ledger;
    /// [`enrich_core::port::ledger::Ledger::verify`] does.
    ///
    /// # Errors
    ///
    /// When a file cannot be read at all. Faults inside a file are in the report.
    pub fn check(&self) -> Result<CheckReport, StoreError> {
        Ok(CheckReport {
            sqlite: sqlite_version(),
            directory: self.directory_store.check()?,
            ledger: ledger::check(&self.ledger_path()).map_err(StoreError::failed)?,
        })
    }

    /// Adds up the usage counters of the days from `first` to `last`. Both days are included, and
    /// are given in days since 1970-01-01 (UTC). Lists at most `most` accounts. Calls that are
    /// counted only in memory so far are not included.
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
        ledger::use_statistics(&self.ledger_path(), first, last, most)
    }

    /// Returns the company names that were looked up in the last 30 days and not found. The names
    /// that were missed most often come first. Returns at most `most` names.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn most_missed(&self, now: Timestamp, most: usize) -> Result<Vec<MissedName>, StoreError> {
        let connection = sqlite::reader(&self.ledger_path());
        let missed = connection.and_then(|file| ledger::most_missed(&file, now, most));
        missed.map_err(StoreError::failed)
    }

    /// Returns how many look-ups of the last 30 days did not find this name.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn missed(&self, now: Timestamp, name: &CompanyName) -> Result<u64, StoreError> {
        let connection = sqlite::reader(&self.ledger_path());
        let missed = connection
            .and_then(|file| ledger::missed(&file, self.directory_store.secrets(), now, name));
        missed.map_err(StoreError::failed)
    }

    /// Forgets how many look-ups did not find this name: removes its counts of all days. Returns
    /// how many counts were removed.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn forget_missed(&self, name: &CompanyName) -> Result<u64, StoreError> {
        let connection = sqlite::writer(&self.ledger_path(), Durability::Commit);
        let removed = connection
            .and_then(|file| ledger::forget_missed(&file, self.directory_store.secrets(), name));
        removed.map_err(StoreError::failed)
    }

    /// Returns the sizes of both databases on disk.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn sizes(&self) -> Result<Sizes, StoreError> {
        let ledger = sqlite::database_size(&self.ledger_path()).map_err(StoreError::failed)?;
        Ok(Sizes { directory: self.directory_store.size()?, ledger })
    }

    fn ledger_path(&self) -> PathBuf {
        self.folder.join(LEDGER.file)
    }
}

/// Returns the version of the linked SQLite library, for example `3.51.0`.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
