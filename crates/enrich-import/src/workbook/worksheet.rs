//! Reads the rows of a sheet on a thread of its own, and sends them in batches.

use std::borrow::Cow;
use std::io;
use std::sync::mpsc::SyncSender;

use quick_xml::events::{BytesStart, Event};

use super::cell::{Style, column_of, shown};
use super::parts::Strings;
use super::xml::{Xml, attribute, text_of};
use super::{Archive, Limits, MAX_CELL_BYTES, SheetRow, damaged, refusal};
use crate::bounds::Halt;
use crate::limits::MAX_LINE_BYTES;
use crate::no_list::NoList;

/// Maximum number of columns of a sheet (Excel's limit).
const MAX_SHEET_COLUMNS: usize = 16_384;
/// A batch is sent when its rows have this many bytes, even if it has fewer than `BATCH_ROWS` rows.
const BATCH_BYTES: usize = 256 * 1024;
/// Maximum number of rows of a batch.
const BATCH_ROWS: usize = 256;

/// Sends the rows of the sheet in batches. At the end, sends an empty batch, or the error that
/// ended the reading.
type RowSender = SyncSender<io::Result<Vec<SheetRow>>>;

pub(super) struct SheetReading {
    pub(super) strings: Strings,
    pub(super) styles: Vec<Style>,
    pub(super) limits: Limits,
}

#[derive(Default)]
struct OpenCell {
    column: usize,
    kind: String,
    style: usize,
    text: String,
}

#[derive(Default)]
struct OpenRow {
    number: u64,
    cells: Vec<String>,
    /// The length of the texts of all cells in the row, in bytes.
    bytes: usize,
}

impl OpenRow {
    fn after(before: &Self, tag: &BytesStart<'_>) -> Self {
        Self { number: row_number(tag, before.number), ..Self::default() }
    }

    fn is_too_long(&self) -> bool {
        self.bytes > MAX_LINE_BYTES
    }

    /// Sets the text of a cell in the row. When the row is already too long, copies no more texts.
    /// Many cells may refer to one long shared string, so even a small file could otherwise fill
    /// the memory.
    fn put(&mut self, column: usize, text: Cow<'_, str>) {
        if self.is_too_long() || (text.is_empty() && column != self.cells.len()) {
            return;
        }
        if column >= self.cells.len() {
            self.cells.resize(column + 1, String::new());
        }
        if let Some(place) = self.cells.get_mut(column) {
            self.bytes = self.bytes - place.len() + text.len();
            *place = text.into_owned();
        }
    }

    /// Ends the row and returns it without the blank cells at its end; `None` if the row is blank.
    ///
    /// If the row is too long, [`put`](Self::put) may not have copied all its texts. The row is
    /// then returned with all copied cells, even blank ones. So it has more than [`MAX_LINE_BYTES`]
    /// of text, and the `Splitter` rejects it.
    fn end(&mut self) -> Option<SheetRow> {
        if !self.is_too_long() {
            while self.cells.last().is_some_and(|cell| cell.trim().is_empty()) {
                self.cells.pop();
            }
        }
        self.bytes = 0;
        let cells = std::mem::take(&mut self.cells);
        (!cells.is_empty()).then_some(SheetRow { number: self.number, cells })
    }
}

/// A batch of rows that waits to be sent.
struct Batch<'a> {
    rows: Vec<SheetRow>,
    bytes: usize,
    /// The number of rows that were added since the beginning of the sheet, including those of
    /// earlier batches.
    count: u64,
    max_rows: u64,
    into: &'a RowSender,
}

impl Batch<'_> {
    /// Adds a row, and sends the batch if it is now full. Returns `false` if nobody receives the
    /// batches any more.
    fn push(&mut self, row: SheetRow) -> io::Result<bool> {
        self.count += 1;
        if self.count > self.max_rows {
            return Err(io::Error::other(Halt::TooManyLines(self.max_rows)));
        }
        let of_cell = |cell: &String| size_of::<String>() + cell.len();
        self.bytes += row.cells.iter().map(of_cell).sum::<usize>();
        self.rows.push(row);
        if self.bytes < BATCH_BYTES && self.rows.len() < BATCH_ROWS {
            return Ok(true);
        }
        self.bytes = 0;
        Ok(self.into.send(Ok(std::mem::take(&mut self.rows))).is_ok())
    }

    /// Sends the rows that were not sent yet.
    fn end(self) {
        if !self.rows.is_empty() {
            // Sending fails if nobody receives the rows any more. Then nothing is left to do.
            let _ = self.into.send(Ok(self.rows));
        }
    }
}

