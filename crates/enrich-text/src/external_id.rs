//! Ids of organisations in registers and public data sets, such as `lei:…` and `wikidata:Q42`.

mod schemes;

use std::fmt;

use crate::input::{self, refuses_unreadable};
use schemes::{SCHEMES, Scheme};

/// Maximum length of the name of a scheme, in bytes.
const MAX_SCHEME: usize = 32;
/// Maximum length of an id, in characters, if the rules of its scheme are not known.
const MAX_ID: usize = 128;

/// An id of an organisation: a scheme, and the id within the scheme, such as
/// `lei:213800D1EI4B9WTWWD28`.
///
/// An id of a known scheme is in normal form. If the known scheme has a checksum, the checksum of
/// the id is valid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExternalId(String);

/// Why a text is not an id of an organisation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidExternalId {
    /// The text is empty or only white space.
    #[error("an id cannot be empty")]
    Empty,
    /// The id has more than 128 characters, or the text has more than 512.
    #[error("an id has at most 128 characters; this is longer")]
    TooLong,
    /// The text contains control characters.
    #[error("an id holds no control characters; send plain text")]
    ControlCharacter,
    /// The text has no scheme, or the name of the scheme is invalid.
    #[error(
        "an id needs a scheme of letters a to z, digits, `_` and `-`, at most 32, like `lei` in \
         `lei:213800D1EI4B9WTWWD28`"
    )]
    NoScheme,
    /// The id does not have the form of its scheme, or its checksum is wrong.
    #[error("this is no id of `{scheme}`: {form}")]
    NotOfScheme {
        /// The scheme's name.
        scheme: &'static str,
        /// The form of the scheme's ids in words, such as `1 to 10 digits`.
        form: &'static str,
    },
}

refuses_unreadable!(InvalidExternalId);

impl ExternalId {
    /// Parses the id of an organisation in a scheme.
    ///
    /// # Errors
    ///
    /// When the name of the scheme is invalid, or the id does not have the form that a known scheme
    /// requires.
    pub fn parse(scheme: &str, id: &str) -> Result<Self, InvalidExternalId> {
        let id = input::plain(id)?;
        let scheme = input::plain(scheme)?.to_ascii_lowercase();
        if !is_scheme(&scheme) {
            return Err(InvalidExternalId::NoScheme);
        }
        let known = SCHEMES.iter().find(|known| known.name == scheme);
        let Some(Scheme { name, form, normal }) = known else {
            if id.chars().nth(MAX_ID).is_some() {
                return Err(InvalidExternalId::TooLong);
            }
            return Ok(Self(format!("{scheme}:{id}")));
        };
        let bad = InvalidExternalId::NotOfScheme { scheme: name, form };
        normal(id).map(|id| Self(format!("{name}:{id}"))).ok_or(bad)
    }

    /// Parses a text such as `lei:213800D1EI4B9WTWWD28`.
    ///
    /// # Errors
    ///
    /// When the text has no scheme, or when [`Self::parse`] fails for the scheme and the id.
    pub fn from_text(text: &str) -> Result<Self, InvalidExternalId> {
        let (scheme, id) = text.split_once(':').ok_or(InvalidExternalId::NoScheme)?;
        Self::parse(scheme, id)
    }

    /// Whether a text has the form of a scheme and an id, such as `lei:213800D1EI4B9WTWWD28`. A URL
    /// does not have this form. [`Self::from_text`] may still refuse the text, because it also
    /// checks the id.
    pub fn is_like(text: &str) -> bool {
        text.trim().split_once(':').is_some_and(|(scheme, id)| {
            is_scheme(scheme) && !id.is_empty() && !id.starts_with([' ', '/'])
        })
    }

    /// Returns the names of the schemes whose rules are known.
    pub fn known_schemes() -> impl Iterator<Item = &'static str> {
        SCHEMES.iter().map(|scheme| scheme.name)
    }

    /// Returns the name of the scheme, such as `lei`.
    pub fn scheme(&self) -> &str {
        self.0.split_once(':').map_or(&self.0, |(scheme, _)| scheme)
    }

    /// Returns the id within the scheme, such as `213800D1EI4B9WTWWD28`.
    pub fn id(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, id)| id)
    }

    /// Returns the scheme and the id, such as `lei:213800D1EI4B9WTWWD28`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExternalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_scheme(text: &str) -> bool {
    let is_allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
    };
    (1..=MAX_SCHEME).contains(&text.len()) && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_scheme_is_accepted_and_its_id_kept() {
        let id = ExternalId::parse(" IPEDS ", " 100654 ").unwrap();
        assert_eq!((id.scheme(), id.id(), id.as_str()), ("ipeds", "100654", "ipeds:100654"));
        let id = ExternalId::from_text("x_1-y:a:b c").unwrap();
        assert_eq!((id.scheme(), id.id()), ("x_1-y", "a:b c"));
        assert_eq!(ExternalId::from_text(id.as_str()), Ok(id));
    }

    #[test]
    fn a_text_without_a_scheme_is_refused() {
        for text in ["100654", ":100654", "i peds:1", "ïpeds:1", &format!("{}:1", "x".repeat(33))]
        {
            assert!(ExternalId::from_text(text).is_err(), "{text}");
        }
        assert_eq!(ExternalId::from_text("ipeds: "), Err(InvalidExternalId::Empty));
        let long = "1".repeat(MAX_ID + 1);
        assert_eq!(ExternalId::parse("ipeds", &long), Err(InvalidExternalId::TooLong));
        assert_eq!(ExternalId::parse("x", "a\nb"), Err(InvalidExternalId::ControlCharacter));
    }

    #[test]
    fn an_error_says_the_form_of_the_scheme_and_not_the_value() {
        let error = ExternalId::parse("cik", "secretive").unwrap_err().to_string();
        assert_eq!(error, "this is no id of `cik`: 1 to 10 digits");
    }

    #[test]
    fn a_url_or_a_name_with_a_colon_is_not_like_an_id() {
        for text in ["lei:1", "ipeds:100654", " ror:x"] {
            assert!(ExternalId::is_like(text), "{text}");
        }
        for text in
            ["https://quill.example", "Re:Store", "Quill: Pens", "quill: pens", "quill", "a:"]
        {
            assert!(!ExternalId::is_like(text), "{text}");
        }
    }
}
