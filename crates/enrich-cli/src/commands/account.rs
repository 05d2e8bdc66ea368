//! `enrich account`: the owners of credits, and who signs in to their pages.

mod change;
mod invitation;
mod sign_in;

use std::io::{self, Write};

use clap::{Args, Subcommand};
use enrich_core::port::accounts::Accounts;
use enrich_core::port::ledger::{Grant, Granted, Ledger};
use enrich_core::{Account, AccountId, AccountStatus, Clock, Credits, Timestamp};
use enrich_sign_in::SignIns;
use enrich_store::{Store, SystemClock};
use enrich_text::{Country, EmailAddress};
use serde::Serialize;

use super::credits::grant;
use super::key::KeyRecord;
use super::named::AccountArg;
use super::table::{Side, Table, write_pairs};
use super::{Console, DataFolder, Failure, Format, Shown, Verdict, key, named};
use crate::settings::PublicUrl;
use change::{Close, Rename, Resume, Set, Suspend};
use invitation::{Invitation, LinkArgs};
use sign_in::{Invite, SignOut};

#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Make an account and its first key
    #[command(after_help = "\
Examples:
  enrich account create \"Quill Ltd\" --credits 1000
  enrich account create \"Quill Ltd\" --email ada@quill.example

Prints the account's id, its first key and its balance; with --email also a link, good once and for
7 days, at which the owner sets the password of the account page.
JSON: {\"account\",\"key\",\"balance\"}; with --email also
\"email\",\"invitation\",\"invitation_until\".
A missing data folder is created. A running server knows the account at once.")]
    Create(Create),
    /// List the accounts, oldest first
    #[command(after_help = "Example:\n  enrich account list")]
    List(List),
    /// Invite an account's owner to set a password, the first or another
    #[command(after_help = "\
Examples:
  enrich account invite 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70
  enrich account invite 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 --email ada@quill.example

Prints a link, good once and for 7 days; an earlier one is no longer good. Setting the password ends
all sessions of the account; so does another address, which keeps the password.
JSON: {\"account\",\"email\",\"invitation\",\"invitation_until\"}.")]
    Invite(Invite),
    /// End all sessions of an account's page
    #[command(after_help = "\
Example:
  enrich account sign-out 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70

The password stays valid; `enrich account invite` lets the owner set another. A running server
follows at once.
JSON: {\"account\",\"sessions_ended\"}.")]
    SignOut(SignOut),
    /// Show an account and its keys
    #[command(after_help = "\
Example:
  enrich account show 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70

Keys themselves are not shown; see `enrich key show`.")]
    Show(Show),
    /// Give an account another name
    #[command(after_help = "Example:\n  enrich account rename \"Quill Ltd\" \"Quill Group\"")]
    Rename(Rename),
    /// Set the country that an account's national phone numbers are read with
    #[command(after_help = "\
Examples:
  enrich account set \"Quill Ltd\" --country GB
  enrich account set \"Quill Ltd\" --country none

Without one, a phone number has to be international.")]
    Set(Set),
    /// Refuse an account's keys until it is resumed
    #[command(after_help = "\
Example:
  enrich account suspend \"Quill Ltd\" --reason \"invoice 1042 is overdue\"

A running server refuses them within a second, as it does unknown ones (401). The owner still signs
in to the account page, which says that the account is suspended, and the reason.")]
    Suspend(Suspend),
    /// Accept a suspended account's keys again
    #[command(after_help = "Example:\n  enrich account resume \"Quill Ltd\"")]
    Resume(Resume),
    /// Close an account for good
    #[command(after_help = "\
Example:
  enrich account close \"Quill Ltd\" --yes

Its keys and sessions end, and nobody signs in to it any more; a running server follows within a
second. What it was granted and charged stays in the ledger, and so does its balance. There is no
way back: to refuse the keys for a while use `enrich account suspend`.

Without --yes the account's name has to be typed first.")]
    Close(Close),
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
    /// Address the owner signs in to the account page with
    #[arg(long, value_name = "ADDR", value_parser = invitation::email)]
    email: Option<EmailAddress>,
    /// The country (alpha-2 code) that its national phone numbers are read with
    #[arg(long, value_name = "CC", value_parser = named::country)]
    country: Option<Country>,
    #[command(flatten)]
    link: LinkArgs,
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
    /// The account's id or name
    #[arg(value_parser = named::account)]
    account: AccountArg,
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
            Self::Invite(invite) => invite.run(console),
            Self::SignOut(sign_out) => sign_out.run(console),
            Self::Show(show) => show.run(console),
            Self::Rename(rename) => rename.run(console),
            Self::Set(set) => set.run(console),
            Self::Suspend(suspend) => suspend.run(console),
            Self::Resume(resume) => resume.run(console),
            Self::Close(close) => close.run(console),
        }
    }
}

#[derive(Serialize)]
struct Created {
    account: String,
    key: String,
    balance: u64,
    #[serde(flatten)]
    invited: Option<Invited>,
}

#[derive(Serialize)]
struct Invited {
    email: String,
    invitation: String,
    invitation_until: String,
    #[serde(skip)]
    until_to_the_second: String,
}

