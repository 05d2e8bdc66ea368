//! What browsers ask before and after a request of another site's page: `OPTIONS`, and who may read
//! an answer (the fetch standard's CORS protocol).
//!
//! The document, its page and the health pages may be read by every page: they hold nothing that
//! needs a key. Endpoints may not, since a key does not belong into a page, nor the account page.

use actix_http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue};
use enrich_core::{Credits, RequestId};
use enrich_wire::Response;

use super::HttpResponse;
use super::page::AdminPage;
use super::route::Target;

/// For how many seconds a browser need not ask again.
const ASKED_AGAIN_SECONDS: &str = "86400";

/// Whether every page may read what is got from there.
pub(super) fn is_open(target: Target) -> bool {
    matches!(target, Target::File(_) | Target::AdminPage(AdminPage::Health | AdminPage::Ready))
}

/// Lets every page read the answer.
pub(super) fn opened(mut response: HttpResponse) -> HttpResponse {
    let anybody = HeaderValue::from_static("*");
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, anybody);
    response
}

/// The methods that a target is asked with; nothing where there is nothing.
pub(super) fn methods(target: Target, has_account_page: bool) -> Option<&'static str> {
    match target {
        Target::Endpoint(..) => Some("OPTIONS, POST"),
        Target::AdminPage(_) | Target::File(_) => Some("GET, OPTIONS"),
        Target::Account if has_account_page => Some("GET, HEAD, OPTIONS, POST"),
        Target::Root if has_account_page => Some("GET, OPTIONS"),
        Target::Account | Target::Root | Target::Nothing(_) => None,
    }
}

/// The answer to `OPTIONS`, which also says whether a browser may send what it asks about.
pub(super) fn options(target: Target, methods: &'static str, request_id: &RequestId) -> Response {
    let mut headers = vec![
        ("allow", methods.into()),
        ("cache-control", "no-store".into()),
        ("x-request-id", request_id.to_string().into()),
    ];
    if is_open(target) {
        headers.extend([
            ("access-control-allow-origin", "*".into()),
            ("access-control-allow-methods", "GET".into()),
            ("access-control-allow-headers", "*".into()),
            ("access-control-max-age", ASKED_AGAIN_SECONDS.into()),
        ]);
    }
    Response {
        status: 204,
        headers,
        body: Vec::new(),
        used: Credits::ZERO,
        is_found: None,
        key: None,
        rate_limit_status: None,
        refusal: None,
    }
}
