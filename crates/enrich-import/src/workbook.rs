//! Excel workbooks (.xlsx): the rows of the first sheet that is shown, one after the other.
//!
//! What stands in the file is believed in nothing that costs memory: parts are inflated piece by
//! piece and bounded, the shared strings lie in one text, and of the sheet a few rows are held at
//! a time. (Readers that load a workbook reserve what its attributes say.) The sheet is read on a
//! thread of its own, which ends when nobody wants its rows any more.

mod cell;
mod parts;
mod xml;

use std::borrow::Cow;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use crate::bounds::{Bounds, Halt};
use crate::content::{Content, NoList};
use crate::lines::MAX_LINE_BYTES;
use cell::{Style, column_of, shown};
use parts::Strings;
use xml::{Xml, attribute};

/// How many files a workbook may consist of.
const MAX_FILES: usize = 10_000;
/// The longest cell that is read, in bytes: Excel has 32,767 letters.
const MAX_CELL_BYTES: usize = 128 * 1024;
/// The columns of a sheet, as Excel has them.
const MAX_SHEET_COLUMNS: usize = 16_384;
/// How many bytes of rows are handed on at once, and how many rows.
const BATCH_BYTES: usize = 256 * 1024;
const BATCH_ROWS: usize = 256;
/// How many bytes of a sheet are read, inflated, where nobody says.
const MAX_SHEET_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// A file that can be read at any place.
pub(crate) trait Seekable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Seekable for T {}

type Archive = ZipArchive<Box<dyn Seekable>>;

/// A row of a sheet.
#[derive(Debug)]
pub(crate) struct SheetRow {
    /// Its number in the sheet, from 1.
    pub(crate) number: u64,
    /// Its cells, without empty ones at the end.
    pub(crate) cells: Vec<String>,
}

/// The rows of a sheet.
pub(crate) struct Workbook {
    /// What the sheet is called.
    pub(crate) sheet: String,
    /// How many sheets there are.
    pub(crate) sheets: usize,
    rows: Receiver<io::Result<Vec<SheetRow>>>,
    ready: std::vec::IntoIter<SheetRow>,
    limits: Limits,
    is_ended: bool,
}

impl std::fmt::Debug for Workbook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workbook").field("sheet", &self.sheet).finish_non_exhaustive()
    }
}

/// How much is read, and until when.
#[derive(Clone)]
pub(crate) struct Limits {
    max_bytes: u64,
    max_rows: u64,
    is_stopped: Arc<dyn Fn() -> bool + Send + Sync>,
    is_unwanted: Arc<AtomicBool>,
}

impl Limits {
    pub(crate) fn new(bounds: Option<&Bounds>) -> Self {
        let is_unwanted = Arc::new(AtomicBool::new(false));
        match bounds {
            Some(bounds) => Self {
                max_bytes: bounds.max_bytes,
                max_rows: bounds.max_lines,
                is_stopped: Arc::clone(&bounds.is_stopped),
                is_unwanted,
            },
            None => Self {
                max_bytes: MAX_SHEET_BYTES,
                max_rows: u64::MAX,
                is_stopped: Arc::new(|| false),
                is_unwanted,
            },
        }
    }

    fn see(&self) -> io::Result<()> {
        if self.is_unwanted.load(Ordering::Relaxed) || (self.is_stopped)() {
            return Err(io::Error::other(Halt::Stopped));
        }
        Ok(())
    }
}

