//! The listening address: `127.0.0.1:8080`, a port alone, or a colon and a port.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::de::{Deserializer, Error, Visitor};

/// Describes a valid value.
const WANTED: &str = "an IP address and a port like 127.0.0.1:8080, a port of this machine alone \
                      like 8080, or a port of all IPv4 addresses like :8080";

/// Parses a listening address. A port alone means the loopback address, so that nothing is exposed
/// by accident; a colon and a port mean all IPv4 addresses.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let fault = || format!("it is {WANTED}");
    let text = text.trim();
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let (host, port) = match text.strip_prefix(':') {
        Some(port) => (Ipv4Addr::UNSPECIFIED, port),
        None => (Ipv4Addr::LOCALHOST, text),
    };
    // `u16::from_str` would accept a sign.
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(fault());
    }
    let port = port.parse().map_err(|_| fault())?;
    Ok(SocketAddr::new(IpAddr::V4(host), port))
}

/// Deserialises the address from a settings file, where a port may also be a number.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(file: D) -> Result<SocketAddr, D::Error> {
    file.deserialize_any(Address)
}

struct Address;

impl Visitor<'_> for Address {
    type Value = SocketAddr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WANTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SocketAddr, E> {
        listen_address(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<SocketAddr, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<SocketAddr, E> {
        self.visit_str(&number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_this_machine_and_one_behind_a_colon_of_all_addresses() {
        for (text, address) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "0.0.0.0:8080"),
            (" 0 ", "127.0.0.1:0"),
            ("192.0.2.1:80", "192.0.2.1:80"),
            ("[::]:8080", "[::]:8080"),
        ] {
            assert_eq!(listen_address(text), Ok(address.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_what_is() {
        for text in ["", ":", "localhost", "localhost:8080", "+80", ":+80", "65536", "127.0.0.1"] {
            let said = listen_address(text).unwrap_err();
            assert!(said.contains("127.0.0.1:8080"), "{text}: {said}");
        }
    }
}
