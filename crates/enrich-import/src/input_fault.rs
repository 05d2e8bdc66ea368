//! The reasons why an input can't be read, such as a damaged zip archive, malformed JSON or XML, or
//! a missing column.

use std::fmt;
use std::io;

/// Maximum size of one record, in bytes.
pub(crate) const MAX_RECORD_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of values in one record. Even a short value takes up to 200 bytes of memory.
pub(crate) const MAX_RECORD_VALUES: usize = 1_000_000;
/// Maximum number of columns that a message names.
const MAX_NAMED_COLUMNS: usize = 20;
/// Maximum number of an archive's files that a message names.
pub(crate) const MAX_NAMED_FILES: usize = 10;

/// Why an input can't be read. Each message says what to do; it never contains values of records.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputFault {
    /// The end of the zip archive is missing, and with it the archive's list of files.
    #[error("the zip archive is incomplete or damaged: its list of files is missing; get it again")]
    CutArchive,
    /// The zip archive is damaged.
    #[error("the zip archive is damaged; get it again")]
    DamagedArchive,
    /// The archive has too many files.
    #[error("the zip archive has more than {0} files that fit; unpack it and name the files")]
    TooManyFiles(usize),
    /// No file of the archive fits the requested patterns.
    #[error("no file in the zip archive fits `{pattern}`; it has {files}")]
    NoFile {
        /// The requested patterns, separated by commas.
        pattern: String,
        /// The files that the archive has.
        files: FileNames,
    },
    /// The archive has no file with records.
    #[error("the zip archive is empty")]
    EmptyArchive,
    /// The archive has several files, and the caller has not said which of them to read.
    #[error(
        "the zip archive has several files ({0}); unpack it, and name the file to read, or name \
         the format of the archive"
    )]
    SeveralFiles(FileNames),
    /// A file of the archive is encrypted.
    #[error("`{0}` in the zip archive has a password; unpack it first")]
    Encrypted(String),
    /// A file of the archive is compressed in a way that can't be read.
    #[error("`{file}` in the zip archive is compressed with method {method}; unpack it first")]
    Method {
        /// The name of the file.
        file: String,
        /// The number of the compression method, as in PKWARE's APPNOTE 4.4.5.
        method: u16,
    },
    /// A record is too large.
    #[error(
        "record {record} (line {line}) is longer than 64 MiB or has more than 1,000,000 values; \
         check that the file is complete and that its format is the right one"
    )]
    LargeRecord {
        /// The record's number in its file, from 1.
        record: u64,
        /// The line at which the record begins, from 1.
        line: u64,
    },
    /// The text ends too early: inside a record, or before all brackets or XML elements are closed.
    #[error("the file ends in the middle, after {0} whole records; get it again")]
    EndsInside(u64),
    /// The text is not JSON from some position on.
    #[error("this is not JSON from line {line} on, after {record} records")]
    NotJson {
        /// The number of records before the first place that is not JSON.
        record: u64,
        /// The line, from 1.
        line: u64,
    },
    /// The JSON or XML document contains no records at the path at which the mapping expects them.
    #[error("the file has no records at `{0}`; its layout is not that of the format")]
    NothingAtPath(String),
    /// The records are spread over several files, but the input is a single file.
    #[error("records of this format are spread over several files ({0}); give the zip archive")]
    NotJoined(String),
    /// A file of the archive has no column with the key. The key is needed, because each record is
    /// joined from the rows with the same key in several files.
    #[error(
        "`{file}` has no column `{column}`, by which its rows are joined; get the archive again"
    )]
    NoKey {
        /// The name of the file.
        file: String,
        /// The name of the column.
        column: String,
    },
    /// The mapping limits how many records may have the same domain, and too many domains exceed
    /// this limit. The value is the maximum number of such domains: a longer list of them would
    /// take too much memory.
    #[error(
        "more than {0} domains have more records than `most-of-a-domain` allows; import the file \
         in parts, or remove the limit from a copy of the mapping"
    )]
    ManySharedDomains(usize),
    /// A file of contact cards (vCard) is too large.
    #[error("the file of cards is larger than 64 MiB; export it in several files")]
    ManyCards,
    /// The XML is not well-formed.
    #[error("this is not well-formed XML in record {record}, near byte {byte}")]
    NotXml {
        /// The number of the record that is read, from 1.
        record: u64,
        /// Where the fault is: the number of bytes of the decompressed file before it.
        byte: u64,
    },
    /// The XML file declares or uses its own entities.
    #[error("the XML file declares entities of its own, which are not read; write it without them")]
    XmlEntities,
    /// The XML is nested too deeply.
    #[error("record {record} has more than {most} XML elements inside each other")]
    DeepXml {
        /// The record's number, from 1.
        record: u64,
        /// Maximum number of elements inside each other.
        most: usize,
    },
    /// Two columns have the same name.
    #[error("the header has the column `{0}` twice; rename or remove one")]
    RepeatedColumn(String),
    /// The header lacks a column that the mapping requires.
    #[error("the header has no column `{column}`; it has {}", listed(.has))]
    MissingColumn {
        /// The missing column.
        column: String,
        /// The columns of the header.
        has: Vec<String>,
    },
    /// No line begins with the text with which the header should begin.
    #[error("none of the first {lines} lines begins with `{begins_with}`, as the header should")]
    NoHeader {
        /// The text with which the header should begin.
        begins_with: String,
        /// The number of lines that were read.
        lines: usize,
    },
}

/// Lists the first [`MAX_NAMED_COLUMNS`] names, and says how many others there are.
fn listed(names: &[String]) -> String {
    let mut first: Vec<_> =
        names.iter().take(MAX_NAMED_COLUMNS).map(|name| format!("`{name}`")).collect();
    if names.len() > first.len() {
        first.push(format!("{} more", names.len() - first.len()));
    }
    first.join(", ")
}

impl InputFault {
    /// Returns the fault that an I/O error contains, if it contains one.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().cloned()
    }
}

impl From<InputFault> for io::Error {
    fn from(fault: InputFault) -> Self {
        Self::other(fault)
    }
}

/// Names of files in an archive: the first ten, and the number of further files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileNames {
    pub(crate) first: Vec<String>,
    pub(crate) more: usize,
}

impl FileNames {
    /// Returns the names of the first files, at most ten.
    pub fn first(&self) -> &[String] {
        &self.first
    }

    pub(crate) fn add(&mut self, name: &str) {
        if self.first.len() < MAX_NAMED_FILES {
            let shown = name.chars().filter(|letter| !letter.is_control()).take(100);
            self.first.push(shown.collect());
        } else {
            self.more += 1;
        }
    }
}

impl fmt::Display for FileNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.first.join(", "))?;
        match self.more {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
