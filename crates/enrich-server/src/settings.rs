//! Settings of a server process.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Address to listen on; port 0 selects a free port.
    pub listen: SocketAddr,
    /// Separate address for the admin pages. If `None`, they are served at `listen`.
    pub admin_listen: Option<SocketAddr>,
    /// Threads that answer requests.
    pub workers: NonZeroUsize,
    /// Limit of concurrent connections.
    pub max_connections: NonZeroUsize,
    /// Limit of concurrent connections from one address; `None` for no limit.
    pub max_connections_per_address: Option<NonZeroUsize>,
    /// Time limit for the head of a connection's first request.
    pub head_timeout: Duration,
    /// Time limit for a request's body.
    pub body_timeout: Duration,
    /// Time an idle connection is kept open between requests.
    pub keep_alive: Duration,
    /// Time to wait for requests in flight at shutdown; whole seconds.
    pub shutdown_timeout: Duration,
    /// Whether each request is logged.
    pub logs_requests: bool,
    /// The account page; `None` to turn it off.
    pub account_page: Option<AccountPageSettings>,
}

/// Settings of the account page.
#[derive(Clone, Debug)]
pub struct AccountPageSettings {
    /// Settings of the pages. `serve` fills in the listening address.
    pub dashboard: enrich_dashboard::Settings,
    /// Settings of the lists.
    pub jobs: enrich_bulk::jobs::Settings,
}
