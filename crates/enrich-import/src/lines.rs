//! Reads the lines of a file, and keeps at most a limited part of each line in memory.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use crate::limits::MAX_LINE_BYTES;

/// The byte order mark that some editors write before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line of the file, without its line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The line's number in the file, from 1.
    pub(crate) number: u64,
    /// The line's bytes. If the line is too long, only the first bytes up to the maximum.
    pub(crate) bytes: Vec<u8>,
    /// Whether the line is longer than the maximum.
    pub(crate) is_too_long: bool,
    /// Whether the line ended with CR LF, not with LF alone or with the end of the file.
    pub(crate) had_return: bool,
}

impl Line {
    /// Whether the line contains only white space, or the sign of the end of a file (Ctrl-Z) that
    /// programs of DOS write.
    pub(crate) fn is_blank(&self) -> bool {
        !self.is_too_long && matches!(self.bytes.trim_ascii(), [] | [0x1a])
    }
}

pub(crate) struct Lines {
    input: Box<dyn BufRead>,
    read: u64,
    /// Maximum length of a line, in bytes.
    max_bytes: usize,
    /// Lines that begin with this text are comments.
    comment: Option<Vec<u8>>,
    returned: VecDeque<Line>,
    /// An error that occurred in [`Self::peek`]. `next` first returns the lines that were read
    /// before the error, and then the error.
    failure: Option<io::Error>,
}

impl Lines {
    /// Returns a reader of lines that end in LF or CR LF. It skips a byte order mark before the
    /// first line.
    pub(crate) fn new(input: Box<dyn BufRead>) -> Self {
        Self {
            input,
            read: 0,
            max_bytes: MAX_LINE_BYTES,
            comment: None,
            returned: VecDeque::new(),
            failure: None,
        }
    }

    pub(crate) fn with_max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// Sets the text that comment lines begin with. [`Self::next_filled`] skips comment lines.
    pub(crate) fn skipping(self, comment: Option<&str>) -> Self {
        let comment = comment.filter(|comment| !comment.is_empty());
        Self { comment: comment.map(|comment| comment.as_bytes().to_vec()), ..self }
    }

    /// Returns the next line; `None` at the end. If the input fails in the middle of a line, the
    /// part of the line that was read is not returned.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        if let Some(line) = self.returned.pop_front() {
            return Ok(Some(line));
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut bytes = Vec::new();
        // The maximum length of an allowed line together with its CR LF.
        let most = self.max_bytes + 2;
        let length = (&mut self.input).take(most as u64).read_until(b'\n', &mut bytes)?;
        if length == 0 {
            return Ok(None);
        }
        let mut had_return = false;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            had_return = bytes.last() == Some(&b'\r');
            if had_return {
                bytes.pop();
            }
        } else if length == most {
            self.input.skip_until(b'\n')?;
        }
        let is_too_long = bytes.len() > self.max_bytes;
        bytes.truncate(self.max_bytes);
        self.read += 1;
        if self.read == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Some(Line { number: self.read, bytes, is_too_long, had_return }))
    }

    fn is_comment(&self, line: &Line) -> bool {
        self.comment.as_ref().is_some_and(|comment| line.bytes.starts_with(comment))
    }

    /// Returns the next line that is not blank and not a comment; `None` at the end.
    pub(crate) fn next_filled(&mut self) -> io::Result<Option<Line>> {
        loop {
            match self.next()? {
                Some(line) if line.is_blank() || self.is_comment(&line) => {}
                next => return Ok(next),
            }
        }
    }

    /// Returns copies of the next lines: at most `max_lines` lines, and about `max_bytes` bytes.
    /// `next` still returns these lines.
    pub(crate) fn peek(&mut self, max_lines: usize, max_bytes: usize) -> Vec<Line> {
        let (mut lines, mut bytes) = (Vec::new(), 0);
        while lines.len() < max_lines && bytes < max_bytes {
            match self.next() {
                Ok(Some(line)) => {
                    bytes += line.bytes.len() + 1;
                    lines.push(line);
                }
                Ok(None) => break,
                Err(error) => {
                    self.failure = Some(error);
                    break;
                }
            }
        }
        self.put_back(lines.clone().into_iter());
        lines
    }

    /// Puts lines back, so that `next` returns them first, in their order.
    pub(crate) fn put_back(&mut self, lines: impl DoubleEndedIterator<Item = Line>) {
        for line in lines.rev() {
            self.returned.push_front(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: impl AsRef<[u8]>) -> Lines {
        Lines::new(Box::new(io::Cursor::new(text.as_ref().to_vec())))
    }

    fn texts(mut lines: Lines) -> Vec<(u64, String)> {
        let mut texts = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            texts.push((line.number, String::from_utf8(line.bytes).unwrap()));
        }
        texts
    }

    #[test]
    fn either_line_end_counts_and_the_last_may_be_missing() {
        let lines = texts(lines_of("a\r\nb\n\nc"));
        let expected = [(1, "a"), (2, "b"), (3, ""), (4, "c")];
        assert_eq!(lines, expected.map(|(number, text)| (number, text.to_owned())));
    }

    #[test]
    fn a_byte_order_mark_is_skipped_before_the_first_line_alone() {
        let lines = texts(lines_of("\u{feff}a\n\u{feff}b\n"));
        assert_eq!(lines[0].1, "a");
        assert_eq!(lines[1].1, "\u{feff}b");
    }

    #[test]
    fn a_line_too_long_is_cut_and_the_next_is_whole() {
        let text = format!("{}\n{}\r\nnext\n", "x".repeat(3 * MAX_LINE_BYTES), "y".repeat(9));
        let mut lines = lines_of(text);
        let long = lines.next().unwrap().unwrap();
        assert!(long.is_too_long);
        assert_eq!(long.bytes.len(), MAX_LINE_BYTES);
        assert_eq!(lines.next().unwrap().unwrap().bytes, b"yyyyyyyyy");
        assert_eq!(lines.next().unwrap().unwrap().number, 3);
    }

    #[test]
    fn the_longest_line_is_not_too_long_with_any_end() {
        for end in ["", "\n", "\r\n"] {
            let mut lines = lines_of(format!("{}{end}", "x".repeat(MAX_LINE_BYTES)));
            assert!(!lines.next().unwrap().unwrap().is_too_long, "{end:?}");
            assert_eq!(lines.next().unwrap(), None, "{end:?}");
            let mut lines = lines_of(format!("{}{end}z\n", "x".repeat(MAX_LINE_BYTES + 1)));
            assert!(lines.next().unwrap().unwrap().is_too_long, "{end:?}");
        }
    }

    #[test]
    fn lines_put_back_come_again_first() {
        let mut lines = lines_of("a\nb\nc\n");
        let taken = [lines.next().unwrap().unwrap(), lines.next().unwrap().unwrap()];
        lines.put_back(taken.into_iter());
        assert_eq!(texts(lines).iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2, 3]);
    }
}
