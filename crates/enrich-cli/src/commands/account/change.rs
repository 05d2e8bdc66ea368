//! `enrich account rename`, `set`, `suspend`, `resume` and `close`.

use std::io::{self, BufRead};

use clap::Args;
use enrich_core::port::accounts::AccountChanged;
use enrich_core::{Account, AccountChange, Clock};
use enrich_store::SystemClock;
use enrich_text::Country;

use super::super::named::OnAccount;
use super::super::{Common, Console, Failure, Verdict, named};
use super::AccountWithKeys;
use crate::account_ports::AccountPorts;

#[derive(Debug, Args)]
pub(crate) struct Rename {
    #[command(flatten)]
    pub(super) on: OnAccount,
    /// New name of the account; several accounts may have the same name
    #[arg(value_parser = named::name)]
    pub(super) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct Set {
    #[command(flatten)]
    pub(super) on: OnAccount,
    /// Country (alpha-2 code) of the national phone numbers that the account sends, or `none`
    #[arg(long, value_name = "CC", value_parser = country_or_none)]
    pub(super) country: CountryOrNone,
}

#[derive(Debug, Args)]
pub(crate) struct Suspend {
    #[command(flatten)]
    pub(super) on: OnAccount,
    /// Reason of the suspension, which the account page shows to the owner
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true,
          value_parser = named::line)]
    pub(super) reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct Close {
    #[command(flatten)]
    pub(super) on: OnAccount,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// The country to set; `None` removes the account's country.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountryOrNone(pub(super) Option<Country>);

fn country_or_none(text: &str) -> Result<CountryOrNone, String> {
    if text.trim().eq_ignore_ascii_case("none") {
        return Ok(CountryOrNone(None));
    }
    named::country(text).map(|country| CountryOrNone(Some(country)))
}

impl Close {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let (ports, account) = self.on.find_open()?;
        if !self.yes && !is_confirmed(&account, console)? {
            return Err(Failure::refused("the account was not closed: its name was not typed"));
        }
        let change = AccountChange::Close { at: SystemClock.now() };
        change_and_show(&ports, &account, change, &self.on.common, console)
    }
}

/// Asks the user to type the account's name. Returns whether the user has typed it correctly.
fn is_confirmed(account: &Account, console: &mut Console<'_>) -> Result<bool, Failure> {
    console.note(&format!(
        "closing is final: the keys and sessions of {} end, and nobody signs in to it again. Type \
         its name to go on, or use --yes:",
        account.id
    ));
    let mut typed = String::new();
    let read = io::stdin().lock().read_line(&mut typed);
    read.map_err(|error| Failure::impossible(&error))?;
    Ok(typed.trim() == account.name)
}

pub(super) fn change(
    on: &OnAccount,
    change: AccountChange,
    console: &mut Console<'_>,
) -> Result<Verdict, Failure> {
    let (ports, account) = on.find_open()?;
    change_and_show(&ports, &account, change, &on.common, console)
}

fn change_and_show(
    ports: &AccountPorts,
    account: &Account,
    change: AccountChange,
    common: &Common,
    console: &mut Console<'_>,
) -> Result<Verdict, Failure> {
    match pollster::block_on(ports.accounts.change(account.id, change))? {
        AccountChanged::Done(account) => {
            common.show(&AccountWithKeys::of(ports, account)?, console)
        }
        AccountChanged::NoAccount => Err(named::no_account(account.id)),
        AccountChanged::Closed => Err(named::closed(account.id)),
    }
}
