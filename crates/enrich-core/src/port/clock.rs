//! The port (a trait) that tells the present time.

use jiff::Timestamp;

/// The clock. Other code does not read the system's time, but gets the present time from this
/// trait or as an argument.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}
