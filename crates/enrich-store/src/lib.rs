#![doc = include_str!("../README.md")]

mod accounts;
mod background;
mod backup;
mod blocking;
mod clock;
mod columns;
mod compaction;
mod directory;
mod error;
mod folder;
mod importer;
mod in_use;
mod ledger;
mod misses;
mod options;
mod refresh_gate;
mod secret;
mod sign_ins;
mod sqlite;
mod statistics;
mod store;
mod usage;

pub use accounts::SqliteAccounts;
pub use backup::{BackupError, BackupReport, back_up, restore};
pub use clock::SystemClock;
pub use compaction::{CompactError, CompactReport, compact};
pub use directory::SqliteDirectory;
pub use error::OpenError;
pub use folder::read_through;
pub use importer::SqliteIntake;
pub use ledger::SqliteLedger;
pub use misses::{CountMisses, MissedName};
pub use options::Options;
pub use secret::SecretError;
pub use sign_ins::SqliteSignIns;
pub use sqlite::{DatabaseReport, Durability};
pub use statistics::{
    AccountUse, DatabaseSize, DirectoryStatistics, KindStatistics, Outcomes, UseStatistics,
};
pub use store::{CheckReport, Store};
pub use usage::SqliteUsage;
