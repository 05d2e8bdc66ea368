//! The table of pages: method, path, access and handler.

use futures_util::future::LocalBoxFuture;

use crate::account_session::AccountSession;
use crate::fault::Fault;
use crate::http::Method::{self, Get, Post};
use crate::http::{Body, Response};
use crate::page::{
    asset, bulk, calls, invitation, job, key, keys, overview, playground, preferences, sign_in,
    usage,
};
use crate::page_context::PageContext;

type Answering<'a> = LocalBoxFuture<'a, Result<Response, Fault>>;

/// A handler, by required access.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// Open to everybody.
    Open(for<'a> fn(&'a PageContext<'a>) -> Answering<'a>),
    /// Needs a session, and handles only that account.
    SignedIn(for<'a> fn(&'a PageContext<'a>, &'a AccountSession) -> Answering<'a>),
    /// Needs a session; the body is not a form.
    Upload(for<'a> fn(&'a PageContext<'a>, &'a AccountSession, Body) -> Answering<'a>),
}

/// A row of the table.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// Compared segment by segment; `{…}` matches any segment.
    pub(crate) path: &'static str,
    pub(crate) handler: Handler,
}

const fn open(
    method: Method,
    path: &'static str,
    answer: for<'a> fn(&'a PageContext<'a>) -> Answering<'a>,
) -> Route {
    Route { method, path, handler: Handler::Open(answer) }
}

const fn own(
    method: Method,
    path: &'static str,
    answer: for<'a> fn(&'a PageContext<'a>, &'a AccountSession) -> Answering<'a>,
) -> Route {
    Route { method, path, handler: Handler::SignedIn(answer) }
}

const fn upload(
    path: &'static str,
    answer: for<'a> fn(&'a PageContext<'a>, &'a AccountSession, Body) -> Answering<'a>,
) -> Route {
    Route { method: Post, path, handler: Handler::Upload(answer) }
}

/// All pages. `open` pages need no session. POST requests are refused unless they come from these
/// pages.
#[rustfmt::skip]
pub(crate) static ROUTES: &[Route] = &[
    open(Get,  "/account/assets/{hash}/{name}",  |v| Box::pin(asset::show(v))),
    open(Get,  "/account/sign-in",               |v| Box::pin(sign_in::show(v))),
    open(Post, "/account/sign-in",               |v| Box::pin(sign_in::submit(v))),
    open(Get,  "/account/welcome",               |v| Box::pin(sign_in::welcome(v))),
    open(Post, "/account/sign-out",              |v| Box::pin(sign_in::sign_out(v))),
    open(Get,  "/account/invitation/{token}",    |v| Box::pin(invitation::show(v))),
    open(Post, "/account/invitation/{token}",    |v| Box::pin(invitation::submit(v))),
    own (Get,  "/account",                       |v, m| Box::pin(overview::redirect(v, m))),
    own (Get,  "/account/",                      |v, m| Box::pin(overview::show(v, m))),
    own (Post, "/account/first-call",            |v, m| Box::pin(overview::first_call(v, m))),
    own (Get,  "/account/keys",                  |v, m| Box::pin(keys::show(v, m))),
    own (Post, "/account/keys",                  |v, m| Box::pin(keys::generate(v, m))),
    own (Get,  "/account/keys/{id}",             |v, m| Box::pin(key::show(v, m))),
    own (Post, "/account/keys/{id}/reveal",      |v, m| Box::pin(key::reveal(v, m))),
    own (Post, "/account/keys/{id}/label",       |v, m| Box::pin(key::label(v, m))),
    own (Post, "/account/keys/{id}/limit",       |v, m| Box::pin(key::limit(v, m))),
    own (Post, "/account/keys/{id}/rotate",      |v, m| Box::pin(key::rotate(v, m))),
    own (Post, "/account/keys/{id}/revoke",      |v, m| Box::pin(key::revoke(v, m))),
    own (Get,  "/account/usage",                 |v, m| Box::pin(usage::show(v, m))),
    own (Get,  "/account/usage.csv",             |v, m| Box::pin(usage::export(v, m))),
    own (Get,  "/account/calls",                 |v, m| Box::pin(calls::show(v, m))),
    own (Get,  "/account/calls.csv",             |v, m| Box::pin(calls::export(v, m))),
    own (Get,  "/account/playground",            |v, m| Box::pin(playground::show(v, m))),
    own (Post, "/account/playground",            |v, m| Box::pin(playground::call(v, m))),
    own (Get,  "/account/bulk",                  |v, m| Box::pin(bulk::show(v, m))),
    upload(    "/account/bulk",                  |v, m, body| Box::pin(bulk::upload(v, m, body))),
    own (Get,  "/account/bulk/{job}",            |v, m| Box::pin(job::show(v, m))),
    own (Post, "/account/bulk/{job}/read-as",    |v, m| Box::pin(job::read_as(v, m))),
    own (Post, "/account/bulk/{job}/start",      |v, m| Box::pin(job::start(v, m))),
    own (Post, "/account/bulk/{job}/stop",       |v, m| Box::pin(job::stop(v, m))),
    own (Post, "/account/bulk/{job}/go-on",      |v, m| Box::pin(job::go_on(v, m))),
    own (Post, "/account/bulk/{job}/delete",     |v, m| Box::pin(job::delete(v, m))),
    own (Get,  "/account/bulk/{job}/output",     |v, m| Box::pin(job::output(v, m))),
    own (Get,  "/account/settings",              |v, m| Box::pin(preferences::show(v, m))),
    own (Post, "/account/settings/password",     |v, m| Box::pin(preferences::password(v, m))),
    own (Post, "/account/settings/sessions",     |v, m| Box::pin(preferences::sessions(v, m))),
    own (Post, "/account/settings/sessions/{id}/end", |v, m| Box::pin(preferences::end_one(v, m))),
];

