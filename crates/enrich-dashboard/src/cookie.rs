//! The session cookie.
//!
//! The cookie's name begins with `__Host-`. Browsers accept such a cookie only with the attribute
//! `Secure`, and send it only to this host, for all paths, and only over https (RFC 6265bis,
//! section 4.1.3.2).
//!
//! At a loopback address, Safari does not accept `Secure` cookies over plain http. So there, the
//! cookie has another name and no `Secure`, and the pages work in every browser. This is safe,
//! because requests to a loopback address never leave the machine. If the public URL begins with
//! `https://`, the cookie always has `Secure`.

use enrich_sign_in::Token;
use jiff::SignedDuration;

use crate::host;
use crate::http::Request;

const NAME: &str = "__Host-enrich";
const NAME_ON_LOOPBACK: &str = "enrich";

/// Returns the session token of a request; `None` if the request has no session cookie. Also
/// returns `None` if the request has two session cookies, because an attacker may have added one of
/// them.
pub(crate) fn token(request: &Request, public_url: Option<&str>) -> Option<Token> {
    let name = name(request, public_url);
    let pairs = request.cookies.as_deref()?.split(';').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
    match (values.next(), values.next()) {
        (Some(value), None) => Token::parse(value).ok(),
        _ => None,
    }
}

/// Returns the value of the header `Set-Cookie` that sets the session cookie for the time
/// `lifetime`.
pub(crate) fn set(
    request: &Request,
    public_url: Option<&str>,
    token: &Token,
    lifetime: SignedDuration,
) -> String {
    written(request, public_url, token.expose(), lifetime.as_secs())
}

/// Returns the value of the header `Set-Cookie` that deletes the session cookie.
pub(crate) fn forget(request: &Request, public_url: Option<&str>) -> String {
    written(request, public_url, "", 0)
}

fn written(
    request: &Request,
    public_url: Option<&str>,
    value: &str,
    max_age_seconds: i64,
) -> String {
    let name = name(request, public_url);
    let secure = if name == NAME { "; Secure" } else { "" };
    format!("{name}={value}; Path=/; Max-Age={max_age_seconds}; HttpOnly; SameSite=Lax{secure}")
}

fn name(request: &Request, public_url: Option<&str>) -> &'static str {
    let is_plain = public_url.is_none_or(|url| !url.starts_with("https://"));
    let host = request.host.as_deref().unwrap_or_default();
    let is_local = is_plain && request.peer.to_canonical().is_loopback() && host::is_loopback(host);
    if is_local { NAME_ON_LOOPBACK } else { NAME }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Method;

    fn request(host: &str, peer: &str) -> Request {
        let mut request = Request::new(Method::Get, "/account/", "", peer.parse().unwrap());
        request.host = Some(host.to_owned());
        request
    }

    fn set_at(host: &str, peer: &str, public_url: Option<&str>) -> String {
        let token = Token::generate().unwrap();
        set(&request(host, peer), public_url, &token, SignedDuration::from_hours(1))
    }

    #[test]
    fn it_is_kept_to_the_host_and_to_https() {
        let set = set_at("enrich.example", "192.0.2.7", None);
        assert!(set.starts_with("__Host-enrich="), "{set}");
        assert!(set.ends_with("; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure"), "{set}");
    }

    #[test]
    fn at_a_loopback_address_it_goes_without_https() {
        for (host, peer) in [
            ("127.0.0.1:8080", "127.0.0.1"),
            ("localhost:8080", "::1"),
            ("[::1]:8080", "::1"),
            ("LOCALHOST", "::ffff:127.0.0.1"),
        ] {
            let set = set_at(host, peer, None);
            assert!(set.starts_with("enrich=") && !set.contains("Secure"), "{host}: {set}");
        }
    }

    #[test]
    fn neither_a_proxy_on_this_machine_nor_a_made_up_host_takes_the_protection_away() {
        for (host, peer, public_url) in [
            ("enrich.example", "127.0.0.1", None),
            ("localhost", "192.0.2.7", None),
            ("localhost.evil.example", "127.0.0.1", None),
            ("127.0.0.1:8080", "127.0.0.1", Some("https://enrich.example")),
        ] {
            assert!(set_at(host, peer, public_url).contains("Secure"), "{host} {peer}");
        }
    }

    #[test]
    fn it_reads_back_among_others_and_twice_is_none() {
        let id = Token::generate().unwrap();
        let mut request = request("enrich.example", "192.0.2.7");
        let read = |request: &Request| token(request, None).map(|token| token.expose().to_owned());
        request.cookies = Some(format!("a=b; __Host-enrich={}; c", id.expose()));
        assert_eq!(read(&request).as_deref(), Some(id.expose()));
        request.cookies = Some(format!("__Host-enrich={0}; __Host-enrich={0}", id.expose()));
        assert_eq!(read(&request), None);
        request.cookies = Some(format!("enrich={}", id.expose()));
        assert_eq!(read(&request), None);
    }
}
