//! Splits the rows of CSV into fields. [`Splitter`] also returns the rows of a workbook, so that
//! callers read both in the same way.

use std::io;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use crate::delimiter::Delimiter;
use crate::limits::{MAX_LINE_BYTES, MAX_LINES_OF_A_ROW};
use crate::lines::{Line, Lines};
use crate::quoting::is_well_formed;
use crate::read_error::HeaderError;
use crate::rejection::Rejection;
use crate::workbook::{SheetRow, Workbook};

/// The text of a row as it is in the file. [`Splitter::fields`] returns the fields of the row.
#[derive(Debug)]
pub(crate) struct RawRow {
    /// The number of the row's first line, from 1.
    pub(crate) line: u64,
    /// The row's text, without the end of its last line.
    pub(crate) text: Vec<u8>,
    /// `Ok` if the row could be split into fields, else the reason why it could not.
    pub(crate) is_whole: Result<(), Rejection>,
}

/// Splits rows into fields. The text of a row is added line by line.
#[derive(Debug)]
pub(crate) struct Splitter {
    reader: Reader,
    delimiter: Delimiter,
    output: Vec<u8>,
    ends: Vec<usize>,
    written: usize,
    count: usize,
    is_whole: bool,
    /// The workbook whose rows are returned; `None` if the rows are CSV text.
    workbook: Option<Workbook>,
    /// The number of columns of the workbook. Shorter rows get empty fields at their end.
    width: usize,
}

impl Splitter {
    pub(crate) fn new(delimiter: Delimiter) -> Self {
        Self::with_escape(delimiter, None)
    }

    /// Returns a splitter of rows. `escape` is the byte before a quote character that belongs to
    /// the text of a quoted field, for example the backslash in `"5\" pipe"`. Such a quote
    /// character may also be doubled: `"5"" pipe"`. If `escape` is `None`, only doubling is
    /// possible.
    pub(crate) fn with_escape(delimiter: Delimiter, escape: Option<u8>) -> Self {
        Self::with_quoting(delimiter, escape, true)
    }

    /// Returns a splitter of rows. If `has_quoting` is false, quotes are text.
    pub(crate) fn with_quoting(
        delimiter: Delimiter,
        escape: Option<u8>,
        has_quoting: bool,
    ) -> Self {
        // A CR without LF doesn't end a row here, because it doesn't end a line in `Lines`.
        let reader = ReaderBuilder::new()
            .delimiter(delimiter.as_byte())
            .escape(escape)
            .quoting(has_quoting)
            .terminator(Terminator::Any(b'\n'))
            .build();
        Self {
            reader,
            delimiter,
            output: vec![0; 4096],
            ends: vec![0; 32],
            written: 0,
            count: 0,
            is_whole: true,
            workbook: None,
            width: 0,
        }
    }

    /// Returns a splitter whose rows come from a workbook. Its methods ignore the lines that are
    /// passed to them.
    pub(crate) fn of_workbook(workbook: Workbook) -> Self {
        Self { workbook: Some(workbook), ..Self::new(Delimiter::Comma) }
    }

    /// Sets the number of columns of a workbook whose header is not read by `read_header`.
    pub(crate) fn set_width(&mut self, columns: usize) {
        self.width = columns;
    }

    /// Reads the header into the splitter's fields. Returns `false` if the text or sheet is empty.
    /// Returns an error if the header is too long, or if a quote in it is not closed.
    pub(crate) fn read_header(&mut self, lines: &mut Lines) -> io::Result<bool> {
        if let Some(workbook) = &mut self.workbook {
            let Some(row) = workbook.next_row()? else { return Ok(false) };
            self.width = row.cells.len();
            let is_whole = self.load(row).is_whole.is_ok();
            return if is_whole { Ok(true) } else { Err(not_whole()) };
        }
        let Some(line) = lines.next_filled()? else { return Ok(false) };
        if line.is_too_long {
            return Err(not_whole());
        }
        let is_whole = self.feed(&line) || {
            let row = self.rest_of_row(&line, lines)?;
            row.is_some_and(|row| self.is_well_formed(&row))
        };
        if is_whole { Ok(true) } else { Err(not_whole()) }
    }

    /// Returns `false` if a stray quote has joined lines that are different rows into one row; see
    /// [`is_well_formed`].
    pub(crate) fn is_well_formed(&self, row: &[u8]) -> bool {
        is_well_formed(row, self.delimiter)
    }

    /// Returns the next row; `None` at the end. Skips blank lines between rows.
    pub(crate) fn next_row(&mut self, lines: &mut Lines) -> io::Result<Option<RawRow>> {
        if let Some(workbook) = &mut self.workbook {
            return Ok(workbook.next_row()?.map(|row| self.load(row)));
        }
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

    /// Copies the cells of a workbook's row into the splitter, as if it had split them from a line
    /// of CSV. A workbook omits the empty cells at the end of a row; this function adds them.
    fn load(&mut self, mut row: SheetRow) -> RawRow {
        let width = self.width.max(row.cells.len());
        row.cells.resize(width, String::new());
        self.output.clear();
        self.ends.clear();
        for cell in &row.cells {
            self.output.extend_from_slice(cell.as_bytes());
            self.ends.push(self.output.len());
        }
        (self.written, self.count, self.is_whole) = (self.output.len(), width, true);
        let mut text = csv_text(&row.cells);
        let is_whole = if text.len() > MAX_LINE_BYTES {
            text.truncate(MAX_LINE_BYTES);
            Err(Rejection::TooLong)
        } else {
            Ok(())
        };
        RawRow { line: row.number, text, is_whole }
    }

    /// Reads the following lines of a row until its quote is closed, and returns the text of the
    /// whole row. If the row exceeds the limits, returns `None` and puts back all lines after the
    /// first line, because each of them may be a row of its own.
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

    /// Adds a line to the current row; begins a new row if the last one is complete. Returns `true`
    /// if the row is now complete.
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
            // The field is in quotes, so the reader took the CR as a part of the field. But the CR
            // belongs to the line end, so it is removed.
            *last = last.saturating_sub(1);
        }
        self.is_whole
    }

    /// Discards the incomplete row, so that the next line begins a new row.
    pub(crate) fn reset(&mut self) {
        self.reader.reset();
        self.is_whole = true;
    }

    /// Returns the names of the columns. Call this after the header was read.
    pub(crate) fn names(&self) -> Result<Vec<&str>, HeaderError> {
        let names = self.fields().map(|name| std::str::from_utf8(name).map(str::trim));
        names.collect::<Result<_, _>>().map_err(|_| HeaderError::NotUtf8)
    }

    /// Returns the fields of the current row. The row must be complete.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends[..self.count].iter().map(move |&end| {
            let field = self.output.get(start..end).unwrap_or_default();
            start = end;
            field
        })
    }
}

fn not_whole() -> io::Error {
    io::Error::other(HeaderError::NotWhole)
}

fn csv_text(cells: &[String]) -> Vec<u8> {
    let mut text = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        if cell.contains(['"', ',', '\n', '\r']) {
            text.push(b'"');
            text.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
            text.push(b'"');
        } else {
            text.extend_from_slice(cell.as_bytes());
        }
    }
    text
}
