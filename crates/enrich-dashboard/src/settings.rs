//! What the operator decides about the pages.

use std::net::SocketAddr;

use jiff::SignedDuration;

/// The settings of the pages.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address people reach the service at, as browsers name an origin (`https://enrich.example`);
    /// without one it is what a request says.
    pub public_url: Option<String>,
    /// Where the server listens: without a public address, only this one is believed in requests.
    /// `None` believes any, for servers that see to it themselves.
    pub listens_on: Option<SocketAddr>,
    /// After how long without a request a session ends.
    pub session_idle: SignedDuration,
    /// After how long a session ends, used or not.
    pub session_lifetime: SignedDuration,
}

impl Default for Settings {
    /// Half a day without a request, two weeks in all.
    fn default() -> Self {
        Self {
            public_url: None,
            listens_on: None,
            session_idle: SignedDuration::from_hours(12),
            session_lifetime: SignedDuration::from_hours(14 * 24),
        }
    }
}
