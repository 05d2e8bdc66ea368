//! Decides whether the host in a request is this server.
//!
//! Without a configured public URL, only the listening address can be trusted. The reason is an
//! attack by DNS rebinding: an attacker makes a host name resolve to this machine. A page of the
//! attacker's site then sends requests to this server, with that name in the header `Host`. An IP
//! address in `Host` is safe, because a browser sends only the IP address to which it is connected.

use std::net::{IpAddr, SocketAddr};

/// The port of an `http://` address whose host has no port.
const HTTP_PORT: u16 = 80;

/// Whether `host`, the value of the `Host` header, is an address of the server that listens on
/// `listens_on`. The port must be the same. Before the port, these are accepted:
///
/// - `localhost`, and names that end with `.localhost`.
/// - The IP address on which the server listens. If the server listens on all addresses, this is
///   any IP address. If it listens on a loopback address, this is any loopback address.
pub(crate) fn is_own(host: &str, listens_on: SocketAddr) -> bool {
    let Some((name, port)) = split(host) else { return false };
    if port != listens_on.port() {
        return false;
    }
    let own = listens_on.ip().to_canonical();
    match bare(name).parse::<IpAddr>() {
        Ok(named) => {
            let named = named.to_canonical();
            own.is_unspecified() || named == own || (named.is_loopback() && own.is_loopback())
        }
        Err(_) => is_localhost(name),
    }
}

/// Whether `host`, the value of a `Host` header, names a loopback address.
pub(crate) fn is_loopback(host: &str) -> bool {
    split(host).is_some_and(|(name, _)| match bare(name).parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => is_localhost(name),
    })
}

/// Returns the host without the brackets of an IPv6 address: `::1` for `[::1]`.
fn bare(name: &str) -> &str {
    name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name)
}

/// Splits the value of a `Host` header into name and port.
fn split(host: &str) -> Option<(&str, u16)> {
    match host.rsplit_once(':') {
        // The host is an IPv6 address without a port, such as `[::1]`. The last colon is a part of
        // the address.
        Some((_, rest)) if rest.ends_with(']') => Some((host, HTTP_PORT)),
        Some((name, port)) => Some((name, port.parse().ok()?)),
        None => Some((host, HTTP_PORT)),
    }
}

/// Whether browsers resolve this name to their own machine without DNS (RFC 6761, section 6.3).
fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_own_at(listens_on: &str, host: &str) -> bool {
        is_own(host, listens_on.parse().unwrap())
    }

    #[test]
    fn the_address_that_is_listened_on_is_own_and_so_is_localhost() {
        for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST.:8080", "[::1]:8080"] {
            assert!(is_own_at("127.0.0.1:8080", host), "{host}");
        }
        assert!(is_own_at("192.0.2.7:8080", "192.0.2.7:8080"));
        assert!(is_own_at("127.0.0.1:80", "localhost") && is_own_at("[::1]:80", "[::1]"));
    }

    #[test]
    fn a_server_on_all_addresses_takes_any_address_and_no_other_name() {
        for listens_on in ["0.0.0.0:8080", "[::]:8080"] {
            for host in ["192.0.2.7:8080", "[2001:db8::7]:8080", "localhost:8080"] {
                assert!(is_own_at(listens_on, host), "{host}");
            }
            for host in ["evil.example:8080", "192.0.2.7.evil.example:8080", "192.0.2.7"] {
                assert!(!is_own_at(listens_on, host), "{host}");
            }
        }
    }

    #[test]
    fn foreign_hosts_are_not_own() {
        for host in [
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example:8080",
            "notlocalhost:8080",
            "192.0.2.8:8080",
            "127.0.0.1:8081",
            "127.0.0.1",
            "127.0.0.1:",
            "localhost:8080:8080",
            "",
            ":8080",
        ] {
            assert!(!is_own_at("127.0.0.1:8080", host), "{host}");
        }
    }
}
