//! `enrich account`: manages accounts, and the owners who sign in to the account page.

mod change;
mod invitation;

use std::io::{self, Write};

use clap::{Args, Subcommand};
use enrich_core::port::ledger::{Grant, Granted};
use enrich_core::{Account, AccountChange, AccountId, AccountStatus, Clock, Credits, Timestamp};
use enrich_store::SystemClock;
use enrich_text::{Country, EmailAddress};
use serde::Serialize;

use super::credits::grant;
use super::key::KeyRecord;
use super::named::OnAccount;
use super::table::{Pairs, Row};
use super::{Common, Console, Failure, Shown, Verdict, key, named};
use crate::account_ports::AccountPorts;
use crate::settings::PublicUrl;
use change::{Close, Rename, Set, Suspend, change};
use invitation::{Invite, Invited, LinkArgs, sign_out};

#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account and its first key
    #[command(after_help = "\
Examples:
  enrich account create \"Quill Ltd\" --credits 1000
  enrich account create \"Quill Ltd\" --email ada@quill.example

Prints the account's id, its first key and its balance; with --email also a link with which the
owner sets the password of the account page. The link works once, within 7 days.
JSON: {\"account\",\"key\",\"balance\"}; with --email also
\"email\",\"invitation\",\"invitation_until\".
A missing data folder is created. A running server accepts the key at once.")]
    Create(Create),
    /// List the accounts, oldest first
    #[command(after_help = "Example:\n  enrich account list")]
    List(Common),
    /// Create a link with which the account's owner sets a password
    #[command(after_help = "\
Examples:
  enrich account invite 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70
  enrich account invite 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 --email ada@quill.example

Prints a link that works once, within 7 days; an earlier link stops working. Setting the password
ends all sessions of the account. A new email address also ends them, but keeps the password.
JSON: {\"account\",\"email\",\"invitation\",\"invitation_until\"}.")]
    Invite(Invite),
    /// End all sessions of the account's owner on the account page
    #[command(after_help = "\
Example:
  enrich account sign-out 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70

The password stays valid; with `enrich account invite`, the owner can set another password. On a
running server, the sessions end at once.
JSON: {\"account\",\"sessions_ended\"}.")]
    SignOut(OnAccount),
    /// Show an account and its keys
    #[command(after_help = "\
Example:
  enrich account show 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70

The secret keys are not shown; see `enrich key show`.")]
    Show(OnAccount),
    /// Change the name of an account
    #[command(after_help = "Example:\n  enrich account rename \"Quill Ltd\" \"Quill Group\"")]
    Rename(Rename),
    /// Set the country of the national phone numbers that an account sends
    #[command(after_help = "\
Examples:
  enrich account set \"Quill Ltd\" --country GB
  enrich account set \"Quill Ltd\" --country none

Without a country, the account must send phone numbers in international form.")]
    Set(Set),
    /// Refuse all calls with an account's keys, until the account is resumed
    #[command(after_help = "\
Example:
  enrich account suspend \"Quill Ltd\" --reason \"invoice 1042 is overdue\"

A running server refuses the keys within a second, with status 401, like unknown keys. The owner can
still sign in to the account page, which shows that the account is suspended, and the reason.")]
    Suspend(Suspend),
    /// Accept a suspended account's keys again
    #[command(after_help = "Example:\n  enrich account resume \"Quill Ltd\"")]
    Resume(OnAccount),
    /// Close an account permanently
    #[command(after_help = "\
Example:
  enrich account close \"Quill Ltd\" --yes

The account's keys and sessions end, on a running server within a second, and its owner cannot sign
in again. Its grants and charges stay in the ledger, and it keeps its balance. A closed account
cannot be opened again; `enrich account suspend` refuses the keys for a limited time.

Without --yes, it asks you to type the account's name.")]
    Close(Close),
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// Name of the account; several accounts may have the same name
    #[arg(value_parser = named::name)]
    name: String,
    /// Credits that the new account gets
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(..=Credits::MAX.0))]
    credits: u64,
    /// Email address with which the owner signs in to the account page
    #[arg(long, value_name = "ADDR", value_parser = invitation::email)]
    email: Option<EmailAddress>,
    /// Country (alpha-2 code) of the national phone numbers that the account sends
    #[arg(long, value_name = "CC", value_parser = named::country)]
    country: Option<Country>,
    #[command(flatten)]
    link: LinkArgs,
    #[command(flatten)]
    common: Common,
}

impl AccountCommand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        match self {
            Self::Create(create) => create.run(console),
            Self::List(common) => list(&common, console),
            Self::Invite(invite) => invite.run(console),
            Self::SignOut(on) => sign_out(&on, console),
            Self::Show(on) => {
                let (ports, account) = on.find()?;
                on.common.show(&AccountWithKeys::of(&ports, account)?, console)
            }
            Self::Rename(Rename { on, name }) => change(&on, AccountChange::Rename(name), console),
            Self::Set(Set { on, country }) => {
                change(&on, AccountChange::SetCountry(country.0), console)
            }
            Self::Suspend(Suspend { on, reason }) => {
                change(&on, AccountChange::Suspend { reason }, console)
            }
            Self::Resume(on) => change(&on, AccountChange::Resume, console),
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

impl Create {
    fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let owner = match self.email {
            Some(email) => Some((email, self.link.public_url(self.common.data.config())?)),
            None => None,
        };
        let ports = self.common.data.open_or_make_accounts(console)?;
        if let Some((email, _)) = &owner {
            invitation::check_is_free(&ports, email)?;
        }
        let now = SystemClock.now();
        let account = Account { country: self.country, ..Account::new(self.name, now) };
        let id = account.id;
        let first_key = key::generate(id, String::new(), now)?;
        let secret = first_key.key.clone();
        pollster::block_on(ports.accounts.create(account, first_key))?;
        // From here on, the account exists. So its key is shown even if a later step fails.
        let mut failures = Vec::new();
        let granted = first_credits(&ports, id, self.credits);
        let balance = granted.unwrap_or_else(|message| {
            failures.push(message);
            Credits::ZERO
        });
        let invited = owner.and_then(|(email, base)| {
            let invited = first_invitation(&ports, id, &email, &base, now);
            invited.map_err(|message| failures.push(message)).ok()
        });
        let (account, key) = (id.to_string(), secret.expose().into());
        let created = Created { account, key, balance: balance.0, invited };
        let verdict = self.common.show(&created, console)?;
        if failures.is_empty() {
            return Ok(verdict);
        }
        Err(Failure::Impossible(failures.join("; also, ")))
    }
}

