//! The endpoints of the API: adds a route for each endpoint in the tables, and handles its calls.

use std::panic::AssertUnwindSafe;

use actix_web::http::header::{AUTHORIZATION, CONTENT_TYPE};
use actix_web::web::{self, Payload, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use enrich_core::Refusal;
use enrich_wire::{ApiVersion, Endpoint, Request, RequestRefusal, refuse, respond};
use futures_util::FutureExt;

use crate::body;
use crate::context::CallContext;
use crate::guard::{is_not_escaped, is_post};
use crate::header::{API_KEY, IDEMPOTENCY_KEY, text};
use crate::response::{refusal, response};
use crate::unrouted::{options, wrong_method};
use crate::versions::API_VERSIONS;

/// The error of a call whose handler panicked. Rust's panic message in the log names the line of
/// code.
#[derive(Debug, thiserror::Error)]
#[error("the code that answers panicked")]
struct Panicked;

/// Adds two routes for each endpoint: its path, and its path with a slash at the end, because
/// many clients add one. Routes are tried in order. The routes with a slash come last, because
/// few calls need them.
pub(crate) fn configure(config: &mut ServiceConfig) {
    for suffix in ["", "/"] {
        for api_version in API_VERSIONS {
            for endpoint in api_version.endpoints {
                add(config, api_version, endpoint, &format!("{}{suffix}", endpoint.path));
            }
        }
    }
}

fn add(
    config: &mut ServiceConfig,
    api_version: &'static ApiVersion,
    endpoint: &'static Endpoint,
    path: &str,
) {
    let call = move |request, body, context| answer(api_version, endpoint, request, body, context);
    let other = move |request, context| other_method(endpoint, request, context);
    let resource = web::resource(path).guard(is_not_escaped());
    let route = web::route().guard(is_post()).to(call);
    config.service(resource.route(route).default_service(web::to(other)));
}

async fn other_method(
    endpoint: &'static Endpoint,
    request: HttpRequest,
    context: CallContext,
) -> HttpResponse {
    options(&request, &context, endpoint.path, "OPTIONS, POST", false)
        .unwrap_or_else(|| wrong_method(&request, &context, endpoint.path, "POST"))
}

async fn answer(
    api_version: &'static ApiVersion,
    endpoint: &'static Endpoint,
    request: HttpRequest,
    mut body: Payload,
    context: CallContext,
) -> HttpResponse {
    let app = context.app();
    let refused = |why| refusal(endpoint.path, api_version, why, &context);
    if app.is_closing() {
        return refused(RequestRefusal::ShuttingDown);
    }
    let poll_again = context.signals().map(|signals| &signals.poll_again);
    let body = body::read(request.headers(), &mut body, app.body_timeout, poll_again).await;
    let body = match body {
        Ok(body) => body,
        Err(unread) => {
            if unread.is_at_end {
                context.end_body();
            }
            return refused(unread.refusal);
        }
    };
    context.end_body();
    let headers = request.headers();
    let (content_type, api_key) = (text(headers, CONTENT_TYPE), text(headers, API_KEY));
    let (authorization, idempotency_key) =
        (text(headers, AUTHORIZATION), text(headers, IDEMPOTENCY_KEY));
    let call = Request {
        content_type: content_type.as_deref(),
        api_key: api_key.as_deref(),
        authorization: authorization.as_deref(),
        idempotency_key: idempotency_key.as_deref(),
        body: &body,
    };
    // The future of the call is boxed, and is allocated only now. So a connection needs no memory
    // for it while the body is still arriving.
    let id = context.request_id();
    let answer = Box::pin(respond(&app.service, api_version, endpoint, id, call));
    // If the handler panics, the client gets a refusal. It says that nobody knows whether the
    // call was charged.
    let answer = AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|_| {
        refuse(api_version, Refusal::OutcomeUnknown(Panicked.into()).into(), id)
    });
    response(&context, endpoint.path, answer)
}
