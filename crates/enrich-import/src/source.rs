//! The input of an import: a file, standard input or any reader, decompressed while it is read.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Chain, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use enrich_core::SourceName;
use tempfile::TempPath;

use crate::bounds::Bounds;
use crate::byte_count::{ByteCount, Counted};
use crate::decompressed::decompressed;
use crate::file_start::FileBytes;
use crate::format::{Compression, Format, format_from_file_name};
use crate::layout::ReadAs;
use crate::list_reader::ListReader;
use crate::no_list::is_archive;
use crate::read_error::ReadError;

/// A file or a stream from which records are read.
///
/// The file's name can show the format and the compression by its endings: `records.csv.gz` is CSV,
/// compressed with gzip. The function `format_from_file_name` has all endings. If the name does not
/// show the format or the compression, the first bytes of the file do. A workbook is always
/// recognised by its first bytes, whatever its name. Delimiter and encoding are detected.
pub struct Source {
    input: Box<dyn Read + Send>,
    /// The same input as a `File`; `None` if the input is not a file.
    file: Option<File>,
    read_as: ReadAs,
    format: Option<Format>,
    compression: Option<Compression>,
    file_name: String,
    /// The path from which the source can be opened again; `None` if the source is a stream.
    place: Option<FilePlace>,
    total_bytes: Option<u64>,
    name: Option<SourceName>,
    bounds: Option<Bounds>,
}

impl Source {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// [`ReadError::NotOpened`], if the file can't be opened.
    pub fn file(path: &Path) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(ReadError::NotOpened)?;
        let metadata = file.metadata().map_err(ReadError::NotOpened)?;
        let file_name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        // A pipe has no length, and no positions to seek to, so it does not count as a file.
        let is_file = metadata.is_file();
        let other = is_file.then(|| file.try_clone()).transpose().map_err(ReadError::NotOpened)?;
        let mut source = Self::reader(&file_name, file);
        source.total_bytes = is_file.then_some(metadata.len());
        source.place = is_file.then(|| FilePlace::Path(path.to_owned()));
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
            file_name: file_name.to_owned(),
            place: None,
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

    /// Sets the delimiter and the encoding. A setting that is `None` is detected.
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

    /// Returns the name of the file, without its folder; `stdin` for standard input.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// Opens the source as rows: lines of text, or the sheet of a workbook. Does not recognise
    /// archives, JSON and XML.
    pub(crate) fn open(self) -> Result<ListReader, ReadError> {
        let begun = self.begin()?;
        let compression = begun.compression();
        let bytes = decompressed(begun.input, compression).map_err(ReadError::Failed)?;
        let file = begun.file.filter(|_| compression.is_none());
        let file = FileBytes::new(bytes, file, begun.bounds, begun.read_as);
        ListReader::open(file, begun.format, compression.is_some(), begun.read_bytes)
    }

    /// Reads the first bytes of the source, before decompression.
    pub(crate) fn begin(self) -> Result<Begun, ReadError> {
        let read_bytes = ByteCount::default();
        let mut input = Counted::new(self.input, read_bytes.clone());
        let mut first = Vec::new();
        (&mut input).take(4).read_to_end(&mut first).map_err(ReadError::Failed)?;
        Ok(Begun {
            input: Cursor::new(first.clone()).chain(input),
            first,
            file: self.file,
            file_name: self.file_name,
            format: self.format,
            named_compression: self.compression,
            read_as: self.read_as,
            bounds: self.bounds,
            read_bytes,
        })
    }
}

/// The path of a file. A temporary file is deleted when the last copy of its path is dropped.
#[derive(Clone)]
enum FilePlace {
    Path(PathBuf),
    Temporary(Arc<TempPath>),
}

impl FilePlace {
    fn open(&self) -> io::Result<File> {
        match self {
            Self::Path(path) => File::open(path),
            Self::Temporary(path) => File::open(path.as_ref()),
        }
    }
}

