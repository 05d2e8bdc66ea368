//! Writes the file of rejected lines: JSON Lines with number, reason and text of each line.
//!
//! The file holds the operator's own data, to be corrected and imported again. Reasons contain no
//! data.

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
    /// The line's text, with U+FFFD for bytes that are not UTF-8. A line that is too long is cut
    /// off. `None` for a suppressed record, so that forgotten data isn't written again.
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
