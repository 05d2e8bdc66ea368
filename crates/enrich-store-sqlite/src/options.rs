//! The limits and settings of a store.

use enrich_core::Confidence;
use enrich_core::port::misses::CountMisses;

use crate::database::Durability;

/// The limits and settings of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most charges and grants that may wait for a decision. Further ones are refused.
    pub charge_queue: usize,
    /// The most charges and grants that are decided in one transaction.
    pub charge_group: usize,
    /// The most idempotency records that are stored. A record takes the size of its answer and
    /// about 200 bytes. When half of this number is stored, an account that has a sixteenth of this
    /// number cannot store more.
    pub max_kept: u64,
    /// The least confidence of a match by the name of a company or a person. If a match has a lower
    /// confidence, the answer is a miss, which is free.
    pub least_by_name: Confidence,
    /// When the disk has an acknowledged charge for certain. With any value but
    /// [`Durability::Commit`], a power failure loses acknowledged charges. Tests use such values to
    /// show that they notice the loss.
    pub durability: Durability,
    /// Whether to count company names that look-ups did not find.
    pub count_misses: CountMisses,
    /// Whether a server builds the hash index, which takes about ten bytes of memory for each
    /// identifier. Without it, look-ups read the index in the file.
    pub hash_index: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            charge_queue: 4096,
            charge_group: 512,
            max_kept: 1_000_000,
            least_by_name: Confidence::LEAST_BY_NAME,
            durability: Durability::Commit,
            count_misses: CountMisses::Off,
            hash_index: true,
        }
    }
}
