//! Errors of outputs.

use std::io;
use std::path::PathBuf;

/// Why an output cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The file already exists.
    #[error("{} already exists; name another output, or remove it first", .0.display())]
    IsThere(PathBuf),
    /// The output was begun with another purpose.
    #[error(
        "{} was started with {what}; continue with the same, or remove it and {} to start again",
        .part.display(), .job.display()
    )]
    OtherPurpose {
        /// The file with the rows.
        part: PathBuf,
        /// The file with the checkpoint.
        job: PathBuf,
        /// The part of the purpose that differs.
        what: String,
    },
    /// A workbook cannot be compressed again.
    #[error("an Excel workbook is already compressed; name the output .xlsx, without .gz or .zst")]
    PackedWorkbook,
    /// A workbook format that is not supported.
    #[error("no {0} file is written; name the output .xlsx for an Excel workbook, or .csv")]
    OtherWorkbook(&'static str),
    /// Another process writes the output.
    #[error("{} is being written by another process", .0.display())]
    Busy(PathBuf),
    /// The checkpoint is damaged.
    #[error("{} is damaged; remove it and the `.part` file beside it to start again", .0.display())]
    Damaged(PathBuf),
    /// The system cannot read or write a file.
    #[error("{} cannot be written", .path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
}
