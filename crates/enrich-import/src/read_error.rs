//! Why a source can't be read.

use std::io;

use crate::bounds::Halt;
use crate::input_fault::InputFault;
use crate::no_list::NoList;

/// Why a source can't be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The source can't be opened.
    #[error("the input can't be opened")]
    NotOpened(#[source] io::Error),
    /// The operating system returned an error while the source was read.
    #[error("the input can't be read")]
    Failed(#[source] io::Error),
    /// The compressed data is incomplete: its end is missing.
    #[error("the file is incomplete: its compressed data ends too early")]
    EndsInTheMiddle,
    /// The data can't be decompressed.
    #[error("the input is damaged, or is not compressed the way its name says")]
    Damaged(#[source] io::Error),
    /// The CSV header can't be used.
    #[error("the CSV header can't be used")]
    Header(#[from] HeaderError),
    /// The file is not a readable list of records. For example, it is a PDF document, or a damaged
    /// workbook.
    #[error(transparent)]
    NoList(#[from] NoList),
    /// The input has another layout than expected, or a record can't be read.
    #[error(transparent)]
    Input(#[from] InputFault),
    /// A file of a zip archive can't be read.
    #[error("`{name}` in the zip archive can't be read")]
    Member {
        /// The file's name, with its folder.
        name: String,
        /// Why the file can't be read.
        #[source]
        error: Box<ReadError>,
    },
    /// The reading was stopped, because the source exceeds a limit in [`Bounds`](crate::Bounds), or
    /// because [`Bounds::is_stopped`](crate::Bounds::is_stopped) returned `true`.
    #[error(transparent)]
    Halted(#[from] Halt),
}

impl ReadError {
    /// Returns the [`ReadError`] that describes an I/O error.
    pub(crate) fn of(error: io::Error, is_compressed: bool) -> Self {
        if let Some(halt) = Halt::of(&error) {
            return halt.into();
        }
        if let Some(header) = HeaderError::of(&error) {
            return header.into();
        }
        if let Some(refused) = NoList::of(&error) {
            return refused.into();
        }
        if let Some(fault) = InputFault::of(&error) {
            return fault.into();
        }
        // An error of the operating system has an error number. If the input is compressed, an
        // error without a number comes from the decompression.
        match error.kind() {
            _ if error.raw_os_error().is_some() || !is_compressed => Self::Failed(error),
            io::ErrorKind::UnexpectedEof => Self::EndsInTheMiddle,
            _ => Self::Damaged(error),
        }
    }
}

/// Why a CSV header can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The header is longer than a line may be, or a quote in it is not closed.
    #[error("it is longer than 1 MiB, or a quote in it is not closed")]
    NotWhole,
    /// The header is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// The header has two columns with the name of this field.
    #[error("it has the column `{0}` twice")]
    RepeatedColumn(&'static str),
    /// The header has too many columns.
    #[error("it has {found} columns; at most {most} can be read")]
    TooManyColumns {
        /// The number of columns in the header.
        found: usize,
        /// Maximum number of columns.
        most: usize,
    },
    /// No column shows whether the records are companies, persons or domains.
    #[error("none of its columns is `first_name`, `name` or `domain`")]
    NoKind,
}

impl HeaderError {
    /// Returns the [`HeaderError`] that an I/O error wraps; `None` if it wraps another error or no
    /// error.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}
