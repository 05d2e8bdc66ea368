//! `enrich credits`: grants credits, takes them back, and corrects ledger rows.

mod history;

use std::io::{self, Write};

use clap::{Args, Subcommand};
use enrich_core::port::ledger::{ChargeError, Grant, Granted};
use enrich_core::{AccountId, ChargeId, Clock};
use enrich_store::SystemClock;
use serde::Serialize;

use super::named::OnAccount;
use super::table::Pairs;
use super::{Console, Failure, Shown, Verdict, named};
use crate::account_ports::AccountPorts;
use history::History;

#[derive(Debug, Subcommand)]
pub(crate) enum CreditsCommand {
    /// Add credits to an account, or take credits back
    #[command(after_help = "\
Examples:
  enrich credits grant 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 500 --note \"invoice 1042\"
  enrich credits grant 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 -20

A running server uses the new balance from the next request on. Taking back more credits than the
balance is refused (exit status 1). JSON: {\"account\",\"balance\"}.")]
    Grant(GrantArgs),
    /// Correct a row of the ledger by adding another row
    #[command(after_help = "\
Example:
  enrich credits adjust 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 019a3c60-11f2-7d3b-8a4c-2b6f9e0d1c55 3

Rows of the ledger are never changed: the correction is a new row, which names the row that it
corrects. `enrich ledger export` prints the ids of rows. JSON: {\"account\",\"balance\"}.")]
    Adjust(Adjust),
    /// List the last grants, charges and adjustments of an account, newest last
    #[command(after_help = "\
Examples:
  enrich credits history \"Quill Ltd\"
  enrich credits history 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 --limit 1000 --json

Prints the last rows of the ledger; `enrich ledger export` prints all rows with all columns.
JSON: a list of {\"time\",\"id\",\"kind\",\"credits\",\"balance\",\"endpoint\",\"items\",\"note\"}.")]
    History(History),
    /// Show an account's balance
    #[command(after_help = "\
Example:
  enrich credits show 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70

JSON: {\"account\",\"balance\"}.")]
    Show(OnAccount),
}

#[derive(Debug, Args)]
pub(crate) struct GrantArgs {
    #[command(flatten)]
    on: OnAccount,
    #[command(flatten)]
    change: Change,
}

#[derive(Debug, Args)]
pub(crate) struct Adjust {
    #[command(flatten)]
    on: OnAccount,
    /// Id of the row to correct
    #[arg(value_parser = named::entry_id)]
    entry_id: ChargeId,
    #[command(flatten)]
    change: Change,
}

#[derive(Debug, Args)]
struct Change {
    /// Number of credits; a negative number takes credits back
    #[arg(value_name = "N", allow_negative_numbers = true, value_parser = some_credits)]
    credits: i64,
    /// Text that is stored with the row in the ledger
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true,
          value_parser = named::line)]
    note: String,
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
            Self::Grant(GrantArgs { on, change }) => {
                // Credits can be taken back from a closed account, but not granted to a closed
                // account.
                let (ports, account) =
                    if change.credits < 0 { on.find()? } else { on.find_open()? };
                on.common.show(&changed(&ports, account.id, change, None)?, console)
            }
            Self::Adjust(Adjust { on, entry_id, change }) => {
                let (ports, account) = on.find()?;
                on.common.show(&changed(&ports, account.id, change, Some(entry_id))?, console)
            }
            Self::Show(on) => {
                let (ports, account) = on.find()?;
                let balance = pollster::block_on(ports.ledger.balance(account.id))?;
                let balance = balance.ok_or_else(|| named::no_account(account.id))?;
                on.common.show(&Balance::new(account.id, balance.0), console)
            }
            Self::History(history) => history.run(console),
        }
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
        Pairs::default()
            .add("account", &self.account)
            .add("balance", named::credits(self.balance))
            .write(out)
    }
}

fn changed(
    ports: &AccountPorts,
    account: AccountId,
    change: Change,
    corrects: Option<ChargeId>,
) -> Result<Balance, Failure> {
    let Change { credits, note } = change;
    let now = SystemClock.now();
    let change = Grant { note, corrects, ..Grant::new(account, credits, now) };
    match grant(ports, change)? {
        Granted::Written { balance } => Ok(Balance::new(account, balance.0)),
        Granted::OutOfRange { balance } if credits < 0 => Err(Failure::refused(format!(
            "the balance is {}; no more than that can be taken back",
            named::credits(balance.0)
        ))),
        Granted::OutOfRange { balance } => Err(Failure::refused(format!(
            "the balance is {}; an account cannot hold that many more",
            named::credits(balance.0)
        ))),
        Granted::NoAccount => Err(named::no_account(account)),
        Granted::NoSuchEntry => Err(Failure::refused(
            "the account has no ledger row with this id; `enrich ledger export` shows its rows",
        )),
    }
}

/// Makes a grant and returns its result. Converts an error of the ledger to a failure of the
/// command.
pub(crate) fn grant(ports: &AccountPorts, grant: Grant) -> Result<Granted, Failure> {
    let account = grant.account;
    pollster::block_on(ports.ledger.grant(grant)).map_err(|error| match error {
        ChargeError::Unknown(_) => Failure::Impossible(format!(
            "it is not known whether the credits were written; check `enrich credits show \
             {account}` before you repeat it"
        )),
        error => Failure::impossible(&error),
    })
}
