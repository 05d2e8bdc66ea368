//! The only source of time.

use jiff::Timestamp;

/// Tells the time. Everything else takes it as an argument.
pub trait Clock: Send + Sync {
    /// The current instant.
    fn now(&self) -> Timestamp;
}
