//! Enrich over HTTP: the actix-web application and its listeners.
//!
//! [`Listener`] binds an address and serves a [`ListenerState`]. Paths and methods come from the
//! tables of `enrich-wire-v1` and `enrich-wire-v2`. `enrich-wire` and `enrich-core` answer calls,
//! and `enrich-dashboard` creates the account page.

mod account;
mod admin;
mod admission;
mod app;
mod body;
mod chunked_body;
mod clock_watch;
mod connection;
mod connection_end;
mod context;
mod detach;
mod document;
mod encoding;
mod endpoint;
mod guard;
mod header;
mod listener;
mod log_throttle;
mod metrics;
mod metrics_cache;
mod open_files;
mod record;
mod response;
mod sampled;
mod serve;
mod serve_error;
mod servers;
mod settings;
mod shutdown;
mod state;
#[cfg(test)]
mod tests;
mod unrouted;
mod upkeep;
mod versions;

pub use connection::StallTimeouts;
pub use listener::{Listener, ListenerLimits};
pub use sampled::{Label, SampledKind, SampledMetric, SampledMetrics};
pub use serve::{Prepared, serve};
pub use serve_error::ServeError;
pub use settings::{AccountPageSettings, ServerSettings};
pub use shutdown::stop_signal;
pub use state::{AppState, ListenerState, Serves, SharedStore, UnreadyReason};
pub use versions::API_VERSIONS;
