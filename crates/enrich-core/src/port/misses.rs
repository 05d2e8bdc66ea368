//! Counts of the company names that nothing was found for, where the operator wants them.

use enrich_text::CompanyName;
use jiff::Timestamp;

/// Counts names that were missed. Never a person's name, an address or a number.
pub trait Misses: Send + Sync {
    /// Counts a look-up by a company's name for which no company was found. Returns at once: counts
    /// are written behind, and a crash may lose those of the last minute.
    fn count(&self, name: &CompanyName, at: Timestamp);
}
