//! Reads the rows of a sheet of an Excel workbook (.xlsx).
//!
//! A workbook is a zip archive, and its parts are the files in this archive. The archive can claim
//! any size for a part. Libraries that load a whole workbook reserve memory for the claimed size;
//! this reader does not. It decompresses the parts piece by piece and within limits, and keeps only
//! a few rows in memory at a time.
//!
//! A workbook usually stores the texts of its cells in a separate part, the shared strings; a cell
//! contains the number of its text. The reader keeps all shared strings in memory, joined into one
//! text.
//!
//! A separate thread reads the sheet. The thread ends when nobody receives its rows any more.

mod cell;
mod links;
mod parts;
mod relations;
mod worksheet;
mod xml;

use std::io::{self, Read, Seek, SeekFrom};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::thread::JoinHandle;

use zip::ZipArchive;

use crate::bounds::{Bounds, Halt};
use crate::no_list::{FileKind, NoList};
pub(crate) use links::Links;
use parts::{SheetPart, Strings};
use worksheet::SheetReading;

/// Maximum number of files in a workbook, which is a zip archive.
const MAX_FILES: usize = 10_000;
/// Maximum length of a cell, in bytes. Excel allows 32,767 characters.
const MAX_CELL_BYTES: usize = 128 * 1024;
/// Maximum size of a decompressed sheet in bytes, if the caller sets no limit.
const MAX_SHEET_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// Maximum number of visible sheets among which [`Workbook::choose_sheet`] chooses.
const MAX_CHOICES: usize = 20;
/// Number of rows of each sheet that are examined to choose a sheet.
const CHOICE_ROWS: usize = 21;

pub(crate) trait Seekable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Seekable for T {}

type Archive = ZipArchive<Box<dyn Seekable>>;

#[derive(Debug)]
pub(crate) struct SheetRow {
    /// The row's number in the sheet, from 1.
    pub(crate) number: u64,
    /// The row's cells, without empty cells at the end.
    pub(crate) cells: Vec<String>,
}

pub(crate) struct Workbook {
    /// The number of sheets in the workbook.
    pub(crate) sheets: usize,
    visible: Vec<SheetPart>,
    /// The index in `visible` of the sheet that is read.
    current: usize,
    /// The thread that reads the sheet. It returns the values that are needed to read another
    /// sheet.
    thread: Option<JoinHandle<(SheetReading, Archive)>>,
    /// The hyperlinks of the current sheet; `None` if they are not read.
    links: Option<Links>,
    rows: Receiver<io::Result<Vec<SheetRow>>>,
    ready: std::vec::IntoIter<SheetRow>,
    limits: Limits,
    is_ended: bool,
}

impl std::fmt::Debug for Workbook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workbook").field("sheet", &self.sheet_name()).finish_non_exhaustive()
    }
}

/// Limits on how much of a workbook is read, and a signal to stop the reading.
#[derive(Clone)]
pub(crate) struct Limits {
    bounds: Bounds,
    is_unwanted: Arc<AtomicBool>,
}

impl Limits {
    pub(crate) fn new(bounds: Option<&Bounds>) -> Self {
        let (max_bytes, max_lines) = (MAX_SHEET_BYTES, u64::MAX);
        let usual = || Bounds { max_bytes, max_lines, is_stopped: Arc::new(|| false) };
        Self { bounds: bounds.cloned().unwrap_or_else(usual), is_unwanted: Arc::default() }
    }

    fn see(&self) -> io::Result<()> {
        if self.is_unwanted.load(Ordering::Relaxed) || (self.bounds.is_stopped)() {
            return Err(io::Error::other(Halt::Stopped));
        }
        Ok(())
    }
}

impl Workbook {
    /// Opens a workbook and starts the thread that reads its first visible sheet.
    pub(crate) fn open(file: Box<dyn Seekable>, limits: Limits) -> io::Result<Self> {
        Self::opened(file, limits, None)
    }

