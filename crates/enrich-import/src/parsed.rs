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
