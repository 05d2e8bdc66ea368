//! Converts responses of the API to those of actix-web, and stores their data for the log and the
//! metrics.

use std::borrow::Cow;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use bytes::Bytes;
use enrich_wire::{ApiVersion, CallRecord, RequestRefusal, Response, refuse};

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
    context.answer(label, status, Some(record));
    sent(status, headers, body.into())
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
    context.answer(label, status, None);
    sent(status, headers, body)
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

fn sent(status: u16, headers: Headers, body: Bytes) -> HttpResponse {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut sent = HttpResponse::with_body(status, chunked_body::body(body));
    for (name, value) in headers {
        let value = match value {
            Cow::Borrowed(text) => HeaderValue::from_static(text),
            Cow::Owned(text) => {
                // All values that Enrich sends are valid. An invalid value would be left out.
                let Ok(value) = HeaderValue::try_from(text) else { continue };
                value
            }
        };
        sent.headers_mut().append(header_name(name), value);
    }
    sent
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
