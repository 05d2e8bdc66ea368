//! `enrich account`: the owners of credits.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use enrich_core::port::accounts::Accounts;
use enrich_core::port::ledger::{Grant, Granted, Ledger};
use enrich_core::{Account, AccountId, Clock, Credits};
use enrich_store::{Store, SystemClock};
use serde::Serialize;

use super::credits::grant;
use super::key::KeyRecord;
use super::table::{Side, Table, write_pairs};
use super::{Console, DataFolder, Failure, Format, Shown, Verdict, key, named};

#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Make an account and its first key
    #[command(after_help = "\
Example:
  enrich account create \"Quill Ltd\" --credits 1000

Prints the account's id, its first key and its balance. JSON: {\"account\",\"key\",\"balance\"}.
A data folder that is not there is made. A running server knows the account at once.")]
    Create(Create),
    /// List the accounts, oldest first
    #[command(after_help = "Example:\n  enrich account list")]
    List(List),
    /// Show an account and its keys
    #[command(after_help = "\
Example:
  enrich account show 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70

Keys themselves are not shown; see `enrich key show`.")]
    Show(Show),
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// What you call the account; need not be unique
    #[arg(value_parser = named::name)]
    name: String,
    /// Credits to begin with
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(..=Credits::MAX.0))]
    credits: u64,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The account's id
    #[arg(value_name = "ID", value_parser = named::account_id)]
    id: AccountId,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

impl AccountCommand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        match self {
            Self::Create(create) => create.run(console),
            Self::List(list) => list.run(console),
            Self::Show(show) => show.run(console),
        }
    }
}

#[derive(Serialize)]
struct Created {
    account: String,
    key: String,
    balance: u64,
}

impl Create {
    fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let store = self.data.open_or_make(console)?;
        let now = SystemClock.now();
        let account = Account::new(self.name, now);
        let id = account.id;
        let first_key = key::generate(id, String::new(), now)?;
        let secret = first_key.key.clone();
        pollster::block_on(store.accounts.create(account, first_key))?;
        let granted = match i64::try_from(self.credits) {
            Ok(0) | Err(_) => Ok(Credits::ZERO),
            Ok(credits) => first_credits(&store, id, credits),
        };
        // The account is there by now: its key is shown even where the grant failed.
        let balance = granted.as_ref().map_or(0, |balance| balance.0);
        let created = Created { account: id.to_string(), key: secret.expose().into(), balance };
        console.show(&created, self.format)?;
        granted.map(|_| Verdict::Yes)
    }
}

fn first_credits(store: &Store, account: AccountId, credits: i64) -> Result<Credits, Failure> {
    let note = "first credits".to_owned();
    let first = Grant { note, ..Grant::new(account, credits, SystemClock.now()) };
    let why = match grant(store, first) {
        Ok(Granted::Written { balance }) => return Ok(balance),
        Ok(_) => "the ledger refused them".to_owned(),
        Err(failure) => failure.message().unwrap_or_default().to_owned(),
    };
    Err(Failure::Impossible(format!(
        "the account was made, but not granted its credits: {why}; look at `enrich credits show \
         {account}`, then use `enrich credits grant`"
    )))
}

impl Shown for Created {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let pairs = [
            ("account", self.account.clone()),
            ("key", self.key.clone()),
            ("balance", named::credits(self.balance)),
        ];
        write_pairs(&pairs, out)
    }
}

#[derive(Serialize)]
struct AccountRecord {
    account: String,
    name: String,
    balance: u64,
    created_at: String,
    #[serde(skip)]
    created_to_the_second: String,
}

impl AccountRecord {
    fn of(store: &Store, account: Account) -> Result<Self, Failure> {
        let balance = pollster::block_on(store.ledger.balance(account.id))?;
        Ok(Self {
            account: account.id.to_string(),
            balance: balance.unwrap_or_default().0,
            created_at: account.created_at.to_string(),
            created_to_the_second: named::to_the_second(account.created_at),
            name: account.name,
        })
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct AccountList(Vec<AccountRecord>);

impl List {
    fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let store = self.data.open()?;
        let accounts = pollster::block_on(store.accounts.accounts())?;
        let records = accounts.into_iter().map(|account| AccountRecord::of(&store, account));
        let list = AccountList(records.collect::<Result<_, _>>()?);
        if list.0.is_empty() {
            console.note("there are no accounts; make one with `enrich account create NAME`");
        }
        console.show(&list, self.format)?;
        Ok(Verdict::Yes)
    }
}

impl Shown for AccountList {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("ACCOUNT", Side::Left),
            ("CREDITS", Side::Right),
            ("CREATED", Side::Left),
            ("NAME", Side::Left),
        ]);
        for record in &self.0 {
            table.push([
                record.account.clone(),
                record.balance.to_string(),
                record.created_to_the_second.clone(),
                record.name.clone(),
            ]);
        }
        table.write(out)
    }
}

#[derive(Serialize)]
struct AccountWithKeys {
    #[serde(flatten)]
    account: AccountRecord,
    keys: Vec<KeyRecord>,
}

impl Show {
    fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let store = self.data.open()?;
        let account = pollster::block_on(store.accounts.account(self.id))?;
        let account = account.ok_or_else(|| named::no_account(self.id))?;
        let keys = key::records(&store, self.id)?;
        let shown = AccountWithKeys { account: AccountRecord::of(&store, account)?, keys };
        console.show(&shown, self.format)?;
        Ok(Verdict::Yes)
    }
}

impl Shown for AccountWithKeys {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let pairs = [
            ("account", self.account.account.clone()),
            ("name", self.account.name.clone()),
            ("balance", named::credits(self.account.balance)),
            ("created", self.account.created_to_the_second.clone()),
        ];
        write_pairs(&pairs, out)?;
        writeln!(out)?;
        key::write_table(&self.keys, out)
    }
}