    /// Like [`open`](Self::open), but reads the hyperlinks of the sheet too.
    pub(crate) fn open_with_links(file: Box<dyn Seekable>, limits: Limits) -> io::Result<Self> {
        Self::opened(file, limits, Some(Links::default()))
    }

    fn opened(
        mut file: Box<dyn Seekable>,
        limits: Limits,
        links: Option<Links>,
    ) -> io::Result<Self> {
        check_file_count(&mut file, &limits)?;
        file.seek(SeekFrom::Start(0))?;
        let mut archive = ZipArchive::new(file).map_err(damaged)?;
        let folder = folder_of_workbook(&archive)?;
        let sheets = parts::sheets(&mut archive, &folder, &limits)?;
        let styles = parts::styles(&mut archive, &folder, sheets.is_1904, &limits)?;
        let strings = Strings::read(&mut archive, &folder, &limits)?;
        let mut workbook = Self {
            sheets: sheets.count,
            visible: sheets.visible,
            current: 0,
            thread: None,
            links,
            rows: channel().1,
            limits: limits.clone(),
            ready: Vec::new().into_iter(),
            is_ended: false,
        };
        workbook.start(SheetReading { strings, styles, limits }, archive, 0)?;
        Ok(workbook)
    }

    /// Returns the name of the sheet that is read.
    pub(crate) fn sheet_name(&self) -> &str {
        self.visible.get(self.current).map_or("", |sheet| &sheet.name)
    }

    /// Returns the hyperlinks of the sheet. The workbook then no longer has them.
    pub(crate) fn take_links(&mut self) -> Links {
        self.links.take().unwrap_or_default()
    }

    /// Chooses the first visible sheet with a table, because a sheet before it may have only a
    /// title or notes. `is_table` says whether the first rows of a sheet are a table. If no visible
    /// sheet has a table, chooses the first visible sheet.
    pub(crate) fn choose_sheet(
        &mut self,
        is_table: impl Fn(&[SheetRow]) -> bool,
    ) -> io::Result<()> {
        if self.visible.len() < 2 {
            return Ok(());
        }
        for sheet in 0..self.visible.len().min(MAX_CHOICES) {
            self.turn_to(sheet)?;
            match self.peek(CHOICE_ROWS) {
                Ok(rows) if is_table(rows) => return Ok(()),
                Err(error) if sheet == 0 => return Err(error),
                // This sheet is not chosen: it is no table, or it is damaged. Only damage in the
                // first sheet is an error.
                _ => {}
            }
        }
        self.turn_to(0)
    }

    /// Begins to read the sheet with this index in `visible`, from its first row. Does nothing if
    /// it is already the current sheet.
    fn turn_to(&mut self, sheet: usize) -> io::Result<()> {
        if sheet == self.current {
            return Ok(());
        }
        // Drops the receiver of the rows. When the thread sends its next rows, sending fails, and
        // the thread ends.
        self.rows = channel().1;
        let ended = self.thread.take().map(JoinHandle::join);
        let Some(Ok((reading, archive))) = ended else { return Err(unreadable()) };
        self.start(reading, archive, sheet)
    }

    fn start(
        &mut self,
        reading: SheetReading,
        mut archive: Archive,
        sheet: usize,
    ) -> io::Result<()> {
        let part = self.visible.get(sheet).ok_or_else(|| refusal(NoList::Empty))?;
        let (into, rows) = sync_channel(2);
        let path = part.path.clone();
        if let Some(links) = &mut self.links {
            // An error is ignored here. If the sheet is damaged or too large, the thread that reads
            // its rows reports it.
            *links = Links::read(&mut archive, &path, &self.limits).unwrap_or_default();
        }
        let thread = std::thread::Builder::new().name("enrich-workbook".to_owned());
        self.thread = Some(thread.spawn(move || {
            let ended = reading.run(&mut archive, &path, &into);
            // An empty batch marks the end of the sheet. Sending fails if nobody reads the sheet
            // any more. Then nothing is left to do.
            let _ = into.send(ended.map(|()| Vec::new()));
            (reading, archive)
        })?);
        self.rows = rows;
        self.ready = Vec::new().into_iter();
        self.is_ended = false;
        self.current = sheet;
        Ok(())
    }

