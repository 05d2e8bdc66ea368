//! The code pages of DOS, in which older programs still write texts. The WHATWG Encoding Standard
//! does not contain these code pages.

use oem_cp::code_table::{
    DECODING_TABLE_CP437, DECODING_TABLE_CP850, DECODING_TABLE_CP852, DECODING_TABLE_CP858,
};

/// A code page of DOS: ASCII for the bytes from 0 to 127, and other letters and signs for the bytes
/// from 128 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodePage {
    /// The code page of the United States.
    Cp437,
    /// The code page of Western Europe.
    Cp850,
    /// The code page of Central Europe.
    Cp852,
    /// The code page of Western Europe, with the euro sign.
    Cp858,
}

impl CodePage {
    /// Every code page with its label.
    pub const ALL: [(Self, &str); 4] = [
        (Self::Cp437, "cp437"),
        (Self::Cp850, "cp850"),
        (Self::Cp852, "cp852"),
        (Self::Cp858, "cp858"),
    ];

    /// Parses a label: `cp850` or `ibm850`. Case does not matter.
    pub fn parse(label: &str) -> Option<Self> {
        let label = label.trim().to_ascii_lowercase();
        let number = label.strip_prefix("cp").or_else(|| label.strip_prefix("ibm"))?;
        let is_same = |known: &str| known.strip_prefix("cp") == Some(number);
        Self::ALL.into_iter().find(|(_, known)| is_same(known)).map(|(page, _)| page)
    }

    /// Returns the label of the code page, such as `cp850`.
    pub fn label(self) -> &'static str {
        Self::ALL.get(self as usize).map_or("", |(_, label)| label)
    }

    /// Decodes bytes. Every byte is a character.
    pub fn decode(self, bytes: &[u8]) -> String {
        let table = match self {
            Self::Cp437 => &DECODING_TABLE_CP437,
            Self::Cp850 => &DECODING_TABLE_CP850,
            Self::Cp852 => &DECODING_TABLE_CP852,
            Self::Cp858 => &DECODING_TABLE_CP858,
        };
        oem_cp::decode_string_complete_table(bytes, table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_parsed_and_bytes_decoded() {
        for (page, label) in CodePage::ALL {
            assert_eq!((CodePage::parse(label), page.label()), (Some(page), label));
        }
        assert_eq!(CodePage::parse(" IBM850 "), Some(CodePage::Cp850));
        assert_eq!(CodePage::parse("850"), None);
        assert_eq!(CodePage::Cp850.decode(b"M\x81ller"), "Müller");
        assert_eq!(CodePage::Cp852.decode(b"\x9d\xa2d\xab"), "Łódź");
        assert_eq!(CodePage::Cp858.decode(b"\xd5"), "€");
    }
}
