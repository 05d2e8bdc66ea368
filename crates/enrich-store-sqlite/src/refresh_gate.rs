//! Limits the time for which a process uses cached content of a file that other processes may
//! change.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The default of `RefreshGate::interval`: the time for which cached content may be used after a
/// check.
const REFRESH_INTERVAL: Duration = Duration::from_millis(10);
/// The default of `RefreshGate::longest`: the time for which cached content may be used after a
/// check, while another thread makes the next check.
const LONGEST_INTERVAL: Duration = Duration::from_millis(100);
/// Stored in place of a time if there was no check yet.
const NEVER: u64 = 0;

/// Stores when a file was last checked for changes by other processes, and decides which thread
/// makes the next check.
#[derive(Debug)]
pub struct RefreshGate {
    /// The time for which cached content of the file may be used before the file must be checked
    /// again.
    interval: Duration,
    /// The time for which cached content of the file may be used while another thread checks the
    /// file.
    longest: Duration,
    since: Instant,
    /// The time up to which the cached content includes all changes, in microseconds after `since`;
    /// [`NEVER`] before the first check.
    seen: AtomicU64,
    /// The time when [`Self::is_due`] last chose one thread for a check, in microseconds after
    /// `since`; [`NEVER`] if it has chosen none yet.
    checked: AtomicU64,
}

/// A time, in microseconds since a [`RefreshGate`] was created.
#[derive(Clone, Copy, Debug)]
pub struct Moment(u64);

impl Default for RefreshGate {
    fn default() -> Self {
        Self::new(REFRESH_INTERVAL, LONGEST_INTERVAL)
    }
}

impl RefreshGate {
    /// Creates a gate that has made no check yet. Cached content may be used for `interval` after a
    /// check, and for at most `longest` while another thread makes the next check.
    pub fn new(interval: Duration, longest: Duration) -> Self {
        let (seen, checked) = (AtomicU64::new(NEVER), AtomicU64::new(NEVER));
        Self { interval, longest, since: Instant::now(), seen, checked }
    }

    /// Whether the caller must check the file for changes. If the last check was longer ago than
    /// `interval`, only one of several callers gets `true`. If it was longer ago than `longest`, or
    /// there was no check yet, every caller gets `true`.
    pub fn is_due(&self) -> bool {
        let now = self.now();
        let is_past =
            |moment: u64, limit: Duration| moment == NEVER || now >= moment + micros(limit);
        let seen = self.seen.load(Ordering::Acquire);
        if is_past(seen, self.longest) {
            return true;
        }
        let checked = self.checked.load(Ordering::Acquire);
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        is_past(seen, self.interval)
            && is_past(checked, self.interval)
            && self.checked.compare_exchange(checked, now, success, failure).is_ok()
    }

    /// Returns the present moment. The caller must call this before a check, and pass the result to
    /// [`seen`](Self::seen) after the check.
    pub fn moment(&self) -> Moment {
        Moment(self.now())
    }

    /// Notes that the cached content includes all changes that were made before `moment`.
    pub fn seen(&self, moment: Moment) {
        self.seen.fetch_max(moment.0, Ordering::AcqRel);
    }

    fn now(&self) -> u64 {
        micros(self.since.elapsed()).max(NEVER + 1)
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a gate whose last check was `ago` before now.
    fn seen(ago: Duration) -> RefreshGate {
        let since = Instant::now().checked_sub(ago).unwrap();
        RefreshGate { since, seen: AtomicU64::new(NEVER + 1), ..RefreshGate::default() }
    }

    #[test]
    fn one_looks_while_the_others_go_by_what_is_known() {
        let refresh_gate = seen(REFRESH_INTERVAL * 5);
        assert_eq!([refresh_gate.is_due(), refresh_gate.is_due()], [true, false]);
        refresh_gate.seen(refresh_gate.moment());
        assert!(!refresh_gate.is_due());
    }

    #[test]
    fn who_looked_before_and_comes_back_late_knows_nothing_newer() {
        let refresh_gate = RefreshGate::default();
        let before = refresh_gate.moment();
        std::thread::sleep(LONGEST_INTERVAL);
        refresh_gate.seen(before);
        assert!(refresh_gate.is_due());
        let now = refresh_gate.moment();
        refresh_gate.seen(now);
        refresh_gate.seen(before);
        assert!(!refresh_gate.is_due());
    }

    #[test]
    fn everybody_looks_when_nobody_has_for_long_or_ever() {
        let refresh_gate = seen(LONGEST_INTERVAL * 2);
        assert_eq!([refresh_gate.is_due(), refresh_gate.is_due()], [true, true]);
        let refresh_gate = RefreshGate::default();
        assert_eq!([refresh_gate.is_due(), refresh_gate.is_due()], [true, true]);
    }
}
