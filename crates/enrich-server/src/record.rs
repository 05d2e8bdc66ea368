//! The inner part of the middleware. It records each response in the metrics and the log. If a
//! connection is beyond the connection limit, it also refuses the connection's requests, except
//! those for the admin pages.
//!
//! Neither the log nor the metrics contain keys, inputs or values of answers. The path of a request
//! that matches no route is not logged, because the caller chooses it.

use std::time::{Duration, Instant};

use actix_web::Error;
use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::HeaderValue;
use actix_web::middleware::Next;
use enrich_core::{RateScope, Refusal, error_chain};
use enrich_wire::{CallRecord, RequestRefusal};
use tracing::field::display;
use tracing::{error, info, warn};

use crate::admin::AdminPage;
use crate::context::{Answered, CallContext, OTHER};
use crate::header::REQUEST_ID;
use crate::response::refusal;
use crate::state::AppState;
use crate::versions::api_version_of;

/// Answers a request, and records its response in the metrics and the log. If the request's
/// connection has no slot, because it is beyond the connection limit, only admin pages are served.
/// Other requests are refused as overloaded.
pub(crate) async fn record(
    context: CallContext,
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let method = method_name(request.method());
    let is_admitted = context.has_slot() || AdminPage::at(request.path()).is_some();
    let mut sent = if is_admitted {
        next.call(request).await?
    } else {
        let api_version = api_version_of(request.path());
        let refused = refusal(OTHER, api_version, Refusal::Overloaded.into(), &context);
        request.into_response(refused)
    };
    if !sent.headers().contains_key(REQUEST_ID)
        && let Ok(id) = HeaderValue::from_str(context.request_id().as_str())
    {
        sent.headers_mut().insert(REQUEST_ID, id);
    }
    if let Some(answered) = context.take_answered() {
        let request_id = context.request_id().as_str();
        let recorder = Recorder { app: context.app(), request_id, method };
        recorder.write(&answered, context.started().elapsed());
    }
    Ok(sent)
}

struct Recorder<'a> {
    app: &'a AppState,
    request_id: &'a str,
    method: &'static str,
}

impl Recorder<'_> {
    fn write(&self, answered: &Answered, took: Duration) {
        let &Answered { label, status, ref record } = answered;
        self.app.metrics.count(label, status, record.as_ref(), took);
        if let Some(record) = record {
            self.log_refusal(label, status, record);
            self.log_overrun(record);
        }
        if self.app.logs_requests {
            let (endpoint, request_id) = (label, self.request_id);
            let method = self.method;
            let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            let key = record.as_ref().and_then(|record| record.key.as_ref());
            let key = key.map(|key| display(key.id));
            info!(method, endpoint, status, micros, request_id, key, "answered");
        }
    }

    fn log_refusal(&self, endpoint: &'static str, status: u16, record: &CallRecord) {
        let Some(RequestRefusal::Service(refusal)) = record.outcome.refusal() else { return };
        let request_id = self.request_id;
        match refusal {
            Refusal::Failed(_) | Refusal::OutcomeUnknown(_) => {
                let error = error_chain(refusal);
                error!(endpoint, status, request_id, error, "a request failed on our side");
            }
            Refusal::NotCharging
            | Refusal::Overloaded
            | Refusal::Unavailable(_)
            | Refusal::IdempotencyStoreFull => {
                let Some(unlogged) = self.app.log_throttle.admit(refusal, Instant::now()) else {
                    return;
                };
                let error = error_chain(refusal);
                let account = record.key.as_ref().map(|key| display(key.account));
                warn!(
                    endpoint,
                    status, request_id, account, error, unlogged, "a request was turned away"
                );
            }
            _ => {}
        }
    }

    fn log_overrun(&self, record: &CallRecord) {
        let (Some(key), Some(rate)) = (&record.key, &record.rate_limit_status) else { return };
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

/// Returns the name of a method for the log. An unknown method becomes `other`, because the
/// client chooses its text.
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
