//! Reads the records of files with any layout: CSV, workbooks, JSON and XML, also inside archives.
//! A mapping then converts the records to Enrich's own import format.
//!
//! One record is in memory at a time, however large the file is.

mod any_reader;
mod archive;
mod header;
mod json;
mod json_lines;
mod record;
mod sample;
mod table;
mod xml;

use std::fs::File;
use std::io::{self, BufRead};

use enrich_mapping::{Input, InputKind};

use crate::bounds::Bounds;
use crate::byte_count::ByteCount;
use crate::decompressed::decompressed;
use crate::file_start::FileBytes;
use crate::format::{Compression, Format};
use crate::layout::{Layout, ReadAs};
use crate::no_list::is_archive;
use crate::read_error::ReadError;
use crate::source::Source;
use any_reader::AnyReader;
use archive::{Archive, ArchiveMember};
pub(crate) use header::is_table;
pub use record::{InputRecord, RecordPosition};
pub use sample::{Sample, Sampled, sample};

/// Reads the records of a source, one after the other.
pub struct InputRecords {
    options: Input,
    read_as: ReadAs,
    archive: Option<Archive>,
    current: Option<AnyReader>,
    /// The name of the file in the archive that is being read now.
    member: Option<String>,
    is_compressed: bool,
    bounds: Option<Bounds>,
    read_bytes: ByteCount,
}

