//! Where records are read from: a file, standard input or any reader, decompressed as it goes.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use enrich_core::SourceName;
use flate2::read::MultiGzDecoder;

use crate::bounds::{Bounded, Bounds, Halt};
use crate::lines::Lines;

/// How many bytes are read from the system, and decompressed, at a time.
const BUFFER_BYTES: usize = 128 * 1024;

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";
const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An object a line.
    JsonLines,
    /// A header line, then a row a record.
    Csv,
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

/// The format and the compression that a file's name tells: `.jsonl`, `.ndjson` or `.csv`, then
/// `.gz` or `.zst`, in any case.
pub fn told_by_name(file_name: &str) -> (Option<Format>, Option<Compression>) {
    let Named { format, compression } = Named::read(file_name);
    (format, compression)
}

/// Records to be read.
///
/// Format and compression are those of the file's name: `.jsonl`, `.ndjson` or `.csv`, then `.gz`
/// or `.zst`, in any case. What the name doesn't tell, the first bytes do.
pub struct Source {
    input: Box<dyn Read + Send>,
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
    #[error("the file ends in the middle")]
    EndsInTheMiddle,
    /// It can't be decompressed.
    #[error("the input is damaged, or not compressed as its name says")]
    Damaged(#[source] io::Error),
    /// It is CSV without a header that could be used.
    #[error("the CSV header can't be used")]
    Header(#[from] HeaderError),
    /// It isn't read to its end.
    #[error(transparent)]
    Halted(#[from] Halt),
}

/// Why a header of a CSV file can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// It is longer than a line may be, or spans several.
    #[error("it is not one line of at most a mebibyte")]
    NotOneLine,
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// It has a column twice.
    #[error("it has the column `{0}` twice")]
    RepeatedColumn(&'static str),
    /// It has more columns than are read.
    #[error("it has {found} columns, and at most {most} are read")]
    TooManyColumns {
        /// How many it has.
        found: usize,
        /// The most that are read.
        most: usize,
    },
    /// It has no column that tells what the rows are.
    #[error(
        "none of its columns is `first_name`, `name` or `domain`; columns are separated by `,`"
    )]
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
        let mut source = Self::reader(&file_name, file);
        // Pipes have no length that means anything.
        source.total_bytes = metadata.is_file().then_some(metadata.len());
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
        let input = match self.bounds {
            Some(bounds) => Box::new(Bounded::new(input, bounds)),
            None => input,
        };
        Ok(Opened {
            lines: Lines::new(input),
            format: self.format,
            is_compressed: compression.is_some(),
            read_bytes,
        })
    }
}

/// A source that is being read.
pub(crate) struct Opened {
    pub(crate) lines: Lines,
    format: Option<Format>,
    is_compressed: bool,
    read_bytes: ByteCount,
}

impl Opened {
    /// The format: the name's, else that of the first character; `None` for an empty source.
    pub(crate) fn format(&mut self) -> io::Result<Option<Format>> {
        if self.format.is_some() {
            return Ok(self.format);
        }
        let Some(line) = self.lines.next_filled()? else { return Ok(None) };
        let is_object = line.bytes.trim_ascii_start().starts_with(b"{");
        self.lines.put_back(std::iter::once(line));
        Ok(Some(if is_object { Format::JsonLines } else { Format::Csv }))
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
        let formats =
            [(".jsonl", Format::JsonLines), (".ndjson", Format::JsonLines), (".csv", Format::Csv)];
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
        assert_eq!(opened.format().unwrap(), Some(Format::JsonLines));
        assert_eq!(opened.lines.next_filled().unwrap().unwrap().number, 2);
        assert_eq!(opened.newly_read_bytes(), 5);
        assert_eq!(opened.newly_read_bytes(), 0);
    }
}
