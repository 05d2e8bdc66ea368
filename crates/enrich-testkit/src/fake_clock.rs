//! A clock whose time is set by tests.

use std::sync::atomic::{AtomicI64, Ordering};

use enrich_core::{Clock, Timestamp};

/// A clock that stands still until it is set. It starts at 1970-01-01.
#[derive(Debug, Default)]
pub struct FakeClock(AtomicI64);

impl FakeClock {
    /// Returns a clock that is set to a time in RFC 3339 format.
    pub fn at(text: &str) -> Self {
        Self(AtomicI64::new(text.parse::<Timestamp>().unwrap().as_second()))
    }

    /// Sets the clock to `second`, in seconds since 1970-01-01.
    pub fn set(&self, second: i64) {
        self.0.store(second, Ordering::SeqCst);
    }

    /// Moves the clock forward by `seconds`.
    pub fn pass(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::SeqCst)).unwrap()
    }
}
