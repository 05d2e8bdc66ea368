//! The account's settings: its password and its sessions.

use askama::Template;
use enrich_sign_in::{ListedSession, Session, SessionId};

use crate::fault::Fault;
use crate::http::Response;
use crate::page_context::{Frame, OwnerContext, render_page};
use crate::password::{MAX_BYTES, MIN_CHARACTERS, Password};
use crate::shown::{Time, span};

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    frame: Frame,
    email: String,
    account: String,
    created: Time,
    fault: Option<String>,
    done: Option<String>,
    min_characters: usize,
    max_bytes: usize,
    idle: String,
    lifetime: String,
    max_sessions: usize,
    sessions: Vec<SessionRow>,
}

struct SessionRow {
    id: SessionId,
    started: Time,
    seen: Time,
    is_current: bool,
}

pub(crate) async fn show(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let done = match context.query.text("done") {
        "password" => Some("The password was changed, and all other sessions were ended."),
        "session" => Some("The session was ended."),
        "sessions" => Some("All other sessions were ended."),
        _ => None,
    };
    shown(context, None, done.map(str::to_owned)).await
}

/// Changes the password. The user must also type the current password. Wrong attempts are slowed
/// down as at sign-in.
pub(crate) async fn password(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let dashboard = context.dashboard;
    let Some(sign_in) = dashboard.sign_ins.sign_in(context.session.account.id).await? else {
        return Err(Fault::NoSuchPage);
    };
    let email = sign_in.email.to_string();
    let (chosen, again) = (context.form.raw("password"), context.form.raw("again"));
    let chosen = match Password::chosen(chosen, again, &email) {
        Ok(chosen) => chosen,
        Err(unfit) => return shown(context, Some(unfit.to_string()), None).await,
    };
    let present = context.form.raw("present");
    if present.len() > MAX_BYTES {
        return wrong(context).await;
    }
    let peer = context.dashboard.client(context.request);
    if let Err(wait) = dashboard.login_throttle.take(peer, &email, context.now) {
        let wait = span(wait.as_secs().saturating_add(1));
        let said = format!("Too many attempts. Wait {wait} and try again.");
        return shown(context, Some(said), None).await;
    }
    let typed = Password::typed(present);
    let is_right = dashboard.passwords.is_right(typed, sign_in.password.as_ref()).await;
    if !matches!(is_right, Ok(false)) {
        dashboard.login_throttle.give_back(peer, &email);
    }
    if !is_right? {
        return wrong(context).await;
    }
    let hash = dashboard.passwords.hash(chosen).await?;
    dashboard
        .sign_ins
        .set_password(context.session.account.id, hash, Some(&context.session.token))
        .await?;
    Ok(Response::see_other("/account/settings?done=password"))
}

/// Ends all sessions except the current one.
pub(crate) async fn sessions(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    context
        .dashboard
        .sign_ins
        .end_sessions(context.session.account.id, Some(&context.session.token))
        .await?;
    Ok(Response::see_other("/account/settings?done=sessions"))
}

pub(crate) async fn end_one(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let id = SessionId::parse(context.path_parameter()).ok_or(Fault::NoSuchPage)?;
    if !context.dashboard.sign_ins.end_session_of(context.session.account.id, id).await? {
        return Err(Fault::NoSuchPage);
    }
    Ok(Response::see_other("/account/settings?done=session"))
}

/// Returns the active sessions of the account.
async fn session_rows(context: &OwnerContext<'_>) -> Result<Vec<SessionRow>, Fault> {
    let dashboard = context.dashboard;
    let listed = dashboard
        .sign_ins
        .sessions(context.session.account.id, Some(&context.session.token))
        .await?;
    let is_in_use = |one: &ListedSession| {
        let idle = one.session.seen_at.duration_until(context.now);
        context.now < one.session.ends_at && idle < dashboard.settings.session_idle
    };
    let rows = listed.into_iter().filter(is_in_use).map(|one| SessionRow {
        id: one.id,
        started: Time(one.session.started_at),
        seen: Time(one.session.seen_at),
        is_current: one.is_current,
    });
    Ok(rows.collect())
}

async fn wrong(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let said = "The current password is wrong. Nothing was changed.";
    shown(context, Some(said.to_owned()), None).await
}

async fn shown(
    context: &OwnerContext<'_>,
    fault: Option<String>,
    done: Option<String>,
) -> Result<Response, Fault> {
    let sign_in = context.dashboard.sign_ins.sign_in(context.session.account.id).await?;
    let settings = &context.dashboard.settings;
    let template = SettingsPage {
        frame: context.frame("/account/settings").await?,
        email: sign_in.map_or_else(String::new, |sign_in| sign_in.email.to_string()),
        account: context.session.account.id.to_string(),
        created: Time(context.session.account.created_at),
        fault,
        done,
        min_characters: MIN_CHARACTERS,
        max_bytes: MAX_BYTES,
        idle: span(settings.session_idle.as_secs()),
        lifetime: span(settings.session_lifetime.as_secs()),
        max_sessions: Session::MAX_PER_ACCOUNT,
        sessions: session_rows(context).await?,
    };
    render_page(if template.fault.is_some() { 422 } else { 200 }, &template)
}
