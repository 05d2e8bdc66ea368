//! The page of one API key. It shows the key, changes its label and its rate limit, and rotates or
//! revokes the key.

use askama::Template;
use enrich_core::{KeyId, KeyInfo, KeyLimit, NewKey};
use jiff::SignedDuration;

use crate::curl;
use crate::fault::Fault;
use crate::http::Response;
use crate::page_context::{Frame, OwnerContext, render_page};

use super::keys::{KeyRow, no_room, read_label};

/// Time after the creation of a key during which the key's page (`?new`) shows the full key.
const NEW_FOR: SignedDuration = SignedDuration::from_mins(10);

/// The choices in the form for a rotation: how long the old key stays valid.
const OVERLAPS: [(&str, &str, SignedDuration); 4] = [
    ("0", "stops working now", SignedDuration::ZERO),
    ("1h", "works for 1 more hour", SignedDuration::from_hours(1)),
    ("24h", "works for 24 more hours", SignedDuration::from_hours(24)),
    ("7d", "works for 7 more days", SignedDuration::from_hours(7 * 24)),
];

#[derive(Template)]
#[template(path = "key.html")]
struct KeyPage {
    frame: Frame,
    key: KeyRow,
    secret: Option<String>,
    /// The suggested first call with the key, shown next to the key.
    first_call: Option<String>,
    done: Option<&'static str>,
    fault: Option<String>,
    max_requests: u32,
    may_be_empty: bool,
    overlaps: [(&'static str, &'static str, SignedDuration); 4],
}

pub(crate) async fn show(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let key = own(context).await?;
    let age = key.created_at.duration_until(context.now);
    let is_new = context.query.has("new") && age < NEW_FOR && key.is_active(context.now);
    shown(context, &key, is_new, None).await
}

/// Shows the page of the key. If the key is still valid, the page contains the full key.
pub(crate) async fn reveal(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let key = own(context).await?;
    shown(context, &key, key.is_active(context.now), None).await
}

pub(crate) async fn label(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let key = own(context).await?;
    match read_label(context) {
        Ok(label) => {
            context.dashboard.service.accounts.set_label(key.id, label.as_str()).await?;
            Ok(saved(key.id, "label"))
        }
        Err(said) => refused(context, &key, said).await,
    }
}

/// Sets or removes the key's own rate limit; the length of its window stays the same.
///
/// The owner may set at most the server's limit, in proportion if the key's window is shorter
/// than the server's. For example, if the server allows 100 requests in 60 seconds, a key with a
/// window of 30 seconds may have at most 50. If the key already has a higher limit, the owner may
/// set at most that limit.
pub(crate) async fn limit(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let key = own(context).await?;
    let server = context.dashboard.service.rate_limit;
    let requests = match context.form.text("requests") {
        "" => Some(None),
        text => text.parse().ok().map(Some),
    };
    let Some(rate) = requests.and_then(|requests| server.set_by_owner(key.rate, requests)) else {
        let most = server.max_of_owner(key.rate);
        let said = format!("A limit is a whole number from 1 to {most}.");
        return refused(context, &key, said).await;
    };
    context.dashboard.service.accounts.set_rate(key.id, rate).await?;
    Ok(saved(key.id, "limit"))
}

/// Rotates the key: creates a key with the same label and limit. The old key stays valid for the
/// selected time.
pub(crate) async fn rotate(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let key = own(context).await?;
    let accounts = &context.dashboard.service.accounts;
    if !key.is_active(context.now) {
        return refused(context, &key, "This key has already ended. Generate a new one instead.")
            .await;
    }
    let chosen = context.form.text("overlap");
    let Some((_, _, overlap)) = OVERLAPS.iter().find(|(name, _, _)| *name == chosen) else {
        return refused(context, &key, "Choose how long the old key keeps working.").await;
    };
    let old_until = context.now.checked_add(*overlap).map_err(Fault::failed)?;
    let successor = NewKey::generate(key.account, key.label.clone(), context.now);
    let successor = NewKey { rate: key.rate, ..successor.map_err(Fault::failed)? };
    let id = successor.id;
    let limit = KeyLimit::PER_ACCOUNT;
    let stored = accounts.rotate_key(key.id, old_until, successor, limit).await?;
    if let Some(said) = no_room(stored)? {
        return refused(context, &key, said).await;
    }
    Ok(Response::see_other(format!("/account/keys/{id}?new")))
}

/// Revokes the key immediately, if the user has ticked the box that confirms this.
pub(crate) async fn revoke(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let key = own(context).await?;
    if !context.form.has("sure") {
        let said = "Tick the box to confirm: a revoked key cannot be restored.";
        return refused(context, &key, said).await;
    }
    context.dashboard.service.accounts.expire_key(key.id, context.now, context.now).await?;
    Ok(Response::see_other("/account/keys"))
}

/// Redirects to the key's page. The page then tells the user that `what` was saved.
fn saved(id: KeyId, what: &str) -> Response {
    Response::see_other(format!("/account/keys/{id}?saved={what}"))
}

/// Returns the key whose id is in the path. Returns a fault if the key does not belong to this
/// account.
async fn own(context: &OwnerContext<'_>) -> Result<KeyInfo, Fault> {
    let id: KeyId = context.path_parameter().parse().map_err(|_| Fault::NoSuchPage)?;
    let key = context.dashboard.service.accounts.key(id).await?;
    key.filter(|key| key.account == context.session.account.id).ok_or(Fault::NoSuchPage)
}

/// Shows the page of the key with the text `said`, which says why nothing was changed.
async fn refused(
    context: &OwnerContext<'_>,
    key: &KeyInfo,
    said: impl Into<String>,
) -> Result<Response, Fault> {
    shown(context, key, false, Some(said.into())).await
}

async fn shown(
    context: &OwnerContext<'_>,
    key: &KeyInfo,
    shows_secret: bool,
    fault: Option<String>,
) -> Result<Response, Fault> {
    let service = &context.dashboard.service;
    let secret = if shows_secret { service.accounts.reveal(key.id).await? } else { None };
    let status = if fault.is_some() { 422 } else { 200 };
    let address = context.dashboard.address(context.request);
    let secret = secret.map(|key| key.expose().to_owned());
    let template = KeyPage {
        frame: context.frame("/account/keys").await?,
        first_call: secret
            .as_ref()
            .and_then(|key| curl::first_call(&address, context.dashboard.api_versions, key)),
        done: match context.query.text("saved") {
            _ if fault.is_some() => None,
            "label" => Some("The label is saved."),
            "limit" => Some("The limit is saved."),
            _ => None,
        },
        key: KeyRow::of(key, service.rate_limit, context.now),
        secret,
        fault,
        max_requests: service.rate_limit.max_of_owner(key.rate),
        may_be_empty: service.rate_limit.set_by_owner(key.rate, None).is_some(),
        overlaps: OVERLAPS,
    };
    render_page(status, &template)
}
