#![doc = include_str!("../README.md")]

mod accounts;
mod changes;
mod ledger;
mod misses;
mod sign_ins;
mod statistics;
mod usage;

use std::path::Path;
use std::sync::Arc;

use enrich_secrets::Secrets;
use enrich_store_sqlite::{self as sqlite, DataFile, Database, DatabaseReport, OpenError, Options};

pub use accounts::SqliteAccounts;
pub use enrich_ledger::{MissCounter, MissedName};
pub use ledger::{CopyError, SqliteLedger, begin, export, import, verify};
pub use misses::{forget_missed, missed, most_missed};
pub use sign_ins::SqliteSignIns;
pub use statistics::{AccountUse, Outcomes, UseStatistics, use_statistics};
pub use usage::SqliteUsage;

mod schema {
    refinery::embed_migrations!("migrations");
}

/// The database of accounts, keys, ledger entries, idempotency records and sign-ins.
pub const LEDGER: Database = Database {
    name: "ledger",
    file: DataFile::Ledger.name(),
    application_id: i32::from_be_bytes(*b"EnrL"),
    migrations: schema::migrations::runner,
};

/// The row counts that [`check`] reports: the name of each count, and the query for it.
const COUNTS: [(&str, &str); 8] = [
    ("accounts", "SELECT count(*) FROM account"),
    ("keys", "SELECT count(*) FROM api_key"),
    ("entries", "SELECT count(*) FROM entry"),
    ("kept answers", "SELECT count(*) FROM kept"),
    ("usage counters", "SELECT count(*) FROM used"),
    ("sign-ins", "SELECT count(*) FROM sign_in"),
    ("invitations", "SELECT count(*) FROM invitation"),
    ("sessions", "SELECT count(*) FROM session"),
];

/// The ports of one open ledger: the objects through which the core uses `ledger.sqlite`.
#[derive(Debug)]
pub struct LedgerPorts {
    /// Stores accounts and their API keys.
    pub accounts: Arc<SqliteAccounts>,
    /// Stores the owners' sign-ins to account pages.
    pub sign_ins: Arc<SqliteSignIns>,
    /// Decides and stores charges and grants, and reads the ledger.
    pub ledger: Arc<SqliteLedger>,
    /// Counts calls by day, account, key, endpoint and outcome.
    pub usage: Arc<SqliteUsage>,
    /// Counts the company names that look-ups did not find; `None` when this is switched off.
    pub misses: Option<Arc<MissCounter>>,
}

/// Opens the ledger at `path`, which must exist and have its schema.
///
/// # Errors
///
/// [`OpenError::NotAsWritten`] when the ledger was altered. Another error when the file cannot be
/// read or written.
pub fn open(path: &Path, secrets: &Secrets, options: &Options) -> Result<LedgerPorts, OpenError> {
    let ledger = SqliteLedger::open(path, secrets, options)?;
    let files = ledger.files();
    let misses = MissCounter::new(options.count_misses, secrets).map(Arc::new);
    Ok(LedgerPorts {
        accounts: Arc::new(SqliteAccounts::open(path, secrets, &files)?),
        sign_ins: Arc::new(SqliteSignIns::open(path, secrets, &files)?),
        ledger: Arc::new(ledger),
        usage: Arc::new(SqliteUsage::open(path, misses.clone())?),
        misses,
    })
}

/// Runs SQLite's own checks of the ledger at `path`, and counts rows. Balances and hashes are not
/// checked here; [`verify`] checks them.
///
/// # Errors
///
/// When the file cannot be read at all. Faults inside the file are in the report.
pub fn check(path: &Path) -> rusqlite::Result<DatabaseReport> {
    sqlite::examine(&sqlite::reader(path)?, &COUNTS)
}
