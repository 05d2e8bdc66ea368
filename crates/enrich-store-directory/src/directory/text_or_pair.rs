//! A value in a profile: usually one text, sometimes a pair of texts.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// One text, or two texts. The second text may be missing: `"a"`, `["a","b"]`, `["a",null]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum TextOrPair<'a> {
    Text(Cow<'a, str>),
    Pair(String, Option<String>),
}

// This implementation is written by hand, because the one that serde derives for an untagged enum
// would first copy every value.
impl<'de: 'a, 'a> Deserialize<'de> for TextOrPair<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrPairVisitor)
    }
}

struct TextOrPairVisitor;

impl<'de> Visitor<'de> for TextOrPairVisitor {
    type Value = TextOrPair<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a pair of texts")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(TextOrPair::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(TextOrPair::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Self::Value, A::Error> {
        let missing = || A::Error::invalid_length(0, &self);
        let first = texts.next_element()?.ok_or_else(missing)?;
        let second = texts.next_element()?.ok_or_else(missing)?;
        Ok(TextOrPair::Pair(first, second))
    }
}
