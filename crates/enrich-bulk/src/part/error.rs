//! The errors of writing a list's output.

use std::io;
use std::path::PathBuf;

/// Why an output cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The output file already exists, and was not completed by an earlier run of this job.
    #[error("{} already exists; name another output, or remove it first", .0.display())]
    IsThere(PathBuf),
    /// An earlier run began this output with other settings, such as another endpoint or another
    /// mapping.
    #[error(
        "{} was started with {what}; continue with the same, or remove it and {} to start again",
        .part.display(), .job.display()
    )]
    OtherPurpose {
        /// The file with the rows.
        part: PathBuf,
        /// The file with the checkpoint.
        job: PathBuf,
        /// The property that has changed, with its value when the output was begun. It is a part of
        /// the message: `the endpoint /v1/cuf`.
        what: String,
    },
    /// The output is a workbook, but its file name asks for compression. A workbook is already
    /// compressed.
    #[error("an Excel workbook is already compressed; name the output .xlsx, without .gz or .zst")]
    PackedWorkbook,
    /// The extension of the output file belongs to an unsupported workbook format.
    #[error("no {0} file is written; name the output .xlsx for an Excel workbook, or .csv")]
    OtherWorkbook(&'static str),
    /// The output cannot be opened, because another process holds the lock on this file.
    #[error("{} is being written by another process", .0.display())]
    Busy(PathBuf),
    /// This process had opened the output, but may no longer write it, because another process has
    /// taken over the job.
    #[error("{} is being continued by another process", .0.display())]
    Lost(PathBuf),
    /// The checkpoint in this file is damaged.
    #[error("{} is damaged; remove it and the `.part` file beside it to start again", .0.display())]
    Damaged(PathBuf),
    /// The operating system cannot read or write a file.
    #[error("{} cannot be written", .path.display())]
    Failed {
        /// The file that could not be read or written.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: io::Error,
    },
}
