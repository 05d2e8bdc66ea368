#![doc = include_str!("../README.md")]

mod accounts;
mod background;
mod columns;
mod connect;
pub mod copy;
mod database;
mod failure;
mod heartbeat;
mod inspect;
mod janitor;
mod jobs;
mod ledger;
mod misses;
mod node;
mod not_ready;
mod open_error;
mod pulse;
mod rate_windows;
mod readiness;
mod runtime;
mod schema;
mod seals;
mod sign_ins;
mod snapshots;
mod statements;
mod store;
#[cfg(test)]
mod test_database;
mod usage;

pub use accounts::PostgresAccounts;
pub use connect::UrlError;
pub use enrich_ledger::{MissCounter, MissedName};
pub use inspect::{NodeReport, StoreReport, accept_loss, inspect};
pub use jobs::PostgresJobs;
pub use ledger::{Doubts, LaneCounts, PathCounts, PostgresLedger};
pub use misses::MissedNames;
pub use node::Options;
pub use not_ready::NotReady;
pub use open_error::OpenError;
pub use rate_windows::PostgresRateLimiter;
pub use sign_ins::PostgresSignIns;
pub use snapshots::PostgresSnapshots;
pub use store::{CommandPorts, Store, migrate};
pub use usage::PostgresUsage;
