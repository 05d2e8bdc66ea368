//! Converts responses of the API to actix-web's, and stores them for the log and the metrics.

use std::borrow::Cow;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use bytes::Bytes;
use enrich_core::Refusal;
use enrich_wire::{ApiVersion, Response, refuse};

use crate::chunked_body;
use crate::context::CallContext;

/// Converts an API response. `label` names it in log and metrics.
pub(crate) fn response(
    context: &CallContext,
    label: &'static str,
    mut response: Response,
) -> HttpResponse {
    let body = std::mem::take(&mut response.body);
    response_with(context, label, response, body.into())
}

/// Converts with `body` as the body. Shared bytes are not copied.
pub(crate) fn response_with(
    context: &CallContext,
    label: &'static str,
    mut response: Response,
    body: Bytes,
) -> HttpResponse {
    let status = StatusCode::from_u16(response.status);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut sent = HttpResponse::with_body(status, chunked_body::body(body));
    for (name, value) in std::mem::take(&mut response.headers) {
        let value = match value {
            Cow::Borrowed(text) => HeaderValue::from_static(text),
            Cow::Owned(text) => {
                // All our headers are valid; an invalid one would be left out.
                let Ok(value) = HeaderValue::try_from(text) else { continue };
                value
            }
        };
        sent.headers_mut().append(HeaderName::from_static(name), value);
    }
    context.answer(label, response);
    sent
}

/// Writes a refusal in the form of a version.
pub(crate) fn refusal(
    label: &'static str,
    api_version: &'static ApiVersion,
    refusal: Refusal,
    context: &CallContext,
) -> HttpResponse {
    response(context, label, refuse(api_version, refusal, context.request_id()))
}
