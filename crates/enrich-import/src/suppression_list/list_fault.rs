//! Why a suppression list can't be read.

use enrich_core::port::suppression_lists::DigestKind;

use crate::read_error::ReadError;
use crate::rejection::Rejection;

/// Why a suppression list (a list of values that must be forgotten) can't be read. The messages
/// contain no value of the list.
#[derive(Debug, thiserror::Error)]
pub enum ListFault {
    /// The file can't be read to its end.
    #[error("{file} can't be read as a list; get it again")]
    Read {
        /// The name of the file.
        file: String,
        /// Why the file can't be read.
        #[source]
        error: Box<ReadError>,
    },
    /// The file's name is not the name of a file from DROP, California's deletion platform.
    #[error(
        "{file} is no list of DROP, whose names are like 20260312_4821_Email.csv; load the archive \
         as it was downloaded, or name another format with --format"
    )]
    Name {
        /// The name of the file.
        file: String,
    },
    /// The file does not have the columns of a file from DROP, California's deletion platform.
    #[error("{file}: line 1: the columns are not {columns}; get the list again")]
    Columns {
        /// The name of the file.
        file: String,
        /// The columns that the file should have.
        columns: &'static str,
    },
    /// A line is not an entry.
    #[error("{file}: line {line}: {fault}")]
    Line {
        /// The name of the file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// Why the line is not an entry.
        fault: LineFault,
    },
    /// The list has no entries.
    #[error("{file} is empty; get the list again")]
    Empty {
        /// The name of the file.
        file: String,
    },
}

/// Why a line is not an entry of a list.
#[derive(Debug, thiserror::Error)]
pub enum LineFault {
    /// The line can't be read as a row of CSV.
    #[error("{}; correct the line or get the list again", .0.explained())]
    Row(Rejection),
    /// The entry's id does not have the form of the ids of DROP (California's deletion platform).
    #[error("the ID is not 1 to 64 letters and digits; get the list again")]
    NotAnId,
    /// The hash is not 32 bytes in Base64.
    #[error("the hash is not the Base64 of 32 bytes; get the list again")]
    NotBase64,
    /// The list type is unknown.
    #[error("the list type is not Email, Phone, NDZ, MAID, NameVIN or CTVID; get the list again")]
    NotAListType,
    /// The line is not a hash of this kind in hex.
    #[error(
        "this is no hash of {} hex digits, as the lines of this format are; correct the line, or \
         name another format with --format", .0.bytes() * 2
    )]
    NotHex(DigestKind),
    /// The line is not a valid value. The text says why.
    #[error("{0}; correct or remove the line")]
    NotAValue(String),
}

impl ListFault {
    pub(super) fn read(file: &str, error: ReadError) -> Self {
        Self::Read { file: file.to_owned(), error: Box::new(error) }
    }
}
