//! The operator's settings of the pages.

use std::net::SocketAddr;

use jiff::SignedDuration;

/// The settings of the pages.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The public URL, as browsers write an origin (`https://enrich.example`). Without it, the
    /// request's host is used.
    pub public_url: Option<String>,
    /// The listening address. Without a public URL, `Host` must contain this address. `None`
    /// accepts any host, for servers that check it themselves.
    pub listens_on: Option<SocketAddr>,
    /// Idle time after which a session ends.
    pub session_idle: SignedDuration,
    /// Time after which a session ends, even if it is used.
    pub session_lifetime: SignedDuration,
}

impl Default for Settings {
    /// 12 hours without a request, two weeks in total.
    fn default() -> Self {
        Self {
            public_url: None,
            listens_on: None,
            session_idle: SignedDuration::from_hours(12),
            session_lifetime: SignedDuration::from_hours(14 * 24),
        }
    }
}
