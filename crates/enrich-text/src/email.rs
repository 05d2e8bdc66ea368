//! Email addresses in normal form.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::domain::Domain;
use crate::host;
use crate::input::{self, refuses_unreadable};

/// Maximum length of an address, in bytes (RFC 5321).
const MAX_ADDRESS: usize = 254;

/// An email address in its normal form: local part and host in lower case, and the host in ASCII
/// (A-labels, such as `xn--mnchen-3ya`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EmailAddress {
    text: String,
    at: usize,
    domain: Domain,
}

/// Why a text is not an email address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEmailAddress {
    /// The text is empty or only white space.
    #[error("an email address cannot be empty; send one like `ada@acme.example`")]
    Empty,
    /// The text is longer than any address.
    #[error("an email address has at most 254 characters; this is longer")]
    TooLong,
    /// The text contains control characters.
    #[error("an email address holds no control characters; send plain text")]
    ControlCharacter,
    /// The text has no `@`.
    #[error("an email address looks like `ada@acme.example`; this has no `@`")]
    NoAt,
    /// The local part, which is before the `@`, is invalid.
    #[error(
        "an email address looks like `ada@acme.example`; what stands before the `@` is not valid"
    )]
    BadLocalPart,
    /// The host, which is after the `@`, is invalid.
    #[error(
        "an email address looks like `ada@acme.example`; what stands after the `@` is no domain"
    )]
    BadDomain,
}

refuses_unreadable!(InvalidEmailAddress);

impl EmailAddress {
    /// Parses an address in upper or lower case. The text may be only the address, or a form such
    /// as `Ada <ada@acme.example>` or `mailto:ada@acme.example`. A `+tag` is kept;
    /// [`Self::without_tag`] removes it.
    pub fn parse(text: &str) -> Result<Self, InvalidEmailAddress> {
        let text = bare(input::plain(text)?);
        let (local, host) = text.rsplit_once('@').ok_or(InvalidEmailAddress::NoAt)?;
        let host = host::read(host).map_err(|_| InvalidEmailAddress::BadDomain)?;
        let local: String = local.nfc().flat_map(char::to_lowercase).nfc().collect();
        if !email_address::EmailAddress::is_valid_local_part(&local) {
            return Err(InvalidEmailAddress::BadLocalPart);
        }
        let text = format!("{local}@{host}");
        if text.len() > MAX_ADDRESS {
            return Err(InvalidEmailAddress::TooLong);
        }
        Ok(Self { text, at: local.len(), domain: Domain::from_host(&host) })
    }

    /// Returns the address as text, for example `ada+news@acme.example`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the local part, which is before the `@`.
    pub fn local(&self) -> &str {
        self.text.get(..self.at).unwrap_or_default()
    }

    /// Returns the domain after the `@`, without `www.`. The text of [`as_str`](Self::as_str) still
    /// contains the `www.`.
    pub fn domain(&self) -> Domain {
        self.domain.clone()
    }

    /// Returns the address without its `+tag`. Returns `None` if the address has no tag, or if its
    /// local part is in quotes.
    pub fn without_tag(&self) -> Option<EmailAddress> {
        let local = self.local();
        if local.starts_with('"') {
            return None;
        }
        let (mailbox, _) = local.split_once('+')?;
        let host = self.text.get(self.at..)?;
        Self::parse(&format!("{mailbox}{host}")).ok()
    }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the address in a text such as `Ada <ada@acme.example>` or `mailto:ada@acme.example`.
/// Returns any other text unchanged.
fn bare(text: &str) -> &str {
    let text = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((_, address)) => address.trim(),
        None => text,
    };
    match text.get(..7) {
        Some(scheme) if scheme.eq_ignore_ascii_case("mailto:") => {
            let address = text.get(7..).unwrap_or_default();
            address.split('?').next().unwrap_or(address).trim()
        }
        _ => text,
    }
}
