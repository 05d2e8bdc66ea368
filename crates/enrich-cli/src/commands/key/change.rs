//! `enrich key set`, `revoke` and `rotate`.

use clap::Args;
use enrich_core::port::accounts::Accounts;
use enrich_core::{Clock, KeyId, KeyLimit, NewKey, Timestamp};
use enrich_store::SystemClock;
use jiff::SignedDuration;

use super::super::{Console, DataFolder, Failure, Format, named};
use super::{check_stored, generate, record};

#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The key's id
    #[arg(value_parser = named::key_id)]
    key_id: KeyId,
    /// Requests in a window, or `default` for the server's limit
    #[arg(long, value_name = "N", value_parser = own_or_default, required_unless_present = "rate_window")]
    rate_limit: Option<Own>,
    /// The window's length, or `default` for the server's
    #[arg(long, value_name = "SECONDS", value_parser = own_or_default)]
    rate_window: Option<Own>,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// The key's id
    #[arg(value_parser = named::key_id)]
    key_id: KeyId,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Rotate {
    /// The id of the key to replace
    #[arg(value_parser = named::key_id)]
    key_id: KeyId,
    /// How long the old key stays valid: 30s, 15m, 24h, 7d
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = span)]
    keep: SignedDuration,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

/// A key's own value; `None` for the server's.
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

/// Parses a duration: a whole number and its unit.
pub(super) fn span(text: &str) -> Result<SignedDuration, String> {
    let fault = || "it is a whole number and a unit, like 30s, 15m, 24h or 7d".to_owned();
    if text == "0" {
        return Ok(SignedDuration::ZERO);
    }
    let unit = text.chars().next_back().ok_or_else(fault)?;
    let seconds_each: i64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return Err(fault()),
    };
    let digits = &text[..text.len() - unit.len_utf8()];
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(fault());
    }
    let seconds = digits.parse::<i64>().ok().and_then(|number| number.checked_mul(seconds_each));
    seconds.map(SignedDuration::from_secs).ok_or_else(|| "it is too long".to_owned())
}

impl Set {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<(), Failure> {
        let store = self.data.open()?;
        let no_key = || named::no_key(self.key_id);
        let key = pollster::block_on(store.accounts.key(self.key_id))?.ok_or_else(no_key)?;
        let mut rate = key.rate;
        if let Some(Own(requests)) = self.rate_limit {
            rate.requests = requests;
        }
        if let Some(Own(seconds)) = self.rate_window {
            rate.window_seconds = seconds;
        }
        if !pollster::block_on(store.accounts.set_rate(self.key_id, rate))? {
            return Err(no_key());
        }
        console.show(&record(&store, self.key_id)?, self.format)
    }
}

impl Revoke {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<(), Failure> {
        let store = self.data.open()?;
        let now = SystemClock.now();
        if !pollster::block_on(store.accounts.expire_key(self.key_id, now, now))? {
            return Err(named::no_key(self.key_id));
        }
        console.show(&record(&store, self.key_id)?, self.format)
    }
}

impl Rotate {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<(), Failure> {
        let store = self.data.open()?;
        let now = SystemClock.now();
        let no_key = || named::no_key(self.key_id);
        let old = pollster::block_on(store.accounts.key(self.key_id))?.ok_or_else(no_key)?;
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
        let stored = store.accounts.rotate_key(old.id, old_until, successor, limit);
        check_stored(pollster::block_on(stored)?, no_key)?;
        let old = pollster::block_on(store.accounts.key(self.key_id))?.ok_or_else(no_key)?;
        let shown = record(&store, new_id)?.with_secret(&secret).in_place_of(&old);
        console.show(&shown, self.format)
    }
}

fn end_of(now: Timestamp, keep: SignedDuration) -> Result<Timestamp, Failure> {
    now.checked_add(keep).map_err(|_| Failure::refused("`--keep` is too long"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_a_number_and_its_unit() {
        let seconds = |text| span(text).map(|span| span.as_secs());
        for (text, expected) in
            [("0", 0), ("30s", 30), ("15m", 900), ("24h", 86_400), ("7d", 604_800)]
        {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "h", "24", "-1h", "+1h", "1.5h", "1w", "1é", "é", "99999999999999999d"] {
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
