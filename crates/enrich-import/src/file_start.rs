//! Detects from the first bytes of a file whether the file is a workbook, a text, or neither.

use std::fs::File;
use std::io::{self, BufRead, Cursor, Read};

use crate::bounds::{Bounded, Bounds};
use crate::encoding::{Decoding, KnownEncoding, detect_by_start, resumed};
use crate::layout::ReadAs;
use crate::no_list::{NoList, ZIP_MAGIC, refused};
use crate::text_encoding::TextEncoding;
use crate::workbook::{Limits, Seekable, Workbook};

/// Number of bytes at the beginning of a file that are used to detect its content.
const HEAD_BYTES: usize = 16 * 1024;
/// Maximum size of a workbook that is read from a stream, in bytes. The whole workbook is then
/// kept in memory.
const MAX_HELD_WORKBOOK: usize = 64 * 1024 * 1024;

/// The decompressed bytes of a file, and how they are read.
pub(crate) struct FileBytes {
    bytes: Box<dyn BufRead>,
    /// The same bytes as a `File`, in which the reader can seek; `None` for a stream.
    file: Option<File>,
    limits: Limits,
    /// The delimiter and the encoding, if the operator or the mapping has set them.
    pub(crate) read_as: ReadAs,
}

impl FileBytes {
    /// Creates the input. `bounds` limits how many of `bytes` are read; `None` means no limit.
    /// `file` is the file with the same bytes; `None` for a stream.
    pub(crate) fn new(
        bytes: Box<dyn BufRead>,
        file: Option<File>,
        bounds: Option<Bounds>,
        read_as: ReadAs,
    ) -> Self {
        let limits = Limits::new(bounds.as_ref());
        let bytes = match bounds {
            Some(bounds) => Box::new(Bounded::new(bytes, bounds)),
            None => bytes,
        };
        Self { bytes, file, limits, read_as }
    }

    /// Reads the first bytes.
    ///
    /// # Errors
    ///
    /// An error that wraps a [`NoList`], if the file is neither a workbook nor a text.
    pub(crate) fn begin(mut self) -> io::Result<FileStart> {
        let mut head = Vec::new();
        let failure = (&mut self.bytes).take(HEAD_BYTES as u64).read_to_end(&mut head).err();
        if head.starts_with(ZIP_MAGIC) {
            let bytes = resumed(head, failure, self.bytes);
            let (file, limits) = (self.file, self.limits);
            return Ok(FileStart::Workbook(WorkbookStart { bytes, file, limits }));
        }
        match refused(&head) {
            Some(refused) => Err(io::Error::other(refused)),
            None => Ok(FileStart::Text(TextStart { head, failure, rest: self.bytes })),
        }
    }
}

/// A file whose first bytes were read.
pub(crate) enum FileStart {
    Workbook(WorkbookStart),
    Text(TextStart),
}

/// A file that begins like a workbook: it is a zip archive.
pub(crate) struct WorkbookStart {
    bytes: Box<dyn BufRead>,
    file: Option<File>,
    limits: Limits,
}

impl WorkbookStart {
    /// Returns the size of the workbook in bytes; `None` for a stream.
    pub(crate) fn file_size(&self) -> Option<u64> {
        let file = self.file.as_ref()?;
        Some(file.metadata().map(|data| data.len()).unwrap_or_default())
    }

    /// Opens the workbook with `open`, which is [`Workbook::open`] or
    /// [`Workbook::open_with_links`]. A workbook from a stream is read into memory first.
    pub(crate) fn open(
        mut self,
        open: impl FnOnce(Box<dyn Seekable>, Limits) -> io::Result<Workbook>,
    ) -> io::Result<Workbook> {
        if let Some(file) = self.file {
            return open(Box::new(file), self.limits);
        }
        let mut held = Vec::new();
        (&mut self.bytes).take(MAX_HELD_WORKBOOK as u64 + 1).read_to_end(&mut held)?;
        if held.len() > MAX_HELD_WORKBOOK {
            return Err(io::Error::other(NoList::LargeWorkbook("more than 64 MiB")));
        }
        open(Box::new(Cursor::new(held)), self.limits)
    }
}

/// A text whose first bytes were read.
pub(crate) struct TextStart {
    head: Vec<u8>,
    /// The error that stopped the reading of the first bytes.
    failure: Option<io::Error>,
    rest: Box<dyn BufRead>,
}

impl TextStart {
    /// Returns the first bytes.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the first bytes, without the byte order mark.
    pub(crate) fn unmarked_head(&self) -> &[u8] {
        let mark = detect_by_start(&self.head).map_or(0, |(_, mark)| mark);
        self.head.get(mark..).unwrap_or_default()
    }

    /// Returns the whole text in UTF-8, and its encoding. If `chosen` is `None`, the encoding is
    /// detected. `guesses` says whether it may be guessed ([`Decoding::new`]).
    pub(crate) fn decoded(
        self,
        chosen: Option<TextEncoding>,
        guesses: bool,
    ) -> io::Result<(Decoding, KnownEncoding)> {
        let input = resumed(self.head.clone(), self.failure, self.rest);
        Decoding::new(input, &self.head, chosen, guesses)
    }
}
