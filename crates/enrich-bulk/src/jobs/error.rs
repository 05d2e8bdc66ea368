//! The errors of operations on jobs.

use std::io;

use enrich_core::port::error::StoreError;
use enrich_import::ReadError;

use crate::mapping::MappingError;
use crate::part::PartError;

/// Why an operation on a job failed.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The account has no such job.
    #[error("there is no such job")]
    NotThere,
    /// The job's state does not allow the operation.
    #[error("this cannot be done while the job is {0}")]
    WrongState(&'static str),
    /// The list has more bytes than this limit allows.
    #[error("the list is larger than {0} bytes; split it")]
    TooLarge(u64),
    /// The account already has as many jobs as this limit allows.
    #[error("this account already has {0} lists; delete one that is done")]
    TooMany(usize),
    /// A limit is reached. The operation may succeed later.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is no endpoint with this path.
    #[error("there is no endpoint `{0}`")]
    NoEndpoint(String),
    /// The list cannot be read.
    #[error("{}", with_cause(.0))]
    Input(#[from] ReadError),
    /// The list has changed: rows whose results are already in the output now have another text, or
    /// are missing.
    #[error("the list has changed since it was started; upload it again")]
    OtherList,
    /// The mapping is invalid.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The files of a job's output cannot be read or written.
    #[error("the job's files cannot be read or written")]
    Files(#[from] PartError),
    /// The job records that several servers share cannot be read or written.
    #[error("the records of lists cannot be read or written")]
    Records(#[source] StoreError),
    /// The folder of jobs, or a file in it, cannot be read or written. Also returned if the
    /// suppressed values (data that must be erased from lists) cannot be read.
    #[error("the folder of jobs cannot be read or written")]
    Folder(#[from] io::Error),
}

/// Returns the message for a list error. For an invalid header, the message includes the cause.
pub(super) fn with_cause(error: &ReadError) -> String {
    match error {
        ReadError::NoList(refused) => refused.to_string(),
        ReadError::Header(header) => format!("the list cannot be read: {error}: {header}"),
        error => format!("the list cannot be read: {error}"),
    }
}

/// A limit that refuses an operation for now. The operation may succeed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The account's lists use the maximum number of bytes.
    #[error(
        "your lists and their results use {0} bytes, which is the maximum; delete one that is \
         done"
    )]
    Full(u64),
    /// The file system is nearly full.
    #[error("the server has too little disk space for lists; continue later, or tell its operator")]
    NoSpace,
    /// The account already has as many uploads as this limit allows.
    #[error("{0} lists of this account are already being uploaded; wait for one of them")]
    Uploading(usize),
    /// The list arrives too slowly.
    #[error("the upload was too slow; compress the list, or split it")]
    TooSlow,
    /// Another list of the account is being read.
    #[error("another list of this account is being read; try again in a moment")]
    Reading,
    /// Another server has just changed the list, or is working on its files.
    #[error("another server has just changed this list; try again in a moment")]
    Changed,
    /// Another process works in the folder, or this process is being shut down.
    #[error("another process is using this server's lists; try again when it has stopped")]
    Elsewhere,
}
