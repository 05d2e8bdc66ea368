//! The page with the account's API keys, and the creation of a new key.

use askama::Template;
use enrich_core::port::accounts::KeyStored;
use enrich_core::{InvalidLabel, KeyId, KeyInfo, KeyLimit, Label, NewKey, RateLimit, Timestamp};

use crate::fault::Fault;
use crate::http::Response;
use crate::page_context::{Frame, OwnerContext, PageContext, render_page};
use crate::shown::{Time, key_name};

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    frame: Frame,
    fault: Option<String>,
    label: String,
    active: Vec<KeyRow>,
    ended: Vec<KeyRow>,
}

pub(crate) struct KeyRow {
    pub(crate) id: KeyId,
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) hint: String,
    pub(crate) created: Time,
    pub(crate) last_used: Option<Time>,
    pub(crate) ends: Option<Time>,
    pub(crate) is_active: bool,
    pub(crate) limit: RateLimit,
    pub(crate) has_own_limit: bool,
}

impl KeyRow {
    pub(crate) fn of(key: &KeyInfo, limit: RateLimit, now: Timestamp) -> Self {
        Self {
            id: key.id,
            name: key_name(key),
            label: key.label.clone(),
            hint: key.hint.clone(),
            created: Time(key.created_at),
            last_used: key.last_used_at.map(Time),
            ends: key.expires_at.map(Time),
            is_active: key.is_active(now),
            limit: limit.with(key.rate),
            has_own_limit: key.rate != enrich_core::RateOverride::default(),
        }
    }
}

pub(crate) async fn show(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    shown(context, 200, None).await
}

/// Creates a key and redirects to its page, which shows the full key.
pub(crate) async fn generate(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let label = match read_label(context) {
        Ok(label) => label,
        Err(said) => return shown(context, 422, Some(said)).await,
    };
    let accounts = &context.dashboard.service.accounts;
    let key =
        NewKey::generate(context.session.account.id, label, context.now).map_err(Fault::failed)?;
    let id = key.id;
    if let Some(said) = no_room(accounts.add_key(key, KeyLimit::PER_ACCOUNT).await?)? {
        return shown(context, 422, Some(said)).await;
    }
    Ok(Response::see_other(format!("/account/keys/{id}?new")))
}

/// Parses the label in the form. The error is a message for the user.
pub(crate) fn read_label(context: &PageContext<'_>) -> Result<Label, String> {
    let most = Label::MAX_CHARACTERS;
    Label::parse(context.form.raw("label")).map_err(|invalid| match invalid {
        InvalidLabel::TooLong => format!("A label can have at most {most} characters."),
        InvalidLabel::ControlCharacter => {
            "A label must be one line, without control characters.".to_owned()
        }
    })
}

/// Converts the result of storing a key: returns `None` if the key was stored, and a message for
/// the user if the account has too many keys.
pub(crate) fn no_room(stored: KeyStored) -> Result<Option<String>, Fault> {
    let KeyLimit { active, all } = KeyLimit::PER_ACCOUNT;
    let days = KeyLimit::ENDED_DAYS;
    match stored {
        KeyStored::Stored => Ok(None),
        KeyStored::NotThere => Err(Fault::NoSuchPage),
        KeyStored::TooManyActive => Ok(Some(format!(
            "An account can have at most {active} active keys. Revoke one that is no longer needed."
        ))),
        KeyStored::TooMany => Ok(Some(format!(
            "An account can have at most {all} keys, including those that ended in the last {days} \
             days. Ask the operator of this service for a new key."
        ))),
    }
}

async fn shown(
    context: &OwnerContext<'_>,
    status: u16,
    fault: Option<String>,
) -> Result<Response, Fault> {
    let service = &context.dashboard.service;
    let keys = service.accounts.keys(context.session.account.id).await?;
    let rows = keys.iter().rev().map(|key| KeyRow::of(key, service.rate_limit, context.now));
    let (active, ended) = rows.partition(|row| row.is_active);
    let label = if fault.is_some() { context.form.text("label").to_owned() } else { String::new() };
    let frame = context.frame("/account/keys").await?;
    render_page(status, &KeysPage { frame, fault, label, active, ended })
}

pub(crate) struct KeyChoice {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) is_chosen: bool,
}

/// Returns the active keys of the account, newest first.
pub(crate) async fn active_keys(context: &OwnerContext<'_>) -> Result<Vec<KeyInfo>, Fault> {
    let keys = context.dashboard.service.accounts.keys(context.session.account.id).await?;
    Ok(keys.into_iter().rev().filter(|key| key.is_active(context.now)).collect())
}

/// Returns the options of a form field that selects a key. The key with the id `chosen` is
/// selected.
pub(crate) fn key_choices(keys: &[KeyInfo], chosen: &str) -> Vec<KeyChoice> {
    let choice = |key: &KeyInfo| {
        let id = key.id.to_string();
        KeyChoice { name: key_name(key), is_chosen: id == chosen, id }
    };
    keys.iter().map(choice).collect()
}
