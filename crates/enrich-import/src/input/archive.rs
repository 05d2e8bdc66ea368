//! Reads files of a zip archive one after the other. The archive's list of files is read piece by
//! piece. Memory holds the names and positions of the files that are to be read, and the names of
//! the first 1,000 files.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use bzip2::bufread::BzDecoder;
use enrich_mapping::Input;
use flate2::bufread::DeflateDecoder;
use rawzip::{
    CompressionMethod, Error, ErrorKind, FileReader, RECOMMENDED_BUFFER_SIZE, RangeReader,
    ReaderAt, ZipArchive, ZipArchiveEntryWayfinder, ZipLocator,
};

use crate::byte_count::ByteCount;
use crate::decompressed::BUFFER_BYTES;
use crate::glob;
use crate::input_fault::{FileNames, InputFault};

/// Maximum number of files that are read from an archive. The name and position of each file take
/// about 100 bytes of memory.
const MAX_FILES: usize = 2_000_000;

/// Maximum number of names that [`Archive::names`] returns.
const MAX_NAMES: usize = 1_000;

/// The folder that macOS adds to archives. Its files have no records.
const MAC_FOLDER: &str = "__MACOSX";

/// A zip archive, with a list of the files in it that are to be read.
pub(super) struct Archive {
    zip: ZipArchive<Arc<FileReader>>,
    /// The files that are still to be read. The next one is the last element.
    files: Vec<Entry>,
    /// The names of all files in `files`, joined to one text. The `name` of an `Entry` is a range
    /// of this text.
    texts: String,
    /// The names of the first [`MAX_NAMES`] files of the archive, including files that are not
    /// read.
    names: Vec<String>,
    read_bytes: ByteCount,
}

struct Entry {
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    is_encrypted: bool,
    name: Range<usize>,
}

/// A file of an archive: its name with its folder, and its decompressed content.
pub(super) struct ArchiveMember {
    pub(super) name: String,
    pub(super) content: Box<dyn BufRead>,
}

impl Archive {
    /// Reads the archive's list of files, and stores which files `options` selects. Returns
    /// `None` if the archive is an office document, such as a workbook. Returns an error if no
    /// file is selected, or if several are selected but `options` has no pattern of file names.
    pub(super) fn open(
        mut file: File,
        options: &Input,
        read_bytes: ByteCount,
    ) -> io::Result<Option<Self>> {
        let length = file.seek(SeekFrom::End(0))?;
        let reader = Arc::new(FileReader::from(file));
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let zip = ZipLocator::new().locate_in_reader(reader, &mut buffer, length);
        let zip = zip.map_err(|(_, error)| cut_or(error))?;
        let mut archive =
            Self { zip, files: Vec::new(), texts: String::new(), names: Vec::new(), read_bytes };
        let listed = archive.list(options, &mut buffer)?;
        if listed.is_office {
            return Ok(None);
        }
        match archive.files.len() {
            0 if listed.files.first.is_empty() => Err(InputFault::EmptyArchive.into()),
            0 => {
                let pattern = options.member.join(", ");
                Err(InputFault::NoFile { pattern, files: listed.files }.into())
            }
            2.. if options.member.is_empty() => Err(InputFault::SeveralFiles(listed.files).into()),
            _ => {
                archive.files.reverse();
                Ok(Some(archive))
            }
        }
    }

    /// Returns the names of the first 1,000 files of the archive, including files that are not
    /// read.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    fn list(&mut self, options: &Input, buffer: &mut [u8]) -> io::Result<Listed> {
        let mut listed = Listed::default();
        let mut entries = self.zip.entries(buffer);
        while let Some(entry) = entries.next_entry().map_err(cut_or)? {
            let path = entry.file_path();
            let name = String::from_utf8_lossy(path.as_ref());
            listed.is_office |= name == "[Content_Types].xml" || name == "mimetype";
            if entry.is_dir() || is_hidden(&name) {
                continue;
            }
            listed.files.add(&name);
            if self.names.len() < MAX_NAMES {
                self.names.push(name.to_string());
            }
            let fits = |patterns: &[String]| patterns.iter().any(|one| glob::fits(one, &name));
            let is_wanted = options.member.is_empty() || fits(&options.member);
            if !is_wanted || fits(&options.skip_member) {
                continue;
            }
            if self.files.len() >= MAX_FILES {
                return Err(InputFault::TooManyFiles(MAX_FILES).into());
            }
            let start = self.texts.len();
            self.texts.push_str(&name);
            self.files.push(Entry {
                place: entry.wayfinder(),
                method: entry.compression_method(),
                is_encrypted: entry.flags().is_encrypted(),
                name: start..self.texts.len(),
            });
        }
        Ok(listed)
    }

    /// Opens the next file; `None` after the last one.
    pub(super) fn next_member(&mut self) -> io::Result<Option<ArchiveMember>> {
        let Some(Entry { place, method, is_encrypted, name }) = self.files.pop() else {
            return Ok(None);
        };
        let name = self.texts.get(name).unwrap_or_default().to_owned();
        if is_encrypted {
            return Err(InputFault::Encrypted(name).into());
        }
        let entry = self.zip.get_entry(place).map_err(damaged_or)?;
        let (start, end) = entry.compressed_data_range();
        let range = RangeReader::new(Arc::clone(self.zip.get_ref()), start..end);
        let packed = CountedRange { range, read_bytes: self.read_bytes.clone() };
        let packed = BufReader::with_capacity(BUFFER_BYTES, packed);
        let unpacked: Box<dyn Read> = match method {
            CompressionMethod::STORE => Box::new(packed),
            CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(packed)),
            CompressionMethod::DEFLATE64 => {
                Box::new(deflate64::Deflate64Decoder::with_buffer(packed))
            }
            CompressionMethod::BZIP2 => Box::new(BzDecoder::new(packed)),
            CompressionMethod::ZSTD => Box::new(zstd::Decoder::with_buffer(packed)?),
            _ => return Err(InputFault::Method { file: name, method: method.as_u16() }.into()),
        };
        let verified = entry.verifying_reader(unpacked);
        let content = Box::new(BufReader::with_capacity(BUFFER_BYTES, verified));
        Ok(Some(ArchiveMember { name, content }))
    }
}

#[derive(Default)]
struct Listed {
    files: FileNames,
    /// Whether the archive is an office document, such as a workbook.
    is_office: bool,
}

struct CountedRange<R> {
    range: RangeReader<R>,
    read_bytes: ByteCount,
}

impl<R: ReaderAt> Read for CountedRange<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.range.read(buffer)?;
        self.read_bytes.add(read as u64);
        Ok(read)
    }
}

/// Returns the error for an archive whose list of files can't be read. An error of the operating
/// system is returned as it is. Any other error probably means that the archive was not downloaded
/// completely, because the list is at the end of the archive.
fn cut_or(error: Error) -> io::Error {
    match error.into_kind() {
        ErrorKind::IO(error) => error,
        _ => InputFault::CutArchive.into(),
    }
}

fn damaged_or(error: Error) -> io::Error {
    match error.into_kind() {
        ErrorKind::IO(error) => error,
        _ => InputFault::DamagedArchive.into(),
    }
}
/// Whether a file in an archive is skipped: it is in [`MAC_FOLDER`], or the file or a folder of its
/// path is hidden, such as `.DS_Store`.
fn is_hidden(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| *part != "." && *part != "..");
    parts.any(|part| part == MAC_FOLDER || part.starts_with('.'))
}
