//! Reads JSON Lines, and JSON text sequences (RFC 7464) with a value on each line.

use std::io;

use memchr::memmem::Finder;
use serde_json::Value;

use super::json::parsed;
use super::record::{InputRecord, RecordPosition};
use crate::input_fault::{InputFault, MAX_RECORD_BYTES, MAX_RECORD_VALUES};
use crate::lines::Lines;
use crate::rejection::Rejection;

/// The byte before each record of a JSON text sequence.
const RECORD_SEPARATOR: u8 = 0x1e;

pub(super) struct JsonLinesReader {
    lines: Lines,
    records: u64,
    /// Records that do not contain this text are skipped.
    wanted: Option<Finder<'static>>,
}

impl JsonLinesReader {
    pub(super) fn new(lines: Lines, comment: Option<&str>, wanted: Option<&str>) -> Self {
        Self {
            lines: lines.with_max_bytes(MAX_RECORD_BYTES).skipping(comment),
            records: 0,
            wanted: wanted.map(|text| Finder::new(text).into_owned()),
        }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<InputRecord>> {
        loop {
            let Some(line) = self.lines.next_filled()? else { return Ok(None) };
            self.records += 1;
            let place = RecordPosition { record: self.records, line: line.number };
            let mut text = line.bytes;
            let is_large = line.is_too_long
                || (text.len() > MAX_RECORD_VALUES
                    && memchr::memchr_iter(b',', &text).count() > MAX_RECORD_VALUES);
            if is_large {
                let RecordPosition { record, line } = place;
                return Err(InputFault::LargeRecord { record, line }.into());
            }
            if self.wanted.as_ref().is_some_and(|wanted| wanted.find(&text).is_none()) {
                continue;
            }
            if text.first() == Some(&RECORD_SEPARATOR) {
                text.remove(0);
            }
            let fields = parsed(&text).and_then(|value| match value {
                Value::Object(members) => Ok(members),
                _ => Err(Rejection::NotAnObject),
            });
            return Ok(Some(InputRecord { place, text, fields }));
        }
    }
}
