//! Days in UTC, by which calls and refusals are counted.

use jiff::Timestamp;

/// The number of seconds of a day.
pub const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// Returns the day (UTC) on which a time is, in days since 1970-01-01.
pub fn day_of(at: Timestamp) -> i64 {
    at.as_second().div_euclid(SECONDS_PER_DAY)
}
