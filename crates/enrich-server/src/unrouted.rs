//! Answers requests that match no route, or only a route with another method.

use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use enrich_wire::RequestRefusal;

use crate::context::{CallContext, OTHER};
use crate::response::{refusal, unmetered};
use crate::versions::api_version_of;

/// The time for which a browser may keep the answer to a preflight request, in seconds: 24 hours.
const PREFLIGHT_SECONDS: &str = "86400";

pub(crate) async fn not_found(request: HttpRequest, context: CallContext) -> HttpResponse {
    let api_version = api_version_of(request.path());
    refusal(OTHER, api_version, RequestRefusal::NoSuchPath, &context)
}

/// Returns the refusal for a path that accepts only the methods in `allow`.
pub(crate) fn wrong_method(
    request: &HttpRequest,
    context: &CallContext,
    label: &'static str,
    allow: &'static str,
) -> HttpResponse {
    let api_version = api_version_of(request.path());
    refusal(label, api_version, RequestRefusal::WrongMethod { allow }, context)
}

/// Returns the answer to an `OPTIONS` request, which lists the allowed methods; `None` if the
/// request has another method. If `is_open`, the answer also allows scripts of other web sites to
/// request the path (CORS preflight).
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
    Some(unmetered(context, label, 204, headers, Bytes::new()))
}
