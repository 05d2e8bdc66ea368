//! Estimates how many records of a source are still to come.

/// Estimates the number of records that will follow, from the number of records that were read so
/// far and from their size in bytes.
#[derive(Debug)]
pub(crate) struct ExpectedRecords {
    /// The number of bytes of the source that are not read yet, before decompression. `None` if the
    /// size of the source is unknown.
    unread_bytes: Option<u64>,
    bytes: u64,
    records: u64,
}

impl ExpectedRecords {
    /// Begins the estimate for a source of `total_bytes` bytes; `None` if its size is unknown.
    pub(crate) fn new(total_bytes: Option<u64>) -> Self {
        Self { unread_bytes: total_bytes, bytes: 0, records: 0 }
    }

    /// Counts a batch of `records` records, for which `bytes` bytes were read. Returns how many
    /// records will probably follow; 0 if this is unknown.
    pub(crate) fn after(&mut self, bytes: u64, records: u64) -> u64 {
        let Some(unread_bytes) = &mut self.unread_bytes else { return 0 };
        *unread_bytes = unread_bytes.saturating_sub(bytes);
        // A source may be read twice. The first reading returns no records; it only finds out which
        // domains occur in many records. The bytes of the first reading are subtracted from
        // `unread_bytes` above. But they are not added to `bytes`: they belong to no counted
        // record, and would make the records look too large.
        if self.records + records > 0 {
            self.bytes += bytes;
            self.records += records;
        }
        let per_byte = self.records as f64 / self.bytes.max(1) as f64;
        (per_byte * *unread_bytes as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_read_so_far_tell_how_many_follow() {
        let mut expected = ExpectedRecords::new(Some(1000));
        assert_eq!(expected.after(100, 20), 180);
        assert_eq!(expected.after(100, 20), 160);
        assert_eq!(expected.after(800, 160), 0);
        assert_eq!(expected.after(100, 20), 0);
    }

    #[test]
    fn the_first_of_two_readings_does_not_count() {
        let mut expected = ExpectedRecords::new(Some(2000));
        assert_eq!(expected.after(1000, 0), 0);
        assert_eq!(expected.after(100, 20), 180);
    }

    #[test]
    fn nothing_is_expected_of_a_source_of_unknown_size() {
        assert_eq!(ExpectedRecords::new(None).after(100, 20), 0);
    }
}
