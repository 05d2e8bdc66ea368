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
