//! Why an output can't be made.

use std::io;
use std::path::PathBuf;

/// Why an output can't be made.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// There is a file already.
    #[error("{} already exists; name another output, or remove it first", .0.display())]
    IsThere(PathBuf),
    /// What was begun was another job.
    #[error(
        "{} was started with {what}; continue with the same, or remove it and {} to start again",
        .part.display(), .job.display()
    )]
    OtherPurpose {
        /// The rows.
        part: PathBuf,
        /// Beside them.
        job: PathBuf,
        /// What was other.
        what: String,
    },
    /// A workbook is packed by itself.
    #[error("an Excel workbook is already compressed; name the output .xlsx, without .gz or .zst")]
    PackedWorkbook,
    /// A workbook of a kind that is not written.
    #[error("no {0} file is written; name the output .xlsx for an Excel workbook, or .csv")]
    OtherWorkbook(&'static str),
    /// Somebody writes it.
    #[error("{} is being written by another process", .0.display())]
    Busy(PathBuf),
    /// The file beside it says nothing that can be used.
    #[error("{} is damaged; remove it and the `.part` file beside it to start again", .0.display())]
    Damaged(PathBuf),
    /// The system can't read or write it.
    #[error("{} cannot be written", .path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
}
