//! The limits and settings of a store.

use enrich_core::Confidence;

use crate::database::Durability;

/// The limits and settings of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most charges and grants that wait for a decision. Further requests are refused.
    pub charge_queue: usize,
    /// The most decisions in one transaction.
    pub charge_group: usize,
    /// The most idempotency records. A record takes the size of its answer and about 200 bytes.
    /// Once half of this number is stored, an account that has a sixteenth of this number cannot
    /// store more.
    pub max_kept: u64,
    /// The least confidence of a match by the name of a company or a person. A match with a lower
    /// confidence is a miss, which is free.
    pub least_by_name: Confidence,
    /// When an acknowledged charge reaches the disk. Any value but [`Durability::Commit`] loses
    /// acknowledged charges in a power failure; tests use such values to show that they notice the
    /// loss.
    pub durability: Durability,
    /// Whether the names of missed companies are counted.
    pub count_misses: CountMisses,
    /// Whether a server keeps the hash index in memory, about ten bytes for each identifier.
    /// Without the hash index, look-ups read the index in the file.
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

/// Whether missed names are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountMisses {
    /// Missed names are not counted.
    #[default]
    Off,
    /// Missed names are counted, but stored only as keyed hashes. The count of a given name can be
    /// read, but the missed names cannot be listed.
    Hashed,
    /// Missed names are counted and their texts are stored.
    Texts,
}
