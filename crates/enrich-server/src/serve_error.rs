//! Why a server does not start, or ends.

use std::error::Error;
use std::io;
use std::net::SocketAddr;

/// Why a server did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address cannot be listened on.
    #[error("cannot listen on {address}{hint}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What to do.
        hint: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// Signals cannot be received.
    #[error("signals cannot be listened for")]
    Signals(#[source] io::Error),
    /// What is served cannot be prepared.
    #[error(transparent)]
    Prepare(Box<dyn Error + Send + Sync>),
    /// The lists of the account page cannot be read.
    #[error("the lists in {folder} cannot be used")]
    Lists {
        /// Their folder.
        folder: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The account page cannot be served.
    #[error("the account page cannot be served")]
    AccountPage(#[source] io::Error),
    /// The server cannot run.
    #[error("the server cannot run")]
    Server(#[source] io::Error),
    /// The server ended without being told to.
    #[error("the server ended by itself")]
    Ended,
}
