#![doc = include_str!("../README.md")]

mod backup;
mod folder;
mod options;
mod store;

pub use backup::{BackupError, BackupReport, back_up, restore};
pub use enrich_store_directory::{
    CompactError, CompactReport, DirectoryStatistics, KindStatistics, SqliteDirectory, SqliteIntake,
};
pub use enrich_store_ledger::{
    AccountUse, CountMisses, MissedName, Outcomes, SqliteAccounts, SqliteLedger, SqliteSignIns,
    SqliteUsage, UseStatistics,
};
pub use enrich_store_sqlite::{
    DatabaseReport, DatabaseSize, Durability, OpenError, SecretError, SystemClock,
};
pub use folder::read_through;
pub use options::Options;
pub use store::{CheckReport, Store, compact};
