#![doc = include_str!("../README.md")]

mod backup;
mod folder;
mod store;

pub use backup::{BackupError, BackupReport, back_up, restore};
pub use enrich_secrets::SecretError;
pub use enrich_store_directory::{
    CompactError, CompactReport, DirectoryStatistics, KindStatistics, SqliteDirectory,
    SqliteImporter,
};
pub use enrich_store_ledger::{
    AccountUse, MissedName, Outcomes, SqliteAccounts, SqliteLedger, SqliteSignIns, SqliteUsage,
    UseStatistics,
};
pub use enrich_store_sqlite::{
    CountMisses, DatabaseReport, DatabaseSize, Durability, OpenError, Options, SystemClock,
};
pub use folder::read_through;
pub use store::{CheckReport, Store, compact};
