//! A TCP port that other test processes don't take, even while its server is not running.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};

/// The first port that may be reserved.
const FIRST: u16 = 20_000;
/// Reserved ports are below this number if the beginning of the range of local ports cannot be
/// read. The operating system takes ports of this range for outgoing connections. On Linux, the
/// range begins at 32,768 by default.
const END: u16 = 32_768;
/// Maximum number of ports that are tried.
const ATTEMPTS: usize = 1_000;

/// A port of the loopback address, reserved until this value is dropped.
///
/// The port is below the range from which the system takes local ports for outgoing connections. In
/// that range, a client that tries to connect while the server is not running would sometimes
/// connect to itself.
#[derive(Debug)]
pub(crate) struct FreePort {
    address: SocketAddr,
    /// Holds the UDP port with the same number, so that no other `FreePort` gets it. The TCP port
    /// stays free for the server.
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