fn first_invitation(
    ports: &AccountPorts,
    account: AccountId,
    email: &EmailAddress,
    base: &PublicUrl,
    now: Timestamp,
) -> Result<Invited, String> {
    let invited = invitation::set_email(ports, account, email, now)
        .and_then(|()| invitation::invite(ports, account, base, now));
    invited.map_err(|failure| {
        let why = failure.message().unwrap_or_default();
        format!(
            "the account was created, but its owner was not invited: {why}; use \
             `enrich account invite {account} --email ADDR`"
        )
    })
}

fn first_credits(
    ports: &AccountPorts,
    account: AccountId,
    credits: u64,
) -> Result<Credits, String> {
    let credits = i64::try_from(credits).unwrap_or_default();
    if credits == 0 {
        return Ok(Credits::ZERO);
    }
    let note = "first credits".to_owned();
    let first = Grant { note, ..Grant::new(account, credits, SystemClock.now()) };
    let why = match grant(ports, first) {
        Ok(Granted::Written { balance }) => return Ok(balance),
        Ok(_) => "the ledger refused them".to_owned(),
        Err(failure) => failure.message().unwrap_or_default().to_owned(),
    };
    Err(format!(
        "the account was created, but its credits were not granted: {why}; check \
         `enrich credits show {account}`, then use `enrich credits grant`"
    ))
}

impl Shown for Created {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut pairs = Pairs::default()
            .add("account", &self.account)
            .add("key", &self.key)
            .add("balance", named::credits(self.balance));
        if let Some(invited) = &self.invited {
            pairs = invited.add_to(pairs);
        }
        pairs.write(out)
    }
}

#[derive(Serialize)]
struct AccountRecord {
    account: String,
    name: String,
    /// The email address with which the owner signs in.
    email: Option<String>,
    balance: u64,
    created_at: Timestamp,
    /// The account's status: `active`, `suspended` or `closed`.
    status: &'static str,
    /// Why the account is suspended; `None` if no reason was given, or if the account is not
    /// suspended.
    reason: Option<String>,
    /// The alpha-2 code of the account's country.
    country: Option<&'static str>,
}

impl AccountRecord {
    fn of(ports: &AccountPorts, account: Account) -> Result<Self, Failure> {
        let balance = pollster::block_on(ports.ledger.balance(account.id))?;
        let sign_in = pollster::block_on(ports.sign_ins.sign_in(account.id))?;
        Ok(Self {
            account: account.id.to_string(),
            email: sign_in.map(|sign_in| sign_in.email.to_string()),
            balance: balance.unwrap_or_default().0,
            created_at: account.created_at,
            name: account.name,
            country: account.country.map(Country::alpha2),
            status: account.status.as_str(),
            reason: match account.status {
                AccountStatus::Suspended { reason } => Some(reason).filter(|text| !text.is_empty()),
                AccountStatus::Active | AccountStatus::Closed => None,
            },
        })
    }

    /// Returns the status as text for people, with the reason if there is one.
    fn state(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.status),
            None => self.status.to_owned(),
        }
    }
}

fn list(common: &Common, console: &mut Console<'_>) -> Result<Verdict, Failure> {
    let ports = common.open_accounts()?;
    let accounts = pollster::block_on(ports.accounts.accounts())?;
    let records = accounts.into_iter().map(|account| AccountRecord::of(&ports, account));
    let list = records.collect::<Result<Vec<_>, _>>()?;
    if list.is_empty() {
        console.note("there are no accounts; make one with `enrich account create NAME`");
    }
    common.show(&list, console)
}

impl Row for AccountRecord {
    const TITLES: &'static [&'static str] =
        &["ACCOUNT", ">CREDITS", "CREATED", "STATUS", "NAME", "EMAIL"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.account.clone(),
            self.balance.to_string(),
            named::to_the_second(self.created_at),
            self.status.to_owned(),
            self.name.clone(),
            self.email.clone().unwrap_or_default(),
        ]
    }
}

#[derive(Serialize)]
struct AccountWithKeys {
    #[serde(flatten)]
    account: AccountRecord,
    keys: Vec<KeyRecord>,
}

impl AccountWithKeys {
    fn of(ports: &AccountPorts, account: Account) -> Result<Self, Failure> {
        let keys = key::records(ports, account.id)?;
        Ok(Self { account: AccountRecord::of(ports, account)?, keys })
    }
}

impl Shown for AccountWithKeys {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let account = &self.account;
        Pairs::default()
            .add("account", &account.account)
            .add("name", &account.name)
            .add("email", account.email.as_deref().unwrap_or("none"))
            .add("balance", named::credits(account.balance))
            .add("created", named::to_the_second(account.created_at))
            .add("status", account.state())
            .add("country", account.country.unwrap_or("none"))
            .write(out)?;
        writeln!(out)?;
        self.keys.write_text(out)
    }
}
