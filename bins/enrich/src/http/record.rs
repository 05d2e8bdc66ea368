//! What is written down of a request once it is answered: counters, and the log.
//!
//! Nothing of it holds a key, an input or a value of an answer; paths that lead nowhere are not
//! repeated.

use std::time::Instant;

use actix_http::Method;
use enrich_core::{RateScope, Refusal, RequestId};
use enrich_wire::Response;
use tracing::field::display;
use tracing::{error, info, warn};

use super::AppState;
use crate::explained::explained;

/// A request on its way through the handler.
pub(super) struct CallContext {
    pub(super) started: Instant,
    /// As [`method_name`] has it.
    pub(super) method: &'static str,
    pub(super) label: &'static str,
    pub(super) request_id: RequestId,
}

impl CallContext {
    /// Writes down how the request was answered.
    pub(super) fn finish(&self, app: &AppState, response: &Response) {
        let took = self.started.elapsed();
        app.metrics.count(self.label, response, took);
        let (endpoint, request_id) = (self.label, self.request_id.as_str());
        match &response.refusal {
            Some(refusal @ (Refusal::Failed(_) | Refusal::OutcomeUnknown(_))) => {
                let (status, error) = (response.status, explained(refusal));
                error!(endpoint, status, request_id, error, "a request failed on our side");
            }
            Some(
                refusal @ (Refusal::NotCharging
                | Refusal::Overloaded
                | Refusal::IdempotencyStoreFull),
            ) => {
                if let Some(unlogged) = app.turned_away.admit(refusal, Instant::now()) {
                    let (status, error) = (response.status, refusal.to_string());
                    let account = response.key.as_ref().map(|key| display(key.account));
                    warn!(
                        endpoint,
                        status, request_id, account, error, unlogged, "a request was turned away"
                    );
                }
            }
            _ => {}
        }
        if let (Some(key), Some(rate_limit_status)) = (&response.key, &response.rate_limit_status)
            && rate_limit_status.is_first_over
        {
            let (requests, window_seconds) =
                (rate_limit_status.limit.requests(), rate_limit_status.limit.window_seconds());
            let (key, account) = (key.id, key.account);
            match rate_limit_status.scope {
                RateScope::Key => {
                    warn!(%key, requests, window_seconds, request_id, "a key is over its rate limit");
                }
                RateScope::Account => {
                    warn!(%account, %key, requests, window_seconds, request_id,
                        "an account is over its rate limit");
                }
            }
        }
        if app.logs_requests {
            let (method, status) = (self.method, response.status);
            let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            let span_key = response.key.as_ref().map(|key| display(key.id));
            info!(method, endpoint, status, micros, request_id, key = span_key, "answered");
        }
    }
}

/// A method as it is logged. One that is not HTTP's own is a word of the caller's.
pub(super) fn method_name(method: &Method) -> &'static str {
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
