//! Converts responses of the API to those of actix-web, and stores their data for the log and the
//! metrics.

use std::borrow::Cow;

use actix_web::HttpResponse;
use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use bytes::Bytes;
use enrich_wire::{ApiVersion, CallRecord, RequestRefusal, Response, refuse};
use tracing::error;

use crate::chunked_body;
use crate::context::CallContext;
use crate::header::{CREDITS_REMAINING, CREDITS_USED, RATE_LIMIT, RATE_LIMIT_POLICY, REQUEST_ID};

type Headers = Vec<(&'static str, Cow<'static, str>)>;

/// Converts the response of an API call. `label` is the endpoint's label in the log and the
/// metrics.
pub(crate) fn response(
    context: &CallContext,
    label: &'static str,
    (response, record): (Response, CallRecord),
) -> HttpResponse {
    let Response { status, headers, body } = response;
    let sent = with_body(status, headers, |_| chunked_body::body(body.into()));
    context.answer(label, sent.status().as_u16(), Some(record));
    sent
}

/// Creates a response that does not belong to an API call, with `label` for the log and the
/// metrics.
pub(crate) fn unmetered(
    context: &CallContext,
    label: &'static str,
    status: u16,
    headers: Headers,
    body: Bytes,
) -> HttpResponse {
    let sent = with_body(status, headers, |_| chunked_body::body(body));
    context.answer(label, sent.status().as_u16(), None);
    sent
}

/// Creates the response for a refusal, in the format of an API version.
pub(crate) fn refusal(
    label: &'static str,
    api_version: &'static ApiVersion,
    refusal: RequestRefusal,
    context: &CallContext,
) -> HttpResponse {
    response(context, label, refuse(api_version, refusal, context.request_id()))
}

/// Creates a response with the body that `body` returns. `body` may change the headers.
///
/// If a header has a value that HTTP does not allow, logs the name of the header, and returns a
/// response with the status 500 and no body: without the header, the response could lack its
/// protection or its cookie. The value is not logged, because it may be a secret.
pub(crate) fn with_body(
    status: u16,
    headers: Headers,
    body: impl FnOnce(&mut HttpResponse) -> BoxBody,
) -> HttpResponse {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut sent = HttpResponse::with_body(status, BoxBody::new(()));
    for (name, value) in headers {
        let bytes = match value {
            Cow::Borrowed(text) => Bytes::from_static(text.as_bytes()),
            Cow::Owned(text) => text.into(),
        };
        let Ok(value) = HeaderValue::from_maybe_shared(bytes) else {
            error!(header = name, "a response has a header with an invalid value; answering 500");
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            let mut failed = HttpResponse::with_body(status, BoxBody::new(()));
            failed.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            return failed;
        };
        sent.headers_mut().append(header_name(name), value);
    }
    let body = body(&mut sent);
    sent.set_body(body)
}

/// Converts the name of a header. The names that every answer has are constants, because parsing
/// them for each answer would take longer than everything else in this file.
fn header_name(name: &'static str) -> HeaderName {
    match name {
        "content-type" => CONTENT_TYPE,
        "cache-control" => CACHE_CONTROL,
        "x-request-id" => REQUEST_ID,
        "x-credits-used" => CREDITS_USED,
        "x-credits-remaining" => CREDITS_REMAINING,
        "ratelimit-policy" => RATE_LIMIT_POLICY,
        "ratelimit" => RATE_LIMIT,
        _ => HeaderName::from_static(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_cannot_be_sent_is_not_left_out() {
        let headers = |cookie: &'static str| {
            let policy = ("content-security-policy", Cow::Borrowed("default-src 'none'"));
            vec![policy, ("set-cookie", cookie.into()), ("x-owned", cookie.to_owned().into())]
        };
        let page = || chunked_body::body(Bytes::from_static(b"a page"));
        let sent = with_body(200, headers("session=1"), |_| page());
        assert_eq!((sent.status(), sent.headers().len()), (StatusCode::OK, 3));
        for faulty in ["session=1\r\nx-other: 2", "session=\0"] {
            let sent = with_body(200, headers(faulty), |_| page());
            assert_eq!(sent.status(), StatusCode::INTERNAL_SERVER_ERROR, "{faulty:?}");
            let names: Vec<_> = sent.headers().keys().collect();
            assert_eq!(names, [CACHE_CONTROL], "{faulty:?}");
        }
    }
}
