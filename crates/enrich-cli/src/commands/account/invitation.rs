//! `enrich account invite` and `sign-out`: commands about the owner of an account.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use confique::Layer;
use enrich_core::{AccountId, Clock, Timestamp};
use enrich_sign_in::{EmailSet, Token};
use enrich_store::SystemClock;
use enrich_text::EmailAddress;
use jiff::SignedDuration;
use serde::Serialize;

use super::super::named::OnAccount;
use super::super::table::Pairs;
use super::super::{Console, Failure, Shown, Verdict, named};
use crate::account_ports::AccountPorts;
use crate::settings::{PublicUrl, Settings, SettingsLayer};

/// The time for which an invitation is valid: a week.
const GOOD_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

// The option for the URL with which the links of invitations begin. (A doc comment here would
// become the help of every command with this option.)
#[derive(Clone, Debug, Args)]
pub(super) struct LinkArgs {
    /// URL at which browsers reach the server, for the link [default: that of the settings file,
    /// else http://127.0.0.1:8080]
    #[arg(long, env = "ENRICH_PUBLIC_URL", hide_env_values = true, value_name = "URL")]
    public_url: Option<PublicUrl>,
}

impl LinkArgs {
    /// Returns the URL with which the links of invitations begin. Commands call this before they
    /// change anything, because an invalid URL must stop the command.
    pub(super) fn public_url(self, config: Option<&Path>) -> Result<PublicUrl, Failure> {
        let flag = SettingsLayer { public_url: self.public_url, ..SettingsLayer::empty() };
        Ok(Settings::load(flag, config.map(Path::to_owned))?.public_url())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Invite {
    /// Email address with which the owner signs in; replaces an earlier address
    #[arg(long, value_name = "ADDR", value_parser = email)]
    email: Option<EmailAddress>,
    #[command(flatten)]
    link: LinkArgs,
    #[command(flatten)]
    on: OnAccount,
}

/// A new invitation, as the command prints it.
#[derive(Serialize)]
pub(super) struct Invited {
    email: String,
    /// The link by which the owner sets a password. It can be used once.
    invitation: String,
    invitation_until: Timestamp,
}

#[derive(Serialize)]
struct InvitedTo {
    account: String,
    #[serde(flatten)]
    invited: Invited,
}

impl Invite {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let base = self.link.public_url(self.on.common.data.config())?;
        let (ports, account) = self.on.find_open()?;
        let now = SystemClock.now();
        if let Some(email) = &self.email {
            set_email(&ports, account.id, email, now)?;
        }
        let invited = invite(&ports, account.id, &base, now)?;
        self.on.common.show(&InvitedTo { account: account.id.to_string(), invited }, console)
    }
}

impl Shown for InvitedTo {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.invited.add_to(Pairs::default().add("account", &self.account)).write(out)
    }
}

impl Invited {
    pub(super) fn add_to(&self, pairs: Pairs) -> Pairs {
        pairs
            .add("email", &self.email)
            .add("invitation", &self.invitation)
            .add("good until", named::to_the_second(self.invitation_until))
    }
}

#[derive(Serialize)]
struct SignedOut {
    account: String,
    sessions_ended: u64,
}

pub(super) fn sign_out(on: &OnAccount, console: &mut Console<'_>) -> Result<Verdict, Failure> {
    let (ports, account) = on.find()?;
    let sessions_ended = pollster::block_on(ports.sign_ins.end_sessions(account.id, None))?;
    on.common.show(&SignedOut { account: account.id.to_string(), sessions_ended }, console)
}

impl Shown for SignedOut {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        Pairs::default()
            .add("account", &self.account)
            .add("sessions ended", self.sessions_ended)
            .write(out)
    }
}

pub(super) fn email(text: &str) -> Result<EmailAddress, String> {
    EmailAddress::parse(text).map_err(|error| error.to_string())
}

pub(super) fn set_email(
    ports: &AccountPorts,
    account: AccountId,
    email: &EmailAddress,
    now: Timestamp,
) -> Result<(), Failure> {
    match pollster::block_on(ports.sign_ins.set_email(account, email, now))? {
        EmailSet::Set => Ok(()),
        EmailSet::Taken => Err(taken()),
        EmailSet::NoAccount => Err(named::no_account(account)),
    }
}

/// Returns an error if another account uses the email address.
pub(super) fn check_is_free(ports: &AccountPorts, email: &EmailAddress) -> Result<(), Failure> {
    match pollster::block_on(ports.sign_ins.by_email(email))? {
        Some(_) => Err(taken()),
        None => Ok(()),
    }
}

fn taken() -> Failure {
    Failure::refused(
        "somebody signs in to another account with this address; `enrich account list` shows which",
    )
}

/// Creates an invitation. An earlier invitation of the account becomes invalid. Returns an error if
/// the account's owner has no email address yet.
pub(super) fn invite(
    ports: &AccountPorts,
    account: AccountId,
    base: &PublicUrl,
    now: Timestamp,
) -> Result<Invited, Failure> {
    let token = Token::generate().map_err(|error| Failure::impossible(&error))?;
    let until = now.checked_add(GOOD_FOR).map_err(|error| Failure::impossible(&error))?;
    if !pollster::block_on(ports.sign_ins.invite(account, &token, until))? {
        return Err(Failure::refused(
            "nobody signs in to this account yet; name the owner's address with --email",
        ));
    }
    let sign_in = pollster::block_on(ports.sign_ins.sign_in(account))?;
    Ok(Invited {
        email: sign_in.map(|sign_in| sign_in.email.to_string()).unwrap_or_default(),
        invitation: base.link(&format!("/account/invitation/{}", token.expose())),
        invitation_until: until,
    })
}