/// Finds the route of a request, and its path parameters.
///
/// # Errors
///
/// [`Fault::NoSuchPage`] or [`Fault::WrongMethod`].
pub(crate) fn find(method: Method, path: &str) -> Result<(&'static Route, Vec<String>), Fault> {
    let mut fault = Fault::NoSuchPage;
    for route in ROUTES {
        let Some(path_parameters) = path_parameters(route.path, path) else { continue };
        if route.method == method {
            return Ok((route, path_parameters));
        }
        fault = Fault::WrongMethod;
    }
    Err(fault)
}

/// Whether the path belongs to a page that needs a session.
pub(crate) fn is_account_page(path: &str) -> bool {
    find(Get, path).is_ok_and(|(route, _)| matches!(route.handler, Handler::SignedIn(_)))
}

/// The path parameters of `path`, if it matches `pattern`.
fn path_parameters(pattern: &str, path: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(found),
            (Some(wanted), Some(given)) if wanted.starts_with('{') && !given.is_empty() => {
                found.push(given.to_owned());
            }
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return None,
        }
    }
}

/// A row of the table, for callers that iterate over all pages.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The method.
    pub method: Method,
    /// The path, with parameters in braces.
    pub path: &'static str,
    /// Whether it needs no session.
    pub is_open: bool,
}

/// All pages.
pub fn pages() -> impl Iterator<Item = Page> {
    ROUTES.iter().map(|route| Page {
        method: route.method,
        path: route.path,
        is_open: matches!(route.handler, Handler::Open(_)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_answer_the_same_request() {
        for page in pages() {
            let path = page.path.replace(['{', '}'], "x");
            let fitting = ROUTES.iter().filter(|row| {
                row.method == page.method && path_parameters(row.path, &path).is_some()
            });
            assert_eq!(fitting.count(), 1, "{path}");
        }
    }

    #[test]
    fn a_blank_is_one_piece_and_not_empty() {
        let (_, path_parameters) = find(Get, "/account/keys/abc").unwrap();
        assert_eq!(path_parameters, ["abc"]);
        for path in ["/account/keys/", "/account/keys/a/b", "/account/keys/abc/", "/accounts", ""] {
            assert!(matches!(find(Get, path), Err(Fault::NoSuchPage)), "{path}");
        }
        assert!(matches!(find(Get, "/account/sign-out"), Err(Fault::WrongMethod)));
    }

    #[test]
    fn what_is_open_is_few_and_known() {
        let open: Vec<&str> = pages().filter(|page| page.is_open).map(|page| page.path).collect();
        let expected = [
            "/account/assets/{hash}/{name}",
            "/account/sign-in",
            "/account/sign-in",
            "/account/welcome",
            "/account/sign-out",
            "/account/invitation/{token}",
            "/account/invitation/{token}",
        ];
        assert_eq!(open, expected);
    }
}
