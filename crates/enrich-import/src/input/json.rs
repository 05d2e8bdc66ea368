//! Reads the records of a JSON text as a stream. The records are the elements of an array, or
//! objects at a path. Only one record is in memory at a time.

mod layout;
mod path;
mod scanner;

use std::io::{self, BufRead};

use memchr::memmem::Finder;
use serde_json::{Map, Value};

use super::record::{InputRecord, RecordPosition};
use crate::input_fault::{InputFault, MAX_RECORD_BYTES};
use crate::rejection::Rejection;
pub(super) use layout::{JsonLayout, detected, first_names};
use path::{Path, Step};
use scanner::{Copied, Scanner};

/// If the records are members of an object, each record gets its member's name under this key:
/// `{"quill":{"id":1}}` gives the record `{"id":1,"@key":"quill"}`.
const KEY: &str = "@key";
/// A record that is not an object, such as a text, becomes an object with this single key:
/// `"Quill"` becomes `{"$":"Quill"}`.
const VALUE: &str = "$";
/// If the records are arrays of values, the object around them may list the names of the columns
/// in a member with one of these names: `{"columns":["name"],"rows":[["Quill"]]}`.
const COLUMN_NAMES: [&str; 3] = ["fields", "columns", "header"];
/// Maximum size of the array with all column names, in bytes.
const MAX_NAMES_BYTES: usize = 1024 * 1024;
/// Maximum size of a member's name, in bytes.
const MAX_KEY_BYTES: usize = 64 * 1024;

pub(super) struct JsonReader {
    scanner: Scanner,
    path: Path,
    /// The arrays and objects around the current position, the outermost first.
    open: Vec<Open>,
    /// The names of the columns, if records are arrays; empty until they are found.
    columns: Vec<String>,
    /// The name of the last member that matched a `*` of the path.
    key: String,
    /// Whether something was found at the path: a record, or the array or object that contains the
    /// records. This array or object may be empty.
    has_found: bool,
    /// Whether a `*` of the path has matched a member. Only then is `key` set.
    has_key: bool,
    has_begun: bool,
    /// Records that do not contain this text are skipped.
    wanted: Option<Finder<'static>>,
}

#[derive(Clone, Copy)]
struct Open {
    is_object: bool,
    /// The index of the step in [`JsonReader::path`] that the members of this object, or the
    /// elements of this array, are compared with. With the path `/rows/*`, the object at the
    /// beginning of the text has the index 0 (`rows`), and the array `rows` has the index 1 (`*`).
    step: usize,
}

