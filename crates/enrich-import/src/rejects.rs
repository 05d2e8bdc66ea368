//! The file of rejected lines: JSON Lines with each line's number, reason and text.
//!
//! It holds the operator's own data, to be mended and imported once more. A reason never does.

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
    /// The line as it was; what is not UTF-8 in it is U+FFFD, and a line that is too long is cut.
    /// Absent where the record is suppressed: what was to be forgotten is not gathered here.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Cow<'a, str>>,
}

/// Writes one rejected line.
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
