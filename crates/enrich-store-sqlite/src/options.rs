//! The limits and settings of a store.

use enrich_core::Confidence;
use enrich_core::port::misses::CountMisses;

use crate::database::Durability;

/// The limits and settings of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Maximum number of charges and grants that may wait for a decision. Further ones are refused.
    pub charge_queue: usize,
    /// Maximum number of charges and grants that are decided in one transaction.
    pub charge_group: usize,
    /// Maximum number of idempotency records of all accounts together. As soon as half of this
    /// number exist, one account may have at most a sixteenth of this number, so that other
    /// accounts have room. A record takes the size of its answer and about 200 bytes.
    pub max_idempotency_records: u64,
    /// The least confidence of a match by the name of a company or a person. With a lower
    /// confidence, the look-up finds nothing, and is free.
    pub min_name_confidence: Confidence,
    /// Whether a charge is on disk before it is reported as successful ([`Durability::Commit`]) or
    /// possibly later ([`Durability::Checkpoint`]). With `Commit`, a power failure loses no charge
    /// that was reported as successful. `Checkpoint` is only used to check the tests of power
    /// failures: with it, a power failure loses charges, and these tests must notice this.
    pub durability: Durability,
    /// Whether to count company names that look-ups did not find, and whether to store their texts.
    pub count_misses: CountMisses,
    /// Whether a server builds the hash index in memory, to find look-up data by an identifier. The
    /// hash index takes about ten bytes for each identifier. Without it, look-ups read the index in
    /// `directory.sqlite`.
    pub hash_index: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            charge_queue: 4096,
            charge_group: 512,
            max_idempotency_records: 1_000_000,
            min_name_confidence: Confidence::MIN_BY_NAME,
            durability: Durability::Commit,
            count_misses: CountMisses::Off,
            hash_index: true,
        }
    }
}
