//! A TCP port that other test processes don't take, also while its server is down.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};

/// Where the range begins.
const FIRST: u16 = 20_000;
/// Where the range ends, if the system doesn't say where its own range begins: Linux's default.
const END: u16 = 32_768;
/// How many ports are tried.
const ATTEMPTS: usize = 1_000;

/// A port of the loopback address, reserved until this is dropped.
///
/// The port lies below the range from which the system takes the local ports of outgoing
/// connections. In that range a client that tries to connect to a stopped server would, now and
/// then, be connected to itself.
#[derive(Debug)]
pub(crate) struct FreePort {
    address: SocketAddr,
    /// Holds the port of the same number in UDP. Another `FreePort` doesn't get it.
    _reservation: UdpSocket,
}

impl FreePort {
    /// Reserves a port that is free at this moment.
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

    /// The loopback address with this port.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// The first local port that the system gives to outgoing connections.
fn first_of_the_system() -> Option<u16> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    range.split_whitespace().next()?.parse().ok()
}
