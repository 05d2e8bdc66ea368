//! Reserves TCP ports for the servers of tests. Other test processes don't take a reserved port,
//! even while no server listens at it.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};

/// The first port that may be reserved.
const FIRST: u16 = 20_000;
/// The upper limit (exclusive) of reserved ports, if [`first_of_the_system`] cannot read the limit
/// of the operating system. 32,768 is the default of that limit on Linux.
const END: u16 = 32_768;
/// Maximum number of ports that are tried.
const ATTEMPTS: usize = 1_000;

/// A port of the loopback address, reserved until this value is dropped.
///
/// The operating system takes the local ports of outgoing connections from a certain range. A
/// reserved port is below this range. Otherwise, a client could connect to itself while no server
/// listens: the system could give the client the same port as its local port.
#[derive(Debug)]
pub(crate) struct FreePort {
    address: SocketAddr,
    /// A UDP socket that is bound to the same port number. It shows other `FreePort`s that the port
    /// is reserved. The TCP port stays free for the server.
    _reservation: UdpSocket,
}

impl FreePort {
    /// Reserves a free port.
    ///
    /// # Errors
    ///
    /// When no free port is found.
    pub(crate) fn reserve() -> io::Result<Self> {
        let end = first_of_the_system().unwrap_or(END).max(FIRST + 1);
        for _ in 0..ATTEMPTS {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, fastrand::u16(FIRST..end)));
            if let Ok(reservation) = UdpSocket::bind(address)
                && TcpListener::bind(address).is_ok()
            {
                return Ok(Self { address, _reservation: reservation });
            }
        }
        Err(io::Error::other(format!("no free port between {FIRST} and {end}")))
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Returns the first local port that the operating system uses for outgoing connections; `None` if
/// it cannot be read.
fn first_of_the_system() -> Option<u16> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    range.split_whitespace().next()?.parse().ok()
}
