//! Settings of a server process.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Address to listen on; port 0 takes any that is free.
    pub listen: SocketAddr,
    /// Address of the admin pages, which are then not served at `listen`.
    pub admin_listen: Option<SocketAddr>,
    /// Threads that answer requests.
    pub workers: NonZeroUsize,
    /// Connections at once.
    pub max_connections: NonZeroUsize,
    /// Connections at once from one address; `None` for any number.
    pub max_connections_per_address: Option<NonZeroUsize>,
    /// How long the head of a connection's first request may take to arrive.
    pub head_timeout: Duration,
    /// How long a request's body may take to arrive.
    pub body_timeout: Duration,
    /// How long a connection is kept open between requests.
    pub keep_alive: Duration,
    /// How long requests in flight are waited for at the end; whole seconds.
    pub shutdown_timeout: Duration,
    /// Whether each request is logged.
    pub logs_requests: bool,
    /// The account page; `None` to serve none.
    pub account_page: Option<AccountPageSettings>,
}

/// Settings of the account page.
#[derive(Clone, Debug)]
pub struct AccountPageSettings {
    /// Those of its pages. Where the process listens is filled in when it is known.
    pub dashboard: enrich_dashboard::Settings,
    /// Those of its lists.
    pub jobs: enrich_bulk::jobs::Settings,
}
