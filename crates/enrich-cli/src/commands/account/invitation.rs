//! Invitations to the account page: the owner's address, and the one-time link to set a password.

use std::path::PathBuf;

use clap::Args;
use confique::Layer;
use enrich_core::{AccountId, Timestamp};
use enrich_sign_in::{EmailSet, SignIns, Token};
use enrich_store::Store;
use enrich_text::EmailAddress;
use jiff::SignedDuration;

use super::super::{Failure, named};
use crate::settings::{PublicUrl, Settings, SettingsLayer};

/// How long an invitation is valid: a week.
const GOOD_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

// How links start. (A doc comment here would become the help of every command.)
#[derive(Clone, Debug, Args)]
pub(super) struct LinkArgs {
    /// Address that people reach the server at, for the link [default: that of the settings file,
    /// else http://127.0.0.1:8080]
    #[arg(long, env = "ENRICH_PUBLIC_URL", hide_env_values = true, value_name = "URL")]
    public_url: Option<PublicUrl>,
    /// The server's settings file, if it has one
    #[arg(long, env = "ENRICH_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl LinkArgs {
    /// The public URL for links. It is read before anything is changed, because it may be invalid.
    pub(super) fn public_url(self) -> Result<PublicUrl, Failure> {
        let flag = SettingsLayer { public_url: self.public_url, ..SettingsLayer::empty() };
        Ok(Settings::load(flag, self.config)?.public_url())
    }
}

/// A new invitation.
pub(super) struct Invitation {
    /// The one-time link to set the password.
    pub(super) link: String,
    /// When the link expires.
    pub(super) until: Timestamp,
}

/// Parses an owner's email address.
pub(super) fn email(text: &str) -> Result<EmailAddress, String> {
    EmailAddress::parse(text).map_err(|error| error.to_string())
}

/// Sets the address that the account's owner signs in with.
pub(super) fn set_email(
    store: &Store,
    account: AccountId,
    email: &EmailAddress,
    now: Timestamp,
) -> Result<(), Failure> {
    match pollster::block_on(store.sign_ins.set_email(account, email, now))? {
        EmailSet::Set => Ok(()),
        EmailSet::Taken => Err(taken()),
        EmailSet::NoAccount => Err(named::no_account(account)),
    }
}

/// Refuses an address that another account uses.
pub(super) fn see_that_it_is_free(store: &Store, email: &EmailAddress) -> Result<(), Failure> {
    match pollster::block_on(store.sign_ins.by_email(email))? {
        Some(_) => Err(taken()),
        None => Ok(()),
    }
}

fn taken() -> Failure {
    Failure::refused(
        "somebody signs in to another account with this address; `enrich account list` shows which",
    )
}

/// Creates an invitation; an earlier one becomes invalid.
pub(super) fn invite(
    store: &Store,
    account: AccountId,
    base: &PublicUrl,
    now: Timestamp,
) -> Result<Invitation, Failure> {
    let token = Token::generate().map_err(|error| Failure::impossible(&error))?;
    let until = now.checked_add(GOOD_FOR).map_err(|error| Failure::impossible(&error))?;
    if !pollster::block_on(store.sign_ins.invite(account, &token, until))? {
        return Err(Failure::refused(
            "nobody signs in to this account yet; name the owner's address with --email",
        ));
    }
    let link = base.link(&format!("/account/invitation/{}", token.expose()));
    Ok(Invitation { link, until })
}
