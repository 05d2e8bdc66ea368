//! State shared by the handlers: one for the process, one for each listener.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use enrich_core::Service;
use enrich_dashboard::Dashboard;

use crate::log_throttle::LogThrottle;
use crate::metrics::Metrics;
use crate::metrics_cache::MetricsCache;
use crate::versions::endpoint_paths;

/// What a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// The API with its document, the account page and the admin pages.
    Everything,
    /// Everything except the admin pages, which have their own listener.
    Interface,
    /// Only the admin pages.
    Admin,
}

/// Tells why a store that several processes share cannot be used now; `None` if it can. Called for
/// each request of `/readyz`, so it must not block.
pub type UnreadyReason = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// The state shared by all workers of all listeners.
pub struct AppState {
    pub(crate) service: Arc<Service>,
    pub(crate) dashboard: Option<Dashboard>,
    pub(crate) metrics: Metrics,
    pub(crate) metrics_cache: MetricsCache,
    pub(crate) body_timeout: Duration,
    pub(crate) logs_requests: bool,
    pub(crate) log_throttle: LogThrottle,
    pub(crate) unready_reason: Option<UnreadyReason>,
    is_closing: AtomicBool,
}

impl AppState {
    /// Creates the state of a service. `body_timeout` limits the arrival of a request's body.
    pub fn new(service: Arc<Service>, body_timeout: Duration, logs_requests: bool) -> Self {
        Self {
            service,
            dashboard: None,
            metrics: Metrics::new(endpoint_paths()),
            metrics_cache: MetricsCache::default(),
            body_timeout,
            logs_requests,
            log_throttle: LogThrottle::default(),
            unready_reason: None,
            is_closing: AtomicBool::new(false),
        }
    }

    /// Adds the question whether a shared store can be used.
    pub fn with_unready_reason(self, unready_reason: Option<UnreadyReason>) -> Self {
        Self { unready_reason, ..self }
    }

    /// Adds the account page.
    pub fn with_dashboard(self, dashboard: Dashboard) -> Self {
        Self { dashboard: Some(dashboard), ..self }
    }

    /// The service.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Merges the metrics that were recorded since the last call, to free memory. Must be called
    /// every few seconds.
    pub fn tidy_metrics(&self) {
        self.metrics.tidy();
    }

    /// Marks the service as shutting down. From then on, calls are refused and `/readyz` reports
    /// that the service is not ready.
    pub fn begin_closing(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Relaxed)
    }
}

/// The state of a listener.
#[derive(Clone)]
pub struct ListenerState {
    /// The state shared by all listeners.
    pub app: Arc<AppState>,
    /// What this listener serves.
    pub serves: Serves,
}
