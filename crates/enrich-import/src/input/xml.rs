//! Reads the elements of an XML text that are records, as a stream. Only one record is in memory at
//! a time. Entities are not expanded.

mod layout;

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;
use std::sync::Arc;

use quick_xml::events::{BytesRef, BytesStart, Event};
use serde_json::{Map, Value};

use super::record::{InputRecord, RecordPosition};
use crate::input_fault::{InputFault, MAX_RECORD_BYTES, MAX_RECORD_VALUES};
pub(super) use layout::{declared_encoding, detected_path};

/// Maximum depth of nested elements, counted from the root.
const MAX_DEPTH: usize = 64;
/// The key of an element's text in the object that the element becomes.
const TEXT: &str = "$";

pub(super) struct XmlReader {
    reader: quick_xml::Reader<Limited>,
    limit: Rc<Limit>,
    /// The names of the elements from the root down to the record's own element, without namespace
    /// prefixes.
    path: Vec<String>,
    shown_path: String,
    /// The names of the open elements around the records.
    around: Vec<String>,
    /// The open elements of the current record.
    open: Vec<Element>,
    buffer: Vec<u8>,
    records: u64,
    line: u64,
    /// The number of elements and attributes of the current record.
    values: usize,
}

struct Element {
    name: String,
    members: Map<String, Value>,
    text: String,
}

