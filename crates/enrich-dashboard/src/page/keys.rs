//! The account's API keys, and a new one.

use askama::Template;
use enrich_core::port::accounts::KeyStored;
use enrich_core::{KeyId, KeyInfo, KeyLimit, NewKey, RateLimit, Timestamp};

use crate::fault::Fault;
use crate::form::line;
use crate::http::Response;
use crate::shown::{Time, key_name};
use crate::visit::{Frame, Member, Visit, page};

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    frame: Frame,
    fault: Option<String>,
    label: String,
    active: Vec<KeyRow>,
    ended: Vec<KeyRow>,
}

/// A key as it is listed.
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

pub(crate) async fn show(visit: &Visit<'_>, member: &Member) -> Result<Response, Fault> {
    shown(visit, member, 200, None).await
}

/// Makes a key and goes to its page, which shows it.
pub(crate) async fn generate(visit: &Visit<'_>, member: &Member) -> Result<Response, Fault> {
    let label = match line(visit.form.raw("label")) {
        Ok(label) => label,
        Err(said) => return shown(visit, member, 422, Some(said)).await,
    };
    let accounts = &visit.dashboard.service.accounts;
    let key = NewKey::generate(member.account.id, label, visit.now).map_err(Fault::failed)?;
    let id = key.id;
    if let Some(said) = no_room(accounts.add_key(key, KeyLimit::PER_ACCOUNT).await?)? {
        return shown(visit, member, 422, Some(said)).await;
    }
    Ok(Response::see(format!("/account/keys/{id}?new")))
}

/// Why an account cannot have another key; `None` when it has it.
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
    visit: &Visit<'_>,
    member: &Member,
    status: u16,
    fault: Option<String>,
) -> Result<Response, Fault> {
    let service = &visit.dashboard.service;
    let keys = service.accounts.keys(member.account.id).await?;
    let rows = keys.iter().rev().map(|key| KeyRow::of(key, service.rate_limit, visit.now));
    let (active, ended) = rows.partition(|row| row.is_active);
    let label = if fault.is_some() { visit.form.text("label").to_owned() } else { String::new() };
    let frame = visit.frame(member, "/account/keys").await?;
    page(status, &KeysPage { frame, fault, label, active, ended })
}

/// A key to choose.
pub(crate) struct KeyChoice {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) is_chosen: bool,
}

/// The keys that are in use, newest first.
pub(crate) async fn active_keys(visit: &Visit<'_>, member: &Member) -> Result<Vec<KeyInfo>, Fault> {
    let keys = visit.dashboard.service.accounts.keys(member.account.id).await?;
    Ok(keys.into_iter().rev().filter(|key| key.is_active(visit.now)).collect())
}

/// Keys to choose from.
pub(crate) fn key_choices(keys: &[KeyInfo], chosen: &str) -> Vec<KeyChoice> {
    let choice = |key: &KeyInfo| {
        let id = key.id.to_string();
        KeyChoice { name: key_name(key), is_chosen: id == chosen, id }
    };
    keys.iter().map(choice).collect()
}
