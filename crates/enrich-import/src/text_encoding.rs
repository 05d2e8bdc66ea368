//! Text encodings, by their labels and names.

use std::borrow::Cow;
use std::fmt;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use enrich_mapping::CodePage;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text encoding, such as UTF-8, Windows-1252 or CP850.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TextEncoding {
    /// An encoding of the WHATWG Encoding Standard.
    Standard(&'static Encoding),
    /// A code page of DOS.
    Page(CodePage),
}

impl TextEncoding {
    /// The encoding UTF-8.
    pub const UTF_8: Self = Self::Standard(UTF_8);

    /// Parses a label of the WHATWG Encoding Standard (`utf-8`, `utf-16`, `windows-1252`, `latin1`,
    /// …), or the name of a code page (`cp850`, …).
    pub fn parse(label: &str) -> Option<Self> {
        let standard = Encoding::for_label_no_replacement(label.trim().as_bytes());
        standard.map(Self::Standard).or_else(|| CodePage::parse(label).map(Self::Page))
    }

    /// Returns the encoding's name as users see it: `UTF-8`, `UTF-16`, `Windows-1252`, `CP850`.
    pub fn name(self) -> String {
        match self {
            Self::Standard(encoding) if self.is_utf_16() => {
                encoding.name().trim_end_matches(['L', 'B', 'E']).to_owned()
            }
            Self::Standard(encoding) => encoding.name().replace("windows", "Windows"),
            Self::Page(page) => page.label().to_ascii_uppercase(),
        }
    }

    /// Returns the label that selects the encoding: `utf-8`, `utf-16`, `windows-1252`, `cp850`.
    pub fn label(self) -> String {
        self.name().to_ascii_lowercase()
    }

    /// Decodes bytes that begin without a byte order mark. Invalid bytes become U+FFFD.
    pub(crate) fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Self::Standard(encoding) => encoding.decode_without_bom_handling(bytes).0,
            Self::Page(page) => page.decode(bytes).into(),
        }
    }

    pub(crate) fn is_utf_16(self) -> bool {
        matches!(self, Self::Standard(encoding) if encoding == UTF_16LE || encoding == UTF_16BE)
    }
}

impl fmt::Debug for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Serialize for TextEncoding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.label())
    }
}

impl<'de> Deserialize<'de> for TextEncoding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let label = String::deserialize(deserializer)?;
        Self::parse(&label).ok_or_else(|| serde::de::Error::custom("no encoding"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_and_told() {
        for (label, name) in
            [("utf-8", "UTF-8"), ("UTF-16", "UTF-16"), ("windows-1252", "Windows-1252")]
        {
            let encoding = TextEncoding::parse(label).unwrap();
            assert_eq!((encoding.name().as_str(), encoding.label()), (name, label.to_lowercase()));
        }
        assert_eq!(TextEncoding::parse("utf-9"), None);
    }
}
