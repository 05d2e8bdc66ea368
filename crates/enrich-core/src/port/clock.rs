//! The port that tells the present time.

use jiff::Timestamp;

/// Tells the present time. All other code gets times as arguments.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}
