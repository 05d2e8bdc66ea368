//! The settings of a server process.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

/// The settings of a server process.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The address on which the server listens; with port 0, the system chooses a free port.
    pub listen: SocketAddr,
    /// A separate address for the admin pages. If it is `None`, they are served at `listen` too.
    pub admin_listen: Option<SocketAddr>,
    /// The number of threads that answer requests.
    pub workers: NonZeroUsize,
    /// Maximum number of connections at the same time.
    pub max_connections: NonZeroUsize,
    /// Maximum number of connections from one address at the same time; `None` for no limit.
    pub max_connections_per_address: Option<NonZeroUsize>,
    /// The time limit for the head of a connection's first request.
    pub head_timeout: Duration,
    /// The time limit for the whole body of a request to arrive. If a signed-in account owner
    /// uploads a list, this is the limit for each piece of the body instead.
    pub body_timeout: Duration,
    /// The time for which a connection stays open while it waits for the next request.
    pub keep_alive: Duration,
    /// The time for which a shutdown waits for requests that are being answered. A fraction of a
    /// second is ignored.
    pub shutdown_timeout: Duration,
    /// Whether each request is logged.
    pub logs_requests: bool,
    /// The settings of the account page; `None` if it is switched off.
    pub account_page: Option<AccountPageSettings>,
}

/// The settings of the account page.
#[derive(Clone, Debug)]
pub struct AccountPageSettings {
    /// The settings of the web pages. `serve` overwrites the field `listens_on` with the address on
    /// which the server really listens, because [`ServerSettings::listen`] may have the port 0.
    pub dashboard: enrich_dashboard::Settings,
    /// The limits for the lists that account owners upload on the account page, and for the jobs
    /// that look up the rows of these lists.
    pub jobs: enrich_bulk::jobs::Settings,
}
