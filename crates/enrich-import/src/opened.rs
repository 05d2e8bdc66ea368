//! Opens a source: detects its format and layout, and turns I/O errors into errors that a user
//! understands.

use std::fs::File;
use std::io::{self, BufRead, Cursor, Read};

use crate::byte_count::ByteCount;
use crate::content::{self, NoList, ZIP_MAGIC};
use crate::delimiter::Delimiter;
use crate::delimiter_detection;
use crate::encoding::{Decoding, KnownEncoding, detect_by_start, resumed};
use crate::format::Format;
use crate::input::is_table;
use crate::layout::{Layout, ReadAs};
use crate::limits::{LOOKED_AT_BYTES, LOOKED_AT_LINES};
use crate::lines::Lines;
use crate::quoting::has_quoting;
use crate::read_error::ReadError;
use crate::splitter::Splitter;
use crate::workbook::{Limits, Workbook};

/// Number of bytes at the beginning of a source that are used to detect its content.
pub(crate) const HEAD_BYTES: usize = 16 * 1024;
/// Maximum size of a workbook that is read from a stream, in bytes. The whole workbook is then
/// kept in memory.
pub(crate) const MAX_HELD_WORKBOOK: usize = 64 * 1024 * 1024;

/// The decompressed bytes of a source, with the settings for reading them.
pub(crate) struct Input {
    pub(crate) bytes: Box<dyn BufRead>,
    /// The same input as a `File`, in which the reader can seek; `None` if the input is not a
    /// file.
    pub(crate) file: Option<File>,
    /// The format that the file's name shows.
    pub(crate) format: Option<Format>,
    pub(crate) read_as: ReadAs,
    pub(crate) limits: Limits,
    pub(crate) is_compressed: bool,
    pub(crate) read_bytes: ByteCount,
}

pub(crate) struct Opened {
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

impl Opened {
    /// Opens a source. Recognises a workbook by the first bytes. Takes other formats from the
    /// file's name, or else from the first lines.
    pub(crate) fn new(input: Input) -> Result<Self, ReadError> {
        let Input { mut bytes, file, format, read_as, limits, is_compressed, read_bytes } = input;
        let mut opened = Self {
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
        let mut head = Vec::new();
        let failure = (&mut bytes).take(HEAD_BYTES as u64).read_to_end(&mut head).err();
        if head.starts_with(ZIP_MAGIC) {
            opened.read_workbook(file, resumed(head, failure, bytes), limits)?;
            return Ok(opened);
        }
        if let Some(refused) = content::refused(&head) {
            return Err(refused.into());
        }
        // JSON is always UTF-8, so its encoding is not guessed.
        let mark = detect_by_start(&head).map_or(0, |(_, mark)| mark);
        let text = head.get(mark..).unwrap_or_default().trim_ascii_start();
        let format = format.filter(|format| *format != Format::Xlsx);
        let is_json = format.map_or(text.starts_with(b"{"), |format| format == Format::JsonLines);
        let input = resumed(head.clone(), failure, bytes);
        let decoding = Decoding::new(input, &head, read_as.encoding, !is_json);
        let (decoding, encoding) = decoding.map_err(|error| opened.explain(error))?;
        opened.lines = Lines::new(Box::new(decoding));
        opened.encoding = encoding;
        opened.look(format, read_as)?;
        Ok(opened)
    }

    /// Returns the format of the records; `None` for an empty source.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format
    }

    /// Creates the splitter of the source's rows, which come from CSV or a workbook. For a
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

    /// Detects the format and the delimiter from the first lines. Does not detect the format if
    /// `named` gives it, or the delimiter if `read_as` gives it.
    fn look(&mut self, named: Option<Format>, read_as: ReadAs) -> Result<(), ReadError> {
        let lines = self.lines.peek(LOOKED_AT_LINES, LOOKED_AT_BYTES);
        let mut filled = lines.iter().filter(|line| !line.is_blank());
        let Some(first) = filled.next() else {
            // All lines that were examined are blank. More blank lines may follow. Only the
            // caller's bounds limit how many are read.
            self.format = named.or(match self.lines.next_filled() {
                Ok(None) => None,
                Ok(Some(line)) => {
                    let is_object = line.bytes.trim_ascii_start().starts_with(b"{");
                    self.lines.put_back(std::iter::once(line));
                    Some(if is_object { Format::JsonLines } else { Format::Csv })
                }
                Err(error) => return Err(self.explain(error)),
            });
            return Ok(());
        };
        let second = filled.next().map(|line| line.bytes.as_slice()).unwrap_or_default();
        let beginning = [&first.bytes, second].concat();
        if content::is_json_array(&beginning) {
            return Err(NoList::JsonArray.into());
        }
        let is_object = first.bytes.trim_ascii_start().starts_with(b"{");
        let format = match named {
            Some(Format::Csv | Format::Tsv) if content::is_json_object(&beginning) => {
                return Err(NoList::JsonAsCsv.into());
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

    fn read_workbook(
        &mut self,
        file: Option<File>,
        mut rest: Box<dyn BufRead>,
        limits: Limits,
    ) -> Result<(), ReadError> {
        let opened = match file {
            Some(file) => {
                let length = file.metadata().map(|data| data.len()).unwrap_or_default();
                self.read_bytes.set(length);
                Workbook::open(Box::new(file), limits)
            }
            None => {
                let mut held = Vec::new();
                let read = (&mut rest).take(MAX_HELD_WORKBOOK as u64 + 1).read_to_end(&mut held);
                read.map_err(|error| self.explain(error))?;
                if held.len() > MAX_HELD_WORKBOOK {
                    return Err(NoList::LargeWorkbook("more than 64 MiB").into());
                }
                Workbook::open(Box::new(Cursor::new(held)), limits)
            }
        };
        let mut workbook = opened.map_err(|error| self.explain(error))?;
        let chosen = workbook.choose_sheet(|rows| is_table(rows, &[]));
        chosen.map_err(|error| self.explain(error))?;
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
