//! The system's clock. No other file reads the system's time.

use enrich_core::{Clock, Timestamp};

/// The clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the door to the wall clock")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
