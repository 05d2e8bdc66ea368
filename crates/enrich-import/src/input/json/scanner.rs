//! Finds the ends of JSON values in a stream, without parsing the values.

use std::io::{self, BufRead};

use memchr::{memchr2, memrchr};

use crate::input_fault::{InputFault, MAX_RECORD_VALUES};

/// The separator of records in JSON text sequences (RFC 7464). Here it counts as white space.
const RECORD_SEPARATOR: u8 = 0x1e;

pub(super) struct Scanner {
    input: Box<dyn BufRead>,
    /// The current line, from 1.
    line: u64,
    /// The number of records that were copied.
    pub(super) records: u64,
}

/// How the copying of a value ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copied {
    Whole,
    /// The value is longer than the maximum, or has too many values inside. It was not read to its
    /// end.
    TooLong,
}

impl Scanner {
    pub(super) fn new(input: Box<dyn BufRead>) -> Self {
        Self { input, line: 1, records: 0 }
    }

    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Returns the next byte that isn't white space, without consuming it; `None` at the end.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let ready = self.input.fill_buf()?;
            if ready.is_empty() {
                return Ok(None);
            }
            let spaces = ready.iter().take_while(|byte| is_space(**byte)).count();
            let next = ready.get(spaces).copied();
            self.consume(spaces);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Consumes the next byte that isn't white space, if it is `expected`. Returns whether it was
    /// consumed.
    pub(super) fn accept(&mut self, expected: u8) -> io::Result<bool> {
        let is_there = self.peek()? == Some(expected);
        if is_there {
            self.consume(1);
        }
        Ok(is_there)
    }

    /// Consumes the next byte that isn't white space. Returns an error if it is not `expected`.
    pub(super) fn expect(&mut self, expected: u8) -> io::Result<()> {
        match self.peek()? {
            Some(byte) if byte == expected => {
                self.consume(1);
                Ok(())
            }
            Some(_) => Err(self.not_json()),
            None => Err(self.ends_inside()),
        }
    }

    /// Copies the next value. Stops with [`Copied::TooLong`] if the value is longer than `most`
    /// bytes or has too many values inside.
    pub(super) fn copy(&mut self, into: &mut Vec<u8>, most: usize) -> io::Result<Copied> {
        self.value(Some((into, most)))
    }

    pub(super) fn skip(&mut self) -> io::Result<()> {
        self.value(None).map(|_| ())
    }

    pub(super) fn not_json(&self) -> io::Error {
        InputFault::NotJson { record: self.records, line: self.line }.into()
    }

    pub(super) fn ends_inside(&self) -> io::Error {
        InputFault::EndsInside(self.records).into()
    }

    fn consume(&mut self, amount: usize) {
        if let Ok(ready) = self.input.fill_buf() {
            let passed = ready.get(..amount).unwrap_or_default();
            self.line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        self.input.consume(amount);
    }

    fn value(&mut self, mut into: Option<(&mut Vec<u8>, usize)>) -> io::Result<Copied> {
        match self.peek()? {
            None => return Err(self.ends_inside()),
            Some(b',' | b':' | b'}' | b']') => return Err(self.not_json()),
            Some(_) => {}
        }
        let mut state = State::default();
        loop {
            let ready = self.input.fill_buf()?;
            if ready.is_empty() {
                // A number or a word such as `true` has no closing character, so the input may end
                // directly after it.
                let is_scalar = state.depth == 0 && !state.is_text;
                return if is_scalar { Ok(Copied::Whole) } else { Err(self.ends_inside()) };
            }
            let (amount, is_end) = state.pass(ready);
            let passed = ready.get(..amount).unwrap_or_default();
            if let Some((into, most)) = &mut into {
                into.extend_from_slice(passed);
                if into.len() > *most || state.values > MAX_RECORD_VALUES {
                    return Ok(Copied::TooLong);
                }
            }
            if memrchr(b'\n', passed).is_some() {
                self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
            }
            self.input.consume(amount);
            if is_end {
                return Ok(Copied::Whole);
            }
        }
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == RECORD_SEPARATOR
}

/// The scanner's position within a value.
#[derive(Default)]
struct State {
    depth: usize,
    /// The approximate number of elements and members inside the value, at all levels.
    values: usize,
    is_text: bool,
    is_escaped: bool,
    has_begun: bool,
}

impl State {
    /// Returns how many of these bytes belong to the value, and whether the value ends after
    /// them.
    fn pass(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if std::mem::take(&mut self.is_escaped) {
                at += 1;
                continue;
            }
            if self.is_text {
                let rest = bytes.get(at..).unwrap_or_default();
                let Some(next) = memchr2(b'"', b'\\', rest) else { return (bytes.len(), false) };
                self.is_escaped = rest.get(next) == Some(&b'\\');
                self.is_text = self.is_escaped;
                at += next + 1;
                if !self.is_text && self.depth == 0 {
                    return (at, true);
                }
                continue;
            }
            match byte {
                b'"' => self.is_text = true,
                b'{' | b'[' => {
                    self.depth += 1;
                    self.values += 1;
                }
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
                // A number or a word such as `true` ends before the next punctuation character.
                b',' | b':' | b'}' | b']' if self.depth == 0 => return (at, true),
                _ if self.depth == 0 && self.has_begun && is_space(byte) => {
                    return (at, true);
                }
                b',' => self.values += 1,
                _ => {}
            }
            self.has_begun = true;
            at += 1;
        }
        (at, false)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::*;

    fn values(text: &'static str, piece: usize) -> Vec<String> {
        let input = BufReader::with_capacity(piece, Cursor::new(text));
        let mut scanner = Scanner::new(Box::new(input));
        let mut all = Vec::new();
        while scanner.peek().unwrap().is_some() {
            let mut value = Vec::new();
            assert_eq!(scanner.copy(&mut value, 1000).unwrap(), Copied::Whole);
            all.push(String::from_utf8(value).unwrap());
            scanner.accept(b',').unwrap();
        }
        all
    }

    #[test]
    fn values_end_where_they_end_however_the_text_is_cut() {
        let text = "{\"a\":\"}\\\"]\\\\\"}, [1,[2]] ,\"x\\\\\",-1.5e3 ,true\u{1e}{}\n12";
        let expected =
            ["{\"a\":\"}\\\"]\\\\\"}", "[1,[2]]", "\"x\\\\\"", "-1.5e3", "true", "{}", "12"];
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(values(text, piece), expected, "{piece}");
        }
    }

    #[test]
    fn lines_are_counted() {
        let mut scanner = Scanner::new(Box::new(Cursor::new("\n{\n\"a\":\n1}\n\n 2")));
        scanner.skip().unwrap();
        assert_eq!(scanner.line(), 4);
        assert_eq!(scanner.peek().unwrap(), Some(b'2'));
        assert_eq!(scanner.line(), 6);
    }
}
