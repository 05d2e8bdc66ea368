//! Recognises lines whose records the directory already has, before the lines are parsed.

use std::collections::VecDeque;
use std::io;

use enrich_core::port::importer::KnownRecords;

use crate::jsonl;
use crate::lines::{Line, Lines};

/// Maximum number of lines that are looked up together in the directory. One look-up for many lines
/// is faster than one for each line, because the store can read the records in the best order.
const AT_ONCE: usize = 4096;
/// Maximum number of bytes of the lines that are looked up together. The last of
/// these lines may exceed it.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Finds the lines of a source whose records the directory already has.
pub(crate) struct KnownLines {
    known: Box<dyn KnownRecords>,
    /// The lines that are read, but that [`Self::next`] has not returned yet. The `bool` is `true`
    /// if the directory already has the record of the line.
    ahead: VecDeque<(Line, bool)>,
    /// The error that ended the reading. [`Self::next`] returns it after the lines in `ahead`.
    failure: Option<io::Error>,
}

impl KnownLines {
    pub(crate) fn new(known: Box<dyn KnownRecords>) -> Self {
        Self { known, ahead: VecDeque::new(), failure: None }
    }

    /// Returns the next line that is not blank, and whether the directory already has the line's
    /// record; `None` at the end.
    pub(crate) fn next(&mut self, lines: &mut Lines) -> io::Result<Option<(Line, bool)>> {
        if self.ahead.is_empty() && self.failure.is_none() {
            self.read_ahead(lines);
        }
        match (self.ahead.pop_front(), self.failure.take()) {
            (Some(next), failure) => {
                self.failure = failure;
                Ok(Some(next))
            }
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(None),
        }
    }

    fn read_ahead(&mut self, lines: &mut Lines) {
        let (mut read, mut contents, mut bytes) = (Vec::new(), Vec::new(), 0);
        while read.len() < AT_ONCE && bytes < MAX_BYTES {
            match lines.next_filled() {
                Ok(Some(line)) => {
                    bytes += line.bytes.len();
                    contents.push(jsonl::content(&line));
                    read.push(line);
                }
                Ok(None) => break,
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        let mut known = self.known.are_known(&contents);
        known.resize(read.len(), false);
        // If a line is too long, only its beginning was compared with the directory. So such a line
        // counts as one whose record the directory does not have.
        let is_whole = |(line, is_known): (Line, bool)| {
            let is_known = is_known && !line.is_too_long;
            (line, is_known)
        };
        self.ahead.extend(read.into_iter().zip(known).map(is_whole));
    }
}
