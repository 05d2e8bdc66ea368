//! The setting for the minimum confidence of a match by name: a whole number from 1 to 100. A match
//! below it is answered as not found.

use std::fmt;
use std::str::FromStr;

use enrich_core::Confidence;
use serde::de::{Deserialize, Deserializer, Error};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MinConfidence(pub(crate) Confidence);

/// The description of a valid value, for the error message.
const WANTED: &str = "a whole number from 1 to 100";

impl Default for MinConfidence {
    fn default() -> Self {
        Self(Confidence::MIN_BY_NAME)
    }
}

impl fmt::Display for MinConfidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.percent().fmt(f)
    }
}

impl FromStr for MinConfidence {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let confidence = text.parse().ok().and_then(Confidence::new);
        confidence.map(Self).ok_or_else(|| format!("it is {WANTED}"))
    }
}

impl<'de> Deserialize<'de> for MinConfidence {
    fn deserialize<D: Deserializer<'de>>(file: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(file).ok().and_then(|number| u8::try_from(number).ok());
        let confidence = number.and_then(Confidence::new).map(Self);
        confidence.ok_or_else(|| D::Error::custom(format!("it is {WANTED}")))
    }
}
