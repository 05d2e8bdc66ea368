//! Divides a load (one import) that does not fit into memory into parts of about equal size.
//!
//! Writing a small part takes nearly as long as writing a large one: the keys of its rows are
//! spread over whole tables, so it changes most of their pages. If all parts but the last one had
//! the maximum size, the last one would often be small, and each of its records would cost several
//! times as much.

/// A part of a load (one import): the records whose rows are written together.
#[derive(Debug)]
pub(super) struct Part {
    /// Maximum memory for the rows of a part, in bytes.
    max_bytes: usize,
    /// The number of records that were added to this part.
    records: u64,
    /// The probable number of records that the load will add after this part.
    following: u64,
}

impl Part {
    /// Returns an empty part. Its rows take at most about `max_bytes` bytes of memory.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, records: 0, following: 0 }
    }

    /// Adds a batch of `records` records. About `following` records of the load follow it.
    pub(super) fn add(&mut self, records: usize, following: u64) {
        self.records += records as u64;
        self.following = following;
    }

    /// Whether the part must be written now. `bytes` is the memory that the rows of this part take.
    ///
    /// A part with the maximum size is always full. If the following records do not fit into this
    /// part too, all these records are divided equally among as few parts as possible, and the part
    /// is full when it has the size of such a part. For example, if a part can have 100 records,
    /// and this part and the following records are 150 records, the part is full with 75 records.
    pub(super) fn is_full(&self, bytes: usize) -> bool {
        let per_record = bytes as f64 / self.records.max(1) as f64;
        let needed = bytes as f64 + per_record * self.following as f64;
        let parts = (needed / self.max_bytes as f64).ceil();
        // If all following records fit into this part, `parts` is at most 1. The part is then not
        // full before it has the maximum size: `following` is an estimate, so there may be more
        // records, which should not need a further part.
        bytes >= self.max_bytes || (parts > 1.0 && bytes as f64 >= needed / parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sizes of the parts of a load, in records. Each record takes ten bytes.
    fn parts(records: u64, max_bytes: usize, following: impl Fn(u64) -> u64) -> Vec<u64> {
        let mut parts = Vec::new();
        let mut part = Part::new(max_bytes);
        for number in 1..=records {
            part.add(1, following(records - number));
            if part.is_full(part.records as usize * 10) || number == records {
                parts.push(part.records);
                part = Part::new(max_bytes);
            }
        }
        parts
    }

    #[test]
    fn parts_have_about_equal_size() {
        assert_eq!(
            parts(1050, 1000, |following| following),
            vec![96, 96, 96, 96, 96, 95, 95, 95, 95, 95, 95]
        );
    }

    #[test]
    fn parts_have_the_maximum_size_if_the_end_is_unknown() {
        assert_eq!(parts(250, 1000, |_| 0), vec![100, 100, 50]);
    }

    #[test]
    fn a_load_that_fits_is_one_part() {
        assert_eq!(parts(100, 1000, |following| following), vec![100]);
    }

    #[test]
    fn a_wrong_estimate_makes_few_more_parts() {
        for error in [0.5, 0.9, 1.1] {
            let sizes = parts(1050, 1000, |following| (following as f64 * error) as u64);
            assert!(sizes.len() <= 14, "{sizes:?}");
        }
    }
}
