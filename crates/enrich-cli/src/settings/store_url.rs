//! The URL of a PostgreSQL database as a setting.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// The URL of a PostgreSQL database. It may contain a password, so it is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct StoreUrl(String);

impl StoreUrl {
    /// Returns the text of the URL, which is needed to connect.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

// This conversion accepts invalid URLs, except an empty one. They are refused later, when the URL
// is used. If they were refused here, clap would show the URL in its error message, and the URL may
// contain a password.
impl FromStr for StoreUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text.trim() {
            "" => Err("it is postgres://USER:PASSWORD@HOST/DATABASE"),
            url => Ok(Self(url.to_owned())),
        }
    }
}

impl TryFrom<String> for StoreUrl {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse()
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreUrl(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_not_shown_and_an_empty_one_is_refused() {
        let url: StoreUrl = " postgres://enrich:hunter2@db.example/enrich ".parse().unwrap();
        assert_eq!(url.expose(), "postgres://enrich:hunter2@db.example/enrich");
        assert!(!format!("{url:?}").contains("hunter2"));
        assert!(" ".parse::<StoreUrl>().is_err());
    }
}
