//! The pages beside the interface: whether the process is up, whether it can serve, its metrics.

use bytes::Bytes;
use enrich_core::{Credits, RequestId};
use enrich_wire::Response;
use serde::Serialize;

use super::AppState;

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AdminPage {
    /// The process is up.
    Health,
    /// The service can answer and charge.
    Ready,
    /// The metrics, in Prometheus' text format.
    Metrics,
}

/// What has to hold for the service to be ready, each by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Readiness {
    /// All of it.
    ready: bool,
    /// The directory can be read.
    directory: bool,
    /// Charges are being decided.
    charging: bool,
    /// The process is ending.
    shutting_down: bool,
}

impl AdminPage {
    /// All of them.
    pub(super) const ALL: [Self; 3] = [Self::Health, Self::Ready, Self::Metrics];

    /// The page at `path`.
    pub(super) fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|page| page.path() == path)
    }

    /// Its path.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Health => "/healthz",
            Self::Ready => "/readyz",
            Self::Metrics => "/metrics",
        }
    }

    /// The page as it is now, and its body.
    pub(super) async fn answer(self, app: &AppState, request_id: &RequestId) -> (Response, Bytes) {
        const JSON: &str = "application/json";
        let (status, content_type, body) = match self {
            Self::Health => (200, JSON, Bytes::from_static(br#"{"up":true}"#)),
            Self::Ready => {
                let readiness = readiness(app).await;
                let body = serde_json::to_vec(&readiness).unwrap_or_default();
                (if readiness.ready { 200 } else { 503 }, JSON, body.into())
            }
            Self::Metrics => {
                let revision = app.service.directory.revision().await.ok();
                let is_charging = app.service.ledger.is_charging();
                let render = || app.metrics.render(revision, is_charging).into_bytes();
                let body = app.renderings.get(render);
                (200, "text/plain; version=0.0.4; charset=utf-8", body)
            }
        };
        let response = Response {
            status,
            headers: vec![
                ("content-type", content_type.into()),
                ("cache-control", "no-store".into()),
                ("x-request-id", request_id.to_string().into()),
            ],
            body: Vec::new(),
            used: Credits::ZERO,
            is_found: None,
            key: None,
            rate_limit_status: None,
            refusal: None,
        };
        (response, body)
    }
}

async fn readiness(app: &AppState) -> Readiness {
    let directory = app.service.directory.revision().await;
    if let Err(error) = &directory {
        tracing::warn!(error = crate::explained::explained(error), "the directory cannot be read");
    }
    let directory = directory.is_ok();
    let charging = app.service.ledger.is_charging();
    let shutting_down = app.is_closing();
    Readiness { ready: directory && charging && !shutting_down, directory, charging, shutting_down }
}
