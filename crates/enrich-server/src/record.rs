//! The inner middleware: refuses requests of connections beyond the limit, and records responses in
//! the metrics and the log.
//!
//! Records hold no key, no input and no value of an answer. Paths without a route are not recorded,
//! because callers choose their text.

use std::time::{Duration, Instant};

use actix_web::Error;
use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::HeaderValue;
use actix_web::middleware::Next;
use enrich_core::{RateScope, Refusal};
use enrich_wire::Response;
use tracing::field::display;
use tracing::{error, info, warn};

use crate::admin::AdminPage;
use crate::connection_end::has_slot;
use crate::context::{Answered, CallContext, OTHER};
use crate::error_chain::error_chain;
use crate::header::REQUEST_ID;
use crate::response::refusal;
use crate::state::AppState;
use crate::versions::api_version_of;

/// Answers the request and records the response. Beyond the connection limit only admin pages are
/// answered.
pub(crate) async fn record(
    app: &AppState,
    mut request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let context = request.extract::<CallContext>().await?;
    let method = method_name(request.method());
    let is_admitted = has_slot(&context) || AdminPage::at(request.path()).is_some();
    let mut sent = if is_admitted {
        next.call(request).await?
    } else {
        let api_version = api_version_of(request.path());
        let refused = refusal(OTHER, api_version, Refusal::Overloaded, &context);
        request.into_response(refused)
    };
    if !sent.headers().contains_key(REQUEST_ID)
        && let Ok(id) = HeaderValue::from_str(context.request_id().as_str())
    {
        sent.headers_mut().insert(REQUEST_ID, id);
    }
    if let Some(answered) = context.take_answered() {
        let record = Record { app, request_id: context.request_id().as_str(), method };
        record.write(&answered, context.started().elapsed());
    }
    Ok(sent)
}

/// The data of a recorded response.
struct Record<'a> {
    app: &'a AppState,
    request_id: &'a str,
    method: &'static str,
}

impl Record<'_> {
    fn write(&self, answered: &Answered, took: Duration) {
        let Answered { label, response } = answered;
        self.app.metrics.count(label, response, took);
        self.log_refusal(label, response);
        self.log_overrun(response);
        if self.app.logs_requests {
            let (endpoint, request_id, status) = (label, self.request_id, response.status);
            let method = self.method;
            let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            let key = response.key.as_ref().map(|key| display(key.id));
            info!(method, endpoint, status, micros, request_id, key, "answered");
        }
    }

    fn log_refusal(&self, endpoint: &'static str, response: &Response) {
        let (request_id, status) = (self.request_id, response.status);
        match &response.refusal {
            Some(refusal @ (Refusal::Failed(_) | Refusal::OutcomeUnknown(_))) => {
                let error = error_chain(refusal);
                error!(endpoint, status, request_id, error, "a request failed on our side");
            }
            Some(
                refusal @ (Refusal::NotCharging
                | Refusal::Overloaded
                | Refusal::IdempotencyStoreFull),
            ) => {
                let Some(unlogged) = self.app.log_throttle.admit(refusal, Instant::now()) else {
                    return;
                };
                let error = refusal.to_string();
                let account = response.key.as_ref().map(|key| display(key.account));
                warn!(
                    endpoint,
                    status, request_id, account, error, unlogged, "a request was turned away"
                );
            }
            _ => {}
        }
    }

    fn log_overrun(&self, response: &Response) {
        let (Some(key), Some(rate)) = (&response.key, &response.rate_limit_status) else { return };
        if !rate.is_first_over {
            return;
        }
        let (requests, window_seconds) = (rate.limit.requests(), rate.limit.window_seconds());
        let (request_id, key, account) = (self.request_id, key.id, key.account);
        match rate.scope {
            RateScope::Key => {
                warn!(%key, requests, window_seconds, request_id, "a key is over its rate limit");
            }
            RateScope::Account => {
                warn!(%account, %key, requests, window_seconds, request_id,
                    "an account is over its rate limit");
            }
        }
    }
}

/// The method's name for the log. Unknown methods are not repeated, because callers choose their
/// text.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::CONNECT => "CONNECT",
        Method::TRACE => "TRACE",
        _ => "other",
    }
}