    /// Returns the next rows that aren't blank: `count` rows, or all that are left. `next_row`
    /// still returns these rows.
    pub(crate) fn peek(&mut self, count: usize) -> io::Result<&[SheetRow]> {
        while self.ready.len() < count && !self.is_ended {
            let batch = self.next_batch()?;
            self.ready = mem::take(&mut self.ready).chain(batch).collect::<Vec<_>>().into_iter();
        }
        let ready = self.ready.as_slice();
        Ok(ready.get(..count).unwrap_or(ready))
    }

    /// Returns the next row that isn't blank; `None` at the end.
    pub(crate) fn next_row(&mut self) -> io::Result<Option<SheetRow>> {
        loop {
            if let Some(row) = self.ready.next() {
                return Ok(Some(row));
            }
            if self.is_ended {
                return Ok(None);
            }
            self.ready = self.next_batch()?.into_iter();
        }
    }

    /// Waits for the next rows of the reading thread. An empty batch marks the end of the sheet.
    fn next_batch(&mut self) -> io::Result<Vec<SheetRow>> {
        let batch = self.rows.recv().map_err(|_| unreadable())??;
        self.is_ended = batch.is_empty();
        Ok(batch)
    }
}

impl Drop for Workbook {
    fn drop(&mut self) {
        self.limits.is_unwanted.store(true, Ordering::Relaxed);
    }
}

/// Returns the folder in the archive that contains the parts of the workbook, usually `xl/`.
/// Returns an error if the archive is not a workbook.
fn folder_of_workbook(archive: &Archive) -> io::Result<String> {
    let has = |name: &str| archive.index_for_name(name).is_some();
    if has("xl/workbook.xml") {
        return Ok("xl/".to_owned());
    }
    let refused = if has("xl/workbook.bin") {
        NoList::OtherWorkbook("a binary Excel workbook (.xlsb)")
    } else if has("word/document.xml") {
        NoList::Other(FileKind::Document)
    } else if has("ppt/presentation.xml") {
        NoList::Other(FileKind::Slides)
    } else if has("content.xml") && has("mimetype") {
        NoList::OtherWorkbook("an OpenDocument file (.ods)")
    } else {
        NoList::Zip
    };
    Err(refusal(refused))
}

/// Refuses archives with too many files, because the archive library stores the names of all files
/// in memory. An archive lists its files, and each entry of this list begins with `ENTRY_MAGIC`. So
/// this function counts how often `ENTRY_MAGIC` occurs in the archive.
fn check_file_count(file: &mut dyn Seekable, limits: &Limits) -> io::Result<()> {
    const ENTRY_MAGIC: &[u8] = b"PK\x01\x02";
    file.seek(SeekFrom::Start(0))?;
    let mut piece = vec![0; 64 * 1024];
    let (mut overlap, mut count) = (0, 0);
    loop {
        limits.see()?;
        let read = match file.read(piece.get_mut(overlap..).unwrap_or_default()) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let length = overlap + read;
        let filled = piece.get(..length).unwrap_or_default();
        count += filled.windows(ENTRY_MAGIC.len()).filter(|bytes| *bytes == ENTRY_MAGIC).count();
        if count > MAX_FILES {
            return Err(refusal(NoList::LargeWorkbook("too many parts")));
        }
        overlap = length.min(ENTRY_MAGIC.len() - 1);
        piece.copy_within(length - overlap..length, 0);
    }
}

fn refusal(refused: NoList) -> io::Error {
    io::Error::other(refused)
}

fn unreadable() -> io::Error {
    refusal(NoList::DamagedWorkbook("its sheet cannot be read"))
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
    use crate::limits::MAX_LINE_BYTES;

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
