//! Writes the file of rejected lines: JSON Lines with the number of each line, the reason and the
//! line's text.
//!
//! The file contains the operator's own data, so that the operator can correct the lines and import
//! them again. The texts of the reasons contain no data.

use std::borrow::Cow;
use std::io::{self, Write};

use enrich_core::SourceName;
use serde::Serialize;

use crate::batch::SourceLine;
use crate::rejection::Rejection;

#[derive(Serialize)]
struct RejectedLine<'a> {
    source: &'a str,
    line: u64,
    reason: String,
    /// The text of the line, with U+FFFD in place of bytes that are not UTF-8. A line that is too
    /// long is truncated. For a suppressed record, this is `None`, so that forgotten data isn't
    /// written again.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Cow<'a, str>>,
}

pub(crate) fn write(
    into: &mut dyn Write,
    source: &SourceName,
    place: &SourceLine,
    reason: &Rejection,
) -> io::Result<()> {
    let line = RejectedLine {
        source: source.as_str(),
        line: place.line,
        reason: reason.explained(),
        record: (*reason != Rejection::Suppressed).then(|| String::from_utf8_lossy(&place.text)),
    };
    serde_json::to_writer(&mut *into, &line)?;
    into.write_all(b"\n")
}