impl XmlReader {
    /// Returns a reader of the elements at `path`, such as `LEIData/LEIRecords/LEIRecord`.
    pub(super) fn new(input: Box<dyn BufRead>, path: &str) -> Self {
        let limit = Rc::new(Limit::default());
        let mut reader =
            quick_xml::Reader::from_reader(Limited { input, limit: Rc::clone(&limit) });
        reader.config_mut().expand_empty_elements = true;
        let parts = path.split(['/', '.']).filter(|part| !part.is_empty());
        Self {
            reader,
            limit,
            path: parts.map(|part| local(part).to_owned()).collect(),
            shown_path: path.to_owned(),
            around: Vec::new(),
            open: Vec::new(),
            buffer: Vec::new(),
            records: 0,
            line: 1,
            values: 0,
        }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<InputRecord>> {
        loop {
            if self.open.is_empty() {
                self.limit.left.set(MAX_RECORD_BYTES);
            }
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.clear();
            let event = self.reader.read_event_into(&mut buffer);
            let taken = match event {
                Ok(Event::Eof) => return self.end(),
                Ok(event) => self.take(&event),
                Err(error) => Err(self.explain(error)),
            };
            self.buffer = buffer;
            if let Some(members) = taken? {
                self.records += 1;
                let place = RecordPosition { record: self.records, line: self.line };
                let text = serde_json::to_vec(&members).unwrap_or_default();
                return Ok(Some(InputRecord { place, text, fields: Ok(members) }));
            }
        }
    }

    /// Applies an XML event to the open elements. Returns a record if the event ends one.
    fn take(&mut self, event: &Event<'_>) -> io::Result<Option<Map<String, Value>>> {
        match event {
            Event::Start(tag) => self.begin(tag)?,
            Event::End(_) => return Ok(self.close()),
            Event::Text(text) => {
                let text = text.xml10_content().map_err(|_| self.not_xml())?;
                self.add(&text);
            }
            Event::CData(text) => {
                let text = text.decode().map_err(|_| self.not_xml())?;
                self.add(&text);
            }
            Event::GeneralRef(reference) => {
                let text = self.resolved(reference)?;
                self.add(&text);
            }
            // A document type with a `[` may declare entities. Such a file is refused, because
            // expanded entities could have any size.
            Event::DocType(text) if text.contains(&b'[') => {
                return Err(InputFault::XmlEntities.into());
            }
            _ => {}
        }
        Ok(None)
    }

    fn begin(&mut self, tag: &BytesStart<'_>) -> io::Result<()> {
        let name = tag.name();
        let name = std::str::from_utf8(name.as_ref()).map_err(|_| self.not_xml())?;
        let name = local(name).to_owned();
        if self.around.len() + self.open.len() >= MAX_DEPTH {
            let record = self.records + 1;
            return Err(InputFault::DeepXml { record, most: MAX_DEPTH }.into());
        }
        if self.open.is_empty() {
            let is_record = self
                .path
                .split_last()
                .is_some_and(|(last, around)| *last == name && *around == self.around);
            if !is_record {
                self.around.push(name);
                return Ok(());
            }
            self.line = self.limit.lines.get() + 1;
            self.values = 0;
        }
        let members = self.attributes(tag)?;
        self.values += members.len() + 1;
        if self.values > MAX_RECORD_VALUES {
            return Err(self.too_large());
        }
        self.open.push(Element { name, members, text: String::new() });
        Ok(())
    }

    fn attributes(&self, tag: &BytesStart<'_>) -> io::Result<Map<String, Value>> {
        let mut members = Map::new();
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|_| self.not_xml())?;
            let name = std::str::from_utf8(attribute.key.as_ref()).map_err(|_| self.not_xml())?;
            if name == "xmlns" || name.starts_with("xmlns:") {
                continue;
            }
            let value = std::str::from_utf8(&attribute.value).map_err(|_| self.not_xml())?;
            let value = quick_xml::escape::unescape(value)
                .map_err(|_| io::Error::from(InputFault::XmlEntities))?;
            members.insert(format!("@{name}"), Value::String(value.into_owned()));
        }
        Ok(members)
    }

    /// Closes the innermost element. Returns the record if this element was the record.
    fn close(&mut self) -> Option<Map<String, Value>> {
        let Some(Element { name, mut members, text }) = self.open.pop() else {
            self.around.pop();
            return None;
        };
        let text = text.trim();
        if !text.is_empty() {
            members.insert(TEXT.to_owned(), Value::String(text.to_owned()));
        }
        let Some(parent) = self.open.last_mut() else { return Some(members) };
        let member = Value::Object(members);
        match parent.members.get_mut(&name) {
            None => {
                parent.members.insert(name, member);
            }
            Some(Value::Array(several)) => several.push(member),
            Some(one) => *one = Value::Array(vec![one.take(), member]),
        }
        None
    }

    fn add(&mut self, text: &str) {
        if let Some(element) = self.open.last_mut() {
            element.text.push_str(text);
        }
    }

    /// Returns the character that a reference such as `&amp;` or `&#10;` stands for.
    fn resolved(&self, reference: &BytesRef<'_>) -> io::Result<Cow<'static, str>> {
        if let Some(letter) = reference.resolve_char_ref().map_err(|_| self.not_xml())? {
            return Ok(Cow::Owned(letter.to_string()));
        }
        let name = reference.decode().map_err(|_| self.not_xml())?;
        let text = quick_xml::escape::resolve_predefined_entity(&name);
        text.map(Cow::Borrowed).ok_or_else(|| InputFault::XmlEntities.into())
    }

    fn end(&self) -> io::Result<Option<InputRecord>> {
        if !self.open.is_empty() || !self.around.is_empty() {
            return Err(InputFault::EndsInside(self.records).into());
        }
        if self.records == 0 && self.limit.has_read.get() {
            return Err(InputFault::NothingAtPath(self.shown_path.clone()).into());
        }
        Ok(None)
    }

    fn too_large(&self) -> io::Error {
        InputFault::LargeRecord { record: self.records + 1, line: self.line }.into()
    }

    fn not_xml(&self) -> io::Error {
        let byte = self.reader.buffer_position();
        InputFault::NotXml { record: self.records + 1, byte }.into()
    }

    fn explain(&self, error: quick_xml::Error) -> io::Error {
        match error {
            quick_xml::Error::Io(_) if self.limit.left.get() == 0 => self.too_large(),
            quick_xml::Error::Io(error) => Arc::try_unwrap(error)
                .unwrap_or_else(|error| io::Error::new(error.kind(), error.to_string())),
            quick_xml::Error::Syntax(_) if self.limit.is_ended.get() => {
                InputFault::EndsInside(self.records).into()
            }
            _ => self.not_xml(),
        }
    }
}

/// Returns a name without its namespace prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The data that an [`XmlReader`] shares with its input: how much of the current record may still
/// be read, and how much was read.
#[derive(Default)]
struct Limit {
    /// The number of bytes that the current record may still have.
    left: Cell<usize>,
    lines: Cell<u64>,
    has_read: Cell<bool>,
    is_ended: Cell<bool>,
}

struct Limited {
    input: Box<dyn BufRead>,
    limit: Rc<Limit>,
}

impl BufRead for Limited {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.limit.left.get() == 0 {
            return Err(io::Error::other("the record is too large"));
        }
        let ready = self.input.fill_buf()?;
        self.limit.is_ended.set(ready.is_empty());
        Ok(ready)
    }

    fn consume(&mut self, amount: usize) {
        let limit = &self.limit;
        if amount > 0
            && let Ok(ready) = self.input.fill_buf()
        {
            limit.has_read.set(true);
            let passed = ready.get(..amount).unwrap_or_default();
            let lines = memchr::memchr_iter(b'\n', passed).count() as u64;
            limit.lines.set(limit.lines.get() + lines);
        }
        limit.left.set(limit.left.get().saturating_sub(amount));
        self.input.consume(amount);
    }
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}
