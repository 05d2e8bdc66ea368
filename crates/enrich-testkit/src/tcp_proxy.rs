//! A TCP proxy that simulates a network: it delays, holds back and cuts connections.
//!
//! Each connection has two queues, called delay lines: one in each direction. One thread reads
//! bytes and puts them into the queue, with the time at which they must be sent. Another thread
//! sends them at this time. So the delay changes neither the order of the bytes nor the throughput.
//! A delay is about 0.1 ms too long, because the sending thread sleeps and wakes up a little late.

mod connection;
mod network;
mod sockets;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

pub use network::{Direction, Trigger};
pub use sockets::Cut;

use connection::serve;
use network::{Network, Rules};

use crate::free_port::FreePort;

/// A listener on a port of 127.0.0.1 that forwards everything to another address.
///
/// When the proxy is dropped, it stops listening and resets its connections.
#[derive(Debug)]
pub struct TcpProxy {
    port: FreePort,
    network: Arc<Network>,
}

impl TcpProxy {
    /// Starts a proxy in front of the server at `target`, with `delay` in each direction.
    ///
    /// # Errors
    ///
    /// When no port can be opened.
    pub fn start(target: SocketAddr, delay: Duration) -> io::Result<Self> {
        let port = FreePort::reserve()?;
        let address = port.address();
        let listener = TcpListener::bind(address)?;
        let network = Arc::new(Network::new(target, delay));
        let shared = Arc::clone(&network);
        thread::spawn(move || listen(listener, address, &shared));
        Ok(Self { port, network })
    }

    /// Returns the address at which the proxy listens.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// Changes the target of new connections. Open connections keep their target.
    pub fn set_target(&self, target: SocketAddr) {
        self.network.change(|rules| rules.target = target);
    }

    /// Changes the delay in each direction, for bytes that the proxy reads after this call.
    pub fn set_delay(&self, delay: Duration) {
        self.network.change(|rules| rules.delay = delay);
    }

    /// Holds back all bytes until [`resume`](Self::resume) is called, including those of new
    /// connections. Connections stay open, as when a network cable is pulled out.
    pub fn pause_both(&self) {
        self.network.change(|rules| rules.is_paused = [true; 2]);
    }

    /// Holds back the bytes that go to the server, until [`resume`](Self::resume) is called.
    pub fn pause_to_server(&self) {
        self.network.change(|rules| rules.is_paused[Direction::ToServer as usize] = true);
    }

    /// Holds back the bytes that go to the clients, until [`resume`](Self::resume) is called.
    pub fn pause_to_client(&self) {
        self.network.change(|rules| rules.is_paused[Direction::ToClient as usize] = true);
    }

    /// Ends the pauses and sends the bytes that were held back.
    pub fn resume(&self) {
        self.network.change(|rules| rules.is_paused = [false; 2]);
    }

    /// Closes all connections and waits until they are closed. Bytes that the proxy has not sent
    /// yet are lost.
    pub fn cut(&self, how: Cut) {
        self.network.cut_all(how);
    }

    /// If `refuse` is `true`, refuses new connections, like a machine on which no server runs. If
    /// `false`, accepts new connections again. Returns when the change has taken effect.
    pub fn refuse_new(&self, refuse: bool) {
        self.network.change(|rules| rules.is_refusing = refuse);
        if refuse {
            self.wake_listener();
        }
        self.network.wait_until(|rules| rules.is_listening != refuse);
    }

    /// Arms a cut: the next connection that sends `pattern` to the server is cut at the pattern, in
    /// the way that `trigger` says. After that, the cut is no longer armed. Another call of this
    /// function replaces an armed cut.
    ///
    /// The pattern is searched in the bytes as they are sent, so the bytes must not be encrypted.
    /// The pattern may be split over several packets. In PostgreSQL's protocol, the bytes
    /// `COMMIT\0` are the statement `COMMIT`.
    pub fn cut_when(&self, pattern: &[u8], trigger: Trigger) {
        assert!(!pattern.is_empty(), "an empty pattern is everywhere");
        let armed = (pattern.to_vec(), trigger);
        self.network.change(|rules| rules.armed = Some(armed));
    }

    /// Disarms the cut of [`cut_when`](Self::cut_when). Returns whether the cut was still armed.
    pub fn disarm(&self) -> bool {
        let mut was_armed = false;
        self.network.change(|rules| was_armed = rules.armed.take().is_some());
        was_armed
    }

    /// Returns how many times a cut of [`cut_when`](Self::cut_when) was triggered.
    pub fn triggered(&self) -> u64 {
        self.network.rules().triggered
    }

    /// Returns the number of open connections.
    pub fn connections(&self) -> usize {
        self.network.connections()
    }

    /// Connects to the proxy, so that its listening thread returns from `accept` and reads the
    /// changed rules.
    fn wake_listener(&self) {
        let _ = TcpStream::connect(self.address());
    }
}

impl Drop for TcpProxy {
    fn drop(&mut self) {
        self.network.change(|rules| rules.is_ended = true);
        self.network.cut_all(Cut::Reset);
        self.wake_listener();
    }
}

/// Accepts connections until the proxy is dropped.
fn listen(listener: TcpListener, address: SocketAddr, network: &Arc<Network>) {
    let mut listener = Some(listener);
    loop {
        let client = match &listener {
            Some(listener) => listener.accept().ok().map(|(client, _)| client),
            None => None,
        };
        let Rules { is_ended, is_refusing, .. } = *network.rules();
        if is_ended {
            return;
        }
        if is_refusing {
            // Dropping the listener closes it. This also ends connections that are not accepted
            // yet.
            listener = None;
            network.change(|rules| rules.is_listening = false);
            network.wait_until(|rules| !rules.is_refusing || rules.is_ended);
            continue;
        }
        if listener.is_none() {
            listener = TcpListener::bind(address).ok();
            let is_listening = listener.is_some();
            network.change(|rules| rules.is_listening = is_listening);
        }
        if let Some(client) = client {
            let network = Arc::clone(network);
            thread::spawn(move || serve(client, &network));
        }
    }
}