impl Create {
    fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let owner = match self.email {
            Some(email) => Some((email, self.link.public_url()?)),
            None => None,
        };
        let store = self.data.open_or_make(console)?;
        if let Some((email, _)) = &owner {
            invitation::see_that_it_is_free(&store, email)?;
        }
        let now = SystemClock.now();
        let account = Account { country: self.country, ..Account::new(self.name, now) };
        let id = account.id;
        let first_key = key::generate(id, String::new(), now)?;
        let secret = first_key.key.clone();
        pollster::block_on(store.accounts.create(account, first_key))?;
        let granted = match i64::try_from(self.credits) {
            Ok(0) | Err(_) => Ok(Credits::ZERO),
            Ok(credits) => first_credits(&store, id, credits),
        };
        let invited = owner.map(|(email, base)| first_invitation(&store, id, &email, &base, now));
        // The account exists by now, so its key is shown even if a later step failed.
        let balance = granted.as_ref().map_or(0, |balance| balance.0);
        let (account, key) = (id.to_string(), secret.expose().into());
        let (invited, uninvited) = match invited {
            Some(Ok(invited)) => (Some(invited), None),
            Some(Err(failure)) => (None, Some(failure)),
            None => (None, None),
        };
        console.show(&Created { account, key, balance, invited }, self.format)?;
        let failures: Vec<Failure> = granted.err().into_iter().chain(uninvited).collect();
        if failures.is_empty() {
            return Ok(Verdict::Yes);
        }
        let messages: Vec<&str> = failures.iter().filter_map(Failure::message).collect();
        Err(Failure::Impossible(messages.join("; also, ")))
    }
}

fn first_invitation(
    store: &Store,
    account: AccountId,
    email: &EmailAddress,
    base: &PublicUrl,
    now: Timestamp,
) -> Result<Invited, Failure> {
    let made = invitation::set_email(store, account, email, now)
        .and_then(|()| invitation::invite(store, account, base, now));
    let Invitation { link, until } = made.map_err(|failure| {
        let why = failure.message().unwrap_or_default();
        Failure::Impossible(format!(
            "the account was created, but its owner was not invited: {why}; use \
             `enrich account invite {account} --email ADDR`"
        ))
    })?;
    Ok(Invited {
        email: email.to_string(),
        invitation: link,
        invitation_until: until.to_string(),
        until_to_the_second: named::to_the_second(until),
    })
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
        "the account was created, but its credits were not granted: {why}; check \
         `enrich credits show {account}`, then use `enrich credits grant`"
    )))
}

impl Shown for Created {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut pairs = vec![
            ("account", self.account.clone()),
            ("key", self.key.clone()),
            ("balance", named::credits(self.balance)),
        ];
        if let Some(invited) = &self.invited {
            pairs.push(("email", invited.email.clone()));
            pairs.push(("invitation", invited.invitation.clone()));
            pairs.push(("good until", invited.until_to_the_second.clone()));
        }
        write_pairs(&pairs, out)
    }
}

#[derive(Serialize)]
struct AccountRecord {
    account: String,
    name: String,
    /// The address of the owner who signs in.
    email: Option<String>,
    balance: u64,
    created_at: String,
    /// `active`, `suspended` or `closed`.
    status: &'static str,
    /// Why it is suspended, if a reason was given.
    reason: Option<String>,
    /// Its alpha-2 code.
    country: Option<&'static str>,
    #[serde(skip)]
    created_to_the_second: String,
}

impl AccountRecord {
    fn of(store: &Store, account: Account) -> Result<Self, Failure> {
        let balance = pollster::block_on(store.ledger.balance(account.id))?;
        let sign_in = pollster::block_on(store.sign_ins.sign_in(account.id))?;
        Ok(Self {
            account: account.id.to_string(),
            email: sign_in.map(|sign_in| sign_in.email.to_string()),
            balance: balance.unwrap_or_default().0,
            created_at: account.created_at.to_string(),
            created_to_the_second: named::to_the_second(account.created_at),
            name: account.name,
            country: account.country.map(Country::alpha2),
            status: account.status.as_str(),
            reason: match account.status {
                AccountStatus::Suspended { reason } => Some(reason).filter(|text| !text.is_empty()),
                AccountStatus::Active | AccountStatus::Closed => None,
            },
        })
    }

    /// The status with its reason, for display.
    fn state(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.status),
            None => self.status.to_owned(),
        }
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
            ("STATUS", Side::Left),
            ("NAME", Side::Left),
            ("EMAIL", Side::Left),
        ]);
        for record in &self.0 {
            table.push([
                record.account.clone(),
                record.balance.to_string(),
                record.created_to_the_second.clone(),
                record.status.to_owned(),
                record.name.clone(),
                record.email.clone().unwrap_or_default(),
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
        let account = self.account.find(&store)?;
        let keys = key::records(&store, account.id)?;
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
            ("email", self.account.email.clone().unwrap_or_else(|| "none".to_owned())),
            ("balance", named::credits(self.account.balance)),
            ("created", self.account.created_to_the_second.clone()),
            ("status", self.account.state()),
            ("country", self.account.country.unwrap_or("none").to_owned()),
        ];
        write_pairs(&pairs, out)?;
        writeln!(out)?;
        key::write_table(&self.keys, out)
    }
}
