//! The operator's invitation: a one-time link to set the account's password.

use askama::Template;
use enrich_sign_in::{SignIn, Token};

use crate::fault::Fault;
use crate::http::Response;
use crate::page_context::{Frame, PageContext, render_page};
use crate::password::{MAX_BYTES, MIN_CHARACTERS, Password};

use super::sign_in::begin;

#[derive(Template)]
#[template(path = "invitation.html")]
struct InvitationPage<'a> {
    frame: Frame,
    email: String,
    action: &'a str,
    fault: Option<String>,
    min_characters: usize,
    max_bytes: usize,
}

#[derive(Template)]
#[template(path = "no_invitation.html")]
struct NoInvitationPage {
    frame: Frame,
}

pub(crate) async fn show(context: &PageContext<'_>) -> Result<Response, Fault> {
    match invited(context).await? {
        Some((_, sign_in)) => shown(context, &sign_in, 200, None),
        None => not_good(context),
    }
}

/// Sets the password and signs the owner in.
pub(crate) async fn submit(context: &PageContext<'_>) -> Result<Response, Fault> {
    let Some((token, sign_in)) = invited(context).await? else { return not_good(context) };
    let (password, again) = (context.form.raw("password"), context.form.raw("again"));
    let password = match Password::chosen(password, again, &sign_in.email.to_string()) {
        Ok(password) => password,
        Err(unfit) => return shown(context, &sign_in, 422, Some(unfit.to_string())),
    };
    let hash = context.dashboard.passwords.hash(password).await?;
    let accepted = context.dashboard.sign_ins.accept(&token, hash.clone(), context.now).await?;
    if accepted.is_none() {
        return not_good(context);
    }
    match begin(context, &sign_in, Some(&hash)).await? {
        Some(cookie) => Ok(Response::see_other("/account/welcome").with("set-cookie", cookie)),
        // This request has stored its password, but then another request stored a different
        // password. So no session was begun.
        None => Ok(Response::see_other("/account/sign-in")),
    }
}

async fn invited(context: &PageContext<'_>) -> Result<Option<(Token, SignIn)>, Fault> {
    let Ok(token) = Token::parse(context.path_parameter()) else { return Ok(None) };
    let sign_in = context.dashboard.sign_ins.invited(&token, context.now).await?;
    Ok(sign_in.map(|sign_in| (token, sign_in)))
}

fn shown(
    context: &PageContext<'_>,
    sign_in: &SignIn,
    status: u16,
    fault: Option<String>,
) -> Result<Response, Fault> {
    let template = InvitationPage {
        frame: context.open_frame(),
        email: sign_in.email.to_string(),
        action: &context.request.path,
        fault,
        min_characters: MIN_CHARACTERS,
        max_bytes: MAX_BYTES,
    };
    render_page(status, &template)
}

fn not_good(context: &PageContext<'_>) -> Result<Response, Fault> {
    render_page(404, &NoInvitationPage { frame: context.open_frame() })
}
