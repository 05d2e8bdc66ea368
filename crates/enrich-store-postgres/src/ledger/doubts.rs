//! Counts the outcomes of charges and grants whose first reply from the database was lost.

use std::sync::atomic::{AtomicU64, Ordering};

use enrich_core::port::ledger::{ChargeError, Charged, Granted};

use crate::ledger::job::Decision;

/// The outcomes of charges and grants whose first reply from the database was lost, counted since
/// the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts {
    /// The number of charges and grants that were written.
    pub taken: u64,
    /// The number of charges that were not written, because another call had used the idempotency
    /// key. Their callers got the stored response.
    pub replayed: u64,
    /// The number of charges and grants that were refused, for example because there were not
    /// enough credits for the charge. Nothing was written.
    pub refused: u64,
    /// The number of charges and grants whose outcome was still unknown at the end of the time
    /// limit.
    pub unknown: u64,
}

/// The outcomes of one lane's charges and grants whose first reply from the database was lost.
/// [`Doubts`] is the sum over all lanes (tasks that decide charges).
#[derive(Debug, Default)]
pub(super) struct DoubtCounts {
    taken: AtomicU64,
    replayed: AtomicU64,
    refused: AtomicU64,
    unknown: AtomicU64,
}

impl DoubtCounts {
    /// Counts the outcome of a charge or grant whose first reply from the database was lost.
    pub(super) fn count(&self, ended: &Result<Decision, ChargeError>) {
        let count = match ended {
            Ok(
                Decision::Charged(Charged::Taken { .. })
                | Decision::Granted(Granted::Written { .. }),
            ) => &self.taken,
            Ok(Decision::Charged(Charged::Replayed(_))) => &self.replayed,
            Ok(Decision::Charged(Charged::Insufficient { .. }) | Decision::Granted(_)) => {
                &self.refused
            }
            Err(_) => &self.unknown,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a charge or grant whose outcome was still unknown at the end of the time limit.
    pub(super) fn count_unknown(&self) {
        self.unknown.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds the counts of this lane to `sum`, the counts of all lanes.
    pub(super) fn add_to(&self, sum: &mut Doubts) {
        sum.taken += self.taken.load(Ordering::Relaxed);
        sum.replayed += self.replayed.load(Ordering::Relaxed);
        sum.refused += self.refused.load(Ordering::Relaxed);
        sum.unknown += self.unknown.load(Ordering::Relaxed);
    }
}
