//! Reads a list, such as a CSV file. Detects its format and layout. Turns I/O errors into errors
//! that a user understands.

use std::io;

use crate::byte_count::ByteCount;
use crate::delimiter::Delimiter;
use crate::delimiter_detection;
use crate::encoding::KnownEncoding;
use crate::file_start::{FileBytes, FileStart, TextStart, WorkbookStart};
use crate::format::Format;
use crate::input::is_table;
use crate::layout::{Layout, ReadAs};
use crate::limits::{LOOKED_AT_BYTES, LOOKED_AT_LINES};
use crate::lines::Lines;
use crate::no_list::{NoList, is_json_array, is_json_object};
use crate::quoting::has_quoting;
use crate::read_error::ReadError;
use crate::splitter::Splitter;
use crate::workbook::Workbook;

/// Reads a list with its layout: the lines of CSV or JSON Lines, or the rows of a workbook. Does
/// not recognise archives, XML, and JSON other than JSON Lines;
/// [`InputRecords`](crate::input::InputRecords) reads these.
pub(crate) struct ListReader {
    pub(crate) lines: Lines,
    format: Option<Format>,
    delimiter: Option<Delimiter>,
    /// Whether quotes enclose the fields of CSV; if not, quotes are plain text.
    has_quoting: bool,
    encoding: KnownEncoding,
    workbook: Option<Workbook>,
    /// The name of the sheet that is read, and the number of sheets, if the source is a workbook.
    sheet: Option<(String, usize)>,
    is_compressed: bool,
    read_bytes: ByteCount,
}

impl ListReader {
    /// Opens a list. Recognises a workbook by the first bytes. For other formats, uses `named`, the
    /// format that the file's name shows. If `named` is `None`, detects the format from the first
    /// lines.
    pub(crate) fn open(
        file: FileBytes,
        named: Option<Format>,
        is_compressed: bool,
        read_bytes: ByteCount,
    ) -> Result<Self, ReadError> {
        let mut reader = Self {
            lines: Lines::new(Box::new(io::empty())),
            format: None,
            delimiter: None,
            has_quoting: true,
            encoding: KnownEncoding::default(),
            workbook: None,
            sheet: None,
            is_compressed,
            read_bytes,
        };
        let read_as = file.read_as;
        let opened = match file.begin() {
            Ok(FileStart::Workbook(start)) => reader.open_workbook(start),
            Ok(FileStart::Text(start)) => reader.open_text(start, named, read_as),
            Err(error) => Err(error),
        };
        match opened {
            Ok(()) => Ok(reader),
            Err(error) => Err(reader.explain(error)),
        }
    }

    /// Returns the format of the records; `None` for an empty source.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format
    }

    /// Creates a splitter, which returns the fields of each row of a CSV file or workbook. For a
    /// workbook, call this only once, because the splitter takes the workbook.
    pub(crate) fn splitter(&mut self) -> Splitter {
        match self.workbook.take() {
            Some(workbook) => Splitter::of_workbook(workbook),
            None => {
                let delimiter = self.delimiter.unwrap_or(Delimiter::Comma);
                Splitter::with_quoting(delimiter, None, self.has_quoting)
            }
        }
    }

    /// Returns the layout; `None` for an empty source. The encoding may still change while the
    /// source is read.
    pub(crate) fn layout(&self) -> Option<Layout> {
        let is_text = self.sheet.is_none();
        let (sheet, sheets) = self.sheet.clone().unzip();
        Some(Layout {
            format: self.format?,
            delimiter: self.delimiter,
            encoding: is_text.then(|| self.encoding.get()),
            sheet,
            sheets: sheets.unwrap_or_default(),
        })
    }

    fn open_text(
        &mut self,
        start: TextStart,
        named: Option<Format>,
        read_as: ReadAs,
    ) -> io::Result<()> {
        // JSON is always UTF-8, so its encoding is not guessed.
        let named = named.filter(|format| *format != Format::Xlsx);
        let is_object = start.unmarked_head().trim_ascii_start().starts_with(b"{");
        let is_json = named.map_or(is_object, |format| format == Format::JsonLines);
        let (text, encoding) = start.decoded(read_as.encoding, !is_json)?;
        self.lines = Lines::new(Box::new(text));
        self.encoding = encoding;
        self.look(named, read_as)
    }

    /// Detects the format and the delimiter from the first lines. Does not detect the format if
    /// `named` gives it, or the delimiter if `read_as` gives it.
    fn look(&mut self, named: Option<Format>, read_as: ReadAs) -> io::Result<()> {
        let lines = self.lines.peek(LOOKED_AT_LINES, LOOKED_AT_BYTES);
        let mut filled = lines.iter().filter(|line| !line.is_blank());
        let Some(first) = filled.next() else {
            // All lines that were examined are blank. More blank lines may follow. Only the
            // caller's bounds limit how many are read.
            self.format = named.or(match self.lines.next_filled()? {
                None => None,
                Some(line) => {
                    let is_object = line.bytes.trim_ascii_start().starts_with(b"{");
                    self.lines.put_back(std::iter::once(line));
                    Some(if is_object { Format::JsonLines } else { Format::Csv })
                }
            });
            return Ok(());
        };
        let second = filled.next().map(|line| line.bytes.as_slice()).unwrap_or_default();
        let beginning = [&first.bytes, second].concat();
        if is_json_array(&beginning) {
            return Err(io::Error::other(NoList::JsonArray));
        }
        let is_object = first.bytes.trim_ascii_start().starts_with(b"{");
        let format = match named {
            Some(Format::Csv | Format::Tsv) if is_json_object(&beginning) => {
                return Err(io::Error::other(NoList::JsonAsCsv));
            }
            Some(format) => format,
            None if is_object => Format::JsonLines,
            None => Format::Csv,
        };
        self.format = Some(if format == Format::JsonLines { format } else { Format::Csv });
        if format != Format::JsonLines {
            let usual = if format == Format::Tsv { Delimiter::Tab } else { Delimiter::Comma };
            let chosen = read_as.delimiter;
            let delimiter = delimiter_detection::of_file(&mut self.lines, &lines, usual, chosen);
            self.has_quoting = has_quoting(&lines, delimiter);
            self.delimiter = Some(delimiter);
        }
        Ok(())
    }

    fn open_workbook(&mut self, start: WorkbookStart) -> io::Result<()> {
        if let Some(size) = start.file_size() {
            self.read_bytes.set(size);
        }
        let mut workbook = start.open(Workbook::open)?;
        workbook.choose_sheet(|rows| is_table(rows, &[]))?;
        self.format = Some(Format::Xlsx);
        self.sheet = Some((workbook.sheet_name().to_owned(), workbook.sheets));
        self.workbook = Some(workbook);
        Ok(())
    }

    /// Returns the number of bytes read since the last call of this method, counted before
    /// decompression.
    pub(crate) fn newly_read_bytes(&self) -> u64 {
        self.read_bytes.take()
    }

    /// Turns an I/O error of reading into the [`ReadError`] that describes it.
    pub(crate) fn explain(&self, error: io::Error) -> ReadError {
        ReadError::of(error, self.is_compressed)
    }
}
