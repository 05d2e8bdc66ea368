//! The ports: what the service needs from outside. A store mirrors this folder file for file.
//!
//! Times and ids come in as arguments; a store makes neither. Absence is `Ok(None)`; an error
//! means the store could not tell.

pub mod accounts;
pub mod clock;
pub mod directory;
pub mod error;
pub mod importer;
pub mod ledger;
pub mod misses;
pub mod rate_limiter;
pub mod sign_ins;
pub mod usage;
