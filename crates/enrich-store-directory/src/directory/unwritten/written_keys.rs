//! Remembers the keys of the rows that a load (one import) has written to a database table that was
//! empty before.
//!
//! Most records of such a load describe a new company, so most keys that the load looks for are not
//! in the database file. Bloom filters in memory show this, so that the load need not read the
//! file. They take ten bits for each key. For one in a hundred keys that were not added, a filter
//! says by mistake that it contains the key. Then the load reads the file in vain.

use std::hash::Hash;

use fastbloom::BloomFilter;

/// The number of keys in one filter. A filter takes 20 MB.
const KEYS: usize = if cfg!(test) { 64 } else { 1 << 24 };
/// Maximum number of filters for one table; they take 160 MB. They are enough for the identifiers
/// of 20 million companies. Each search for a key asks all filters.
const MAX_FILTERS: usize = 8;
/// The probability that a filter says it contains a key that was never added to it.
const FALSE_POSITIVES: f64 = 0.01;

#[derive(Debug, Default)]
pub(crate) struct WrittenKeys {
    filters: Vec<BloomFilter>,
    /// The number of keys in the last filter.
    in_last: usize,
    /// Whether there were too many keys for the filters. If so, the filters were removed, and
    /// [`Self::may_have`] returns `true` for every key.
    is_full: bool,
}

impl WrittenKeys {
    /// Adds the key of a row. Returns `false` if the key was surely not added before.
    pub(crate) fn add(&mut self, key: &impl Hash) -> bool {
        if self.may_have(key) {
            return true;
        }
        if self.filters.is_empty() || self.in_last == KEYS {
            if self.filters.len() == MAX_FILTERS {
                *self = Self { is_full: true, ..Self::default() };
                return false;
            }
            // All filters have the same seed, so the hash of a key is computed only once for all
            // filters.
            let filter = BloomFilter::with_false_pos(FALSE_POSITIVES).seed(&0).expected_items(KEYS);
            self.filters.push(filter);
            self.in_last = 0;
        }
        if let Some(last) = self.filters.last_mut() {
            last.insert(key);
            self.in_last += 1;
        }
        false
    }

    /// Whether the key may have been added. `false` is certain; `true` may be wrong.
    pub(crate) fn may_have(&self, key: &impl Hash) -> bool {
        if self.is_full {
            return true;
        }
        let Some(first) = self.filters.first() else { return false };
        let hash = first.source_hash(key);
        self.filters.iter().any(|filter| filter.contains_hash(hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> String {
        format!("quill{number}.example")
    }

    #[test]
    fn added_keys_are_there_and_most_others_are_not() {
        let mut keys = WrittenKeys::default();
        assert!(!keys.may_have(&key(0)));
        (0..3 * KEYS).for_each(|number| {
            keys.add(&key(number));
        });
        assert!((0..3 * KEYS).all(|number| keys.may_have(&key(number))));
        let others = (3 * KEYS..10 * KEYS).filter(|number| keys.may_have(&key(*number)));
        assert!(others.count() < KEYS);
    }

    #[test]
    fn any_key_may_be_there_after_too_many() {
        let mut keys = WrittenKeys::default();
        (0..2 * MAX_FILTERS * KEYS).for_each(|number| {
            keys.add(&key(number));
        });
        assert!(keys.may_have(&"other.example"));
    }
}
