//! Why a server could not start, or could not continue.

use std::error::Error;
use std::io;
use std::net::SocketAddr;

/// Why a server did not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The server cannot listen on an address.
    #[error("cannot listen on {address}{hint}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Advice for the operator.
        hint: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// Signal handlers cannot be installed.
    #[error("signals cannot be listened for")]
    Signals(#[source] io::Error),
    /// `prepare` failed.
    #[error(transparent)]
    Prepare(Box<dyn Error + Send + Sync>),
    /// The lists of the account page cannot be read.
    #[error("the lists in {folder} cannot be used")]
    Lists {
        /// The folder.
        folder: String,
        /// Why the lists cannot be read.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The account page cannot be served.
    #[error("the account page cannot be served")]
    AccountPage(#[source] io::Error),
    /// The HTTP server cannot run.
    #[error("the server cannot run")]
    Server(#[source] io::Error),
    /// A server ended, although nobody told it to stop.
    #[error("the server ended by itself")]
    Ended,
}
