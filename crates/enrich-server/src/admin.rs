//! The admin pages: `/healthz` shows whether the process runs, `/readyz` whether it can serve
//! calls, and `/metrics` shows its metrics.

use actix_web::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue};
use actix_web::web::{self, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use enrich_core::error_chain;
use serde::Serialize;
use tracing::warn;

use crate::context::CallContext;
use crate::guard::is_not_escaped;
use crate::response::unmetered;
use crate::state::AppState;
use crate::unrouted::{options, wrong_method};

const JSON: &str = "application/json";
const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdminPage {
    /// `/healthz`: the process runs.
    Health,
    /// `/readyz`: the process can answer calls and charge them.
    Ready,
    /// `/metrics`: the metrics, in the text format of Prometheus.
    Metrics,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Readiness {
    /// Whether the process can serve calls: all checks below succeed, and no shutdown has begun.
    ready: bool,
    /// Whether the directory can be read.
    directory: bool,
    /// Whether the ledger can charge calls now.
    charging: bool,
    /// Whether a shutdown has begun.
    shutting_down: bool,
    /// Whether the store that several processes share can be used now; absent if this process
    /// uses a data folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<bool>,
    /// Why the shared store cannot be used; absent if it can be used, or if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(crate) fn configure(config: &mut ServiceConfig) {
    for page in AdminPage::ALL {
        let resource = web::resource(page.path())
            .guard(is_not_escaped())
            .route(web::get().to(move |context| answer(page, context)))
            .default_service(web::to(move |request, context| other_method(page, request, context)));
        config.service(resource);
    }
}

impl AdminPage {
    pub(crate) const ALL: [Self; 3] = [Self::Health, Self::Ready, Self::Metrics];

    pub(crate) fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|page| page.path() == path)
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Health => "/healthz",
            Self::Ready => "/readyz",
            Self::Metrics => "/metrics",
        }
    }

    /// Whether scripts of other web sites may read this admin page.
    fn is_open(self) -> bool {
        self != Self::Metrics
    }
}

async fn answer(page: AdminPage, context: CallContext) -> HttpResponse {
    let app = context.app();
    let (status, content_type, body) = match page {
        AdminPage::Health => (200, JSON, Bytes::from_static(br#"{"up":true}"#)),
        AdminPage::Ready => {
            let readiness = readiness(app).await;
            let body = serde_json::to_vec(&readiness).unwrap_or_default();
            (if readiness.ready { 200 } else { 503 }, JSON, body.into())
        }
        AdminPage::Metrics => (200, PROMETHEUS_TEXT, metrics(app).await),
    };
    let headers = vec![("content-type", content_type.into()), ("cache-control", "no-store".into())];
    let mut sent = unmetered(&context, page.path(), status, headers, body);
    if page.is_open() {
        let anybody = HeaderValue::from_static("*");
        sent.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, anybody);
    }
    sent
}

async fn other_method(page: AdminPage, request: HttpRequest, context: CallContext) -> HttpResponse {
    options(&request, &context, page.path(), "GET, OPTIONS", page.is_open())
        .unwrap_or_else(|| wrong_method(&request, &context, page.path(), "GET"))
}

async fn metrics(app: &AppState) -> Bytes {
    let revision = app.service.directory.revision().await.ok();
    let is_charging = app.service.ledger.check_charging();
    app.metrics_cache.get(|| {
        let mut text = app.metrics.render(revision, is_charging);
        let sampled = app.shared_store.as_ref().map(|store| (store.metrics)()).unwrap_or_default();
        sampled.iter().for_each(|metric| metric.write_to(&mut text));
        text.into_bytes()
    })
}

async fn readiness(app: &AppState) -> Readiness {
    let directory = app.service.directory.revision().await;
    if let Err(error) = &directory {
        warn!(error = error_chain(error), "the directory cannot be read");
    }
    let directory = directory.is_ok();
    let charging = app.service.ledger.check_charging();
    let shutting_down = app.is_closing();
    let reason = app.shared_store.as_ref().and_then(|store| (store.unready_reason)());
    if let Some(reason) = &reason {
        warn!(reason, "the store cannot be used");
    }
    Readiness {
        ready: directory && charging && reason.is_none() && !shutting_down,
        directory,
        charging,
        shutting_down,
        store: app.shared_store.as_ref().map(|_| reason.is_none()),
        reason,
    }
}
