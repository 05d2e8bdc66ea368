//! Counts the company names that look-ups did not find, if the operator has switched this on.

use enrich_text::CompanyName;
use jiff::Timestamp;

/// Whether and how to count company names that look-ups did not find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountMisses {
    /// No names are counted.
    #[default]
    Off,
    /// Names are counted, but only keyed hashes of the names are stored. So the names cannot be
    /// listed. The operator can only read the count of a name that the operator already knows.
    Hashed,
    /// Names are counted, and their texts are stored.
    Texts,
}

/// Counts the company names that look-ups did not find. Names of people, email addresses and phone
/// numbers are never counted.
pub trait Misses: Send + Sync {
    /// Counts a look-up by company name that found no company. Returns without waiting for the
    /// store: the count is written later, so a crash may lose the counts of the last minute.
    fn count(&self, name: &CompanyName, at: Timestamp);
}
