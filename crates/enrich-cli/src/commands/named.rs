//! Parses names and ids from the command line, and formats values for the output.

use std::str::FromStr;

use clap::Args;
use enrich_core::{Account, AccountId, AccountStatus, ChargeId, KeyId, Label, Timestamp};
use enrich_text::Country;

use super::{Common, Failure};
use crate::account_ports::AccountPorts;

/// The id or the name of an account, as the user has typed it. There may be no such account.
#[derive(Clone, Debug)]
pub(crate) struct AccountArg(String);

impl FromStr for AccountArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains(enrich_core::KEY_PREFIX) {
            return Err("this is a key; `enrich account list` shows the ids and names".to_owned());
        }
        name(text).map(Self)
    }
}

// The arguments of a command about one account. (A doc comment here would become the help of every
// command.)
#[derive(Debug, Args)]
pub(crate) struct OnAccount {
    /// The account's id or name
    account: AccountArg,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl OnAccount {
    /// Opens the accounts, and finds the account that the user has named.
    pub(crate) fn find(&self) -> Result<(AccountPorts, Account), Failure> {
        let ports = self.common.open_accounts()?;
        let account = self.account.find(&ports)?;
        Ok((ports, account))
    }

    /// Opens the accounts, and finds the account that the user has named. Returns an error if the
    /// account is closed.
    pub(crate) fn find_open(&self) -> Result<(AccountPorts, Account), Failure> {
        let (ports, account) = self.find()?;
        match account.status {
            AccountStatus::Active | AccountStatus::Suspended { .. } => Ok((ports, account)),
            AccountStatus::Closed => Err(closed(account.id)),
        }
    }
}

// The arguments of a command about one key. (A doc comment here would become the help of every
// command.)
#[derive(Debug, Args)]
pub(crate) struct OnKey {
    /// The key's id
    #[arg(value_parser = key_id)]
    pub(crate) key_id: KeyId,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl AccountArg {
    /// Finds the account whose id or name the user has typed. An id has priority. If an open
    /// account has the name, closed accounts with the name are ignored. Returns an error if there
    /// is no such account, or if several accounts remain.
    pub(crate) fn find(&self, ports: &AccountPorts) -> Result<Account, Failure> {
        let Self(typed) = self;
        if let Ok(id) = typed.parse() {
            let found = pollster::block_on(ports.accounts.account(id))?;
            if let Some(account) = found {
                return Ok(account);
            }
        }
        let all = pollster::block_on(ports.accounts.accounts())?;
        let mut named: Vec<Account> =
            all.into_iter().filter(|account| account.name == *typed).collect();
        if named.iter().any(|account| account.status != AccountStatus::Closed) {
            named.retain(|account| account.status != AccountStatus::Closed);
        }
        match named.as_slice() {
            [] => Err(Failure::refused(format!(
                "there is no account {typed}; `enrich account list` shows them"
            ))),
            [account] => Ok(account.clone()),
            several => {
                let ids: Vec<String> =
                    several.iter().map(|account| account.id.to_string()).collect();
                Err(Failure::refused(format!(
                    "{} accounts are named {typed}; use the id of one: {}",
                    several.len(),
                    ids.join(", ")
                )))
            }
        }
    }
}

pub(crate) fn closed(id: AccountId) -> Failure {
    Failure::refused(format!("the account {id} is closed for good; create a new one"))
}

/// Parses the alpha-2 code of a country.
pub(crate) fn country(text: &str) -> Result<Country, String> {
    Country::from_code(text.trim()).map_err(|error| error.to_string())
}

fn key_id(text: &str) -> Result<KeyId, String> {
    if text.trim_start().starts_with(enrich_core::KEY_PREFIX) {
        return Err("this is a key itself; `enrich key list ACCOUNT` shows the ids of keys".into());
    }
    text.trim().parse().map_err(|_| "`enrich key list ACCOUNT` shows the ids of keys".to_owned())
}

/// Parses the id of a ledger row.
pub(crate) fn entry_id(text: &str) -> Result<ChargeId, String> {
    text.trim()
        .parse()
        .map_err(|_| "`enrich ledger export ACCOUNT` shows the ids of ledger rows".to_owned())
}

/// Parses a name, a label or a note: one line of text.
pub(crate) fn line(text: &str) -> Result<String, String> {
    Label::parse(text).map(String::from).map_err(|invalid| invalid.to_string())
}

/// Parses a name that must not be empty.
pub(crate) fn name(text: &str) -> Result<String, String> {
    let name = line(text)?;
    if name.is_empty() { Err("it cannot be empty".to_owned()) } else { Ok(name) }
}

pub(crate) fn no_account(id: AccountId) -> Failure {
    Failure::refused(format!("there is no account {id}; `enrich account list` shows them"))
}

pub(crate) fn no_key(id: KeyId) -> Failure {
    Failure::refused(format!("there is no key {id}; `enrich key list ACCOUNT` shows them"))
}

/// Returns a time without fractions of a second.
pub(crate) fn to_the_second(at: Timestamp) -> String {
    format!("{at:.0}")
}

/// Returns a number of credits with its unit, such as `5 credits`. The number may be negative.
pub(crate) fn credits(number: impl Into<i128>) -> String {
    let number = number.into();
    if number == 1 { "1 credit".to_owned() } else { format!("{number} credits") }
}

/// Returns a number of bytes in the largest decimal unit that fits, rounded up to one decimal.
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
