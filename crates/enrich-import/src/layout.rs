//! The format, delimiter and encoding of a source. The importer detects them, unless the caller
//! sets them.

use std::fmt;

use enrich_mapping::Input;
use serde::{Deserialize, Serialize};

use crate::delimiter::Delimiter;
use crate::format::Format;
use crate::text_encoding::TextEncoding;

/// The caller's settings for reading a source. A setting that is `None` is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAs {
    /// The delimiter of a CSV source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<Delimiter>,
    /// The encoding of the source's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<TextEncoding>,
}

impl ReadAs {
    /// Returns the delimiter and the encoding that `input` sets. `input` is the part of a mapping
    /// that describes the layout of the file.
    pub(crate) fn of(input: &Input) -> Self {
        Self {
            delimiter: input.delimiter.and_then(|letter| Delimiter::parse(&letter.to_string())),
            encoding: input.encoding.as_deref().and_then(TextEncoding::parse),
        }
    }

    /// Returns these settings. A setting that is `None` is taken from `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            delimiter: self.delimiter.or(other.delimiter),
            encoding: self.encoding.or(other.encoding),
        }
    }
}

/// How a source is read: its format, delimiter and encoding; for a workbook, also its sheets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The format of the records.
    pub format: Format,
    /// The delimiter, if the source is CSV.
    pub delimiter: Option<Delimiter>,
    /// The encoding; `None` for a workbook. It is UTF-8 as long as only ASCII characters were read.
    pub encoding: Option<TextEncoding>,
    /// The name of the sheet that is read, if the source is a workbook.
    pub sheet: Option<String>,
    /// The number of sheets in the workbook; 0 if the source is not a workbook.
    pub sheets: usize,
}

impl Layout {
    /// Whether this is the usual layout: comma, UTF-8, no workbook. A message to the user need not
    /// name the usual layout.
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
                sheets => write!(f, ", one of {sheets}; the others are not read"),
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
