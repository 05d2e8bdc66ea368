//! The sign-in page, and sign-out.
//!
//! An attacker cannot find out whether an email address has an account: the answer, its duration
//! and the throttling are the same in both cases.

use askama::Template;
use enrich_sign_in::{PasswordHash, Session, SignIn, Token};
use enrich_text::EmailAddress;

use crate::cookie;
use crate::fault::Fault;
use crate::form::query;
use crate::http::Response;
use crate::page_context::{Frame, PageContext, render_page};
use crate::password::{MAX_BYTES, Password};
use crate::returning;
use crate::shown::span;

/// Maximum length of a typed email address, in bytes. It is more than the 254 bytes that RFC 5321
/// allows, so every valid address fits.
const MAX_EMAIL_BYTES: usize = 320;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage<'a> {
    frame: Frame,
    email: &'a str,
    fault: Option<String>,
    has_ended: bool,
    /// The path and query of the page to show after sign-in; empty for the overview.
    to: String,
}

#[derive(Template)]
#[template(path = "no_cookie.html")]
struct NoCookiePage {
    frame: Frame,
}

pub(crate) async fn show(context: &PageContext<'_>) -> Result<Response, Fault> {
    if context.dashboard.session(context.request, context.now).await?.is_some() {
        return Ok(Response::see_other("/account/"));
    }
    let has_ended = context.query.has("ended");
    let to = returning::target(&context.query, context.is_account_page).unwrap_or_default();
    render_page(
        200,
        &SignInPage { frame: context.open_frame(), email: "", fault: None, has_ended, to },
    )
}

pub(crate) async fn submit(context: &PageContext<'_>) -> Result<Response, Fault> {
    let login_throttle = &context.dashboard.login_throttle;
    let (email, password) = (context.form.text("email"), context.form.raw("password"));
    if email.is_empty() || email.len() > MAX_EMAIL_BYTES || password.len() > MAX_BYTES {
        return refused(context, email);
    }
    let address = EmailAddress::parse(email).ok();
    // An email address can be typed in several ways, such as `Ada@quill.example`. All of them use
    // the same entry of the login throttle.
    let typed = address.as_ref().map_or_else(|| email.to_lowercase(), ToString::to_string);
    let peer = context.dashboard.client(context.request);
    if let Err(wait) = login_throttle.take(peer, &typed, context.now) {
        return slowed(context, email, wait.as_secs().saturating_add(1));
    }
    let right = match is_right(context, address.as_ref(), password).await {
        Ok(right) => right,
        // The password could not be checked, so this attempt does not count.
        Err(fault) => {
            login_throttle.give_back(peer, &typed);
            return Err(fault);
        }
    };
    let Some(sign_in) = right else { return refused(context, email) };
    login_throttle.give_back(peer, &typed);
    match begin(context, &sign_in, sign_in.password.as_ref()).await? {
        Some(cookie) => {
            let to = returning::target(&context.form, context.is_account_page).unwrap_or_default();
            let welcome = match query(&[("to", &to)]) {
                none if none.is_empty() => "/account/welcome".to_owned(),
                to => format!("/account/welcome?{to}"),
            };
            Ok(Response::see_other(welcome).with("set-cookie", cookie))
        }
        None => refused(context, email),
    }
}

/// Returns the email address and the stored password hash of an account, if the typed password is
/// right. Otherwise returns `None`.
async fn is_right(
    context: &PageContext<'_>,
    address: Option<&EmailAddress>,
    password: &str,
) -> Result<Option<SignIn>, Fault> {
    let sign_in = match address {
        Some(address) => context.dashboard.sign_ins.by_email(address).await?,
        None => None,
    };
    let hash = sign_in.as_ref().and_then(|sign_in| sign_in.password.as_ref());
    let is_right = context.dashboard.passwords.is_right(Password::typed(password), hash).await?;
    Ok(sign_in.filter(|_| is_right))
}

/// Begins a session with a new token, ends the browser's previous session, and returns the cookie.
/// Returns `None` if the password was changed after it was checked. The change has ended all
/// sessions, so no new session may begin with the old password.
pub(crate) async fn begin(
    context: &PageContext<'_>,
    sign_in: &SignIn,
    right: Option<&PasswordHash>,
) -> Result<Option<String>, Fault> {
    let (dashboard, settings) = (context.dashboard, &context.dashboard.settings);
    if let Some(earlier) = dashboard.token(context.request) {
        dashboard.sign_ins.end_session(&earlier).await?;
    }
    let token = Token::generate().map_err(Fault::failed)?;
    let ends_at = context.now.checked_add(settings.session_lifetime).map_err(Fault::failed)?;
    let session = Session {
        account: sign_in.account,
        started_at: context.now,
        seen_at: context.now,
        ends_at,
    };
    dashboard.sign_ins.begin_session(&token, session).await?;
    let current = dashboard.sign_ins.sign_in(sign_in.account).await?;
    let hash = current.as_ref().and_then(|sign_in| sign_in.password.as_ref());
    if hash.map(PasswordHash::expose) != right.map(PasswordHash::expose) {
        dashboard.sign_ins.end_session(&token).await?;
        return Ok(None);
    }
    let public_url = settings.public_url.as_deref();
    Ok(Some(cookie::set(context.request, public_url, &token, settings.session_lifetime)))
}

fn refused(context: &PageContext<'_>, email: &str) -> Result<Response, Fault> {
    let fault = "The email address or the password is wrong. If you have forgotten the password, ask the \
                 service's operator for a new invitation.";
    failed(context, 422, email, fault.to_owned())
}

fn slowed(context: &PageContext<'_>, email: &str, wait_seconds: i64) -> Result<Response, Fault> {
    let fault = format!("Too many attempts. Wait {} and try again.", span(wait_seconds));
    let response = failed(context, 429, email, fault)?;
    Ok(response.with("retry-after", wait_seconds.to_string()))
}

fn failed(
    context: &PageContext<'_>,
    status: u16,
    email: &str,
    fault: String,
) -> Result<Response, Fault> {
    let email = if email.len() > MAX_EMAIL_BYTES { "" } else { email };
    let frame = context.open_frame();
    let to = returning::target(&context.form, context.is_account_page).unwrap_or_default();
    render_page(status, &SignInPage { frame, email, fault: Some(fault), has_ended: false, to })
}

/// The page that the browser loads after sign-in. If the browser has sent the session cookie,
/// redirects to the return address. Otherwise explains that the browser did not keep the cookie.
pub(crate) async fn welcome(context: &PageContext<'_>) -> Result<Response, Fault> {
    if context.dashboard.session(context.request, context.now).await?.is_some() {
        let to = returning::target(&context.query, context.is_account_page);
        return Ok(Response::see_other(to.unwrap_or_else(|| "/account/".to_owned())));
    }
    render_page(200, &NoCookiePage { frame: context.open_frame() })
}

pub(crate) async fn sign_out(context: &PageContext<'_>) -> Result<Response, Fault> {
    let dashboard = context.dashboard;
    if let Some(token) = dashboard.token(context.request) {
        dashboard.sign_ins.end_session(&token).await?;
    }
    let forget = cookie::forget(context.request, dashboard.settings.public_url.as_deref());
    Ok(Response::see_other("/account/sign-in").with("set-cookie", forget))
}
