//! A line of a source with its parsed record.

use enrich_core::Record;

use crate::rejection::Rejection;

#[derive(Debug)]
pub(crate) struct Parsed {
    /// The line's number; for a row of several lines, the first line's.
    pub(crate) line: u64,
    pub(crate) text: Vec<u8>,
    /// The line's record, or why it is rejected.
    pub(crate) record: Result<Record, Rejection>,
}
