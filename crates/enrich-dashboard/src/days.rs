//! Days and ranges of days in UTC, counted from 1970-01-01 as in the usage counters.

use std::fmt;

use jiff::civil::{Date, date};
use jiff::{Timestamp, ToSpan};

use crate::form::Form;

const SECONDS: i64 = 24 * 60 * 60;
const EPOCH: Date = date(1970, 1, 1);
/// The last valid day, which is 2199-12-31, in days since 1970-01-01.
const LAST: i64 = 84_005;

/// A day in UTC, counted from 1970-01-01. It is displayed as `2026-03-04`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day(pub(crate) i64);

impl Day {
    /// Returns the day (UTC) that contains an instant.
    pub(crate) fn of(at: Timestamp) -> Self {
        Self(at.as_second().div_euclid(SECONDS))
    }

    /// Returns the first instant of the day.
    pub(crate) fn start(self) -> Timestamp {
        Timestamp::from_second(self.0.saturating_mul(SECONDS)).unwrap_or(Timestamp::MAX)
    }

    fn parse(text: &str) -> Option<Self> {
        let date: Date = text.parse().ok()?;
        // A date must have the form `2026-03-04`. Any other form is treated as a typing error.
        let is_plain = text.len() == 10;
        let day = Self(i64::from(EPOCH.until(date).ok()?.get_days()));
        (is_plain && (0..=LAST).contains(&day.0)).then_some(day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match EPOCH.checked_add(self.0.days()) {
            Ok(date) => date.fmt(f),
            Err(_) => f.write_str("—"),
        }
    }
}

/// A range of days that includes both ends. It is never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Days {
    pub(crate) first: Day,
    pub(crate) last: Day,
}

impl Days {
    /// Returns the last 30 days, including today.
    pub(crate) fn last_30(today: Day) -> Self {
        Self { first: Day(today.0 - 29), last: today }
    }

    /// Reads the fields `from` and `to`. A missing `to` means today. A missing `from` means 29 days
    /// ago, or the date `to` if `to` is earlier. The error is a message for the user.
    pub(crate) fn read(query: &Form, today: Day) -> Result<Self, String> {
        let usual = Self::last_30(today);
        let read = |name, usual| match query.text(name) {
            "" => Ok(usual),
            text => Day::parse(text)
                .ok_or_else(|| "Enter dates like 2026-03-04, from 1970 to 2199.".to_owned()),
        };
        let last = read("to", usual.last)?;
        let first = read("from", usual.first.min(last))?;
        if first > last {
            return Err(format!(
                "The range starts on {first} but ends earlier. Swap the two dates."
            ));
        }
        Ok(Self { first, last })
    }

    /// Reads the fields `from` and `to` like [`Self::read`]. If they are invalid, returns the last
    /// 30 days together with the message for the user.
    pub(crate) fn read_or_usual(query: &Form, today: Day) -> (Self, Option<String>) {
        match Self::read(query, today) {
            Ok(days) => (days, None),
            Err(said) => (Self::last_30(today), Some(said)),
        }
    }

    /// Whether the range contains an instant.
    pub(crate) fn hold(self, at: Timestamp) -> bool {
        (self.first..=self.last).contains(&Day::of(at))
    }

    /// Returns the part of this range from `first` to `last`; `None` if none of the days from
    /// `first` to `last` are in this range.
    pub(crate) fn within(self, first: Day, last: Day) -> Option<Self> {
        let (first, last) = (self.first.max(first), self.last.min(last));
        (first <= last).then_some(Self { first, last })
    }

    /// Returns every day of the range, in order.
    pub(crate) fn each(self) -> impl Iterator<Item = Day> {
        (self.first.0..=self.last.0).map(Day)
    }

    /// Splits the range into ranges of at most `days` days, in order.
    pub(crate) fn pieces(self, days: usize) -> impl Iterator<Item = Self> {
        let length = i64::try_from(days.max(1)).unwrap_or(i64::MAX) - 1;
        (self.first.0..=self.last.0).step_by(days.max(1)).map(move |first| Self {
            first: Day(first),
            last: Day(first.saturating_add(length)).min(self.last),
        })
    }

    /// Returns the first instant after the range.
    pub(crate) fn end(self) -> Timestamp {
        Day(self.last.0.saturating_add(1)).start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: Day = Day(20_516);

    fn read(query: &str) -> Result<(String, String), String> {
        let days = Days::read(&Form::read(query.as_bytes()), TODAY)?;
        Ok((days.first.to_string(), days.last.to_string()))
    }

    fn days(first: &str, last: &str) -> Result<(String, String), String> {
        Ok((first.to_owned(), last.to_owned()))
    }

    #[test]
    fn a_day_begins_at_midnight_in_utc() {
        let day = Day::of("2026-03-04T23:59:59.9Z".parse().unwrap());
        assert_eq!((day, day.to_string().as_str()), (TODAY, "2026-03-04"));
        assert_eq!(day.start().to_string(), "2026-03-04T00:00:00Z");
        assert_eq!(Day(LAST).to_string(), "2199-12-31");
    }

    #[test]
    fn a_range_is_the_last_30_days_unless_it_is_said() {
        assert_eq!(read(""), days("2026-02-03", "2026-03-04"));
        assert_eq!(read("from=2026-01-01"), days("2026-01-01", "2026-03-04"));
        assert_eq!(read("to=2020-01-01"), days("2020-01-01", "2020-01-01"));
        assert_eq!(read("from=2024-02-29&to=2024-02-29"), days("2024-02-29", "2024-02-29"));
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for query in [
            "from=today",
            "from=2026-02-30",
            "from=1969-12-31",
            "to=2200-01-01",
            "to=9999-99-99",
            "from=2026-03-05",
            "from=2026-03-04&to=2026-03-03",
            "from=20260101",
        ] {
            assert!(read(query).is_err(), "{query}");
        }
    }

    #[test]
    fn pieces_are_the_range() {
        let range = Days { first: Day(10), last: Day(16) };
        let pieces: Vec<(i64, i64)> =
            range.pieces(3).map(|piece| (piece.first.0, piece.last.0)).collect();
        assert_eq!(pieces, [(10, 12), (13, 15), (16, 16)]);
        assert_eq!(range.each().count(), 7);
        assert_eq!(range.within(Day(17), Day(20)), None);
    }
}
