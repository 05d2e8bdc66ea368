//! The state that handlers share: one state for the process, and one for each listener.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use enrich_core::Service;
use enrich_dashboard::Dashboard;

use crate::log_throttle::LogThrottle;
use crate::metrics::Metrics;
use crate::metrics_cache::MetricsCache;
use crate::sampled::SampledMetrics;
use crate::versions::endpoint_paths;

/// What a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// The API with its OpenAPI document, the account page and the admin pages.
    Everything,
    /// Everything except the admin pages, because they have a listener of their own.
    Interface,
    /// Only the admin pages.
    Admin,
}

/// A function that returns why the store that several processes share cannot be used now, or
/// `None` if it can be used. Each request to `/readyz` calls the function, so it must not block.
pub type UnreadyReason = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// The functions by which a server asks about the store that several processes share.
#[derive(Clone)]
pub struct SharedStore {
    /// Returns why the store cannot be used now, or `None` if it can be used.
    pub unready_reason: UnreadyReason,
    /// Returns the metrics of the store.
    pub metrics: SampledMetrics,
}

/// The state that all workers of all listeners share.
pub struct AppState {
    pub(crate) service: Arc<Service>,
    pub(crate) dashboard: Option<Dashboard>,
    pub(crate) metrics: Metrics,
    pub(crate) metrics_cache: MetricsCache,
    pub(crate) body_timeout: Duration,
    pub(crate) logs_requests: bool,
    pub(crate) log_throttle: LogThrottle,
    pub(crate) shared_store: Option<SharedStore>,
    is_closing: AtomicBool,
}

impl AppState {
    /// Creates the state of a service. `body_timeout` is the time limit for the body of a request.
    pub fn new(service: Arc<Service>, body_timeout: Duration, logs_requests: bool) -> Self {
        Self {
            service,
            dashboard: None,
            metrics: Metrics::new(endpoint_paths()),
            metrics_cache: MetricsCache::default(),
            body_timeout,
            logs_requests,
            log_throttle: LogThrottle::default(),
            shared_store: None,
            is_closing: AtomicBool::new(false),
        }
    }

    /// Sets the store that several processes share; `None` if this process has its own.
    pub fn with_shared_store(self, shared_store: Option<SharedStore>) -> Self {
        Self { shared_store, ..self }
    }

    /// Sets the account page.
    pub fn with_dashboard(self, dashboard: Dashboard) -> Self {
        Self { dashboard: Some(dashboard), ..self }
    }

    /// Returns the metered service, which answers calls.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Frees memory of the metrics. Each measured duration takes memory of its own until this
    /// function puts it into a bucket of a histogram. So this must be called every few seconds.
    pub fn tidy_metrics(&self) {
        self.metrics.tidy();
    }

    /// Begins the shutdown: from now on, calls are refused, and `/readyz` answers that the service
    /// is not ready.
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
    /// The state that all listeners share.
    pub app: Arc<AppState>,
    /// What this listener serves.
    pub serves: Serves,
}
