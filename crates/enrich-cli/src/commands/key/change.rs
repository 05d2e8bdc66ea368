//! The commands `enrich key set`, `enrich key revoke` and `enrich key rotate`.

use clap::Args;
use enrich_core::{Clock, KeyLimit, NewKey, RateOverride, Timestamp};
use enrich_store::SystemClock;
use jiff::{SignedDuration, Span, SpanRelativeTo};

use super::super::named::OnKey;
use super::super::{Console, Failure, Verdict, named};
use super::{check_stored, generate, record};

#[derive(Debug, Args)]
pub(crate) struct Set {
    /// Maximum requests of the key in a window, or `default` for the server's limit
    #[arg(long, value_name = "N", value_parser = own_or_default, required_unless_present = "rate_window")]
    rate_limit: Option<Own>,
    /// Length of the window, in seconds, or `default` for the server's window
    #[arg(long, value_name = "SECONDS", value_parser = own_or_default)]
    rate_window: Option<Own>,
    #[command(flatten)]
    on: OnKey,
}

#[derive(Debug, Args)]
pub(crate) struct Rotate {
    /// How long the old key stays valid, for example 30s, 15m, 24h or 7d
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration)]
    keep: SignedDuration,
    #[command(flatten)]
    on: OnKey,
}

/// The key's own value for a setting; `None` if the key uses the server's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Own(Option<u32>);

fn own_or_default(text: &str) -> Result<Own, String> {
    if text.eq_ignore_ascii_case("default") {
        return Ok(Own(None));
    }
    match text.parse() {
        Ok(number) if number > 0 => Ok(Own(Some(number))),
        _ => Err("it is a whole number, at least 1, or `default`".to_owned()),
    }
}

/// Parses a duration such as `30s`, `24h` or `7d`. A day has 24 hours.
pub(super) fn duration(text: &str) -> Result<SignedDuration, String> {
    if text == "0" {
        return Ok(SignedDuration::ZERO);
    }
    let days = SpanRelativeTo::days_are_24_hours();
    let duration = text.parse::<Span>().and_then(|span| span.to_duration(days)).ok();
    duration
        .filter(|duration| !duration.is_negative() && !text.starts_with('+'))
        .ok_or_else(|| "it is a whole number and a unit, like 30s, 15m, 24h or 7d".to_owned())
}

impl Set {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let OnKey { key_id, common } = self.on;
        let ports = common.open_accounts()?;
        let no_key = || named::no_key(key_id);
        let key = pollster::block_on(ports.accounts.key(key_id))?.ok_or_else(no_key)?;
        let rate = RateOverride {
            requests: self.rate_limit.map_or(key.rate.requests, |own| own.0),
            window_seconds: self.rate_window.map_or(key.rate.window_seconds, |own| own.0),
        };
        if !pollster::block_on(ports.accounts.set_rate(key_id, rate))? {
            return Err(no_key());
        }
        common.show(&record(&ports, key_id)?, console)
    }
}

pub(super) fn revoke(on: &OnKey, console: &mut Console<'_>) -> Result<Verdict, Failure> {
    let ports = on.common.open_accounts()?;
    let now = SystemClock.now();
    if !pollster::block_on(ports.accounts.expire_key(on.key_id, now, now))? {
        return Err(named::no_key(on.key_id));
    }
    on.common.show(&record(&ports, on.key_id)?, console)
}

impl Rotate {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let OnKey { key_id, common } = self.on;
        let ports = common.open_accounts()?;
        let now = SystemClock.now();
        let no_key = || named::no_key(key_id);
        let old = pollster::block_on(ports.accounts.key(key_id))?.ok_or_else(no_key)?;
        if !old.is_active(now) {
            return Err(Failure::refused(format!(
                "the key {} has already ended; issue a new one with `enrich key issue {}`",
                old.id, old.account
            )));
        }
        let old_until = end_of(now, self.keep)?;
        let successor = NewKey { rate: old.rate, ..generate(old.account, old.label, now)? };
        let (new_id, secret) = (successor.id, successor.key.clone());
        let limit = KeyLimit::OF_OPERATOR;
        let stored = ports.accounts.rotate_key(old.id, old_until, successor, limit);
        check_stored(pollster::block_on(stored)?, no_key)?;
        let old = pollster::block_on(ports.accounts.key(key_id))?.ok_or_else(no_key)?;
        common.show(&record(&ports, new_id)?.with_secret(&secret).in_place_of(&old), console)
    }
}

fn end_of(now: Timestamp, keep: SignedDuration) -> Result<Timestamp, Failure> {
    now.checked_add(keep).map_err(|_| Failure::refused("`--keep` is too long"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_and_its_unit() {
        let seconds = |text| duration(text).map(|duration| duration.as_secs());
        for (text, expected) in [
            ("0", 0),
            ("30s", 30),
            ("15m", 900),
            ("1h30m", 5_400),
            ("24h", 86_400),
            ("7d", 604_800),
            ("1w", 604_800),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        let wrong =
            ["", "h", "24", "-1h", "+1h", "1M", "1mo", "1y", "1é", "é", "99999999999999999d"];
        for text in wrong {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_end_beyond_all_time_is_refused() {
        assert!(end_of(Timestamp::UNIX_EPOCH, SignedDuration::MAX).is_err());
    }

    #[test]
    fn a_limit_of_nothing_is_refused_and_default_takes_it_away() {
        assert_eq!(own_or_default("default"), Ok(Own(None)));
        assert_eq!(own_or_default("600"), Ok(Own(Some(600))));
        for text in ["0", "-1", "many", ""] {
            assert!(own_or_default(text).is_err(), "{text}");
        }
    }
}
