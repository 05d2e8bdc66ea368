//! Whether a node should get calls.

use std::time::Duration;

use enrich_core::Timestamp;
use jiff::SignedDuration;

use crate::store::Store;

/// A node that has not reached the database for so long is not ready. Longer than a failover, in
/// which otherwise all nodes would leave the load balancer.
const LONGEST_SILENCE: Duration = Duration::from_secs(5);
/// The largest difference of the clocks. Beyond it, times of rows, 24 hours of stored responses and
/// rate-limit windows would be wrong.
const LARGEST_SKEW: SignedDuration = SignedDuration::from_secs(2);

/// Why a node should get no calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// The database was not reached for a while.
    #[error("the database was last reached {} s ago", .0.as_secs())]
    Silent(Duration),
    /// The clocks differ.
    #[error(
        "the clock of this node differs by {} ms from the database's; synchronise both",
        .0.as_millis()
    )]
    Skewed(SignedDuration),
}

impl Store {
    /// Why this node should get no calls; `None` if it should. `now` is the node's time. Whether
    /// the ledger decides charges is another question: see
    /// [`is_charging`](enrich_core::port::ledger::Ledger::is_charging).
    pub fn not_ready(&self, now: Timestamp) -> Option<NotReady> {
        unready(self.silence(), self.skew(now))
    }
}

fn unready(silence: Duration, skew: SignedDuration) -> Option<NotReady> {
    if silence > LONGEST_SILENCE {
        Some(NotReady::Silent(silence))
    } else if is_skewed(skew) {
        Some(NotReady::Skewed(skew))
    } else {
        None
    }
}

/// Whether two clocks differ too much.
pub(crate) fn is_skewed(skew: SignedDuration) -> bool {
    skew.abs() > LARGEST_SKEW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failover_leaves_a_node_ready_and_a_longer_silence_does_not() {
        let after = |seconds| unready(Duration::from_secs(seconds), SignedDuration::ZERO);
        assert_eq!(after(5), None);
        let said = after(7).unwrap().to_string();
        assert_eq!(said, "the database was last reached 7 s ago");
    }

    #[test]
    fn a_clock_may_be_ahead_or_behind_by_two_seconds() {
        let by = |millis| unready(Duration::ZERO, SignedDuration::from_millis(millis));
        assert_eq!((by(2_000), by(-2_000)), (None, None));
        assert!(by(2_001).unwrap().to_string().contains("differs by 2001 ms"));
        assert!(by(-2_001).unwrap().to_string().contains("differs by -2001 ms"));
    }
}
