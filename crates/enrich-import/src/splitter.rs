//! CSV rows, split into their fields, whatever these mean.

use std::io;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use crate::lines::{Line, Lines, MAX_LINE_BYTES};
use crate::rejection::Rejection;

/// How many lines a row may span by quoted line ends. No field that is read holds any, so they
/// stand in fields that are ignored; and a quote that nobody closes costs no more than this.
pub(crate) const MAX_LINES_OF_A_ROW: usize = 100;

/// A row as it stands in the file; its fields are in the splitter that read it.
#[derive(Debug)]
pub(crate) struct RawRow {
    /// The number of its first line.
    pub(crate) line: u64,
    /// Its text, without the last line's end.
    pub(crate) text: Vec<u8>,
    /// Why it has no fields, where it has none.
    pub(crate) is_whole: Result<(), Rejection>,
}

/// Splits a row, line by line, into its fields.
#[derive(Debug)]
pub(crate) struct Splitter {
    reader: Reader,
    output: Vec<u8>,
    ends: Vec<usize>,
    written: usize,
    count: usize,
    is_whole: bool,
}

impl Splitter {
    pub(crate) fn new() -> Self {
        // A lone CR ends no line here either.
        let reader = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
        Self {
            reader,
            output: vec![0; 4096],
            ends: vec![0; 32],
            written: 0,
            count: 0,
            is_whole: true,
        }
    }

    /// The next row; `None` at the end. Blank lines between rows are passed over.
    pub(crate) fn next_row(&mut self, lines: &mut Lines) -> io::Result<Option<RawRow>> {
        let Some(first) = lines.next_filled()? else { return Ok(None) };
        let line = first.number;
        if first.is_too_long {
            let is_whole = Err(Rejection::TooLong);
            return Ok(Some(RawRow { line, text: first.bytes, is_whole }));
        }
        if self.feed(&first) {
            return Ok(Some(RawRow { line, text: first.bytes, is_whole: Ok(()) }));
        }
        Ok(Some(match self.rest_of_row(&first, lines)? {
            Some(text) => RawRow { line, text, is_whole: Ok(()) },
            None => RawRow { line, text: first.bytes, is_whole: Err(Rejection::OpenQuote) },
        }))
    }

    /// Reads on until the row's quote is closed: the row's whole text. When it isn't within the
    /// limits, the lines behind the first are put back, as they may be rows of their own.
    fn rest_of_row(&mut self, first: &Line, lines: &mut Lines) -> io::Result<Option<Vec<u8>>> {
        let mut text = first.bytes.clone();
        let mut taken: Vec<Line> = Vec::new();
        while taken.len() + 1 < MAX_LINES_OF_A_ROW {
            let Some(line) = lines.next()? else { break };
            let fits = text.len() + line.bytes.len() < MAX_LINE_BYTES;
            if line.is_too_long || !fits {
                taken.push(line);
                break;
            }
            text.push(b'\n');
            text.extend_from_slice(&line.bytes);
            let is_whole = self.feed(&line);
            taken.push(line);
            if is_whole {
                return Ok(Some(text));
            }
        }
        lines.put_back(taken.into_iter());
        self.reset();
        Ok(None)
    }

    /// Takes the next line of a row; `true` when the row is whole.
    pub(crate) fn feed(&mut self, line: &Line) -> bool {
        if self.is_whole {
            (self.written, self.count, self.is_whole) = (0, 0, false);
        }
        let end = if line.had_return { b"\r\n".as_slice() } else { b"\n" };
        for mut part in [line.bytes.as_slice(), end] {
            while !part.is_empty() && !self.is_whole {
                let (result, read, written, ended) = self.reader.read_record(
                    part,
                    &mut self.output[self.written..],
                    &mut self.ends[self.count..],
                );
                part = &part[read..];
                self.written += written;
                self.count += ended;
                match result {
                    ReadRecordResult::InputEmpty => break,
                    ReadRecordResult::OutputFull => self.output.resize(2 * self.output.len(), 0),
                    ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                    ReadRecordResult::Record | ReadRecordResult::End => self.is_whole = true,
                }
            }
        }
        if line.had_return
            && self.is_whole
            && let Some(last) = self.count.checked_sub(1).and_then(|at| self.ends.get_mut(at))
        {
            // Inside a quote the return belongs to the field; here it is half of the row's end.
            *last = last.saturating_sub(1);
        }
        self.is_whole
    }

    /// Forgets the lines of a row that is not whole.
    fn reset(&mut self) {
        self.reader.reset();
        self.is_whole = true;
    }

    /// The fields of the row that is whole.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends[..self.count].iter().map(move |&end| {
            let field = self.output.get(start..end).unwrap_or_default();
            start = end;
            field
        })
    }
}
