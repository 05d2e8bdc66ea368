//! Parses the host names of URLs and email addresses. The result is in lower-case ASCII. A label
//! with other letters becomes an A-label (its Punycode): `münchen` becomes `xn--mnchen-3ya`.

use std::borrow::Cow;

use url::Host;

/// Maximum number of characters of a host name as text (RFC 1035).
const MAX_NAME: usize = 253;
/// Maximum number of characters of one label of a host name (RFC 1035).
const MAX_LABEL: usize = 63;

/// Why a text is refused as a host name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadHost {
    SingleLabel,
    IpAddress,
    TooLong,
    Malformed,
}

/// Parses a host in upper or lower case. An internationalised name may be in Unicode (`münchen`)
/// or in A-labels (`xn--mnchen-3ya`). One dot at the end is accepted.
///
/// The crate `url` parses the host as browsers do (UTS 46, and every notation of an IPv4 address).
/// Then [`check`] applies stricter rules: for example, the host has at least two labels.
pub(crate) fn read(text: &str) -> Result<Cow<'_, str>, BadHost> {
    if is_as_it_is_stored(text) {
        return Ok(text.into());
    }
    read_in_any_form(text).map(Cow::Owned)
}

fn read_in_any_form(text: &str) -> Result<String, BadHost> {
    if text.starts_with('[') {
        return Err(BadHost::IpAddress);
    }
    if text.contains('%') {
        return Err(BadHost::Malformed);
    }
    let host = match Host::parse(text) {
        Ok(Host::Domain(host)) => host,
        Ok(Host::Ipv4(_) | Host::Ipv6(_)) => return Err(BadHost::IpAddress),
        Err(url::ParseError::InvalidIpv4Address | url::ParseError::InvalidIpv6Address) => {
            return Err(BadHost::IpAddress);
        }
        Err(_) => return Err(BadHost::Malformed),
    };
    let name = host.strip_suffix('.').unwrap_or(&host);
    check(name)?;
    Ok(if name.len() == host.len() { host } else { name.to_owned() })
}

/// Whether a host name is certainly in normal form already. This is a quick check for [`read`]: if
/// it returns `false`, the name must be parsed. It returns `true` for most names: their labels have
/// only lower-case letters, digits and hyphens, and no label is an A-label (`xn--…`). The last
/// label begins with a letter, so the name is not an IP address.
fn is_as_it_is_stored(text: &str) -> bool {
    let is_plain = |label: &str| {
        let bytes = label.as_bytes();
        (1..=MAX_LABEL).contains(&bytes.len())
            && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
            && !label.starts_with("xn--")
    };
    let last = text.rsplit_once('.').map(|(_, last)| last);
    text.len() <= MAX_NAME
        && last.is_some_and(|last| last.starts_with(|c: char| c.is_ascii_lowercase()))
        && text.split('.').all(is_plain)
}

fn check(name: &str) -> Result<(), BadHost> {
    if name.is_empty() {
        return Err(BadHost::Malformed);
    }
    if name.len() > MAX_NAME {
        return Err(BadHost::TooLong);
    }
    for label in name.split('.') {
        if label.len() > MAX_LABEL {
            return Err(BadHost::TooLong);
        }
        if label.is_empty() || label.starts_with('-') || label.ends_with('-') {
            return Err(BadHost::Malformed);
        }
        if !label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) {
            return Err(BadHost::Malformed);
        }
    }
    if !name.contains('.') {
        return Err(BadHost::SingleLabel);
    }
    // A host name may contain an underscore, but not in its registrable part.
    if name.contains('_') && registrable(name).contains('_') {
        return Err(BadHost::Malformed);
    }
    Ok(())
}

/// Returns the registrable domain of a host: the public suffix and the label before it. If the host
/// itself is a public suffix, returns it unchanged.
pub(crate) fn registrable(host: &str) -> &str {
    psl::domain_str(host).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_plainly_stored_as_it_is_reads_as_itself(
            text in "((xn--|[an0-9-])[an0-9x-]{0,3}\\.){0,3}(0x|[an0-9-])[an0-9x_-]{0,4}\\.?"
        ) {
            if is_as_it_is_stored(&text) {
                prop_assert_eq!(read_in_any_form(&text), Ok(text));
            }
        }
    }

    #[test]
    fn most_names_are_plain() {
        for name in ["acme.example", "shop.acme-2.example", "3m.example", "a.b.c.d1"] {
            assert!(is_as_it_is_stored(name), "{name}");
        }
        for name in ["Acme.example", "acme", "xn--bcher-kva.example", "acme.example.", "10.0.0.1"] {
            assert!(!is_as_it_is_stored(name), "{name}");
        }
    }
}
