//! `enrich credits`: granting, taking back and correcting.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use enrich_core::port::ledger::{ChargeError, Grant, Granted, Ledger};
use enrich_core::{AccountId, ChargeId, Clock};
use enrich_store::{Store, SystemClock};
use serde::Serialize;

use super::table::write_pairs;
use super::{Console, DataFolder, Failure, Format, Shown, Verdict, named};

#[derive(Debug, Subcommand)]
pub(crate) enum CreditsCommand {
    /// Give an account credits, or take some back
    #[command(after_help = "\
Examples:
  enrich credits grant 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 500 --note \"invoice 1042\"
  enrich credits grant 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 -20

A running server counts it from the next request on. Taking back more than the balance is refused
(exit status 1). JSON: {\"account\",\"balance\"}.")]
    Grant(GrantArgs),
    /// Correct a row of the ledger with another one
    #[command(after_help = "\
Example:
  enrich credits adjust 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 019a3c60-11f2-7d3b-8a4c-2b6f9e0d1c55 3

Rows are never changed: the correction is a row of its own that names the one it corrects. The ids
of rows are in `enrich ledger export`. JSON: {\"account\",\"balance\"}.")]
    Adjust(Adjust),
    /// Show an account's balance
    #[command(after_help = "\
Example:
  enrich credits show 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70

JSON: {\"account\",\"balance\"}.")]
    Show(Show),
}

#[derive(Debug, Args)]
pub(crate) struct GrantArgs {
    /// The account's id
    #[arg(value_parser = named::account_id)]
    account: AccountId,
    #[command(flatten)]
    change: Change,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Adjust {
    /// The account's id
    #[arg(value_parser = named::account_id)]
    account: AccountId,
    /// The id of the row to correct
    #[arg(value_parser = named::entry_id)]
    entry_id: ChargeId,
    #[command(flatten)]
    change: Change,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct Change {
    /// How many credits; negative takes them back
    #[arg(value_name = "N", allow_negative_numbers = true, value_parser = some_credits)]
    credits: i64,
    /// What the ledger says about it
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true,
          value_parser = named::line)]
    note: String,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The account's id
    #[arg(value_parser = named::account_id)]
    account: AccountId,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

fn some_credits(text: &str) -> Result<i64, String> {
    match text.parse() {
        Ok(0) => Err("0 credits change nothing".to_owned()),
        Ok(credits) => Ok(credits),
        Err(_) => Err("it is a whole number".to_owned()),
    }
}

impl CreditsCommand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        match self {
            Self::Grant(GrantArgs { account, change, data, format }) => {
                let balance = changed(&data.open()?, account, change, None)?;
                console.show(&balance, format)?;
            }
            Self::Adjust(Adjust { account, entry_id, change, data, format }) => {
                let balance = changed(&data.open()?, account, change, Some(entry_id))?;
                console.show(&balance, format)?;
            }
            Self::Show(Show { account, data, format }) => {
                let balance = pollster::block_on(data.open()?.ledger.balance(account))?;
                let balance = balance.ok_or_else(|| named::no_account(account))?;
                console.show(&Balance::new(account, balance.0), format)?;
            }
        }
        Ok(Verdict::Yes)
    }
}

#[derive(Serialize)]
struct Balance {
    account: String,
    balance: u64,
}

impl Balance {
    fn new(account: AccountId, balance: u64) -> Self {
        Self { account: account.to_string(), balance }
    }
}

impl Shown for Balance {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let pairs = [("account", self.account.clone()), ("balance", named::credits(self.balance))];
        write_pairs(&pairs, out)
    }
}

fn changed(
    store: &Store,
    account: AccountId,
    change: Change,
    corrects: Option<ChargeId>,
) -> Result<Balance, Failure> {
    let Change { credits, note } = change;
    let now = SystemClock.now();
    let change = Grant { note, corrects, ..Grant::new(account, credits, now) };
    match grant(store, change)? {
        Granted::Written { balance } => Ok(Balance::new(account, balance.0)),
        Granted::OutOfRange { balance } if credits < 0 => Err(Failure::refused(format!(
            "the balance is {}; no more than that can be taken back",
            named::credits(balance.0)
        ))),
        Granted::OutOfRange { balance } => Err(Failure::refused(format!(
            "the balance is {}; so many more do not fit an account",
            named::credits(balance.0)
        ))),
        Granted::NoAccount => Err(named::no_account(account)),
        Granted::NoSuchEntry => Err(Failure::refused(
            "the account has no ledger row with this id; `enrich ledger export` shows its rows",
        )),
    }
}

/// Hands a grant to the ledger.
pub(crate) fn grant(store: &Store, grant: Grant) -> Result<Granted, Failure> {
    let account = grant.account;
    pollster::block_on(store.ledger.grant(grant)).map_err(|error| match error {
        ChargeError::Unknown(_) => Failure::Impossible(format!(
            "whether the credits were written cannot be told; look at `enrich credits show \
             {account}` before you repeat it"
        )),
        error => Failure::impossible(&error),
    })
}
