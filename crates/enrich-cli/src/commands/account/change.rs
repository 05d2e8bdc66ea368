//! `enrich account rename`, `set`, `suspend`, `resume` and `close`.

use std::io::{self, BufRead};

use clap::Args;
use enrich_core::port::accounts::{AccountChanged, Accounts};
use enrich_core::{Account, AccountChange, Clock};
use enrich_store::{Store, SystemClock};
use enrich_text::Country;

use super::super::named::AccountArg;
use super::super::{Console, DataFolder, Failure, Format, Verdict, key, named};
use super::{AccountRecord, AccountWithKeys};

// Which account, and how it is shown. (A doc comment here would become the help of every command.)
#[derive(Debug, Args)]
pub(crate) struct Chosen {
    /// The account's id or name
    #[arg(value_parser = named::account)]
    account: AccountArg,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Rename {
    #[command(flatten)]
    chosen: Chosen,
    /// What it is called from now on; need not be unique
    #[arg(value_parser = named::name)]
    name: String,
}

#[derive(Debug, Args)]
pub(crate) struct Set {
    #[command(flatten)]
    chosen: Chosen,
    /// The country (alpha-2 code) that its national phone numbers are read with, or `none`
    #[arg(long, value_name = "CC", value_parser = country_or_none)]
    country: CountryOrNone,
}

#[derive(Debug, Args)]
pub(crate) struct Suspend {
    #[command(flatten)]
    chosen: Chosen,
    /// Why, for the owner to read on the account page
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true,
          value_parser = named::line)]
    reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    #[command(flatten)]
    chosen: Chosen,
}

#[derive(Debug, Args)]
pub(crate) struct Close {
    #[command(flatten)]
    chosen: Chosen,
    /// Do not ask for the account's name first
    #[arg(long)]
    yes: bool,
}

/// A country, or none.
#[derive(Clone, Copy, Debug)]
struct CountryOrNone(Option<Country>);

fn country_or_none(text: &str) -> Result<CountryOrNone, String> {
    if text.trim().eq_ignore_ascii_case("none") {
        return Ok(CountryOrNone(None));
    }
    named::country(text).map(|country| CountryOrNone(Some(country)))
}

impl Rename {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        self.chosen.change(AccountChange::Rename(self.name), console)
    }
}

impl Set {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        self.chosen.change(AccountChange::SetCountry(self.country.0), console)
    }
}

impl Suspend {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        self.chosen.change(AccountChange::Suspend { reason: self.reason }, console)
    }
}

impl Resume {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        self.chosen.change(AccountChange::Resume, console)
    }
}

impl Close {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let store = self.chosen.data.open()?;
        let account = named::open_account(&self.chosen.account, &store)?;
        if !self.yes && !is_confirmed(&account, console)? {
            return Err(Failure::refused("the account was not closed: its name was not typed"));
        }
        let change = AccountChange::Close { at: SystemClock.now() };
        change_and_show(&store, &account, change, self.chosen.format, console)
    }
}

/// Whether the user confirms by typing the account's name.
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

impl Chosen {
    fn change(self, change: AccountChange, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let store = self.data.open()?;
        let account = named::open_account(&self.account, &store)?;
        change_and_show(&store, &account, change, self.format, console)
    }
}

fn change_and_show(
    store: &Store,
    account: &Account,
    change: AccountChange,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Verdict, Failure> {
    match pollster::block_on(store.accounts.change(account.id, change))? {
        AccountChanged::Done(account) => {
            let keys = key::records(store, account.id)?;
            let shown = AccountWithKeys { account: AccountRecord::of(store, account)?, keys };
            console.show(&shown, format)?;
            Ok(Verdict::Yes)
        }
        AccountChanged::NoAccount => Err(named::no_account(account.id)),
        AccountChanged::Closed => Err(named::closed(account.id)),
    }
}
