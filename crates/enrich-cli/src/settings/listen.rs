//! The listening address as a setting: `127.0.0.1:8080`, a port alone, or a port after a colon.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// The description of a valid value, for the error message.
const WANTED: &str = "an IP address and a port like 127.0.0.1:8080, a port of this machine alone \
                      like 8080, or a port of all IPv4 addresses like :8080";

/// Parses a listening address. A port alone means this port of the loopback address, so that nobody
/// exposes a server to the network by accident. A port after a colon means this port of all IPv4
/// addresses.
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
    // `u16::from_str` alone would also accept a text with a plus sign, such as `+8080`.
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(fault());
    }
    let port = port.parse().map_err(|_| fault())?;
    Ok(SocketAddr::new(IpAddr::V4(host), port))
}

/// A listening address as a settings file contains it: a text, or a port as a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Port(i64),
    Text(String),
}

/// Reads the listening address from a settings file.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(file: D) -> Result<SocketAddr, D::Error> {
    let text = Written::deserialize(file).map(|written| match written {
        Written::Port(port) => port.to_string(),
        Written::Text(text) => text,
    });
    listen_address(&text.unwrap_or_default()).map_err(D::Error::custom)
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