impl Workbook {
    /// Opens a workbook and begins to read its first sheet.
    pub(crate) fn open(mut file: Box<dyn Seekable>, limits: Limits) -> io::Result<Self> {
        see_file_count(&mut file, &limits)?;
        file.seek(SeekFrom::Start(0))?;
        let mut archive = ZipArchive::new(file).map_err(damaged)?;
        let folder = folder_of_workbook(&archive)?;
        let sheets = parts::sheets(&mut archive, &folder, &limits)?;
        let first = sheets.first.ok_or_else(|| refusal(NoList::Empty))?;
        let styles = parts::styles(&mut archive, &folder, sheets.is_1904, &limits)?;
        let strings = Strings::read(&mut archive, &folder, &limits)?;
        let (into, rows) = sync_channel(2);
        let reading = SheetReading { strings, styles, limits: limits.clone() };
        let path = first.path;
        std::thread::Builder::new().name("enrich-workbook".to_owned()).spawn(move || {
            let ended = reading.run(&mut archive, &path, &into);
            // An empty batch says that all rows were read. Nobody may want to know.
            let _ = into.send(ended.map(|()| Vec::new()));
        })?;
        Ok(Self {
            sheet: first.name,
            sheets: sheets.count,
            rows,
            ready: Vec::new().into_iter(),
            limits,
            is_ended: false,
        })
    }

    /// The next row that isn't blank; `None` at the end.
    pub(crate) fn next_row(&mut self) -> io::Result<Option<SheetRow>> {
        loop {
            if let Some(row) = self.ready.next() {
                return Ok(Some(row));
            }
            if self.is_ended {
                return Ok(None);
            }
            let batch = self.rows.recv().map_err(|_| {
                refusal(NoList::DamagedWorkbook("its first sheet cannot be read"))
            })??;
            self.is_ended = batch.is_empty();
            self.ready = batch.into_iter();
        }
    }
}

impl Drop for Workbook {
    fn drop(&mut self) {
        self.limits.is_unwanted.store(true, Ordering::Relaxed);
    }
}

/// The thread that reads a sheet.
struct SheetReading {
    strings: Strings,
    styles: Vec<Style>,
    limits: Limits,
}

/// A cell that is being read.
#[derive(Default)]
struct OpenCell {
    column: usize,
    kind: String,
    style: usize,
    text: String,
}

/// A row that is being read.
#[derive(Default)]
struct OpenRow {
    number: u64,
    cells: Vec<String>,
    /// How long the texts of its cells are together.
    bytes: usize,
}

impl OpenRow {
    fn after(before: &Self, tag: &BytesStart<'_>) -> Self {
        Self { number: row_number(tag, before.number), ..Self::default() }
    }

    fn is_too_long(&self) -> bool {
        self.bytes > MAX_LINE_BYTES
    }

    /// Puts a text into its column. Of a row that is too long already nothing more is copied: cells
    /// may share one long text, so a small file could fill the memory.
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

    /// The row, without empty cells at its end; `None` where it is blank. One that is too long
    /// keeps more than [`MAX_LINE_BYTES`] of text, by which the splitter rejects it.
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

impl SheetReading {
    fn run(
        &self,
        archive: &mut Archive,
        path: &str,
        into: &SyncSender<io::Result<Vec<SheetRow>>>,
    ) -> io::Result<()> {
        let part = archive.by_name(path).map_err(damaged)?;
        let mut xml = Xml::new(part, self.limits.max_bytes, &self.limits);
        let (mut batch, mut bytes, mut rows) = (Vec::new(), 0, 0_u64);
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
                // A cell that has a format alone still has its place.
                Event::Empty(tag) if tag.local_name().as_ref() == b"c" => {
                    let column = begin(&tag, row.cells.len())?.column;
                    row.put(column, Cow::Borrowed(""));
                }
                Event::Text(text) if is_value => {
                    push(&mut open, &text.xml10_content().map_err(not_text)?)?;
                }
                Event::CData(text) if is_value => {
                    push(&mut open, &text.decode().map_err(not_text)?)?;
                }
                Event::GeneralRef(reference) if is_value => {
                    push(&mut open, &xml::resolved(&reference)?)?;
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
                        if let Some(row) = row.end() {
                            rows += 1;
                            if rows > self.limits.max_rows {
                                let halt = Halt::TooManyLines(self.limits.max_rows);
                                return Err(io::Error::other(halt));
                            }
                            let of_cell = |cell: &String| size_of::<String>() + cell.len();
                            bytes += row.cells.iter().map(of_cell).sum::<usize>();
                            batch.push(row);
                        }
                        if bytes >= BATCH_BYTES || batch.len() >= BATCH_ROWS {
                            bytes = 0;
                            if into.send(Ok(std::mem::take(&mut batch))).is_err() {
                                return Ok(());
                            }
                        }
                    }
                    b"sheetData" => break,
                    _ => {}
                },
                Event::Eof => {
                    return Err(refusal(NoList::DamagedWorkbook("its first sheet is incomplete")));
                }
                _ => {}
            }
        }
        if !batch.is_empty() {
            // Nobody may want them.
            let _ = into.send(Ok(batch));
        }
        Ok(())
    }

    /// What a cell that was read shows.
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

