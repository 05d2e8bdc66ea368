//! Decides whether a node is ready to get calls.

use std::time::Duration;

use enrich_core::Timestamp;
use jiff::SignedDuration;

use crate::not_ready::NotReady;
use crate::store::Store;

/// A node that has not reached the database for longer than this is not ready. The time is longer
/// than a failover takes. Otherwise all nodes would leave the load balancer during a failover.
const LONGEST_SILENCE: Duration = Duration::from_secs(5);
/// Maximum accepted difference between the clocks of the node and the database. With a larger
/// difference, the times of ledger rows and the rate-limit windows would be wrong, and responses
/// would not be stored for exactly 24 hours.
const LARGEST_SKEW: SignedDuration = SignedDuration::from_secs(2);

impl Store {
    /// Returns why this node should not get calls; `None` if it is ready. `now` is the time of the
    /// node's clock. A node that cannot charge is not ready: if
    /// [`is_charging`](enrich_core::port::ledger::Ledger::is_charging) returns `false`, this method
    /// returns a reason.
    pub fn not_ready(&self, now: Timestamp) -> Option<NotReady> {
        unready(self.silence(), self.skew(now)).or_else(|| self.ledger.not_charging())
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
