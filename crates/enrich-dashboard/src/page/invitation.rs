//! The operator's invitation: a link that sets the account's password once.

use askama::Template;
use enrich_core::{SignIn, Token};

use crate::fault::Fault;
use crate::http::Response;
use crate::password::{LEAST_CHARACTERS, MOST_BYTES, Password};
use crate::visit::{Frame, Visit, page};

use super::sign_in::begin;

#[derive(Template)]
#[template(path = "invitation.html")]
struct InvitationPage<'a> {
    frame: Frame,
    email: String,
    action: &'a str,
    fault: Option<String>,
    least_characters: usize,
    most_bytes: usize,
}

#[derive(Template)]
#[template(path = "no_invitation.html")]
struct NoInvitationPage {
    frame: Frame,
}

pub(crate) async fn show(visit: &Visit<'_>) -> Result<Response, Fault> {
    match invited(visit).await? {
        Some((_, sign_in)) => shown(visit, &sign_in, 200, None),
        None => not_good(visit),
    }
}

/// Sets the password and signs in.
pub(crate) async fn submit(visit: &Visit<'_>) -> Result<Response, Fault> {
    let Some((token, sign_in)) = invited(visit).await? else { return not_good(visit) };
    let (password, again) = (visit.form.raw("password"), visit.form.raw("again"));
    let password = match Password::chosen(password, again, &sign_in.email.to_string()) {
        Ok(password) => password,
        Err(unfit) => return shown(visit, &sign_in, 422, Some(unfit.to_string())),
    };
    let hash = visit.dashboard.passwords.hash(password).await?;
    let accepted = visit.dashboard.sign_ins.accept(&token, hash.clone(), visit.now).await?;
    if accepted.is_none() {
        return not_good(visit);
    }
    match begin(visit, &sign_in, Some(&hash)).await? {
        Some(cookie) => Ok(Response::see("/account/welcome").with("set-cookie", cookie)),
        // Another password was set a moment later.
        None => Ok(Response::see("/account/sign-in")),
    }
}

async fn invited(visit: &Visit<'_>) -> Result<Option<(Token, SignIn)>, Fault> {
    let Ok(token) = Token::parse(visit.blank()) else { return Ok(None) };
    let sign_in = visit.dashboard.sign_ins.invited(&token, visit.now).await?;
    Ok(sign_in.map(|sign_in| (token, sign_in)))
}

fn shown(
    visit: &Visit<'_>,
    sign_in: &SignIn,
    status: u16,
    fault: Option<String>,
) -> Result<Response, Fault> {
    let page_of = InvitationPage {
        frame: visit.open_frame(),
        email: sign_in.email.to_string(),
        action: &visit.request.path,
        fault,
        least_characters: LEAST_CHARACTERS,
        most_bytes: MOST_BYTES,
    };
    page(status, &page_of)
}

fn not_good(visit: &Visit<'_>) -> Result<Response, Fault> {
    page(404, &NoInvitationPage { frame: visit.open_frame() })
}