impl SheetReading {
    /// Reads the sheet at `path` in the archive until its end. Stops earlier if nobody receives the
    /// rows any more.
    pub(super) fn run(
        &self,
        archive: &mut Archive,
        path: &str,
        into: &RowSender,
    ) -> io::Result<()> {
        let part = archive.by_name(path).map_err(damaged)?;
        let mut xml = Xml::new(part, self.limits.bounds.max_bytes, &self.limits);
        let max_rows = self.limits.bounds.max_lines;
        let mut batch = Batch { rows: Vec::new(), bytes: 0, count: 0, max_rows, into };
        let mut row = OpenRow::default();
        let mut open: Option<OpenCell> = None;
        let (mut is_value, mut phonetic) = (false, false);
        loop {
            match xml.next()? {
                Event::Start(tag) => match tag.local_name().as_ref() {
                    b"row" => row = OpenRow::after(&row, &tag),
                    b"c" => open = Some(begin(&tag, row.cells.len())?),
                    b"v" | b"t" => is_value = !phonetic,
                    b"rPh" => phonetic = true,
                    _ => {}
                },
                Event::Empty(tag) if tag.local_name().as_ref() == b"row" => {
                    row.number = row_number(&tag, row.number);
                }
                Event::Empty(tag) if tag.local_name().as_ref() == b"sheetData" => break,
                // An empty cell also takes a column, so the following cells keep their columns.
                Event::Empty(tag) if tag.local_name().as_ref() == b"c" => {
                    let column = begin(&tag, row.cells.len())?.column;
                    row.put(column, Cow::Borrowed(""));
                }
                Event::End(tag) => match tag.local_name().as_ref() {
                    b"v" | b"t" => is_value = false,
                    b"rPh" => phonetic = false,
                    b"c" => {
                        if let Some(cell) = open.take() {
                            let column = cell.column;
                            row.put(column, self.text_of(cell)?);
                        }
                    }
                    b"row" => {
                        if let Some(row) = row.end()
                            && !batch.push(row)?
                        {
                            return Ok(());
                        }
                    }
                    b"sheetData" => break,
                    _ => {}
                },
                Event::Eof => {
                    return Err(refusal(NoList::DamagedWorkbook("its sheet is incomplete")));
                }
                event if is_value => {
                    if let Some(text) = text_of(&event)? {
                        push(&mut open, &text)?;
                    }
                }
                _ => {}
            }
        }
        batch.end();
        Ok(())
    }

    fn text_of(&self, cell: OpenCell) -> io::Result<Cow<'_, str>> {
        Ok(match cell.kind.as_str() {
            "s" => {
                let at = cell.text.trim().parse::<usize>().ok();
                let text = at.and_then(|at| self.strings.get(at));
                let fault = "a cell refers to a text that does not exist";
                Cow::Borrowed(text.ok_or_else(|| refusal(NoList::DamagedWorkbook(fault)))?)
            }
            "b" => Cow::Borrowed(if cell.text.trim() == "1" { "TRUE" } else { "FALSE" }),
            "" | "n" => Cow::Owned(shown(&cell.text, self.styles.get(cell.style).copied())),
            _ => Cow::Owned(cell.text),
        })
    }
}

fn row_number(tag: &BytesStart<'_>, before: u64) -> u64 {
    let given = attribute(tag, b"r").and_then(|text| text.parse().ok());
    given.unwrap_or_else(|| before.saturating_add(1))
}

fn begin(tag: &BytesStart<'_>, next: usize) -> io::Result<OpenCell> {
    let place = attribute(tag, b"r").and_then(|place| column_of(&place));
    let column = place.unwrap_or(next);
    if column >= MAX_SHEET_COLUMNS {
        return Err(refusal(NoList::LargeWorkbook("more columns than Excel has")));
    }
    let kind = attribute(tag, b"t").unwrap_or_default();
    let style = attribute(tag, b"s").and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    Ok(OpenCell { column, kind, style, text: String::new() })
}

fn push(open: &mut Option<OpenCell>, text: &str) -> io::Result<()> {
    let Some(cell) = open else { return Ok(()) };
    if cell.text.len() + text.len() > MAX_CELL_BYTES {
        return Err(refusal(NoList::LargeWorkbook("a cell with too much text")));
    }
    cell.text.push_str(text);
    Ok(())
}
