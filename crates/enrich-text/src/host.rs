//! Host names as they stand in URLs and addresses, brought to lower-case A-labels.

use std::borrow::Cow;

use url::Host;

/// RFC 1035: a name is at most 253 characters as text, a label 63.
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// Why a text is no host name we take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadHost {
    SingleLabel,
    IpAddress,
    TooLong,
    Malformed,
}

/// Reads a host: any case, IDN in either form, one trailing dot.
///
/// `url` does the reading as browsers do (UTS 46, every odd way to write an IPv4 address); what
/// remains is checked against the rules for names that can be registered.
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

/// Whether a text is plainly a name already in the form that [`read`] gives, as most are: the
/// lower-case letters, digits and hyphens of labels that are no A-labels, the last of which begins
/// with a letter and so is no number of an address. For the rest it says nothing.
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
    // An underscore may stand in the name of a host, never in a name that is registered.
    if name.contains('_') && registrable(name).contains('_') {
        return Err(BadHost::Malformed);
    }
    Ok(())
}

/// The part of a host that was registered: one label more than its public suffix, or the host
/// itself where that is a public suffix.
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
