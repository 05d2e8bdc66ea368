//! The table of pages: method, path, access and handler.

use futures_util::future::LocalBoxFuture;

use crate::assets;
use crate::fault::Fault;
use crate::http::Method::{self, Get, Post};
use crate::http::{Body, Response};
use crate::page_context::{OwnerContext, PageContext};
use crate::pages::{
    bulk, calls, invitation, job, key, keys, overview, playground, preferences, sign_in, usage,
};

use Handler::{Open, Owner, Upload};

type Answering<'a> = LocalBoxFuture<'a, Result<Response, Fault>>;

/// The handler of a page. The variant decides who may open the page.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// A page that is open to everybody.
    Open(for<'a> fn(&'a PageContext<'a>) -> Answering<'a>),
    /// A page that needs a session. It uses only the data of the account that is signed in.
    Owner(for<'a> fn(&'a OwnerContext<'a>) -> Answering<'a>),
    /// A page that needs a session. Its handler reads the request's body itself, piece by piece,
    /// because the body is an uploaded file.
    Upload(for<'a> fn(&'a OwnerContext<'a>, Body) -> Answering<'a>),
}

pub(crate) struct Route {
    pub(crate) method: Method,
    /// The pattern of the path, which is compared segment by segment. `{…}` matches any segment.
    pub(crate) path: &'static str,
    pub(crate) handler: Handler,
}

const fn row(method: Method, path: &'static str, handler: Handler) -> Route {
    Route { method, path, handler }
}

/// All pages. `Open` pages need no session. A POST request is accepted only if it comes from one of
/// these pages.
#[rustfmt::skip]
pub(crate) static ROUTES: &[Route] = &[
    row(Get,  "/account/assets/{hash}/{name}",       Open(|c| Box::pin(assets::show(c)))),
    row(Get,  "/account/sign-in",                    Open(|c| Box::pin(sign_in::show(c)))),
    row(Post, "/account/sign-in",                    Open(|c| Box::pin(sign_in::submit(c)))),
    row(Get,  "/account/welcome",                    Open(|c| Box::pin(sign_in::welcome(c)))),
    row(Post, "/account/sign-out",                   Open(|c| Box::pin(sign_in::sign_out(c)))),
    row(Get,  "/account/invitation/{token}",         Open(|c| Box::pin(invitation::show(c)))),
    row(Post, "/account/invitation/{token}",         Open(|c| Box::pin(invitation::submit(c)))),
    row(Get,  "/account",                            Owner(|c| Box::pin(overview::redirect(c)))),
    row(Get,  "/account/",                           Owner(|c| Box::pin(overview::show(c)))),
    row(Post, "/account/first-call",                 Owner(|c| Box::pin(overview::first_call(c)))),
    row(Get,  "/account/keys",                       Owner(|c| Box::pin(keys::show(c)))),
    row(Post, "/account/keys",                       Owner(|c| Box::pin(keys::generate(c)))),
    row(Get,  "/account/keys/{id}",                  Owner(|c| Box::pin(key::show(c)))),
    row(Post, "/account/keys/{id}/reveal",           Owner(|c| Box::pin(key::reveal(c)))),
    row(Post, "/account/keys/{id}/label",            Owner(|c| Box::pin(key::label(c)))),
    row(Post, "/account/keys/{id}/limit",            Owner(|c| Box::pin(key::limit(c)))),
    row(Post, "/account/keys/{id}/rotate",           Owner(|c| Box::pin(key::rotate(c)))),
    row(Post, "/account/keys/{id}/revoke",           Owner(|c| Box::pin(key::revoke(c)))),
    row(Get,  "/account/usage",                      Owner(|c| Box::pin(usage::show(c)))),
    row(Get,  "/account/usage.csv",                  Owner(|c| Box::pin(usage::export(c)))),
    row(Get,  "/account/calls",                      Owner(|c| Box::pin(calls::show(c)))),
    row(Get,  "/account/calls.csv",                  Owner(|c| Box::pin(calls::export(c)))),
    row(Get,  "/account/playground",                 Owner(|c| Box::pin(playground::show(c)))),
    row(Post, "/account/playground",                 Owner(|c| Box::pin(playground::call(c)))),
    row(Get,  "/account/bulk",                       Owner(|c| Box::pin(bulk::show(c)))),
    row(Post, "/account/bulk",                       Upload(|c, body| Box::pin(bulk::upload(c, body)))),
    row(Get,  "/account/bulk/{job}",                 Owner(|c| Box::pin(job::show(c)))),
    row(Post, "/account/bulk/{job}/read-as",         Owner(|c| Box::pin(job::read_as(c)))),
    row(Post, "/account/bulk/{job}/start",           Owner(|c| Box::pin(job::start(c)))),
    row(Post, "/account/bulk/{job}/stop",            Owner(|c| Box::pin(job::stop(c)))),
    row(Post, "/account/bulk/{job}/go-on",           Owner(|c| Box::pin(job::go_on(c)))),
    row(Post, "/account/bulk/{job}/delete",          Owner(|c| Box::pin(job::delete(c)))),
    row(Get,  "/account/bulk/{job}/output",          Owner(|c| Box::pin(job::output(c)))),
    row(Get,  "/account/settings",                   Owner(|c| Box::pin(preferences::show(c)))),
    row(Post, "/account/settings/password",          Owner(|c| Box::pin(preferences::password(c)))),
    row(Post, "/account/settings/sessions",          Owner(|c| Box::pin(preferences::sessions(c)))),
    row(Post, "/account/settings/sessions/{id}/end", Owner(|c| Box::pin(preferences::end_one(c)))),
];

/// Finds the route of a request, and its path parameters.
///
/// # Errors
///
/// [`Fault::NoSuchPage`] if no route has this path. [`Fault::WrongMethod`] if a route has this
/// path, but not with this method.
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

/// Whether a GET request for this path shows a page that needs a session.
pub(crate) fn is_account_page(path: &str) -> bool {
    find(Get, path).is_ok_and(|(route, _)| matches!(route.handler, Handler::Owner(_)))
}

/// Returns the values of the path parameters, if `path` matches `pattern`.
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

/// A row of the table of pages, for code outside this crate, such as a test of all pages.
#[derive(Clone, Copy, Debug)]
pub struct PageRoute {
    /// The method that the page accepts.
    pub method: Method,
    /// The path of the page, with parameters in braces, such as `/account/keys/{id}`.
    pub path: &'static str,
    /// Whether the page needs no session.
    pub is_open: bool,
}

/// Returns all pages of the table.
pub fn pages() -> impl Iterator<Item = PageRoute> {
    ROUTES.iter().map(|route| PageRoute {
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
