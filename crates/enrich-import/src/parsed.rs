//! A line of a source with its parsed record.

use enrich_core::Record;

use crate::rejection::Rejection;

#[derive(Debug)]
pub(crate) struct Parsed {
    /// The line's number, from 1. For a row of several lines, the number of the first line.
    pub(crate) line: u64,
    pub(crate) text: Vec<u8>,
    /// The record on the line, or why the line is rejected.
    pub(crate) record: Result<Record, Rejection>,
}

/// The next result of reading a source.
#[allow(clippy::large_enum_variant, reason = "a value is moved once and not kept")]
pub(crate) enum Next {
    /// A record that the directory already has.
    Known,
    /// A record, or a rejected line.
    Parsed(Parsed),
    /// No record yet: a part of the source was read that does not contain a complete record.
    Busy,
    /// No more records follow: the source has ended, or the maximum number of records was read.
    End,
}
