//! Host names as they stand in URLs and addresses, brought to lower-case A-labels.

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
pub(crate) fn read(text: &str) -> Result<String, BadHost> {
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
