//! A line of a source, and the record in it.

use enrich_core::Record;

use crate::rejection::Rejection;

/// A line and what it is.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The line's number, of a row the first one's.
    pub(crate) line: u64,
    /// The line as it was.
    pub(crate) text: Vec<u8>,
    /// Its record, or why it has none.
    pub(crate) record: Result<Record, Rejection>,
}
