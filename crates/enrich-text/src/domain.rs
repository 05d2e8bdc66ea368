//! Web domains in normal form, their registrable domains and their countries.

use std::fmt;

use crate::country::Country;
use crate::host::{self, BadHost};
use crate::input::{self, refuses_unreadable};

/// A web domain in its normal form: in lower case, in ASCII (A-labels such as `xn--mnchen-3ya`),
/// and without `www.`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain(String);

/// Why a text is not a domain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDomain {
    /// The text is empty or only white space.
    #[error("a domain cannot be empty; send one like `acme.example`")]
    Empty,
    /// The text, or the domain in it, is too long.
    #[error("a domain has at most 253 characters, 63 between two dots; this is longer")]
    TooLong,
    /// The text contains control characters.
    #[error("a domain holds no control characters; send plain text")]
    ControlCharacter,
    /// The text has only one label, as in `localhost`.
    #[error("a domain looks like `acme.example`; this has no dot")]
    SingleLabel,
    /// The text is an IPv4 or IPv6 address in any notation.
    #[error("a domain looks like `acme.example`; this is an IP address")]
    IpAddress,
    /// The text has characters or a shape that no domain has.
    #[error(
        "a domain looks like `acme.example`, bare or in a URL; this has characters or a shape \
         no domain has"
    )]
    Malformed,
}

refuses_unreadable!(InvalidDomain);

impl From<BadHost> for InvalidDomain {
    fn from(reason: BadHost) -> Self {
        match reason {
            BadHost::SingleLabel => Self::SingleLabel,
            BadHost::IpAddress => Self::IpAddress,
            BadHost::TooLong => Self::TooLong,
            BadHost::Malformed => Self::Malformed,
        }
    }
}

impl Domain {
    /// Parses a domain as people type it: a host, or a URL with scheme, user, port, path, query or
    /// fragment. Upper and lower case are equal. An internationalised name may be in Unicode
    /// (`münchen`) or in A-labels (`xn--mnchen-3ya`).
    pub fn parse(text: &str) -> Result<Self, InvalidDomain> {
        let text = input::plain(text)?;
        let host = host::read(host_of(text)?)?;
        Ok(Self::from_host(&host))
    }

    /// Creates the domain of a host that [`host::read`] has returned. Removes `www.` from its
    /// beginning.
    pub(crate) fn from_host(host: &str) -> Self {
        let mut rest = host;
        while let Some(shorter) = rest.strip_prefix("www.") {
            // In `www.com`, `www` is not removed, because `com` alone is not a domain.
            if !shorter.contains('.') {
                break;
            }
            rest = shorter;
        }
        Self(rest.to_owned())
    }

    /// Returns the domain as text, for example `shop.acme.example`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the registrable domain: the public suffix and the label before it, such as
    /// `nestle.com.br` for `corporativo.nestle.com.br`. The public suffixes are those of the
    /// Public Suffix List, with its private section; an unknown TLD counts as a public suffix. If
    /// the domain itself is a public suffix, returns it unchanged.
    pub fn registrable(&self) -> Domain {
        Self(host::registrable(&self.0).to_owned())
    }

    /// Whether the domain is a registrable domain, and not a host below one.
    pub fn is_registrable(&self) -> bool {
        host::registrable(&self.0).len() == self.0.len()
    }

    /// Returns the first label of the registrable domain: `nestle` for `corporativo.nestle.com.br`.
    pub fn label(&self) -> &str {
        let registrable = host::registrable(&self.0);
        registrable.split('.').next().unwrap_or(registrable)
    }

    /// Returns the country of the domain's top-level domain (TLD), such as `.de` or an
    /// internationalised TLD; `None` if the TLD belongs to no country.
    ///
    /// A TLD counts for its country even if many domains use it for other purposes: `.co` is
    /// Colombia, and `.io` is the British Indian Ocean Territory. So a company whose domain has the
    /// country's TLD need not have a seat (a head office) in this country. `.eu` has no country.
    pub fn country(&self) -> Option<Country> {
        Country::of_top_level_domain(self.0.rsplit('.').next()?)
    }

    /// Returns the domain in Unicode, to show it to people.
    pub fn to_unicode(&self) -> String {
        let (text, outcome) = idna::domain_to_unicode(&self.0);
        if outcome.is_ok() { text } else { self.0.clone() }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the host of a URL: the part after the scheme and the user, and before the port and the
/// path. `text` may also be only a host.
fn host_of(text: &str) -> Result<&str, InvalidDomain> {
    let text = without_scheme(text);
    let authority = text.split(['/', '?', '#', '\\']).next().unwrap_or(text);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.starts_with('[') {
        return Err(InvalidDomain::IpAddress);
    }
    let Some((name, port)) = host.split_once(':') else {
        return Ok(host);
    };
    if port.contains(':') && host.parse::<std::net::Ipv6Addr>().is_ok() {
        return Err(InvalidDomain::IpAddress);
    }
    if port.is_empty() || (port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok())
    {
        Ok(name)
    } else {
        Err(InvalidDomain::Malformed)
    }
}

/// Returns the text after `scheme://` or `//`, or the whole text if it has no scheme.
pub(crate) fn without_scheme(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix("//") {
        return rest;
    }
    match text.split_once("://") {
        Some((scheme, rest))
            if !scheme.is_empty()
                && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)) =>
        {
            rest
        }
        _ => text,
    }
}
