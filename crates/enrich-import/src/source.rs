//! The input of an import: a file, standard input or any reader, decompressed while it is read.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use enrich_core::SourceName;
use flate2::read::MultiGzDecoder;

use crate::bounds::{Bounded, Bounds};
use crate::byte_count::{ByteCount, Counted};
use crate::format::{Compression, Format, format_from_file_name};
use crate::layout::ReadAs;
use crate::opened::{Input, Opened};
use crate::read_error::ReadError;
use crate::workbook::Limits;

/// Buffer size for reading and decompressing.
const BUFFER_BYTES: usize = 128 * 1024;

/// An input of records.
///
/// The file's name can show format and compression: `.jsonl`, `.ndjson`, `.csv`, `.tsv` or `.xlsx`,
/// then `.gz` or `.zst`, in upper or lower case. If the name does not show them, the first bytes
/// do. A workbook is always recognised by its first bytes, whatever its name. Delimiter and
/// encoding are detected.
pub struct Source {
    input: Box<dyn Read + Send>,
    /// The same input as a `File`; `None` if the input is not a file.
    file: Option<File>,
    read_as: ReadAs,
    format: Option<Format>,
    compression: Option<Compression>,
    total_bytes: Option<u64>,
    name: Option<SourceName>,
    bounds: Option<Bounds>,
}

impl Source {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// [`ReadError::NotOpened`].
    pub fn file(path: &Path) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(ReadError::NotOpened)?;
        let metadata = file.metadata().map_err(ReadError::NotOpened)?;
        let file_name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        // A pipe has no length, and no positions to seek to, so it does not count as a file.
        let is_file = metadata.is_file();
        let other = is_file.then(|| file.try_clone()).transpose().map_err(ReadError::NotOpened)?;
        let mut source = Self::reader(&file_name, file);
        source.total_bytes = is_file.then_some(metadata.len());
        source.file = other;
        Ok(source)
    }

    /// Returns standard input as a source with the name `stdin`.
    pub fn stdin() -> Self {
        Self::reader("stdin", io::stdin())
    }

    /// Returns a source that reads from any reader. As with a file, the ending of `file_name` can
    /// show format and compression.
    pub fn reader(file_name: &str, input: impl Read + Send + 'static) -> Self {
        let (format, compression) = format_from_file_name(file_name);
        Self {
            input: Box::new(input),
            file: None,
            read_as: ReadAs::default(),
            format,
            compression,
            total_bytes: None,
            name: SourceName::new(file_name),
            bounds: None,
        }
    }

    /// Limits how much of the source is read.
    #[must_use]
    pub fn bounded(mut self, bounds: Bounds) -> Self {
        self.bounds = Some(bounds);
        self
    }

    /// Uses these settings of the delimiter and the encoding. A setting that is `None` is detected.
    #[must_use]
    pub fn read_as(mut self, read_as: ReadAs) -> Self {
        self.read_as = read_as;
        self
    }

    /// Returns the default name of the source: the file's name without its folder. Returns `None`
    /// if the file's name isn't a valid source name.
    pub fn name(&self) -> Option<&SourceName> {
        self.name.as_ref()
    }

    /// Returns the size of the source in bytes, before decompression; `None` if the size is
    /// unknown.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }

    pub(crate) fn open(self) -> Result<Opened, ReadError> {
        let read_bytes = ByteCount::default();
        let mut input = Counted::new(self.input, read_bytes.clone());
        let mut first = Vec::new();
        (&mut input).take(4).read_to_end(&mut first).map_err(ReadError::Failed)?;
        let compression = self.compression.or_else(|| Compression::of_bytes(&first));
        let input = Cursor::new(first).chain(input);
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
        let input = match self.bounds {
            Some(bounds) => Box::new(Bounded::new(input, bounds)),
            None => input,
        };
        let input = Input {
            bytes: input,
            file: self.file.filter(|_| compression.is_none()),
            format: self.format,
            read_as: self.read_as,
            limits,
            is_compressed: compression.is_some(),
            read_bytes,
        };
        Opened::new(input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
