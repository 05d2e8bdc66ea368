//! The public URL as a setting: the beginning of every link to the account page.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use serde::Deserialize;
use url::{Host, Url};

/// Either a URL with a scheme, a host and possibly a port, or an empty text. It is empty if the
/// flag or the environment variable is set to an empty text, as in many configurations of
/// containers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct PublicUrl(String);

/// The description of a valid value, for the error message.
const WANTED: &str = "it is the address of a server and nothing behind it: \
    `https://enrich.quill.example` or `http://127.0.0.1:8080`";
const NOT_OVER_HTTP: &str = "it begins with https://: over http:// browsers keep nobody signed in, \
    but on the server's own machine";

impl PublicUrl {
    /// Returns the URL by which this machine reaches a server that listens on `address`.
    pub(crate) fn of_listener(address: SocketAddr) -> Self {
        let mut address = address;
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        Self(format!("http://{address}"))
    }

    /// Whether the URL was given and is not empty.
    pub(crate) fn is_given(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether the scheme is https. Then there is a proxy in front of the server that terminates
    /// TLS, because the server itself speaks only http.
    pub(crate) fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// Returns the link to `path`, which must begin with `/`.
    pub(crate) fn link(&self, path: &str) -> String {
        format!("{self}{path}")
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for PublicUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        if text.trim().is_empty() {
            return Ok(Self(String::new()));
        }
        let url = Url::parse(text.trim()).map_err(|_| WANTED)?;
        let has_more = !url.username().is_empty()
            || url.password().is_some()
            || url.path() != "/"
            || url.query().is_some()
            || url.fragment().is_some();
        match (url.scheme(), url.host()) {
            _ if has_more => Err(WANTED),
            ("https", Some(_)) => Ok(Self(url.origin().ascii_serialization())),
            ("http", Some(host)) if is_loopback(&host) => {
                Ok(Self(url.origin().ascii_serialization()))
            }
            ("http", Some(_)) => Err(NOT_OVER_HTTP),
            _ => Err(WANTED),
        }
    }
}

impl TryFrom<String> for PublicUrl {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let url: Self = text.parse()?;
        if url.is_given() { Ok(url) } else { Err(WANTED) }
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_server_is_read_in_one_form() {
        for (text, read) in [
            ("https://enrich.quill.example", "https://enrich.quill.example"),
            (" HTTPS://Enrich.Quill.example:443/ ", "https://enrich.quill.example"),
            ("https://enrich.quill.example:8443", "https://enrich.quill.example:8443"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("http://localhost", "http://localhost"),
        ] {
            let url: PublicUrl = text.parse().unwrap();
            assert_eq!(url.to_string(), read, "{text}");
            assert_eq!(url.link("/account"), format!("{read}/account"));
        }
    }

    #[test]
    fn what_is_more_or_less_than_that_is_refused() {
        assert_eq!(PublicUrl::try_from(String::new()), Err(WANTED));
        for text in [
            "enrich.quill.example",
            "enrich.quill.example:8080",
            "https://",
            "ftp://enrich.quill.example",
            "https://enrich.quill.example/account",
            "https://enrich.quill.example?a=b",
            "https://enrich.quill.example/#a",
            "https://ada@enrich.quill.example",
        ] {
            assert_eq!(text.parse::<PublicUrl>(), Err(WANTED), "{text}");
        }
        for text in ["http://enrich.quill.example", "http://192.0.2.1:8080", "http://localhosts"] {
            assert_eq!(text.parse::<PublicUrl>(), Err(NOT_OVER_HTTP), "{text}");
        }
    }

    #[test]
    fn a_listener_is_reached_on_its_own_machine() {
        for (address, url) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("192.0.2.1:80", "http://192.0.2.1:80"),
            ("0.0.0.0:9000", "http://127.0.0.1:9000"),
            ("[::]:9000", "http://[::1]:9000"),
        ] {
            assert_eq!(PublicUrl::of_listener(address.parse().unwrap()).to_string(), url);
        }
    }
}
