//! Why a source can't be read.

use std::io;

use crate::bounds::Halt;
use crate::content::NoList;

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
