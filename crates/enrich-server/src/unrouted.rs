//! Answers to requests without a route, or with another method than their route's.

use std::borrow::Cow;

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use enrich_core::{Credits, Refusal};
use enrich_wire::Response;

use crate::context::{CallContext, OTHER};
use crate::response::{refusal, response};
use crate::versions::api_version_of;

/// For how many seconds a browser may remember which methods and headers it may send.
const PREFLIGHT_SECONDS: &str = "86400";

/// There is nothing at the path.
pub(crate) async fn not_found(request: HttpRequest, context: CallContext) -> HttpResponse {
    let api_version = api_version_of(request.path());
    refusal(OTHER, api_version, Refusal::NoSuchPath, &context)
}

/// The path is asked with `allow` alone.
pub(crate) fn wrong_method(
    request: &HttpRequest,
    context: &CallContext,
    label: &'static str,
    allow: &'static str,
) -> HttpResponse {
    let api_version = api_version_of(request.path());
    refusal(label, api_version, Refusal::WrongMethod { allow }, context)
}

/// The answer to `OPTIONS`; `None` for other methods. Where every page of the web may read the path
/// (`is_open`), it also answers a browser's question before a request of another origin.
pub(crate) fn options(
    request: &HttpRequest,
    context: &CallContext,
    label: &'static str,
    methods: &'static str,
    is_open: bool,
) -> Option<HttpResponse> {
    if request.method() != Method::OPTIONS {
        return None;
    }
    let mut headers = vec![("allow", methods.into()), ("cache-control", "no-store".into())];
    if is_open {
        headers.extend([
            ("access-control-allow-origin", "*".into()),
            ("access-control-allow-methods", "GET".into()),
            ("access-control-allow-headers", "*".into()),
            ("access-control-max-age", PREFLIGHT_SECONDS.into()),
        ]);
    }
    Some(response(context, label, plain(204, headers)))
}

/// A response that no account pays for.
pub(crate) fn plain(status: u16, headers: Vec<(&'static str, Cow<'static, str>)>) -> Response {
    Response {
        status,
        headers,
        body: Vec::new(),
        used: Credits::ZERO,
        is_found: None,
        key: None,
        rate_limit_status: None,
        refusal: None,
    }
}
