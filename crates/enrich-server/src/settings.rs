//! Settings of a server process.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The address to listen on; port 0 selects a free port.
    pub listen: SocketAddr,
    /// A separate address for the admin pages. If `None`, the admin pages are served at `listen`.
    pub admin_listen: Option<SocketAddr>,
    /// The number of threads that answer requests.
    pub workers: NonZeroUsize,
    /// The most concurrent connections.
    pub max_connections: NonZeroUsize,
    /// The most concurrent connections from one address; `None` for no limit.
    pub max_connections_per_address: Option<NonZeroUsize>,
    /// The time limit for the head of a connection's first request.
    pub head_timeout: Duration,
    /// The time limit for the arrival of a request's body.
    pub body_timeout: Duration,
    /// The time for which an idle connection is kept open between requests.
    pub keep_alive: Duration,
    /// The time to wait for requests in flight at shutdown. A fraction of a second is ignored.
    pub shutdown_timeout: Duration,
    /// Whether each request is logged.
    pub logs_requests: bool,
    /// The account page; `None` to turn it off.
    pub account_page: Option<AccountPageSettings>,
}

/// Settings of the account page.
#[derive(Clone, Debug)]
pub struct AccountPageSettings {
    /// Settings of the account page's web pages. `serve` replaces the listening address in them
    /// with the bound one.
    pub dashboard: enrich_dashboard::Settings,
    /// Settings of the lists of rows that owners upload on the account page.
    pub jobs: enrich_bulk::jobs::Settings,
}
