//! Reads request headers.

use std::borrow::Cow;

use actix_web::http::header::{AsHeaderName, HeaderMap, HeaderName};
use enrich_core::{Clock, RequestId};

pub(crate) const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
pub(crate) const CREDITS_USED: HeaderName = HeaderName::from_static("x-credits-used");
pub(crate) const CREDITS_REMAINING: HeaderName = HeaderName::from_static("x-credits-remaining");
pub(crate) const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub(crate) const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Returns the caller's request id if it is valid; else a new id.
pub(crate) fn request_id(headers: &HeaderMap, clock: &dyn Clock) -> RequestId {
    text(headers, REQUEST_ID)
        .and_then(|text| RequestId::accept(&text))
        .unwrap_or_else(|| RequestId::make(clock.now()))
}

/// Returns a header's value as text. The values of a repeated header are joined with a comma (RFC
/// 9110, section 5.3). An API key contains no comma, so a request with two keys is refused. A proxy
/// and this server can therefore never use different keys.
pub(crate) fn text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<Cow<'_, str>> {
    let mut values = headers.get_all(name).map(|value| lossy(value.as_bytes()));
    let first = values.next()?;
    Some(values.fold(first, |all, value| all + ", " + value))
}

/// Decodes UTF-8; invalid bytes become replacement characters.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
