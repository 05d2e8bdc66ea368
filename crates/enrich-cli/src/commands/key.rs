//! `enrich key`: issues, lists, changes and ends API keys.
//!
//! The text of a key, which is secret, is printed only when the key is issued, shown or rotated.

mod change;
mod expiry;
mod record;

use clap::{Args, Subcommand};
use enrich_core::port::accounts::KeyStored;
use enrich_core::{AccountId, Clock, KeyId, KeyLimit, NewKey, RateOverride, Timestamp};
use enrich_store::SystemClock;

use super::named::{OnAccount, OnKey};
use super::{Console, Failure, Verdict, named};
use crate::account_ports::AccountPorts;
use change::{Rotate, Set, revoke};
use expiry::Expiry;

pub(crate) use record::KeyRecord;

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Issue a new key
    #[command(
        visible_alias = "create",
        after_help = "\
Examples:
  enrich key issue 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 --label \"web shop\" --rate-limit 600
  enrich key issue \"Quill Ltd\" --expires 90d

A running server accepts the key from the next request on. JSON: {\"key_id\",\"key\",…}."
    )]
    Issue(Issue),
    /// List an account's keys by id, oldest first, without the secret keys
    #[command(after_help = "Example:\n  enrich key list 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70")]
    List(OnAccount),
    /// Show the secret key of a key id
    #[command(after_help = "\
Example:
  enrich key show 019a3c5e-7b1d-7c2a-9f01-c4e8b2a60d13

JSON: {\"key_id\",\"key\",…}.")]
    Show(OnKey),
    /// Set or remove a key's own rate limit
    #[command(after_help = "\
Examples:
  enrich key set 019a3c5e-7b1d-7c2a-9f01-c4e8b2a60d13 --rate-limit 600 --rate-window 60
  enrich key set 019a3c5e-7b1d-7c2a-9f01-c4e8b2a60d13 --rate-limit default

A limit or a window that is not named stays unchanged.")]
    Set(Set),
    /// Revoke a key, which ends it now
    #[command(after_help = "\
Example:
  enrich key revoke 019a3c5e-7b1d-7c2a-9f01-c4e8b2a60d13

A running server refuses the key within a second. A revoked key cannot be used again.")]
    Revoke(OnKey),
    /// Issue a new key that replaces another key
    #[command(after_help = "\
Example:
  enrich key rotate 019a3c5e-7b1d-7c2a-9f01-c4e8b2a60d13 --keep 24h

The new key has the label and the limits of the old one. JSON: {\"key_id\",\"key\",…}.")]
    Rotate(Rotate),
}

impl KeyCommand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        match self {
            Self::Issue(issue) => issue.run(console),
            Self::List(on) => {
                let (ports, account) = on.find()?;
                on.common.show(&records(&ports, account.id)?, console)
            }
            Self::Show(on) => {
                let ports = on.common.open_accounts()?;
                let shown = record(&ports, on.key_id)?;
                let secret = pollster::block_on(ports.accounts.reveal(on.key_id))?;
                let secret = secret.ok_or_else(|| named::no_key(on.key_id))?;
                on.common.show(&shown.with_secret(&secret), console)
            }
            Self::Set(set) => set.run(console),
            Self::Revoke(on) => revoke(&on, console),
            Self::Rotate(rotate) => rotate.run(console),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Issue {
    /// Name of the key
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true,
          value_parser = named::line)]
    label: String,
    /// When the key expires: a date (at 00:00 UTC), a time like 2027-01-31T12:00:00Z, or a duration
    /// from now like 12h or 90d [default: never]
    #[arg(long, value_name = "TIME", value_parser = expiry::expiry)]
    expires: Option<Expiry>,
    /// Maximum requests of the key in a window [default: the server's limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rate_limit: Option<u32>,
    /// Length of the window, in seconds [default: the server's window]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    rate_window: Option<u32>,
    #[command(flatten)]
    on: OnAccount,
}

impl Issue {
    fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let (ports, account) = self.on.find_open()?;
        let now = SystemClock.now();
        let expires_at = self.expires.map(|expiry| expiry.after(now)).transpose()?;
        let rate = RateOverride { requests: self.rate_limit, window_seconds: self.rate_window };
        let key = NewKey { rate, expires_at, ..generate(account.id, self.label, now)? };
        let (id, secret) = (key.id, key.key.clone());
        let stored = ports.accounts.add_key(key, KeyLimit::OF_OPERATOR);
        check_stored(pollster::block_on(stored)?, || named::no_account(account.id))?;
        self.on.common.show(&record(&ports, id)?.with_secret(&secret), console)
    }
}

/// Returns the keys of an account as they are printed, without their secret texts.
pub(crate) fn records(ports: &AccountPorts, account: AccountId) -> Result<Vec<KeyRecord>, Failure> {
    let keys = pollster::block_on(ports.accounts.keys(account))?;
    let now = SystemClock.now();
    Ok(keys.into_iter().map(|key| KeyRecord::new(key, now)).collect())
}

/// Returns a key as it is printed, without its secret text.
fn record(ports: &AccountPorts, id: KeyId) -> Result<KeyRecord, Failure> {
    let key = pollster::block_on(ports.accounts.key(id))?.ok_or_else(|| named::no_key(id))?;
    Ok(KeyRecord::new(key, SystemClock.now()))
}

/// Returns an error if an API key was not stored. `not_there` creates the error for the case that
/// the account, or the key to rotate, does not exist.
fn check_stored(stored: KeyStored, not_there: impl FnOnce() -> Failure) -> Result<(), Failure> {
    let KeyLimit { active, all } = KeyLimit::OF_OPERATOR;
    match stored {
        KeyStored::Stored => Ok(()),
        KeyStored::NotThere => Err(not_there()),
        KeyStored::TooManyActive => Err(Failure::refused(format!(
            "an account has at most {active} keys in use; revoke one that is no longer needed"
        ))),
        KeyStored::TooMany => Err(Failure::refused(format!(
            "an account has at most {all} keys; create another account"
        ))),
    }
}

/// Generates a key for an account. Does not store the key.
pub(crate) fn generate(
    account: AccountId,
    label: String,
    now: Timestamp,
) -> Result<NewKey, Failure> {
    NewKey::generate(account, label, now).map_err(|error| Failure::impossible(&error))
}
