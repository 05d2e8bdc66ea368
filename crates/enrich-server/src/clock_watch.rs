//! Decides whether the wall clock is reliable. Expired keys and sessions are ended permanently
//! only while it is reliable.

use std::time::Duration;

use enrich_core::Timestamp;
use jiff::SignedDuration;

/// Compares the wall clock with the monotonic clock. If both have advanced equally for
/// [`STEADY_TIME`](Self::STEADY_TIME), the wall clock is trusted. Only then does the store record
/// which keys and sessions have expired. From then on, they stay expired, even if the wall clock is
/// set back.
///
/// The reason: after a machine has started, its wall clock may be ahead until time
/// synchronisation corrects it. Until then, some valid keys and sessions seem to have expired, and
/// are refused. After the correction, they must be accepted again. If the store had already
/// recorded that they have expired, they would stay refused.
#[derive(Clone, Debug)]
pub(crate) struct ClockWatch {
    /// The time that the wall clock showed when this watch was started.
    wall: Timestamp,
    /// The time that the monotonic clock showed when this watch was started.
    monotonic: Duration,
}

impl ClockWatch {
    /// The time for which both clocks must advance equally before the wall clock is trusted.
    pub(crate) const STEADY_TIME: Duration = Duration::from_secs(10 * 60);
    /// The maximum difference between the times that have passed on the two clocks. A larger
    /// difference means that the wall clock has jumped. Leap seconds and small corrections of the
    /// wall clock cause smaller differences.
    const TOLERANCE: SignedDuration = SignedDuration::from_secs(10);

    /// Starts a watch. `wall` and `monotonic` are the present times of both clocks. `monotonic` is
    /// the time since any fixed moment, such as the start of the machine.
    pub(crate) fn new(wall: Timestamp, monotonic: Duration) -> Self {
        Self { wall, monotonic }
    }

    /// Whether the clocks have advanced equally since the start of the watch, and the watch has
    /// lasted for at least [`STEADY_TIME`](Self::STEADY_TIME). If the wall clock has jumped, starts
    /// the watch again and returns `false`.
    pub(crate) fn is_steady(&mut self, wall: Timestamp, monotonic: Duration) -> bool {
        let elapsed = monotonic.saturating_sub(self.monotonic);
        let shown = wall.duration_since(self.wall);
        let jump = SignedDuration::try_from(elapsed).ok().and_then(|time| shown.checked_sub(time));
        if jump.is_none_or(|jump| jump.abs() > Self::TOLERANCE) {
            *self = Self::new(wall, monotonic);
            return false;
        }
        elapsed >= Self::STEADY_TIME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_clock_is_trusted_after_ten_minutes() {
        let mut watch = ClockWatch::new(at(0), MINUTE);
        assert!(!watch.is_steady(at(0), MINUTE));
        assert!(!watch.is_steady(at(599), MINUTE + Duration::from_secs(599)));
        assert!(watch.is_steady(at(600), MINUTE * 11));
        assert!(watch.is_steady(at(86_400), MINUTE * 1_441));
    }

    #[test]
    fn a_jump_of_the_clock_begins_the_ten_minutes_anew() {
        for jump in [7_200, -7_200, 11, -11] {
            let mut watch = ClockWatch::new(at(0), Duration::ZERO);
            assert!(watch.is_steady(at(600), MINUTE * 10));
            assert!(!watch.is_steady(at(660 + jump), MINUTE * 11), "{jump}");
            assert!(!watch.is_steady(at(1_200 + jump), MINUTE * 20), "{jump}");
            assert!(watch.is_steady(at(1_260 + jump), MINUTE * 21), "{jump}");
        }
    }

    #[test]
    fn a_leap_second_is_no_jump() {
        let mut watch = ClockWatch::new(at(0), Duration::ZERO);
        assert!(watch.is_steady(at(599), MINUTE * 10));
        assert!(watch.is_steady(at(661), MINUTE * 11));
    }

    #[test]
    fn times_at_the_ends_of_their_range_are_no_fault() {
        let mut watch = ClockWatch::new(Timestamp::MIN, Duration::MAX);
        assert!(!watch.is_steady(Timestamp::MAX, Duration::ZERO));
        assert!(!watch.is_steady(Timestamp::MIN, Duration::MAX));
    }
}
