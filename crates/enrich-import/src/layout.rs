//! How a source is laid out: what was detected, and what somebody said instead.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::delimiter::Delimiter;
use crate::encoding::TextEncoding;
use crate::format::Format;

/// How a source is to be read, where it is not to be detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAs {
    /// What stands between the fields of CSV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<Delimiter>,
    /// The encoding of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<TextEncoding>,
}

/// How a source is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// How its records are written.
    pub format: Format,
    /// What stands between the fields of CSV.
    pub delimiter: Option<Delimiter>,
    /// The encoding of the text, as far as it is read: ASCII is UTF-8.
    pub encoding: Option<TextEncoding>,
    /// The sheet of a workbook that is read.
    pub sheet: Option<String>,
    /// How many sheets the workbook has.
    pub sheets: usize,
}

impl Layout {
    /// Whether it is what the format's documentation says first: nothing that anybody has to be
    /// told.
    pub fn is_plain(&self) -> bool {
        let Self { delimiter, encoding, sheet, .. } = self;
        matches!(delimiter, None | Some(Delimiter::Comma))
            && encoding.is_none_or(|encoding| encoding == TextEncoding::UTF_8)
            && sheet.is_none()
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(sheet) = &self.sheet {
            write!(f, "Excel workbook, sheet `{sheet}`")?;
            return match self.sheets {
                0 | 1 => Ok(()),
                sheets => write!(f, ", the first of {sheets}"),
            };
        }
        f.write_str(match self.format {
            Format::JsonLines => "JSON Lines",
            Format::Csv | Format::Tsv | Format::Xlsx => "CSV",
        })?;
        match self.delimiter {
            Some(Delimiter::Tab) => f.write_str(", tabs between columns")?,
            Some(delimiter) => write!(f, ", `{delimiter}` between columns")?,
            None => {}
        }
        self.encoding.map_or(Ok(()), |encoding| write!(f, ", {encoding}"))
    }
}
