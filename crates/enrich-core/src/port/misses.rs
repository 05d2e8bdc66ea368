//! Counts company names that were not found, if the operator enables it.

use enrich_text::CompanyName;
use jiff::Timestamp;

/// Counts missed company names. Names of people, addresses and numbers are never counted.
pub trait Misses: Send + Sync {
    /// Counts a look-up by company name that found no company. Does not wait for the store. Counts
    /// are written later; a crash may lose the last minute.
    fn count(&self, name: &CompanyName, at: Timestamp);
}
