//! `enrich account invite` and `sign-out`.

use std::io::{self, Write};

use clap::Args;
use enrich_core::Clock;
use enrich_sign_in::SignIns;
use enrich_store::SystemClock;
use enrich_text::EmailAddress;
use serde::Serialize;

use super::super::named::{AccountArg, open_account};
use super::super::table::write_pairs;
use super::super::{Console, DataFolder, Failure, Format, Shown, Verdict, named};
use super::invitation::{self, LinkArgs};

#[derive(Debug, Args)]
pub(crate) struct Invite {
    /// The account's id or name
    #[arg(value_parser = named::account)]
    account: AccountArg,
    /// Address the owner signs in with, in place of the one there may be
    #[arg(long, value_name = "ADDR", value_parser = invitation::email)]
    email: Option<EmailAddress>,
    #[command(flatten)]
    link: LinkArgs,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SignOut {
    /// The account's id or name
    #[arg(value_parser = named::account)]
    account: AccountArg,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Serialize)]
struct Invited {
    account: String,
    email: String,
    invitation: String,
    invitation_until: String,
    #[serde(skip)]
    until_to_the_second: String,
}

impl Invite {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let base = self.link.public_url()?;
        let store = self.data.open()?;
        let id = open_account(&self.account, &store)?.id;
        let now = SystemClock.now();
        if let Some(email) = &self.email {
            invitation::set_email(&store, id, email, now)?;
        }
        let made = invitation::invite(&store, id, &base, now)?;
        let sign_in = pollster::block_on(store.sign_ins.sign_in(id))?;
        let invited = Invited {
            account: id.to_string(),
            email: sign_in.map(|sign_in| sign_in.email.to_string()).unwrap_or_default(),
            invitation: made.link,
            invitation_until: made.until.to_string(),
            until_to_the_second: named::to_the_second(made.until),
        };
        console.show(&invited, self.format)?;
        Ok(Verdict::Yes)
    }
}

impl Shown for Invited {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let pairs = [
            ("account", self.account.clone()),
            ("email", self.email.clone()),
            ("invitation", self.invitation.clone()),
            ("good until", self.until_to_the_second.clone()),
        ];
        write_pairs(&pairs, out)
    }
}

#[derive(Serialize)]
struct SignedOut {
    account: String,
    sessions_ended: u64,
}

impl SignOut {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let store = self.data.open()?;
        let id = self.account.find(&store)?.id;
        let sessions_ended = pollster::block_on(store.sign_ins.end_sessions(id, None))?;
        let signed_out = SignedOut { account: id.to_string(), sessions_ended };
        console.show(&signed_out, self.format)?;
        Ok(Verdict::Yes)
    }
}

impl Shown for SignedOut {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let pairs = [
            ("account", self.account.clone()),
            ("sessions ended", self.sessions_ended.to_string()),
        ];
        write_pairs(&pairs, out)
    }
}
