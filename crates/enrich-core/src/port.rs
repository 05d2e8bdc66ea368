//! The ports: interfaces to what the service needs from outside. A store has the same files.
//!
//! Times and ids are arguments; a store creates neither. Absence is `Ok(None)`; an error means that
//! the store failed.

pub mod accounts;
pub mod clock;
pub mod directory;
pub mod error;
pub mod importer;
pub mod ledger;
pub mod misses;
pub mod rate_limiter;
pub mod usage;
