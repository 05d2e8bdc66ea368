//! Formats numbers, times and shares for display.

use std::fmt;

use enrich_core::{KeyId, KeyInfo, RateLimit, Timestamp};

/// A number with commas between its thousands: `1,234,567`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.char_indices() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

/// Converts a number to a [`Number`]. Takes a reference, because templates pass references.
pub(crate) fn number(of: &u64) -> Number {
    Number(*of)
}

/// A share of a whole, displayed in percent, such as `93.4 %`. If `whole` is 0, a dash is
/// displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) part: u64,
    pub(crate) whole: u64,
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.whole == 0 {
            return f.write_str("–");
        }
        let (part, whole) = (u128::from(self.part), u128::from(self.whole));
        let rounded = (part * 1000 + whole / 2) / whole;
        // 0 % is shown only if the part is 0, and 100 % only if the part is the whole. All other
        // shares are shown as at least 0.1 % and at most 99.9 %.
        let tenths = if part == 0 || part == whole { rounded } else { rounded.clamp(1, 999) };
        write!(f, "{}.{} %", tenths / 10, tenths % 10)
    }
}

/// A time in UTC, to the second: `2026-03-04 12:00:30`. A text on the page says that the times are
/// in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Timestamp);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.strftime("%Y-%m-%d %H:%M:%S"))
    }
}

/// Returns a duration in words, rounded up: `12 seconds`, `3 minutes`.
pub(crate) fn span(seconds: i64) -> String {
    match seconds {
        ..60 => counted(seconds.max(1), "second"),
        60..3600 => counted(seconds.saturating_add(59) / 60, "minute"),
        3600..172_800 => counted(seconds.saturating_add(3599) / 3600, "hour"),
        _ => counted(seconds.saturating_add(86_399) / 86_400, "day"),
    }
}

fn counted(number: i64, unit: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{s}")
}

/// Returns a rate limit in words: `5 requests in 1 second`. Takes a reference, because templates
/// pass references.
pub(crate) fn limit(of: &RateLimit) -> String {
    format!("{} in {}", counted(of.requests().into(), "request"), window(of))
}

/// Returns the length of the rate limit's window in words: `60 seconds`.
pub(crate) fn window(of: &RateLimit) -> String {
    counted(of.window_seconds().into(), "second")
}

/// Returns the label of a key. If the key has no label, returns its first characters.
pub(crate) fn key_name(key: &KeyInfo) -> String {
    if key.label.is_empty() { format!("{}…", key.hint) } else { key.label.clone() }
}

pub(crate) fn key_name_in(keys: &[KeyInfo], id: KeyId) -> String {
    keys.iter().find(|key| key.id == id).map_or_else(|| id.to_string(), key_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let shown = [0, 999, 1_000, 12_345, 1_234_567, u64::MAX].map(|n| Number(n).to_string());
        let expected = ["0", "999", "1,000", "12,345", "1,234,567", "18,446,744,073,709,551,615"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_share_is_rounded_to_the_nearest_tenth_but_never_to_none_or_all() {
        let share = |part, whole| Share { part, whole }.to_string();
        assert_eq!(share(0, 0), "–");
        assert_eq!(share(1, 3), "33.3 %");
        assert_eq!(share(16, 24), "66.7 %");
        assert_eq!(share(1, 100_000), "0.1 %");
        assert_eq!(share(0, 7), "0.0 %");
        assert_eq!(share(99_999, 100_000), "99.9 %");
        assert_eq!(share(u64::MAX, u64::MAX), "100.0 %");
    }

    #[test]
    fn a_time_is_to_the_second() {
        let time = Time("2026-03-04T12:00:30.987Z".parse().unwrap());
        assert_eq!(time.to_string(), "2026-03-04 12:00:30");
    }

    #[test]
    fn one_of_something_is_said_as_one() {
        let said = [(1, 60), (5, 1), (100, 60)]
            .map(|(requests, seconds)| limit(&RateLimit::new(requests, seconds).unwrap()));
        let expected = ["1 request in 60 seconds", "5 requests in 1 second"];
        assert_eq!(said[..2], expected);
        assert_eq!(said[2], "100 requests in 60 seconds");
    }

    #[test]
    fn a_span_is_in_the_unit_people_would_use() {
        let shown = [0, 1, 59, 60, 61, 3600, 86_400, 172_801].map(span);
        let expected = [
            "1 second",
            "1 second",
            "59 seconds",
            "1 minute",
            "2 minutes",
            "1 hour",
            "24 hours",
            "3 days",
        ];
        assert_eq!(shown, expected);
    }
}
