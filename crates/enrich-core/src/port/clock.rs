//! The only source of time.

use jiff::Timestamp;

/// Returns the current time. All other code receives times as arguments.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}
