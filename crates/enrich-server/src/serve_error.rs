//! Why a server could not start, or could not continue.

use std::error::Error;
use std::io;
use std::net::SocketAddr;

/// Why a server did not start, or ended although it had not been told to stop.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The server cannot listen on an address.
    #[error("cannot listen on {address}{hint}")]
    Listen {
        /// The address at which the server was to listen.
        address: SocketAddr,
        /// What the operator can do, to be appended to the message; empty if this is not known.
        hint: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The handlers for SIGTERM and Ctrl-C cannot be installed.
    #[error("signals cannot be listened for")]
    Signals(#[source] io::Error),
    /// The function `prepare`, which the caller gives to `serve`, failed.
    #[error(transparent)]
    Prepare(Box<dyn Error + Send + Sync>),
    /// The lists that account owners have uploaded cannot be read.
    #[error("the lists in {folder} cannot be used")]
    Lists {
        /// The folder with the lists.
        folder: String,
        /// Why the lists cannot be read.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The state of the account page cannot be created, for example because the system provides no
    /// random bytes.
    #[error("the account page cannot be served")]
    AccountPage(#[source] io::Error),
    /// An HTTP server could not start, or ended with an error or a panic.
    #[error("the server cannot run")]
    Server(#[source] io::Error),
    /// An HTTP server ended without an error, although nobody told it to stop.
    #[error("the server ended by itself")]
    Ended,
}
