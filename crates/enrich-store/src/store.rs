//! One data folder with everything in it, opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use enrich_core::port::error::StoreError;
use enrich_core::port::ledger::Verification;
use enrich_core::{Clock, Confidence, MemoryWindows, Service, ServicePorts, Timestamp};
use enrich_text::CompanyName;

use crate::accounts::SqliteAccounts;
use crate::clock::SystemClock;
use crate::directory::{self, SqliteDirectory, hash_index, index_check};
use crate::error::OpenError;
use crate::folder;
use crate::importer::{SqliteIntake, deriving};
use crate::in_use::{self, InUse};
use crate::ledger::{self, SqliteLedger};
use crate::misses::{self, CountMisses, Counter, MissedName};
use crate::secret::Secrets;
use crate::sign_ins::SqliteSignIns;
use crate::sqlite::{self, DIRECTORY, Database, DatabaseReport, Durability, LEDGER};
use crate::statistics::{self, DatabaseSize, DirectoryStatistics, UseStatistics};
use crate::usage::SqliteUsage;

/// One data folder: `directory.sqlite`, `ledger.sqlite` and `secret.key`.
///
/// Several processes may have the same folder open: the command line grants credits while the
/// server charges them. Dropping the ports decides and writes what is queued.
#[derive(Debug)]
pub struct Store {
    /// The look-up data.
    pub directory: Arc<SqliteDirectory>,
    /// The way into it.
    pub importer: Arc<SqliteIntake>,
    /// Accounts and keys.
    pub accounts: Arc<SqliteAccounts>,
    /// Who signs in to the accounts' pages.
    pub sign_ins: Arc<SqliteSignIns>,
    /// The ledger.
    pub ledger: Arc<SqliteLedger>,
    /// The usage counters.
    pub usage: Arc<SqliteUsage>,
    misses: Option<Arc<Counter>>,
    secrets: Secrets,
    folder: PathBuf,
}

/// What a store takes on at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many charges and grants may wait to be decided; one more is refused as overloaded.
    pub charge_queue: usize,
    /// How many are decided in one transaction.
    pub charge_group: usize,
    /// How many idempotency records are kept at a time. A record takes the size of its answer
    /// and about 200 bytes. Once half are taken, an account that has a sixteenth gets no more.
    pub max_kept: u64,
    /// What a match by name (of a company, of a person) is at least as sure as; one that is less
    /// sure is not found, and free.
    pub least_by_name: Confidence,
    /// When a charge that was told has reached the disk. Anything but [`Durability::Commit`] loses
    /// acknowledged charges in a power failure; it is there to show that tests would notice.
    pub durability: Durability,
    /// Whether the names of companies that are missed are counted.
    pub count_misses: CountMisses,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            charge_queue: 4096,
            charge_group: 512,
            max_kept: 1_000_000,
            least_by_name: Confidence::LEAST_BY_NAME,
            durability: Durability::Commit,
            count_misses: CountMisses::Off,
        }
    }
}

/// What [`Store::check`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// The version of SQLite.
    pub sqlite: &'static str,
    /// The look-up data.
    pub directory: DatabaseReport,
    /// Accounts, keys, credits, idempotency records and sign-ins.
    pub ledger: DatabaseReport,
}

/// What is counted in the ledger.
const LEDGER_COUNTS: [(&str, &str); 8] = [
    ("accounts", "SELECT count(*) FROM account"),
    ("keys", "SELECT count(*) FROM api_key"),
    ("entries", "SELECT count(*) FROM entry"),
    ("kept answers", "SELECT count(*) FROM kept"),
    ("usage counters", "SELECT count(*) FROM used"),
    ("sign-ins", "SELECT count(*) FROM sign_in"),
    ("invitations", "SELECT count(*) FROM invitation"),
    ("sessions", "SELECT count(*) FROM session"),
];

