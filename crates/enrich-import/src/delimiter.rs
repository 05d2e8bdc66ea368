//! The delimiter of CSV.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The character between the fields of a CSV row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delimiter {
    /// `,`
    Comma,
    /// `;`, usual in countries that write decimals with a comma.
    Semicolon,
    /// A tab.
    Tab,
    /// `|`
    Pipe,
}

impl Delimiter {
    /// All delimiters, the most usual first.
    pub const ALL: [Self; 4] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Pipe];

    /// Parses `,`, `;`, `|`, a tab, `tab` or `\t`. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "\t" | "\\t" => Some(Self::Tab),
            _ => Self::ALL.into_iter().find(|one| one.as_str().eq_ignore_ascii_case(text)),
        }
    }

    /// Returns the delimiter as users write it on a command line: `,`, `;`, `tab` or `|`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Comma => ",",
            Self::Semicolon => ";",
            Self::Tab => "tab",
            Self::Pipe => "|",
        }
    }

    /// Returns the delimiter as a byte of the file, such as `b';'`.
    pub const fn as_byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Pipe => b'|',
        }
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delimiter_is_read_as_it_is_typed() {
        for (text, expected) in [
            (",", Some(Delimiter::Comma)),
            ("tab", Some(Delimiter::Tab)),
            ("TAB", Some(Delimiter::Tab)),
            ("\t", Some(Delimiter::Tab)),
            ("\\t", Some(Delimiter::Tab)),
            (";;", None),
        ] {
            assert_eq!(Delimiter::parse(text), expected);
        }
    }
}
