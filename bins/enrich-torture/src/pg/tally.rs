//! The counts of a torture's calls, and the times after each fault in which nothing was charged.

use crate::pg::call::{Call, End, Micros};
use crate::report::Summary;

/// The number of a torture's calls, and the number of calls with each result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) calls: u64,
    /// The number of charges that a node reported as successful.
    pub(crate) charged: u64,
    /// The number of grants that a node reported as successful.
    pub(crate) granted: u64,
    /// The number of free calls: the look-up found nothing, and this response was stored.
    pub(crate) free: u64,
    pub(crate) replayed: u64,
    pub(crate) without_credits: u64,
    pub(crate) overloaded: u64,
    pub(crate) stopped: u64,
    /// Calls with an unknown outcome that were charged.
    pub(crate) unknown_charged: u64,
    /// Calls with an unknown outcome that were not charged.
    pub(crate) unknown_free: u64,
    /// Charges that no node reported, because their node was killed.
    pub(crate) untold: u64,
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    /// The longest time that a call took, in microseconds.
    pub(crate) slowest: Micros,
}

/// The results of the calls that were in flight at the time of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// Calls with the result "taken": charges, grants, and misses whose responses were stored.
    taken: u64,
    replayed: u64,
    /// Calls that were refused, so that nothing was taken.
    refused: u64,
    unknown: u64,
}

/// For each fault, the time from the fault to the next successful charge. Charges that were
/// requested before the fault do not count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outages(Vec<Micros>);

impl Tally {
    /// Counts a call. `has_row` says whether the call has a row in the ledger.
    pub(crate) fn count(&mut self, call: &Call, has_row: bool) {
        self.calls += 1;
        self.slowest = self.slowest.max(call.ended_at.saturating_sub(call.asked_at));
        match call.end {
            End::Taken(_) if call.credits < 0 => self.charged += 1,
            End::Taken(_) if call.credits > 0 => self.granted += 1,
            End::Taken(_) => self.free += 1,
            End::Replayed(..) => self.replayed += 1,
            End::Insufficient(_) => self.without_credits += 1,
            End::Overloaded => self.overloaded += 1,
            End::Stopped => self.stopped += 1,
            End::Unknown if has_row => self.unknown_charged += 1,
            End::Unknown => self.unknown_free += 1,
            End::Wrong(_) => {}
        }
    }

    /// Adds the counts of another database.
    pub(crate) fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.charged += other.charged;
        self.granted += other.granted;
        self.free += other.free;
        self.replayed += other.replayed;
        self.without_credits += other.without_credits;
        self.overloaded += other.overloaded;
        self.stopped += other.stopped;
        self.unknown_charged += other.unknown_charged;
        self.unknown_free += other.unknown_free;
        self.untold += other.untold;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.slowest = self.slowest.max(other.slowest);
    }

    /// Adds the counts to a summary.
    pub(crate) fn add_to(&self, summary: Summary) -> Summary {
        summary
            .row("calls", self.calls)
            .row("acknowledged as charged", self.charged)
            .row("acknowledged as granted", self.granted)
            .row("free misses", self.free)
            .row("repeats answered again", self.replayed)
            .row("refused without credits", self.without_credits)
            .row("refused as overloaded", self.overloaded)
            .row("refused as stopped", self.stopped)
            .row("told as unknown, charged", self.unknown_charged)
            .row("told as unknown, not charged", self.unknown_free)
            .row("charged by killed nodes, untold", self.untold)
            .row("acknowledged and lost", self.lost)
            .row("doubled", self.doubled)
            .row("slowest call, ms", self.slowest / 1_000)
    }
}

impl InFlight {
    /// Counts the calls that were in flight at one of the times in `faults`. `faults` must be in
    /// ascending order.
    pub(crate) fn count(&mut self, calls: &[Call], faults: &[Micros]) {
        for call in calls {
            let next = faults.partition_point(|fault| *fault <= call.asked_at);
            if !faults.get(next).is_some_and(|fault| call.is_in_flight_at(*fault)) {
                continue;
            }
            match call.end {
                End::Taken(_) => self.taken += 1,
                End::Replayed(..) => self.replayed += 1,
                End::Unknown => self.unknown += 1,
                _ => self.refused += 1,
            }
        }
    }

    /// Adds the counts to a summary.
    pub(crate) fn add_to(&self, summary: Summary) -> Summary {
        let Self { taken, replayed, refused, unknown } = self;
        let text =
            format!("{taken} taken, {replayed} repeats, {refused} refused, {unknown} unknown");
        summary.row("in flight at a fault", text)
    }
}

impl Outages {
    /// Adds the outage of one fault.
    pub(crate) fn push(&mut self, outage: Micros) {
        self.0.push(outage);
    }

    /// Returns the median of the outages, in milliseconds; 0 if there are no outages.
    pub(crate) fn median_millis(&self) -> Micros {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default() / 1_000
    }

    /// Returns the longest outage, in milliseconds; 0 if there are no outages.
    pub(crate) fn longest_millis(&self) -> Micros {
        self.0.iter().copied().max().unwrap_or_default() / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_longest_outage() {
        let outages = Outages(vec![9_000, 1_000, 2_000]);
        assert_eq!((outages.median_millis(), outages.longest_millis()), (2, 9));
        assert_eq!(Outages::default().median_millis(), 0);
    }
}
