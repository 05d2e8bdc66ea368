//! Recognises files that are not lists, by the first bytes of the file.

use std::fmt;
use std::io;

/// Why a file is not a readable list. The messages are for people who don't know file formats.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoList {
    /// The file has other content, such as a picture.
    #[error(
        "this is {0}, not a list; save the table in it as CSV or Excel (.xlsx) and use that file"
    )]
    Other(FileKind),
    /// The file is a zip archive, but not a workbook.
    #[error("this is a zip archive; unpack it and use the list inside")]
    Zip,
    /// The file is a workbook, but not an `.xlsx` file. The text names its format, such as `.xls`.
    #[error("this is {0}; save it as an Excel workbook (.xlsx) without a password, or as CSV")]
    OtherWorkbook(&'static str),
    /// The whole file is one JSON value, not one JSON object on each line.
    #[error(
        "this is a single JSON value; write the list as JSON Lines (.jsonl): one object on each \
         line, without brackets and commas around them"
    )]
    JsonArray,
    /// The content of the file is JSON, but its name has the ending of a table, such as `.csv`.
    #[error("this is JSON, not CSV; if each line is an object, rename the file to .jsonl")]
    JsonAsCsv,
    /// The workbook is damaged. The text says what is damaged.
    #[error("the Excel file is damaged: {0}; open it in Excel, save it again and use that file")]
    DamagedWorkbook(&'static str),
    /// The workbook exceeds a limit. The text names the limit.
    #[error("the Excel file has {0}; save the list as CSV and use that file")]
    LargeWorkbook(&'static str),
    /// The file is empty.
    #[error("the list is empty")]
    Empty,
    /// The file has a header but no rows.
    #[error("the list has column names but no rows")]
    HeaderAlone,
}

impl NoList {
    /// Returns the [`NoList`] that an I/O error wraps; `None` if it wraps another error or no
    /// error.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().cloned()
    }
}

/// The kind of a file that is not a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A PDF document.
    Pdf,
    /// A picture in any format.
    Picture,
    /// An HTML page.
    WebPage,
    /// A text in the Rich Text Format (RTF).
    RichText,
    /// A document of a word processor.
    Document,
    /// Slides of a presentation.
    Slides,
    /// A program, or other data that isn't text.
    NotText,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pdf => "a PDF document",
            Self::Picture => "a picture",
            Self::WebPage => "a web page",
            Self::RichText => "a text document",
            Self::Document => "a Word document",
            Self::Slides => "a presentation",
            Self::NotText => "a file that is not text",
        })
    }
}

/// The first bytes of zip archives; workbooks are zip archives.
pub(crate) const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// The first bytes of a zip archive without files.
const EMPTY_ZIP_MAGIC: &[u8] = b"PK\x05\x06";

/// The first bytes of file formats that are not lists.
const MAGIC: [(&[u8], FileKind); 13] = [
    (b"%PDF-", FileKind::Pdf),
    (b"\x89PNG", FileKind::Picture),
    (b"\xff\xd8\xff", FileKind::Picture),
    (b"GIF8", FileKind::Picture),
    (b"II*\0", FileKind::Picture),
    (b"MM\0*", FileKind::Picture),
    (b"RIFF", FileKind::Picture),
    (b"{\\rtf", FileKind::RichText),
    (b"<!DOCTYPE html", FileKind::WebPage),
    (b"<!doctype html", FileKind::WebPage),
    (b"<html", FileKind::WebPage),
    (b"\x7fELF", FileKind::NotText),
    (b"MZ\x90\0", FileKind::NotText),
];

/// The first bytes of old Excel and Word files, and of new ones with a password.
const COMPOUND_MAGIC: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Whether a file begins like a zip archive. A workbook (`.xlsx`) is also a zip archive.
pub(crate) fn is_archive(head: &[u8]) -> bool {
    head.starts_with(ZIP_MAGIC) || head.starts_with(EMPTY_ZIP_MAGIC)
}

/// Returns why a file that begins with these bytes is certainly not a list; `None` if the file may
/// be a list.
pub(crate) fn refused(head: &[u8]) -> Option<NoList> {
    if head.starts_with(COMPOUND_MAGIC) {
        return Some(NoList::OtherWorkbook("an old or password-protected Excel file (.xls)"));
    }
    if head.starts_with(EMPTY_ZIP_MAGIC) {
        return Some(NoList::Zip);
    }
    let found = MAGIC.iter().find(|(magic, _)| head.starts_with(magic));
    found.map(|(_, kind)| NoList::Other(*kind))
}

/// Whether a text begins like a JSON array of objects. JSON Lines never begins like this.
pub(crate) fn is_json_array(text: &[u8]) -> bool {
    let inside = text.trim_ascii_start().strip_prefix(b"[");
    inside.is_some_and(|inside| matches!(inside.trim_ascii_start().first(), Some(b'{')))
}

/// Whether a text begins like a JSON object.
pub(crate) fn is_json_object(text: &[u8]) -> bool {
    let inside = text.trim_ascii_start().strip_prefix(b"{");
    inside
        .is_some_and(|inside| matches!(inside.trim_ascii_start().first(), Some(b'"' | b'}') | None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_is_told_in_plain_words() {
        for (head, said) in [
            (&b"%PDF-1.7\n"[..], "this is a PDF document, not a list"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "old or password-protected Excel file"),
            (b"\x89PNG\r\n", "this is a picture, not a list"),
            (b"PK\x05\x06", "this is a zip archive"),
        ] {
            let refused = refused(head).unwrap().to_string();
            assert!(refused.contains(said), "{refused}");
        }
        assert_eq!(refused(b"Company;City\n"), None);
        assert_eq!(refused(b""), None);
    }

    #[test]
    fn an_array_of_objects_is_told_from_a_column_in_brackets() {
        assert!(is_json_array(b" [\n {\"name\":1}]"));
        assert!(!is_json_array(b"[Id],[Name]\n"));
        assert!(is_json_object(b"{\n  \"a\": 1"));
        assert!(!is_json_object(b"{name},b\n"));
    }
}
