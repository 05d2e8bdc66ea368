//! The ports: traits through which the service uses the stores and the clock.
//!
//! The caller passes the present time to a store, and also the ids of new accounts, keys and ledger
//! entries. The store does not create them itself. There is one exception: the store's own clock
//! decides when the lease of a job (the right of one process to run the job) ends ([`jobs`]).
//!
//! If a method returns `Ok(None)`, the requested thing does not exist. If it returns an error, the
//! store failed.

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