/// The folder of the workbook's parts, `xl/` as a rule; a refusal where it is no workbook.
fn folder_of_workbook(archive: &Archive) -> io::Result<String> {
    let has = |name: &str| archive.index_for_name(name).is_some();
    if has("xl/workbook.xml") {
        return Ok("xl/".to_owned());
    }
    let refused = if has("xl/workbook.bin") {
        NoList::OtherWorkbook("a binary Excel workbook (.xlsb)")
    } else if has("word/document.xml") {
        NoList::Other(Content::Document)
    } else if has("ppt/presentation.xml") {
        NoList::Other(Content::Slides)
    } else if has("content.xml") && has("mimetype") {
        NoList::OtherWorkbook("an OpenDocument file (.ods)")
    } else {
        NoList::Zip
    };
    Err(refusal(refused))
}

/// Sees that the archive has no more files than a workbook could have: its reader keeps all of
/// their names.
fn see_file_count(file: &mut dyn Seekable, limits: &Limits) -> io::Result<()> {
    const ENTRY_MAGIC: &[u8] = b"PK\x01\x02";
    file.seek(SeekFrom::Start(0))?;
    let mut piece = vec![0; 64 * 1024];
    let (mut kept, mut count) = (0, 0);
    loop {
        limits.see()?;
        let read = match file.read(piece.get_mut(kept..).unwrap_or_default()) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let length = kept + read;
        let filled = piece.get(..length).unwrap_or_default();
        count += filled.windows(ENTRY_MAGIC.len()).filter(|bytes| *bytes == ENTRY_MAGIC).count();
        if count > MAX_FILES {
            return Err(refusal(NoList::LargeWorkbook("too many parts")));
        }
        kept = length.min(ENTRY_MAGIC.len() - 1);
        piece.copy_within(length - kept..length, 0);
    }
}

fn refusal(refused: NoList) -> io::Error {
    io::Error::other(refused)
}

fn damaged(error: zip::result::ZipError) -> io::Error {
    match error {
        zip::result::ZipError::Io(error) if error.raw_os_error().is_some() => error,
        _ => refusal(NoList::DamagedWorkbook("it cannot be unpacked")),
    }
}

fn not_text<E>(_: E) -> io::Error {
    refusal(NoList::DamagedWorkbook("a part of it is not text"))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn no_more_is_kept_of_a_row_than_a_line_may_have_however_many_cells_share_a_text() {
        let mut made = rust_xlsxwriter::Workbook::new();
        let sheet = made.add_worksheet();
        for column in 0..1_000 {
            sheet.write(0, column, "\u{20ac}".repeat(32_767)).unwrap();
            sheet.write(1, column, " ".repeat(32_767)).unwrap();
        }
        sheet.write(2, 0, "Quill").unwrap();
        let bytes = made.save_to_buffer().unwrap();
        assert!(bytes.len() < 100_000, "{}", bytes.len());
        let mut workbook = Workbook::open(Box::new(Cursor::new(bytes)), Limits::new(None)).unwrap();
        for _ in 0..2 {
            let row = workbook.next_row().unwrap().unwrap();
            let kept: usize = row.cells.iter().map(String::len).sum();
            assert!(kept > MAX_LINE_BYTES, "{kept}");
            assert!(kept <= MAX_LINE_BYTES + MAX_CELL_BYTES, "{kept}");
        }
        assert_eq!(workbook.next_row().unwrap().unwrap().cells, ["Quill"]);
    }
}
