//! The number of idempotency records, as this node knows it: counted by one node for all, or by
//! this one when there is no space left, and changed by what this node has written since.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::ledger::locked::RecordSpace;
use crate::pulse::Readings;

/// How old a count may be before records are counted again to refuse one.
const VALID_FOR: Duration = Duration::from_secs(1);
/// So many records are counted in a few milliseconds, so each time.
const COUNTED_EACH_TIME: u64 = 10_000;

/// The number of idempotency records.
pub(super) struct RecordCount {
    readings: Readings,
    most: u64,
    known: Mutex<Known>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// The shared count that `records` begins with.
    shared: u64,
    records: u64,
    /// When this node last counted.
    counted: Option<Instant>,
}

impl RecordCount {
    pub(super) fn new(readings: Readings, most: u64) -> Self {
        let shared = readings.borrow().state.kept;
        let known = Mutex::new(Known { shared, records: shared, counted: None });
        Self { readings, most, known }
    }

    /// The space for records.
    pub(super) fn space(&self) -> RecordSpace {
        let mut known = self.known.lock();
        let shared = self.readings.borrow().state.kept;
        if shared != known.shared {
            (known.shared, known.records) = (shared, shared);
        }
        let is_recent = known.counted.is_some_and(|counted| counted.elapsed() < VALID_FOR);
        let counts = self.most <= COUNTED_EACH_TIME || !is_recent;
        RecordSpace { records: known.records, most: self.most, counts }
    }

    /// Notes a count of this node, if there is one, and by how many records the table has grown
    /// since.
    pub(super) fn count(&self, counted: Option<u64>, grown: i64) {
        let mut known = self.known.lock();
        if let Some(counted) = counted {
            (known.records, known.counted) = (counted, Some(Instant::now()));
        }
        known.records = known.records.saturating_add_signed(grown);
    }

    /// Notes by how many records the table has grown.
    pub(super) fn grow(&self, by: i64) {
        self.count(None, by);
    }
}
