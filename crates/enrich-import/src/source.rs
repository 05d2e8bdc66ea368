//! Where records are read from: a file, standard input or any reader, decompressed as it goes.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use enrich_core::SourceName;
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use crate::bounds::{Bounded, Bounds, Halt};
use crate::content::{self, NoList, ZIP_MAGIC};
use crate::delimiter::{self, Delimiter};
use crate::encoding::{Decoding, KnownEncoding, Resumed, told_by_start};
use crate::layout::{Layout, ReadAs};
use crate::lines::{Line, Lines};
use crate::splitter::Splitter;
use crate::workbook::{Limits, Workbook};

/// How many bytes are read from the system, and decompressed, at a time.
const BUFFER_BYTES: usize = 128 * 1024;

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// An object a line.
    JsonLines,
    /// A header line, then a row a record; whatever stands between the fields.
    Csv,
    /// The same with tabs.
    Tsv,
    /// A workbook of Excel: the first row of its first sheet is the header.
    Xlsx,
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

/// How much of a source is looked at to tell what it holds.
const HEAD_BYTES: usize = 16 * 1024;
/// How many lines are looked at to tell the delimiter, and how many bytes of them.
const LOOKED_AT_LINES: usize = 100;
const LOOKED_AT_BYTES: usize = 256 * 1024;
/// The largest workbook that is read from what is no file, in bytes: it is held in memory.
const MAX_HELD_WORKBOOK: usize = 64 * 1024 * 1024;

/// The format and the compression that a file's name tells: `.jsonl`, `.ndjson`, `.csv`, `.tsv`,
/// `.tab` or `.xlsx`, then `.gz` or `.zst`, in any case.
pub fn told_by_name(file_name: &str) -> (Option<Format>, Option<Compression>) {
    let Named { format, compression } = Named::read(file_name);
    (format, compression)
}

/// Records to be read.
///
/// Format and compression are those of the file's name: `.jsonl`, `.ndjson`, `.csv`, `.tsv` or
/// `.xlsx`, then `.gz` or `.zst`, in any case. What the name doesn't tell, the first bytes do; a
/// workbook is known by them whatever its name. Delimiter and encoding are detected.
pub struct Source {
    input: Box<dyn Read + Send>,
    /// The same as a file, where it is one.
    file: Option<File>,
    read_as: ReadAs,
    format: Option<Format>,
    compression: Option<Compression>,
    total_bytes: Option<u64>,
    name: Option<SourceName>,
    bounds: Option<Bounds>,
}

