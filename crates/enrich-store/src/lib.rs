#![doc = include_str!("../README.md")]

mod backup;
mod directory_store;
mod folder;
mod ledger_copy;
mod recorded_secrets;
mod store;

pub use backup::{BackupError, BackupReport, back_up, restore};
pub use directory_store::DirectoryStore;
pub use enrich_core::port::misses::CountMisses;
pub use enrich_secrets::{SecretError, Secrets};
pub use enrich_store_directory::{
    CompactError, CompactReport, CompanyKey, CompanyRecords, Decided, DirectoryStatistics,
    DuplicateCount, DuplicatePair, DuplicateSearch, Duplicates, KindStatistics, SharedNames,
    SqliteDirectory, SqliteImporter, StoredDecision,
};
pub use enrich_store_ledger::{
    AccountUse, CopyError, MissedName, Outcomes, SqliteAccounts, SqliteLedger, SqliteSignIns,
    SqliteUsage, UseStatistics,
};
pub use enrich_store_sqlite::{
    DataFile, DatabaseReport, DatabaseSize, Durability, OpenError, Options, SpaceError,
    SystemClock, lower_priority,
};
pub use folder::{
    discard_new_secrets, load_or_create_secrets, load_secrets, mark_ledger_moved, read_secrets,
    read_through,
};
pub use ledger_copy::{LedgerCopyError, export_ledger, import_ledger};
pub use store::{CheckReport, Sizes, Store, sqlite_version};
