//! The names of the interface's own headers, and functions that read request headers.

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

/// Returns the caller's request id if it is valid; otherwise a new id.
pub(crate) fn request_id(headers: &HeaderMap, clock: &dyn Clock) -> RequestId {
    text(headers, REQUEST_ID)
        .and_then(|text| RequestId::accept(&text))
        .unwrap_or_else(|| RequestId::make(clock.now()))
}

/// Returns the value of a header as text; `None` if the request does not have the header. If the
/// request has it several times, the values are joined with commas (RFC 9110, section 5.3). No API
/// key contains a comma, so a request with two `x-api-key` headers is refused. Otherwise a proxy
/// could use one of the keys, and this server the other.
pub(crate) fn text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<Cow<'_, str>> {
    let mut values = headers.get_all(name).map(|value| lossy(value.as_bytes()));
    let first = values.next()?;
    Some(values.fold(first, |all, value| all + ", " + value))
}

/// Decodes UTF-8. Each invalid sequence of bytes becomes a replacement character.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
