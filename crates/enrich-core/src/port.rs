//! The ports: interfaces through which the service uses stores and the clock.
//!
//! The caller passes times and ids to a store. A store never creates them itself. `Ok(None)` means
//! that the requested thing does not exist. An error means that the store failed.

pub mod accounts;
pub mod clock;
pub mod directory;
pub mod error;
pub mod importer;
pub mod jobs;
pub mod ledger;
pub mod misses;
pub mod rate_limiter;
pub mod snapshots;
pub mod suppression_lists;
pub mod usage;
