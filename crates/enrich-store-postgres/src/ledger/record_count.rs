//! The number of idempotency records, as this node knows it. The janitor (a task on one of the
//! nodes) counts the records for all nodes. A node adds its own new records to the last count.
//! Before a node refuses a new record because there is no space, it counts the records itself.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::ledger::locked::RecordSpace;
use crate::pulse::Readings;

/// Maximum age of this node's last count of the idempotency records. If the count is older and the
/// space for records is scarce, a group of charges counts them again.
const VALID_FOR: Duration = Duration::from_secs(1);
/// Decides how often the idempotency records are counted while their space is scarce. If their
/// maximum number is at most this number, a count takes only a few milliseconds. So each group of
/// charges counts them. If their maximum number is greater, a group does not count them if this
/// node's last count is younger than [`VALID_FOR`].
const COUNTED_EACH_TIME: u64 = 10_000;

/// The number of idempotency records, as the janitor (a task on one of the nodes) or this node has
/// counted them.
pub(super) struct RecordCount {
    readings: Readings,
    most: u64,
    known: Mutex<Known>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    /// The janitor's count that this node last copied into `records`. When the janitor has counted
    /// again and its count is another number, the new count is copied.
    shared: u64,
    records: u64,
    /// When this node last counted the records itself; `None` if never.
    counted: Option<Instant>,
}

impl RecordCount {
    pub(super) fn new(readings: Readings, most: u64) -> Self {
        let shared = readings.borrow().state.kept;
        let known = Mutex::new(Known { shared, records: shared, counted: None });
        Self { readings, most, known }
    }

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

    /// Stores the result of this node's own count, if there is one. Then adds `grown`: the number
    /// of idempotency records by which the table has grown since the count; negative if it has
    /// shrunk.
    pub(super) fn count(&self, counted: Option<u64>, grown: i64) {
        let mut known = self.known.lock();
        if let Some(counted) = counted {
            (known.records, known.counted) = (counted, Some(Instant::now()));
        }
        known.records = known.records.saturating_add_signed(grown);
    }

    /// Adds the number of idempotency records by which the table has grown; negative if it has
    /// shrunk.
    pub(super) fn grow(&self, by: i64) {
        self.count(None, by);
    }
}