impl InputRecords {
    /// Opens a source that has the layout in `options`. Settings that are missing in `options` are
    /// detected. If `options` has the kind JSON or JSON Lines, the text decides between these two.
    /// But if `options` has the path of the records inside a document, the source is read as JSON.
    ///
    /// A zip archive from a stream is written into a temporary file first.
    ///
    /// # Errors
    ///
    /// When the source, or the first file of an archive, can't be read. Also when the header can't
    /// be used.
    pub fn open(source: Source, options: Input) -> Result<Self, ReadError> {
        let begun = source.in_a_file_if_archive()?.begin()?;
        let compression = begun.compression();
        // A delimiter or encoding that was set with `Source::read_as` has priority over the one in
        // `options`.
        let read_as = begun.read_as.or(ReadAs::of(&options));
        let mut records = Self {
            options,
            read_as,
            archive: None,
            current: None,
            member: None,
            is_compressed: compression.is_some(),
            bounds: begun.bounds.clone(),
            read_bytes: begun.read_bytes.clone(),
        };
        let file = begun.file.filter(|_| compression.is_none());
        if let Some(file) = file.as_ref().filter(|_| is_archive(&begun.first)) {
            let file = file.try_clone().map_err(ReadError::Failed)?;
            let length = file.metadata().map(|data| data.len()).unwrap_or_default();
            let archive = Archive::open(file, &records.options, records.read_bytes.clone());
            records.archive = archive.map_err(|error| ReadError::of(error, true))?;
            if records.archive.is_some() {
                records.is_compressed = true;
                records.next_member()?;
                return Ok(records);
            }
            // The file is a workbook. The files in it are not read in order, so all bytes of the
            // workbook are now reported as read.
            records.read_bytes.set(length);
        }
        let bytes = decompressed(begun.input, compression).map_err(ReadError::Failed)?;
        records.current = Some(records.reader(&begun.file_name, bytes, file)?);
        Ok(records)
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the source can't be read further. A single record that can't be read is not an error:
    /// its `fields` contain the reason.
    pub fn next_record(&mut self) -> Result<Option<InputRecord>, ReadError> {
        loop {
            let Some(current) = &mut self.current else { return Ok(None) };
            match current.next() {
                Ok(Some(record)) => return Ok(Some(record)),
                Ok(None) if self.archive.is_none() => return Ok(None),
                Ok(None) => self.next_member()?,
                Err(error) => return Err(self.explain(error)),
            }
        }
    }

    /// Returns the kind of the file that is being read; `None` after the last file of a zip
    /// archive.
    pub fn kind(&self) -> Option<InputKind> {
        self.current.as_ref().map(|current| current.kind)
    }

    /// Returns the name of the file that is being read in a zip archive, with its folder; `None` if
    /// the source is not an archive.
    pub fn archive_member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    /// Returns the names of the files in the zip archive, also of those that are not read. If there
    /// are more than 1,000, returns only the first 1,000.
    pub fn members(&self) -> &[String] {
        self.archive.as_ref().map(Archive::names).unwrap_or_default()
    }

    /// Returns the names of the members of the JSON object that contains the records, at most
    /// [`MAX_COLUMNS`]. Returns no names if the records are not inside a JSON object.
    ///
    /// [`MAX_COLUMNS`]: crate::MAX_COLUMNS
    pub fn envelope(&self) -> &[String] {
        self.current.as_ref().map(|current| current.envelope.as_slice()).unwrap_or_default()
    }

    /// Returns the path of the records in JSON or XML; `None` for other formats and for JSON Lines.
    pub fn record_path(&self) -> Option<&str> {
        self.current.as_ref()?.path.as_deref()
    }

    /// Returns the number of rows above the header of a table; 0 for other kinds of input.
    pub(crate) fn rows_above_header(&self) -> usize {
        self.current.as_ref().map_or(0, AnyReader::rows_above)
    }

    /// Returns the names of a table's columns. Columns without a name are left out.
    pub fn columns(&self) -> Vec<String> {
        self.current.as_ref().map(AnyReader::columns).unwrap_or_default()
    }

    /// Returns the layout of the file that is being read, as far as it is known; `None` after the
    /// last file of a zip archive. [`Format`] has no values for JSON, XML and vCard. So JSON and
    /// XML are returned as JSON Lines, and vCard as CSV.
    pub fn layout(&self) -> Option<Layout> {
        let current = self.current.as_ref()?;
        let (sheet, sheets) = current.sheet.clone().unzip();
        let format = match current.kind {
            InputKind::Csv | InputKind::Vcard => Format::Csv,
            InputKind::Workbook => Format::Xlsx,
            InputKind::JsonLines | InputKind::Json | InputKind::Xml => Format::JsonLines,
        };
        Some(Layout {
            format,
            delimiter: current.delimiter(),
            encoding: current.text_encoding(),
            sheet,
            sheets: sheets.unwrap_or_default(),
        })
    }

    /// Returns the number of bytes read since the last call, counted before decompression.
    pub fn newly_read_bytes(&self) -> u64 {
        self.read_bytes.take()
    }

    /// Opens the next file of the archive. After the last file, sets `current` to `None`.
    fn next_member(&mut self) -> Result<(), ReadError> {
        self.current = None;
        let Some(archive) = &mut self.archive else { return Ok(()) };
        let next = archive.next_member().map_err(|error| ReadError::of(error, true))?;
        let Some(ArchiveMember { name, mut content }) = next else { return Ok(()) };
        self.member = Some(name.clone());
        // A file in an archive may be compressed itself.
        let compression = match content.fill_buf() {
            Ok(ready) => Compression::of_bytes(ready),
            Err(error) => return Err(self.explain(error)),
        };
        let bytes = decompressed(content, compression).map_err(|error| self.explain(error))?;
        self.current = Some(self.reader(&name, bytes, None)?);
        Ok(())
    }

    /// Opens one file: the source itself, or a file in the zip archive. The limits, delimiter,
    /// encoding and other options are the same for all files.
    fn reader(
        &self,
        name: &str,
        bytes: Box<dyn BufRead>,
        file: Option<File>,
    ) -> Result<AnyReader, ReadError> {
        let file = FileBytes::new(bytes, file, self.bounds.clone(), self.read_as);
        AnyReader::open(file, name, &self.options).map_err(|error| self.explain(error))
    }

    /// Returns the [`ReadError`] that describes an I/O error. If the file that was read is in an
    /// archive, the result contains the file's name, except when the reading was stopped.
    fn explain(&self, error: io::Error) -> ReadError {
        let error = ReadError::of(error, self.is_compressed);
        match &self.member {
            Some(name) if !matches!(error, ReadError::Halted(_)) => {
                ReadError::Member { name: name.clone(), error: Box::new(error) }
            }
            _ => error,
        }
    }
}
