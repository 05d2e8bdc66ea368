//! How things are named on the command line, and how they are shown.

use enrich_core::{AccountId, ChargeId, KeyId, Timestamp};

use super::failure::Failure;

/// The longest name of an account, label of a key or note to a grant, in characters.
const MAX_CHARACTERS: usize = 200;

/// Reads an account's id.
pub(crate) fn account_id(text: &str) -> Result<AccountId, String> {
    text.trim().parse().map_err(|_| "`enrich account list` shows the ids of accounts".to_owned())
}

/// Reads a key's id.
pub(crate) fn key_id(text: &str) -> Result<KeyId, String> {
    if text.trim_start().starts_with(enrich_core::KEY_PREFIX) {
        return Err("this is a key itself; `enrich key list ACCOUNT` shows the ids of keys".into());
    }
    text.trim().parse().map_err(|_| "`enrich key list ACCOUNT` shows the ids of keys".to_owned())
}

/// Reads the id of a row of the ledger.
pub(crate) fn entry_id(text: &str) -> Result<ChargeId, String> {
    text.trim()
        .parse()
        .map_err(|_| "`enrich ledger export ACCOUNT` shows the ids of ledger rows".to_owned())
}

/// Reads a name, a label or a note: one line of text.
pub(crate) fn line(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.chars().count() > MAX_CHARACTERS {
        return Err(format!("it has at most {MAX_CHARACTERS} characters"));
    }
    if text.chars().any(char::is_control) {
        return Err("it is one line, without control characters".to_owned());
    }
    Ok(text.to_owned())
}

/// Reads a name that has to be there.
pub(crate) fn name(text: &str) -> Result<String, String> {
    let name = line(text)?;
    if name.is_empty() { Err("it cannot be empty".to_owned()) } else { Ok(name) }
}

/// There is no account of this id.
pub(crate) fn no_account(id: AccountId) -> Failure {
    Failure::refused(format!("there is no account {id}; `enrich account list` shows them"))
}

/// There is no key of this id.
pub(crate) fn no_key(id: KeyId) -> Failure {
    Failure::refused(format!("there is no key {id}; `enrich key list ACCOUNT` shows them"))
}

/// A time to the second, for people.
pub(crate) fn to_the_second(at: Timestamp) -> String {
    format!("{at:.0}")
}

/// A number of credits, for people.
pub(crate) fn credits(number: u64) -> String {
    if number == 1 { "1 credit".to_owned() } else { format!("{number} credits") }
}

/// A sum of credits that may be negative, for people.
pub(crate) fn credits_of(sum: i64) -> String {
    if sum == 1 { "1 credit".to_owned() } else { format!("{sum} credits") }
}

/// A size in its largest decimal unit, for people.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} bytes");
    }
    let (mut tenths, mut unit) = (bytes.div_ceil(100), 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths = tenths.div_ceil(1000);
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_told_in_its_largest_unit_and_never_as_less_than_it_is() {
        for (bytes, told) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (90_800_000, "90.8 MB"),
            (90_800_001, "90.9 MB"),
            (1_500_000_000, "1.5 GB"),
        ] {
            assert_eq!(size(bytes), told);
        }
    }
}