impl Source {
    /// Returns two sources with the same content. Begin to read the second one only when the first
    /// one is no longer read.
    ///
    /// For a stream, everything that the first source reads is kept in memory for the second one. A
    /// zip archive from a stream is written into a temporary file.
    pub(crate) fn twice(self) -> Result<(Self, Again), ReadError> {
        let source = self.in_a_file_if_archive()?;
        if let Some(place) = source.place.clone() {
            let first = place.open().and_then(|file| Ok((file.try_clone()?, file)));
            let (input, file) = first.map_err(ReadError::NotOpened)?;
            let first = Self {
                input: Box::new(input),
                file: Some(file),
                file_name: source.file_name.clone(),
                name: source.name.clone(),
                bounds: source.bounds.clone(),
                place: Some(place),
                ..source
            };
            return Ok((first, Again { source, kept: None }));
        }
        let kept = Arc::new(Mutex::new(CopiedStream { input: source.input, bytes: Vec::new() }));
        let first = Self {
            input: Box::new(Keeping(Arc::clone(&kept))),
            file_name: source.file_name.clone(),
            name: source.name.clone(),
            bounds: source.bounds.clone(),
            file: None,
            place: None,
            ..source
        };
        let source = Self { input: Box::new(io::empty()), file: None, place: None, ..source };
        Ok((first, Again { source, kept: Some(kept) }))
    }

    /// Writes a zip archive from a stream into a temporary file. The archive's list of files is
    /// at its end and must be read first, which is impossible in a stream. Returns other sources
    /// unchanged.
    pub(crate) fn in_a_file_if_archive(mut self) -> Result<Self, ReadError> {
        if self.file.is_some() {
            return Ok(self);
        }
        let mut first = Vec::new();
        (&mut self.input).take(4).read_to_end(&mut first).map_err(ReadError::Failed)?;
        let is_archive = is_archive(&first) && self.compression.is_none();
        let input = Box::new(Cursor::new(first).chain(self.input));
        let source = Self { input, ..self };
        if is_archive { source.in_a_file() } else { Ok(source) }
    }

    /// Writes a stream into a temporary file, so that it can be read twice.
    pub(crate) fn in_a_file(mut self) -> Result<Self, ReadError> {
        if self.file.is_some() {
            return Ok(self);
        }
        let spooled = tempfile::NamedTempFile::new().and_then(|mut file| {
            io::copy(&mut self.input, &mut file)?;
            let opened = file.reopen()?;
            Ok((opened.try_clone()?, opened, file.into_temp_path()))
        });
        let (input, file, path) = spooled.map_err(ReadError::Failed)?;
        let place = Some(FilePlace::Temporary(Arc::new(path)));
        Ok(Self { input: Box::new(input), file: Some(file), place, ..self })
    }
}

/// A source that is to be read a second time.
pub(crate) struct Again {
    source: Source,
    kept: Option<Arc<Mutex<CopiedStream>>>,
}

impl Again {
    /// Returns the source that is to be read again, from its beginning.
    pub(crate) fn source(self) -> Source {
        let Some(kept) = self.kept else { return self.source };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let input = std::mem::replace(&mut kept.input, Box::new(io::empty()));
        let input = Cursor::new(std::mem::take(&mut kept.bytes)).chain(input);
        Source { input: Box::new(input), ..self.source }
    }
}

/// A stream, and a copy of the bytes that were already read from it.
struct CopiedStream {
    input: Box<dyn Read + Send>,
    bytes: Vec<u8>,
}

struct Keeping(Arc<Mutex<CopiedStream>>);

impl Read for Keeping {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = kept.input.read(buffer)?;
        kept.bytes.extend_from_slice(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// A source whose first bytes were read.
pub(crate) struct Begun {
    /// The whole source, before decompression.
    pub(crate) input: Chain<Cursor<Vec<u8>>, Counted>,
    /// The first four bytes; fewer if the source is shorter.
    pub(crate) first: Vec<u8>,
    pub(crate) file: Option<File>,
    pub(crate) file_name: String,
    pub(crate) format: Option<Format>,
    named_compression: Option<Compression>,
    pub(crate) read_as: ReadAs,
    pub(crate) bounds: Option<Bounds>,
    pub(crate) read_bytes: ByteCount,
}

impl Begun {
    /// Returns the compression that the name or the first bytes show.
    pub(crate) fn compression(&self) -> Option<Compression> {
        self.named_compression.or_else(|| Compression::of_bytes(&self.first))
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
        let mut reader = Source::reader("stdin", Slow(Cursor::new(b"\n {}\n"))).open().unwrap();
        assert_eq!(reader.format(), Some(Format::JsonLines));
        assert_eq!(reader.lines.next_filled().unwrap().unwrap().number, 2);
        assert_eq!(reader.newly_read_bytes(), 5);
        assert_eq!(reader.newly_read_bytes(), 0);
    }
}
