//! Parses the address of a page on a social network: splits it into the network and the path.

use percent_encoding::percent_decode_str;

use crate::domain::without_scheme;
use crate::network::Network;

/// The hosts of the social networks, each with its network; `None` for a host that never has pages
/// of companies. Subdomains that [`is_same_site`] accepts belong to these hosts too.
const HOSTS: [(&str, Option<Network>); 12] = [
    ("linkedin.com", Some(Network::LinkedIn)),
    ("facebook.com", Some(Network::Facebook)),
    ("fb.com", Some(Network::Facebook)),
    ("fb.me", Some(Network::Facebook)),
    ("instagram.com", Some(Network::Instagram)),
    ("instagr.am", Some(Network::Instagram)),
    ("twitter.com", Some(Network::Twitter)),
    ("x.com", Some(Network::Twitter)),
    ("youtube.com", Some(Network::Youtube)),
    // These hosts have only short links to videos, posts or files, never to pages of companies.
    ("youtu.be", None),
    ("lnkd.in", None),
    ("t.co", None),
];

/// A form in which people write the address of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Written<'a> {
    /// An address on a network's host.
    OnNetwork(Network, Path<'a>),
    /// An address on a network's host that never has pages of companies, such as `youtu.be`.
    NoPageHost,
    /// An address on a site that does not belong to any of the networks.
    Elsewhere,
    /// A path without a host, such as `company/acme`.
    PathAlone(Path<'a>),
    /// One word without a host, such as `acme`, which is a handle.
    Bare(Path<'a>),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Path<'a> {
    /// The segments of the path, percent-decoded. A segment is `None` if the decoded bytes are not
    /// UTF-8.
    pub(crate) segments: Vec<Option<String>>,
    query: &'a str,
}

impl Path<'_> {
    /// Returns a segment of the path in lower case; empty if there is none.
    pub(crate) fn word(&self, index: usize) -> String {
        self.segment(index).map(str::to_lowercase).unwrap_or_default()
    }

    pub(crate) fn segment(&self, index: usize) -> Option<&str> {
        self.segments.get(index)?.as_deref()
    }

    /// Returns the value of a parameter of the query. The value is not decoded.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
}

pub(crate) fn read(text: &str) -> Written<'_> {
    let rest = without_scheme(text);
    let had_scheme = rest.len() < text.len();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    if had_scheme {
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        return on_host(host, tail);
    }
    if is_known_host(authority) || authority.to_ascii_lowercase().starts_with("www.") {
        return on_host(authority, tail);
    }
    // One word is a handle, even if the slash after it was copied too (`acme/`).
    if !tail.starts_with('/') || (!authority.is_empty() && tail == "/") {
        return Written::Bare(path(rest));
    }
    if authority.contains(['.', ':']) && !authority.starts_with('@') {
        return Written::Elsewhere;
    }
    Written::PathAlone(path(rest))
}

fn on_host<'a>(authority: &str, tail: &'a str) -> Written<'a> {
    match network_of(authority) {
        None => Written::Elsewhere,
        Some(None) => Written::NoPageHost,
        Some(Some(network)) => Written::OnNetwork(network, path(tail)),
    }
}

fn is_known_host(authority: &str) -> bool {
    network_of(authority).is_some()
}

/// Returns the social network to which a host belongs. Returns `Some(None)` if the host belongs to
/// a network, but has no pages of companies. Returns `None` if the host belongs to no network.
fn network_of(authority: &str) -> Option<Option<Network>> {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    HOSTS.iter().find_map(|&(site, network)| {
        let before = host.strip_suffix(site)?;
        match before.strip_suffix('.') {
            None if before.is_empty() => Some(network),
            Some(labels) if labels.split('.').all(is_same_site) => Some(network),
            Some(_) => Some(None),
            None => None,
        }
    })
}

/// Whether a subdomain shows the same pages as the site itself. This is so if the subdomain is only
/// for a device (`m`), a language (`de`) or a use (`music`). `label` is one label of the subdomain.
fn is_same_site(label: &str) -> bool {
    const DEVICES: [&str; 11] = [
        "www", "m", "mobile", "touch", "mbasic", "web", "free", "business", "music", "gaming",
        "studio",
    ];
    let is_language = match label.split_once('-') {
        None => label.len() == 2,
        Some((language, place)) => language.len() == 2 && (2..=4).contains(&place.len()),
    };
    DEVICES.contains(&label)
        || (is_language && label.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-'))
}

/// Splits the text after the host into path and query. The old form `#!/acme` counts as a path.
fn path(tail: &str) -> Path<'_> {
    let (tail, fragment) = tail.split_once('#').unwrap_or((tail, ""));
    let (before, query) = tail.split_once('?').unwrap_or((tail, ""));
    let segments = segments(before);
    if segments.is_empty()
        && let Some(fragment) = fragment.strip_prefix('!')
    {
        let (before, query) = fragment.split_once('?').unwrap_or((fragment, ""));
        return Path { segments: self::segments(before), query };
    }
    Path { segments, query }
}

fn segments(path: &str) -> Vec<Option<String>> {
    path.split('/').filter(|part| !part.trim().is_empty()).map(decoded).collect()
}

/// Percent-decodes a segment. Removes zero-width characters, which a text that was copied from a
/// web page may contain. Returns `None` if the decoded bytes are not UTF-8.
fn decoded(segment: &str) -> Option<String> {
    let text = percent_decode_str(segment).decode_utf8().ok()?;
    let text: String = text.chars().filter(|&sign| !has_no_width(sign)).collect();
    Some(text.trim().to_owned())
}

fn has_no_width(sign: char) -> bool {
    matches!(
        sign,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    )
}
