//! Reads the XML of a workbook's parts event by event. Each event, and each whole part, has a
//! maximum size.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use quick_xml::events::{BytesRef, BytesStart, Event};

use super::{Limits, not_text, refusal};
use crate::bounds::Halt;
use crate::no_list::NoList;

/// Maximum length of an XML event in bytes. An event is a tag with its attributes, or a text.
const MAX_EVENT_BYTES: usize = 1024 * 1024;

/// An XML reader with limits.
pub(super) struct Xml<R: Read> {
    reader: quick_xml::Reader<Bounded<R>>,
    /// The number of bytes that may still be read for the current event.
    left: Rc<Cell<usize>>,
    buffer: Vec<u8>,
}

impl<R: Read> Xml<R> {
    /// Returns a reader of at most `max_bytes` bytes of `part`.
    pub(super) fn new(part: R, max_bytes: u64, limits: &Limits) -> Self {
        let left = Rc::new(Cell::new(0));
        let reader = quick_xml::Reader::from_reader(Bounded {
            input: BufReader::with_capacity(64 * 1024, part),
            left: Rc::clone(&left),
            read: 0,
            max_bytes,
            limits: limits.clone(),
        });
        Self { reader, left, buffer: Vec::new() }
    }

    pub(super) fn next(&mut self) -> io::Result<Event<'_>> {
        self.left.set(MAX_EVENT_BYTES);
        self.buffer.clear();
        self.reader.read_event_into(&mut self.buffer).map_err(failure)
    }
}

/// Returns the value of an attribute; `None` if the attribute is missing or invalid.
pub(super) fn attribute(tag: &BytesStart<'_>, name: &[u8]) -> Option<String> {
    let mut given = tag.attributes();
    let mut given = given.with_checks(false).flatten();
    let value = given.find(|attribute| attribute.key.as_ref() == name)?.value;
    let text = std::str::from_utf8(&value).ok()?;
    Some(quick_xml::escape::unescape(text).ok()?.into_owned())
}

/// Returns the text of an XML event; `None` for an event without text, such as a tag.
pub(super) fn text_of<'a>(event: &'a Event<'_>) -> io::Result<Option<Cow<'a, str>>> {
    Ok(Some(match event {
        Event::Text(text) => text.xml10_content().map_err(not_text)?,
        Event::CData(text) => text.decode().map_err(not_text)?,
        Event::GeneralRef(reference) => Cow::Owned(resolved(reference)?),
        _ => return Ok(None),
    }))
}

/// Returns the text that a reference such as `&amp;` or `&#10;` stands for.
fn resolved(reference: &BytesRef<'_>) -> io::Result<String> {
    if let Some(letter) = reference.resolve_char_ref().map_err(not_text)? {
        return Ok(letter.to_string());
    }
    let name = reference.decode().map_err(not_text)?;
    let text = quick_xml::escape::resolve_predefined_entity(&name);
    text.map(str::to_owned).ok_or_else(|| not_text(()))
}

/// Converts an error of the XML library to an I/O error. If the reading was stopped or a limit was
/// exceeded, returns the [`Halt`] or the [`NoList`] with this reason. If the operating system could
/// not read the file, returns the operating system's error. Any other error means that the file is
/// damaged.
fn failure(error: quick_xml::Error) -> io::Error {
    if let quick_xml::Error::Io(error) = &error {
        if let Some(halt) = Halt::of(error) {
            return io::Error::other(halt);
        }
        if let Some(refused) = NoList::of(error) {
            return refusal(refused);
        }
        if let Some(code) = error.raw_os_error() {
            return io::Error::from_raw_os_error(code);
        }
    }
    refusal(NoList::DamagedWorkbook("a part of it cannot be read"))
}

/// A reader of one part of a workbook, which is an XML file. It fails if the part, or a single XML
/// event in it, is too long.
struct Bounded<R> {
    input: BufReader<R>,
    left: Rc<Cell<usize>>,
    read: u64,
    max_bytes: u64,
    limits: Limits,
}

impl<R: Read> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.input.buffer().is_empty() {
            self.limits.see()?;
        }
        if self.read > self.max_bytes {
            return Err(io::Error::other(Halt::TooManyBytes(self.max_bytes)));
        }
        if self.left.get() == 0 {
            return Err(refusal(NoList::LargeWorkbook("a cell with too much text")));
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.read += amount as u64;
        self.left.set(self.left.get().saturating_sub(amount));
        self.input.consume(amount);
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}