/// Why a source can't be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It can't be opened.
    #[error("the input can't be opened")]
    NotOpened(#[source] io::Error),
    /// The system can't read on.
    #[error("the input can't be read")]
    Failed(#[source] io::Error),
    /// It is compressed, and cut off before its end.
    #[error("the file is incomplete: its compressed data ends too early")]
    EndsInTheMiddle,
    /// It can't be decompressed.
    #[error("the input is damaged, or is not compressed the way its name says")]
    Damaged(#[source] io::Error),
    /// It is CSV without a header that could be used.
    #[error("the CSV header can't be used")]
    Header(#[from] HeaderError),
    /// It holds no list.
    #[error(transparent)]
    NoList(#[from] NoList),
    /// It isn't read to its end.
    #[error(transparent)]
    Halted(#[from] Halt),
}

/// Why a header of a CSV file can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// It is longer than a line may be, or spans several.
    #[error("it is longer than one line or 1 MiB")]
    NotOneLine,
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// It has a column twice.
    #[error("it has the column `{0}` twice")]
    RepeatedColumn(&'static str),
    /// It has more columns than are read.
    #[error("it has {found} columns; at most {most} can be read")]
    TooManyColumns {
        /// How many it has.
        found: usize,
        /// The most that are read.
        most: usize,
    },
    /// It has no column that tells what the rows are.
    #[error("none of its columns is `first_name`, `name` or `domain`")]
    NoKind,
}

impl Source {
    /// A file.
    ///
    /// # Errors
    ///
    /// [`ReadError::NotOpened`].
    pub fn file(path: &Path) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(ReadError::NotOpened)?;
        let metadata = file.metadata().map_err(ReadError::NotOpened)?;
        let file_name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        // Pipes have no length that means anything, and can be read at one place alone.
        let is_file = metadata.is_file();
        let other = is_file.then(|| file.try_clone()).transpose().map_err(ReadError::NotOpened)?;
        let mut source = Self::reader(&file_name, file);
        source.total_bytes = is_file.then_some(metadata.len());
        source.file = other;
        Ok(source)
    }

    /// Standard input, as a source named `stdin`.
    pub fn stdin() -> Self {
        Self::reader("stdin", io::stdin())
    }

    /// Any reader; `file_name` stands for a file's, without its folder.
    pub fn reader(file_name: &str, input: impl Read + Send + 'static) -> Self {
        let named = Named::read(file_name);
        Self {
            input: Box::new(input),
            file: None,
            read_as: ReadAs::default(),
            format: named.format,
            compression: named.compression,
            total_bytes: None,
            name: SourceName::new(file_name),
            bounds: None,
        }
    }

    /// Reads no more of it than this.
    #[must_use]
    pub fn bounded(mut self, bounds: Bounds) -> Self {
        self.bounds = Some(bounds);
        self
    }

    /// Reads it so where that is said, and detects the rest.
    #[must_use]
    pub fn read_as(mut self, read_as: ReadAs) -> Self {
        self.read_as = read_as;
        self
    }

    /// What the source is called where nobody says: the file's name without its folder. `None` when
    /// that can't be a source's name.
    pub fn name(&self) -> Option<&SourceName> {
        self.name.as_ref()
    }

    /// How many bytes there are to read, compressed as they are; `None` where nobody knows.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }

    /// Starts reading.
    pub(crate) fn open(self) -> Result<Opened, ReadError> {
        let read_bytes = ByteCount::default();
        let mut input = Counted { input: self.input, count: read_bytes.clone() };
        let (first, length) = first_bytes(&mut input).map_err(ReadError::Failed)?;
        let first = first.get(..length).unwrap_or_default();
        let compression = self.compression.or_else(|| Compression::of_bytes(first));
        let input = Cursor::new(first.to_vec()).chain(input);
        let input: Box<dyn BufRead> = match compression {
            None => Box::new(BufReader::with_capacity(BUFFER_BYTES, input)),
            Some(Compression::Gzip) => {
                let input = MultiGzDecoder::new(BufReader::with_capacity(BUFFER_BYTES, input));
                Box::new(BufReader::with_capacity(BUFFER_BYTES, input))
            }
            Some(Compression::Zstd) => {
                let input = zstd::Decoder::new(input).map_err(ReadError::Failed)?;
                Box::new(BufReader::with_capacity(BUFFER_BYTES, input))
            }
        };
        let limits = Limits::new(self.bounds.as_ref());
        let mut input = match self.bounds {
            Some(bounds) => Box::new(Bounded::new(input, bounds)),
            None => input,
        };
        let mut opened = Opened {
            lines: Lines::new(Box::new(io::empty())),
            format: None,
            delimiter: None,
            encoding: KnownEncoding::default(),
            workbook: None,
            sheet: None,
            is_compressed: compression.is_some(),
            read_bytes,
        };
        let mut head = Vec::new();
        let failure = (&mut input).take(HEAD_BYTES as u64).read_to_end(&mut head).err();
        if head.starts_with(ZIP_MAGIC) {
            let file = self.file.filter(|_| compression.is_none());
            opened.read_workbook(file, Resumed::new(head, failure, input), limits)?;
            return Ok(opened);
        }
        if let Some(refused) = content::refused(&head) {
            return Err(refused.into());
        }
        // JSON is UTF-8 by its definition.
        let mark = told_by_start(&head).map_or(0, |(_, mark)| mark);
        let text = head.get(mark..).unwrap_or_default().trim_ascii_start();
        let format = self.format.filter(|format| *format != Format::Xlsx);
        let is_json = format.map_or(text.starts_with(b"{"), |format| format == Format::JsonLines);
        let input = Box::new(Resumed::new(head.clone(), failure, input));
        let decoding = Decoding::new(input, &head, self.read_as.encoding, !is_json);
        let (decoding, encoding) = decoding.map_err(|error| opened.explain(error))?;
        opened.lines = Lines::new(Box::new(decoding));
        opened.encoding = encoding;
        opened.look(format, self.read_as)?;
        Ok(opened)
    }
}

/// A source that is being read.
pub(crate) struct Opened {
    pub(crate) lines: Lines,
    format: Option<Format>,
    delimiter: Option<Delimiter>,
    encoding: KnownEncoding,
    workbook: Option<Workbook>,
    /// The sheet that is read, and how many there are.
    sheet: Option<(String, usize)>,
    is_compressed: bool,
    read_bytes: ByteCount,
}

impl Opened {
    /// The format; `None` for an empty source.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format
    }

    /// Splits the rows of CSV or of a workbook, whose rows it takes.
    pub(crate) fn splitter(&mut self) -> Splitter {
        match self.workbook.take() {
            Some(workbook) => Splitter::of_workbook(workbook),
            None => Splitter::new(self.delimiter.unwrap_or(Delimiter::Comma)),
        }
    }

    /// How it is read, as far as that is known; `None` for an empty source.
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

    /// Tells format and delimiter by the first lines, where they are not given.
    fn look(&mut self, named: Option<Format>, read_as: ReadAs) -> Result<(), ReadError> {
        let lines = self.lines.peek(LOOKED_AT_LINES, LOOKED_AT_BYTES);
        let mut filled = lines.iter().filter(|line| !line.is_blank());
        let Some(first) = filled.next() else {
            // Blank lines may go on for long, and are counted by those who read them.
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
            let delimiter = self.delimiter(&lines, format, read_as);
            self.delimiter = Some(delimiter);
        }
        Ok(())
    }

    fn delimiter(&mut self, lines: &[Line], format: Format, read_as: ReadAs) -> Delimiter {
        let announced = lines.first().and_then(|line| delimiter::announced(&line.bytes));
        if announced.is_some() {
            // It was read already and cannot fail.
            let _ = self.lines.next();
        }
        let usual = if format == Format::Tsv { Delimiter::Tab } else { Delimiter::Comma };
        read_as.delimiter.or(announced).unwrap_or_else(|| delimiter::detect(lines, usual))
    }

    fn read_workbook(
        &mut self,
        file: Option<File>,
        mut rest: Resumed,
        limits: Limits,
    ) -> Result<(), ReadError> {
        let opened = match file {
            Some(file) => {
                let length = file.metadata().map(|data| data.len()).unwrap_or_default();
                self.read_bytes.0.set(length);
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
        let workbook = opened.map_err(|error| self.explain(error))?;
        self.format = Some(Format::Xlsx);
        self.sheet = Some((workbook.sheet.clone(), workbook.sheets));
        self.workbook = Some(workbook);
        Ok(())
    }

    /// How many bytes were read since this was last asked.
    pub(crate) fn newly_read_bytes(&self) -> u64 {
        self.read_bytes.0.take()
    }

    /// What a failure to read means.
    pub(crate) fn explain(&self, error: io::Error) -> ReadError {
        if let Some(halt) = Halt::of(&error) {
            return halt.into();
        }
        if let Some(refused) = NoList::of(&error) {
            return refused.into();
        }
        // What the system says has a number; the rest comes from decompressing.
        match error.kind() {
            _ if error.raw_os_error().is_some() || !self.is_compressed => ReadError::Failed(error),
            io::ErrorKind::UnexpectedEof => ReadError::EndsInTheMiddle,
            _ => ReadError::Damaged(error),
        }
    }
}

/// What a file's name tells.
struct Named {
    format: Option<Format>,
    compression: Option<Compression>,
}

impl Named {
    fn read(file_name: &str) -> Self {
        let compressions = [(".gz", Compression::Gzip), (".zst", Compression::Zstd)];
        let (rest, compression) = without_ending(file_name, &compressions);
        let formats = [
            (".jsonl", Format::JsonLines),
            (".ndjson", Format::JsonLines),
            (".csv", Format::Csv),
            (".tsv", Format::Tsv),
            (".tab", Format::Tsv),
            (".xlsx", Format::Xlsx),
        ];
        let (_, format) = without_ending(rest, &formats);
        Self { format, compression }
    }
}

/// The name without the first of these endings that it has, and what that means.
fn without_ending<'a, T: Copy>(name: &'a str, endings: &[(&str, T)]) -> (&'a str, Option<T>) {
    for (ending, meaning) in endings {
        if let Some((stem, end)) = name.split_at_checked(name.len().saturating_sub(ending.len()))
            && !stem.is_empty()
            && end.eq_ignore_ascii_case(ending)
        {
            return (stem, Some(*meaning));
        }
    }
    (name, None)
}

impl Compression {
    /// Neither beginning is UTF-8, so no text is taken for compressed.
    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes {
            _ if bytes.starts_with(GZIP_MAGIC) => Some(Self::Gzip),
            _ if bytes.starts_with(ZSTD_MAGIC) => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// The first four bytes, or fewer where the input is shorter, and how many they are.
fn first_bytes(input: &mut impl Read) -> io::Result<([u8; 4], usize)> {
    let mut bytes = [0; 4];
    let mut length = 0;
    while length < bytes.len() {
        match input.read(&mut bytes[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((bytes, length))
}

/// A count of bytes, shared between who reads and who asks.
#[derive(Clone, Default)]
struct ByteCount(Rc<Cell<u64>>);

/// A reader that counts.
struct Counted {
    input: Box<dyn Read + Send>,
    count: ByteCount,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.count.0.set(self.count.0.get() + read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_s_name_tells_format_and_compression() {
        let jsonl = Some(Format::JsonLines);
        let cases = [
            ("acme.jsonl", jsonl, None),
            ("acme.JSONL.GZ", jsonl, Some(Compression::Gzip)),
            ("acme.v2.ndjson.zst", jsonl, Some(Compression::Zstd)),
            ("acme.csv", Some(Format::Csv), None),
            ("acme.TSV.gz", Some(Format::Tsv), Some(Compression::Gzip)),
            ("acme.xlsx", Some(Format::Xlsx), None),
            ("acme.gz", None, Some(Compression::Gzip)),
            ("acme", None, None),
            ("acmé", None, None),
            (".csv", None, None),
            ("csv", None, None),
        ];
        for (file_name, format, compression) in cases {
            let named = Named::read(file_name);
            assert_eq!(named.format, format, "{file_name}");
            assert_eq!(named.compression, compression, "{file_name}");
        }
    }

    #[test]
    fn a_reader_that_gives_a_byte_at_a_time_is_recognised() {
        struct Slow(Cursor<&'static [u8]>);
        impl Read for Slow {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let most = buffer.len().min(1);
                self.0.read(&mut buffer[..most])
            }
        }
        let mut opened = Source::reader("stdin", Slow(Cursor::new(b"\n {}\n"))).open().unwrap();
        assert_eq!(opened.format(), Some(Format::JsonLines));
        assert_eq!(opened.lines.next_filled().unwrap().unwrap().number, 2);
        assert_eq!(opened.newly_read_bytes(), 5);
        assert_eq!(opened.newly_read_bytes(), 0);
    }
}
