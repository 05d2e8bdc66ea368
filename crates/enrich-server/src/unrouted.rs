//! Answers requests that match no route, or a route with another method.

use std::borrow::Cow;

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use enrich_core::{Credits, Refusal};
use enrich_wire::Response;

use crate::context::{CallContext, OTHER};
use crate::response::{refusal, response};
use crate::versions::api_version_of;

/// How long a browser may cache a preflight answer, in seconds (24 hours).
const PREFLIGHT_SECONDS: &str = "86400";

/// Answers that the path does not exist.
pub(crate) async fn not_found(request: HttpRequest, context: CallContext) -> HttpResponse {
    let api_version = api_version_of(request.path());
    refusal(OTHER, api_version, Refusal::NoSuchPath, &context)
}

/// Answers that the path accepts only the methods in `allow`.
pub(crate) fn wrong_method(
    request: &HttpRequest,
    context: &CallContext,
    label: &'static str,
    allow: &'static str,
) -> HttpResponse {
    let api_version = api_version_of(request.path());
    refusal(label, api_version, Refusal::WrongMethod { allow }, context)
}

/// Answers `OPTIONS`; `None` for other methods. If pages of any origin may read the path
/// (`is_open`), the answer also serves as a CORS preflight.
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

/// A response that is not charged.
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