impl Store {
    /// Opens a data folder that is there, with the default options.
    ///
    /// # Errors
    ///
    /// [`OpenError::Missing`] when it is not there, or empty. The others say what to do: nothing
    /// that is there is ever made anew or repaired. A folder that lacks one of its files is
    /// refused, and so are a damaged or foreign database, one of a newer Enrich, and secrets that
    /// are missing, readable by others, or not the ledger's.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(folder, Options::default())
    }

    /// Opens a data folder that is there.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open_with(folder: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        sqlite::check_version()?;
        if folder::is_new(folder)? {
            return Err(OpenError::Missing { folder: folder.into() });
        }
        let in_use = in_use::beside_others(folder)?;
        Self::over(folder, &folder::load(folder)?, options, in_use)
    }

    /// Opens a data folder with the default options; one that is not there, or is empty, becomes a
    /// new one.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], but never [`OpenError::Missing`].
    pub fn open_or_create(folder: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_or_create_with(folder, Options::default())
    }

    /// Opens a data folder; one that is not there, or is empty, becomes a new one.
    ///
    /// # Errors
    ///
    /// As [`Store::open_or_create`].
    pub fn open_or_create_with(
        folder: impl AsRef<Path>,
        options: Options,
    ) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        sqlite::check_version()?;
        let (secrets, in_use) = match folder::is_new(folder)? {
            true => (folder::create(folder)?, in_use::beside_others(folder)?),
            false => {
                let in_use = in_use::beside_others(folder)?;
                (folder::load(folder)?, in_use)
            }
        };
        Self::over(folder, &secrets, options, in_use)
    }

    /// The ports over a folder that is there and complete.
    fn over(
        folder: &Path,
        secrets: &Secrets,
        options: Options,
        in_use: InUse,
    ) -> Result<Self, OpenError> {
        let (directory, ledger) = (folder.join(DIRECTORY.file), folder.join(LEDGER.file));
        let in_use = Arc::new(in_use);
        folder::match_secrets(folder, secrets)?;
        let ledger_port = SqliteLedger::open(&ledger, secrets, options)?;
        let files = ledger_port.files();
        let index = Arc::new(hash_index::Current::default());
        let misses = Counter::new(options.count_misses, secrets).map(Arc::new);
        Ok(Self {
            directory: Arc::new(SqliteDirectory::open(
                &directory,
                secrets,
                options.least_by_name,
                Arc::clone(&index),
                Arc::clone(&in_use),
            )?),
            importer: Arc::new(SqliteIntake::open(&directory, secrets, index, in_use)),
            accounts: Arc::new(SqliteAccounts::open(&ledger, secrets, Arc::clone(&files))?),
            sign_ins: Arc::new(SqliteSignIns::open(&ledger, secrets, files)?),
            ledger: Arc::new(ledger_port),
            usage: Arc::new(SqliteUsage::open(&ledger, misses.clone())?),
            misses,
            secrets: secrets.clone(),
            folder: folder.into(),
        })
    }

    /// The metered service over this store, at the system's time: the interface's own limit,
    /// counted and not enforced, its windows in memory.
    pub fn service(&self) -> Service {
        self.service_with(Arc::new(SystemClock))
    }

    /// The same service at another clock's time.
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

    /// Walks the ledger of a folder, also of one that cannot be opened because its ledger is not as
    /// it was written.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], when the file itself cannot be read. What is wrong with what it says is
    /// in the result.
    pub fn verify(folder: &Path) -> Result<Verification, OpenError> {
        sqlite::check_version()?;
        if folder::is_new(folder)? {
            return Err(OpenError::Missing { folder: folder.into() });
        }
        let secrets = folder::load(folder)?;
        folder::match_secrets(folder, &secrets)?;
        let path = folder.join(LEDGER.file);
        ledger::verify(&path, &secrets).map_err(|source| OpenError::of_sqlite(path, source))
    }

    /// Derives everything in the directory from its facts once more, where an earlier Enrich made
    /// it by other rules ([`OpenError::DerivedBefore`]). Calls `done` now and then with the number
    /// of companies and people that are done, and of all; returns the number of all.
    ///
    /// # Errors
    ///
    /// As [`Store::open`]; [`OpenError::InUse`] when anybody else has the folder open, which cannot
    /// be opened meanwhile; and when the file cannot be written. It can be run again then.
    pub fn reindex(folder: &Path, done: &mut dyn FnMut(u64, u64)) -> Result<u64, OpenError> {
        sqlite::check_version()?;
        if folder::is_new(folder)? {
            return Err(OpenError::Missing { folder: folder.into() });
        }
        let _in_use = in_use::alone(folder)?;
        let secrets = folder::load(folder)?;
        folder::match_secrets(folder, &secrets)?;
        let path = folder.join(DIRECTORY.file);
        deriving::derive_all(&path, &secrets, done)
            .map_err(|source| OpenError::of_sqlite(path, source))
    }

    /// Checks both files from end to end: schema versions, SQLite's own integrity check, the index
    /// of words, and how many there are of what they hold. Reads everything, so it takes as long as
    /// that takes; whether the ledger adds up, [`enrich_core::port::ledger::Ledger::verify`] tells.
    ///
    /// # Errors
    ///
    /// When a file cannot be read at all. What is wrong in it is in the report.
    pub fn check(&self) -> Result<CheckReport, StoreError> {
        let examine = |database: &Database, counts: &[(&'static str, &'static str)]| {
            let connection = sqlite::reader(&self.folder.join(database.file))?;
            sqlite::examine(&connection, counts)
        };
        let mut directory = examine(&DIRECTORY, &directory::COUNTS).map_err(StoreError::failed)?;
        // A file that is damaged says so already, and may not be read to its end.
        if directory.problems.is_empty() {
            let connection = sqlite::reader(&self.folder.join(DIRECTORY.file));
            let problems = connection.and_then(|connection| index_check::problems(&connection));
            directory.problems = problems.map_err(StoreError::failed)?;
        }
        Ok(CheckReport {
            sqlite: rusqlite::version(),
            directory,
            ledger: examine(&LEDGER, &LEDGER_COUNTS).map_err(StoreError::failed)?,
        })
    }

    /// Counts what the directory holds. Reads every subject.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn directory_statistics(&self) -> Result<DirectoryStatistics, StoreError> {
        statistics::directory_statistics(&self.folder.join(DIRECTORY.file))
    }

    /// Adds up the usage counters from day `first` to day `last`, both included, in days since
    /// 1970-01-01 (UTC). At most `most` accounts are told apart. Counts that are not yet written
    /// are missing.
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
        statistics::use_statistics(&self.folder.join(LEDGER.file), first, last, most)
    }

    /// The names of companies that were missed most in the last 30 days, at most so many of them.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn most_missed(&self, now: Timestamp, most: usize) -> Result<Vec<MissedName>, StoreError> {
        let connection = sqlite::reader(&self.folder.join(LEDGER.file));
        let missed = connection.and_then(|ledger| misses::most_missed(&ledger, now, most));
        missed.map_err(StoreError::failed)
    }

    /// How often a name was missed in the last 30 days.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn missed(&self, now: Timestamp, name: &CompanyName) -> Result<u64, StoreError> {
        let connection = sqlite::reader(&self.folder.join(LEDGER.file));
        let missed =
            connection.and_then(|ledger| misses::missed(&ledger, &self.secrets, now, name));
        missed.map_err(StoreError::failed)
    }

    /// Removes the counts of a name that was missed; how many there were.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn forget_missed(&self, name: &CompanyName) -> Result<u64, StoreError> {
        let connection = sqlite::writer(&self.folder.join(LEDGER.file), Durability::Commit);
        let removed = connection.and_then(|ledger| misses::forget(&ledger, &self.secrets, name));
        removed.map_err(StoreError::failed)
    }

    /// What the directory and the ledger take on the disk.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn sizes(&self) -> Result<[DatabaseSize; 2], StoreError> {
        let size = |database: Database| statistics::database_size(&self.folder.join(database.file));
        Ok([size(DIRECTORY)?, size(LEDGER)?])
    }
}
