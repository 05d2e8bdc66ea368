//! Decides whether a request for a change comes from a page of this server (protection against
//! CSRF).
//!
//! Browsers send two headers that show from which site a request comes. No page can forge them:
//!
//! - `Sec-Fetch-Site` is sent only to https and loopback addresses. This is enough, because
//!   sessions work only at such addresses.
//! - `Origin` is sent with every POST. Its value is `null` if the page has the referrer policy
//!   `no-referrer`, as the pages of this crate have. `null` is accepted only if `Sec-Fetch-Site` is
//!   `same-origin`.

use crate::http::Request;

/// Whether a page of this server sent the request, according to its headers `Sec-Fetch-Site` and
/// `Origin`. If both headers are missing, the result is `false`.
pub(crate) fn is_ours(request: &Request, public_url: Option<&str>) -> bool {
    let origin = request.origin.as_deref().filter(|origin| *origin != "null");
    let is_our_origin = origin.map(|origin| is_same(origin, request, public_url));
    match (request.fetch_site.as_deref(), is_our_origin) {
        (Some("same-origin"), is_ours) => is_ours.unwrap_or(true),
        (Some(_), _) => false,
        (None, is_ours) => is_ours.unwrap_or(false),
    }
}

fn is_same(origin: &str, request: &Request, public_url: Option<&str>) -> bool {
    if let Some(public_url) = public_url {
        return origin == public_url;
    }
    // No public URL is configured. A proxy in front of the server may accept https, while this
    // server only sees http. So the scheme is not compared, only the host.
    let host = request.host.as_deref();
    let named = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    named.is_some() && named.map(str::to_ascii_lowercase) == host.map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::http::Method;

    fn judged(site: Option<&str>, origin: Option<&str>, public_url: Option<&str>) -> bool {
        let peer = IpAddr::from([127, 0, 0, 1]);
        let mut request = Request::new(Method::Post, "/account/keys", "", peer);
        request.host = Some("enrich.example:8080".to_owned());
        request.fetch_site = site.map(str::to_owned);
        request.origin = origin.map(str::to_owned);
        is_ours(&request, public_url)
    }

    #[test]
    fn a_form_of_these_pages_is_ours() {
        assert!(judged(Some("same-origin"), Some("null"), None));
        assert!(judged(Some("same-origin"), None, None));
        assert!(judged(Some("same-origin"), Some("http://enrich.example:8080"), None));
        assert!(judged(None, Some("https://Enrich.example:8080"), None));
    }

    #[test]
    fn another_sites_form_is_not() {
        for site in ["cross-site", "same-site", "none", ""] {
            assert!(!judged(Some(site), None, None), "{site}");
            assert!(!judged(Some(site), Some("http://enrich.example:8080"), None), "{site}");
        }
        for origin in
            ["https://evil.example", "http://enrich.example", "null", "enrich.example:8080", ""]
        {
            assert!(!judged(None, Some(origin), None), "{origin}");
        }
        assert!(!judged(Some("same-origin"), Some("https://evil.example"), None));
    }

    #[test]
    fn a_request_that_says_nothing_is_not_believed() {
        assert!(!judged(None, None, None));
    }

    #[test]
    fn the_public_url_counts_where_there_is_one() {
        let public = Some("https://enrich.example");
        assert!(judged(None, Some("https://enrich.example"), public));
        assert!(!judged(None, Some("http://enrich.example"), public));
        assert!(!judged(None, Some("http://enrich.example:8080"), public));
    }
}
