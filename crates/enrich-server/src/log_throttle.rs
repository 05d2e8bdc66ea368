//! Limits how often refused requests are logged, because anybody can send any number of them.

use std::mem::{Discriminant, discriminant};
use std::time::{Duration, Instant};

use enrich_core::Refusal;
use parking_lot::Mutex;

/// Minimum time between two log lines for the same kind of refusal.
const EACH: Duration = Duration::from_secs(10);

/// For each kind of refusal: the time of its last log line, and the number of refusals since then.
#[derive(Debug, Default)]
pub(crate) struct LogThrottle(Mutex<Vec<Logged>>);

#[derive(Debug)]
struct Logged {
    kind: Discriminant<Refusal>,
    at: Instant,
    unlogged: u64,
}

impl LogThrottle {
    /// Decides whether a refusal is logged at `now`. If so, returns how many refusals of the same
    /// kind were not logged since the last log line. Otherwise returns `None`.
    pub(crate) fn admit(&self, refusal: &Refusal, now: Instant) -> Option<u64> {
        let kind = discriminant(refusal);
        // There are only a few kinds of refusals, so a linear search is enough.
        let mut all = self.0.lock();
        let Some(logged) = all.iter_mut().find(|logged| logged.kind == kind) else {
            all.push(Logged { kind, at: now, unlogged: 0 });
            return Some(0);
        };
        if now.duration_since(logged.at) < EACH {
            logged.unlogged += 1;
            return None;
        }
        logged.at = now;
        Some(std::mem::take(&mut logged.unlogged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_each_kind_one_is_logged_in_ten_seconds_and_the_others_are_counted() {
        let (log_throttle, start) = (LogThrottle::default(), Instant::now());
        let admit =
            |refusal, seconds| log_throttle.admit(&refusal, start + Duration::from_secs(seconds));
        assert_eq!(admit(Refusal::IdempotencyStoreFull, 0), Some(0));
        for _ in 0..1_000 {
            assert_eq!(admit(Refusal::IdempotencyStoreFull, 9), None);
        }
        assert_eq!(admit(Refusal::Overloaded, 9), Some(0));
        assert_eq!(admit(Refusal::IdempotencyStoreFull, 10), Some(1_000));
        assert_eq!(admit(Refusal::IdempotencyStoreFull, 11), None);
        assert_eq!(admit(Refusal::Overloaded, 20), Some(0));
    }
}
