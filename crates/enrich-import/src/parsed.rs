//! A line of a source with its parsed record.

use enrich_core::Record;

use crate::rejection::Rejection;

#[derive(Debug)]
pub(crate) struct Parsed {
    /// The line's number; for a row, its first line's.
    pub(crate) line: u64,
    pub(crate) text: Vec<u8>,
    /// Its record, or why it has none.
    pub(crate) record: Result<Record, Rejection>,
}
