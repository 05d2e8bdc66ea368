//! The settings of the account page that the operator can choose.

use std::net::SocketAddr;

use jiff::SignedDuration;

/// The operator's settings of the account page.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The public URL, in the form of an origin (`https://enrich.example`). If there is no public
    /// URL, the host in the request is used.
    pub public_url: Option<String>,
    /// The listening address. Without a public URL, the header `Host` must contain this address.
    /// `None` accepts any host; then the HTTP server must check the host itself.
    pub listens_on: Option<SocketAddr>,
    /// Idle time after which a session ends.
    pub session_idle: SignedDuration,
    /// Time after which a session ends, even if it is used.
    pub session_lifetime: SignedDuration,
}

impl Default for Settings {
    /// A session ends after 12 hours without a request, and after two weeks even if it is used.
    fn default() -> Self {
        Self {
            public_url: None,
            listens_on: None,
            session_idle: SignedDuration::from_hours(12),
            session_lifetime: SignedDuration::from_hours(14 * 24),
        }
    }
}
