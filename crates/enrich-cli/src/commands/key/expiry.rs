//! The expiry of a new key, as the user gives it: a date, a time, or a duration from now.

use enrich_core::Timestamp;
use jiff::SignedDuration;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::super::Failure;
use super::change::duration;

/// When a key expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// The key expires at this time.
    At(Timestamp),
    /// The key expires when this time has passed since it was issued.
    After(SignedDuration),
}

/// Parses `2027-01-31`, `2027-01-31T12:00:00Z` or `90d`. A date means the beginning of the day in
/// UTC.
pub(super) fn expiry(text: &str) -> Result<Expiry, String> {
    let text = text.trim();
    if let Ok(at) = text.parse() {
        return Ok(Expiry::At(at));
    }
    if let Ok(date) = text.parse::<Date>()
        && text.len() == "2027-01-31".len()
        && let Ok(at) = date.to_zoned(TimeZone::UTC)
    {
        return Ok(Expiry::At(at.timestamp()));
    }
    duration(text).map(Expiry::After).map_err(|_| {
        "it is a date like 2027-01-31, a time with its zone like 2027-01-31T12:00:00Z, or a length \
         of time like 12h or 90d"
            .to_owned()
    })
}

impl Expiry {
    /// Returns the time of the expiry, if the key is issued at `now`. Returns an error if this time
    /// is not after `now`.
    pub(super) fn after(self, now: Timestamp) -> Result<Timestamp, Failure> {
        let at = match self {
            Self::At(at) => at,
            Self::After(length) => {
                now.checked_add(length).map_err(|_| Failure::refused("`--expires` is too far"))?
            }
        };
        if at <= now {
            return Err(Failure::refused(
                "`--expires` is not in the future: the key would be dead",
            ));
        }
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_date_a_time_or_a_length_of_time() {
        let at = |text: &str| Ok(Expiry::At(text.parse().unwrap()));
        assert_eq!(expiry("2027-01-31"), at("2027-01-31T00:00:00Z"));
        assert_eq!(expiry("2027-01-31T12:00:00Z"), at("2027-01-31T12:00:00Z"));
        assert_eq!(expiry("2027-01-31T12:00:00+01:00"), at("2027-01-31T11:00:00Z"));
        assert_eq!(expiry("90d"), Ok(Expiry::After(SignedDuration::from_hours(90 * 24))));
        for text in ["", "tomorrow", "90", "2027-01", "2027-13-01", "2027-01-31T12:00:00", "-1d"] {
            assert!(expiry(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_end_that_is_past_is_refused() {
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        for text in ["2026-11-20", "2026-11-20T12:00:00Z", "0"] {
            assert!(expiry(text).unwrap().after(now).is_err(), "{text}");
        }
        let end = expiry("1d").unwrap().after(now).unwrap();
        assert_eq!(end.to_string(), "2026-11-21T12:00:00Z");
    }
}
