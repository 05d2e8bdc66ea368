//! The return address: the page to which the browser goes back when an owner signs in again, after
//! a session has ended.

use crate::form::{Form, query};
use crate::http::{Method, Request};

const SIGN_IN: &str = "/account/sign-in";
/// Maximum length of the return address, in bytes.
const MAX_BYTES: usize = 1024;

/// Returns the address of the sign-in page, for a request that needs a session but has none. If the
/// request reads a page, the address contains this page as the return address. A request that
/// changes something has no return address, because it is not repeated after sign-in.
pub(crate) fn to_sign_in(request: &Request, is_account_page: fn(&str) -> bool) -> String {
    if matches!(request.path.as_str(), "/account" | "/account/") {
        return SIGN_IN.to_owned();
    }
    let shown = match request.method {
        Method::Get => page_of(&request.path, &request.query, is_account_page),
        Method::Post => None,
    };
    let pairs = query(&[("to", shown.as_deref().unwrap_or_default())]);
    let and = if pairs.is_empty() { "" } else { "&" };
    format!("{SIGN_IN}?ended{and}{pairs}")
}

/// Returns the return address in the field `to`; `None` if it is not the address of an account
/// page. So no link can lead to another site.
pub(crate) fn target(fields: &Form, is_account_page: fn(&str) -> bool) -> Option<String> {
    let (path, query) = fields.text("to").split_once('?').unwrap_or((fields.text("to"), ""));
    page_of(path, query, is_account_page)
}

/// Returns the address with this path and query; `None` if the path does not belong to an account
/// page. For the download of a file, returns the address of the page that has the link to the file.
fn page_of(path: &str, query: &str, is_account_page: fn(&str) -> bool) -> Option<String> {
    let path = ["/output", ".csv"].iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    let address = match query {
        "" => path.to_owned(),
        query => format!("{path}?{query}"),
    };
    (is_account_page(path) && is_plain(&address) && !address.contains(['\\', '#', '"', '<', '>']))
        .then_some(address)
        .filter(|address| address.len() <= MAX_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(to: &str) -> Option<String> {
        target(&Form::read(query(&[("to", to)]).as_bytes()), crate::routes::is_account_page)
    }

    #[test]
    fn a_page_of_an_account_is_returned_to() {
        for path in ["/account/keys", "/account/usage?from=2026-01-01&to=2026-02-01", "/account/"] {
            assert_eq!(read(path).as_deref(), Some(path));
        }
        assert_eq!(read("/account/calls.csv?from=x").as_deref(), Some("/account/calls?from=x"));
        assert_eq!(read("/account/bulk/abc/output").as_deref(), Some("/account/bulk/abc"));
    }

    #[test]
    fn nothing_else_is() {
        for to in [
            "",
            "https://evil.example/account/",
            "//evil.example/account/keys",
            "/account//evil.example",
            "/\\evil.example",
            "/account/keys/\\..",
            "/account/../docs",
            "/account/sign-in",
            "/account/sign-out",
            "/account/assets/0/none.css",
            "/account/invitation/x",
            "/account/keys/x/revoke",
            "/account/keys?a\r\nset-cookie: b",
            "/account/keys?\u{e9}",
            "javascript:alert(1)",
            "/docs",
        ] {
            assert_eq!(read(to), None, "{to}");
        }
        assert_eq!(read(&format!("/account/keys?{}", "x".repeat(MAX_BYTES))), None);
    }
}
