//! The state of a connection, through which other threads can cut the connection.

use std::net::{Shutdown, TcpStream};
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::SockRef;

/// How a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// With RST: both sides get `ECONNRESET`.
    Reset,
    /// With FIN: both sides read an end of the stream.
    Finish,
}

/// The state of a connection, through which other threads can cut the connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Weak<TcpStream>,
    pub(super) server: Weak<TcpStream>,
    pub(super) is_cut: AtomicBool,
    /// Whether the server's replies are dropped, so that they no longer reach the client.
    pub(super) is_mute: AtomicBool,
    /// Whether the client's socket is being reset. The thread that writes to the client must then
    /// drop its handle of this socket.
    pub(super) is_client_cut: AtomicBool,
}

impl Connection {
    /// Makes the threads of this connection close both of its sockets.
    pub(super) fn cut(&self, how: Cut) {
        self.is_cut.store(true, Ordering::Release);
        for socket in [&self.client, &self.server] {
            leave(socket, how);
        }
    }

    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Acquire)
    }

    /// Whether at least one of the two sockets is open.
    pub(super) fn is_open(&self) -> bool {
        self.client.strong_count() + self.server.strong_count() > 0
    }

    pub(super) fn is_mute(&self) -> bool {
        self.is_mute.load(Ordering::Acquire)
    }
}

/// Ends the thread that reads from `socket`. The thread then drops its handle of the socket. When
/// the thread that writes to the socket has dropped its handle too, the socket is closed. With
/// [`Cut::Reset`], closing the socket sends RST.
pub(super) fn leave(socket: &Weak<TcpStream>, how: Cut) {
    let Some(socket) = socket.upgrade() else { return };
    if how == Cut::Reset {
        // With this option, closing the socket sends RST.
        let _ = SockRef::from(&*socket).set_linger(Some(Duration::ZERO));
    }
    // This call sends nothing. It ends a read that waits for data.
    let _ = socket.shutdown(Shutdown::Read);
}