impl JsonReader {
    /// Returns a reader of the records at `path`. Skips records that do not contain the text
    /// `wanted`.
    pub(super) fn new(input: Box<dyn BufRead>, path: &str, wanted: Option<&str>) -> Self {
        Self {
            scanner: Scanner::new(input),
            path: Path::parse(path),
            open: Vec::new(),
            columns: Vec::new(),
            key: String::new(),
            has_found: false,
            has_key: false,
            has_begun: false,
            wanted: wanted.map(|text| Finder::new(text).into_owned()),
        }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<InputRecord>> {
        loop {
            let Some(Open { is_object, step }) = self.open.last().copied() else {
                // The text may have several top-level values, one after the other, as JSON text
                // sequences have.
                self.scanner.accept(b',')?;
                if self.scanner.peek()?.is_none() {
                    return self.end().map(|()| None);
                }
                self.has_begun = true;
                if let Some(record) = self.descend(0)? {
                    return Ok(Some(record));
                }
                continue;
            };
            self.scanner.accept(b',')?;
            let end = if is_object { b'}' } else { b']' };
            if self.scanner.accept(end)? {
                self.open.pop();
                continue;
            }
            if (!is_object || self.is_wanted_member(step)?)
                && let Some(record) = self.descend(step + 1)?
            {
                return Ok(Some(record));
            }
        }
    }

    /// Reads a member's name. Returns whether the path leads into the member. If it does not, also
    /// consumes the member's value, which may list the names of the columns.
    fn is_wanted_member(&mut self, step: usize) -> io::Result<bool> {
        let key = self.member_name()?;
        let is_wanted = match self.path.0.get(step) {
            Some(Step::Each) => {
                self.key.clone_from(&key);
                self.has_key = true;
                true
            }
            Some(Step::Member(name)) => *name == key,
            None => false,
        };
        if is_wanted {
            return Ok(true);
        }
        let is_array = self.scanner.peek()? == Some(b'[');
        if is_array && COLUMN_NAMES.contains(&key.as_str()) {
            let mut text = Vec::new();
            if self.scanner.copy(&mut text, MAX_NAMES_BYTES)? == Copied::TooLong {
                return Err(self.too_large(self.scanner.line()));
            }
            if let Ok(names) = serde_json::from_slice::<Vec<String>>(&text) {
                self.columns = names;
            }
        } else {
            self.scanner.skip()?;
        }
        Ok(false)
    }

    /// Reads the name of an object's member and the colon after it.
    fn member_name(&mut self) -> io::Result<String> {
        match self.scanner.peek()? {
            Some(b'"') => {}
            Some(_) => return Err(self.scanner.not_json()),
            None => return Err(self.scanner.ends_inside()),
        }
        let mut text = Vec::new();
        if self.scanner.copy(&mut text, MAX_KEY_BYTES)? == Copied::TooLong {
            return Err(self.scanner.not_json());
        }
        let name = serde_json::from_slice(&text).map_err(|_| self.scanner.not_json())?;
        self.scanner.expect(b':')?;
        Ok(name)
    }

    /// Compares the next value with the step of the path at the index `step`, and handles it:
    ///
    /// - If the path has no step with this index, the value is a record, and is returned.
    /// - If the value is an object, or if it is an array and the step is `*`, the reader enters it.
    /// - Any other value is skipped.
    fn descend(&mut self, step: usize) -> io::Result<Option<InputRecord>> {
        let Some(next) = self.path.0.get(step) else {
            self.has_found = true;
            return self.record();
        };
        let is_each = *next == Step::Each;
        let is_object = self.scanner.peek()? == Some(b'{');
        let is_entered = match is_object {
            true => self.scanner.accept(b'{')?,
            false => is_each && self.scanner.accept(b'[')?,
        };
        if is_entered {
            // The path limits the depth: `open` never has more entries than the path has steps.
            self.open.push(Open { is_object, step });
            self.has_found |= is_each && step + 1 == self.path.0.len();
        } else {
            self.scanner.skip()?;
        }
        Ok(None)
    }

    fn record(&mut self) -> io::Result<Option<InputRecord>> {
        self.scanner.peek()?;
        let line = self.scanner.line();
        let mut text = Vec::new();
        if self.scanner.copy(&mut text, MAX_RECORD_BYTES)? == Copied::TooLong {
            return Err(self.too_large(line));
        }
        self.scanner.records += 1;
        if self.wanted.as_ref().is_some_and(|wanted| wanted.find(&text).is_none()) {
            return Ok(None);
        }
        let fields = self.fields(&text);
        let place = RecordPosition { record: self.scanner.records, line };
        Ok(Some(InputRecord { place, text, fields }))
    }

    fn fields(&self, text: &[u8]) -> Result<Map<String, Value>, Rejection> {
        let mut fields = match parsed(text)? {
            Value::Object(members) => members,
            Value::Array(values) if !self.columns.is_empty() => {
                let (found, expected) = (values.len(), self.columns.len());
                if found != expected {
                    return Err(Rejection::FieldCount { found, expected });
                }
                self.columns.iter().cloned().zip(values).collect()
            }
            value => Map::from_iter([(VALUE.to_owned(), value)]),
        };
        if self.has_key && !fields.contains_key(KEY) {
            fields.insert(KEY.to_owned(), Value::String(self.key.clone()));
        }
        Ok(fields)
    }

    fn end(&self) -> io::Result<()> {
        if self.has_found || !self.has_begun {
            return Ok(());
        }
        Err(InputFault::NothingAtPath(self.path.to_string()).into())
    }

    fn too_large(&self, line: u64) -> io::Error {
        InputFault::LargeRecord { record: self.scanner.records + 1, line }.into()
    }
}

pub(super) fn parsed(text: &[u8]) -> Result<Value, Rejection> {
    let text = std::str::from_utf8(text).map_err(|_| Rejection::NotUtf8)?;
    serde_json::from_str(text).map_err(|error| Rejection::NotJson { column: error.column() })
}
