//! Why something can't be done with a list of an account.

use std::io;

use enrich_import::ReadError;

use crate::mapping::MappingError;
use crate::part::PartError;

/// Why something can't be done with a job.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The account has no such job.
    #[error("there is no such job")]
    NotThere,
    /// It can't be done in the state the job is in.
    #[error("this cannot be done while the job is {0}")]
    WrongState(&'static str),
    /// The list is larger than is taken.
    #[error("the list is larger than {0} bytes; split it")]
    TooLarge(u64),
    /// The account has as many jobs as it may have.
    #[error("this account already has {0} lists; delete one that is done")]
    TooMany(usize),
    /// There is no room for it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is no such endpoint.
    #[error("there is no endpoint `{0}`")]
    NoEndpoint(String),
    /// The list can't be read.
    #[error("{}", with_cause(.0))]
    Input(#[from] ReadError),
    /// The rows that are written come from another list.
    #[error("the list has changed since it was started; upload it again")]
    OtherList,
    /// The mapping can't be used.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The files of the job can't be read or written.
    #[error("the job's files cannot be read or written")]
    Files(#[from] PartError),
    /// The folder can't be read or written.
    #[error("the folder of jobs cannot be read or written")]
    Folder(#[from] io::Error),
}

/// What is wrong with a list, and with its header where that is it.
pub(super) fn with_cause(error: &ReadError) -> String {
    match error {
        ReadError::NoList(refused) => refused.to_string(),
        ReadError::Header(header) => format!("the list cannot be read: {error}: {header}"),
        error => format!("the list cannot be read: {error}"),
    }
}

/// Why something isn't done, though it could be with more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The account has as many bytes of lists as it may have.
    #[error(
        "your lists and their results use {0} bytes, which is the maximum; delete one that is \
         done"
    )]
    Full(u64),
    /// The file system is nearly full.
    #[error("the server has too little disk space for lists; continue later, or tell its operator")]
    NoSpace,
    /// As many lists of the account are on their way as may be.
    #[error("{0} lists of this account are already being uploaded; wait for one of them")]
    Uploading(usize),
    /// The list hardly arrives.
    #[error("the upload was too slow; compress the list, or split it")]
    TooSlow,
    /// Another list of the account is being read.
    #[error("another list of this account is being read; try again in a moment")]
    Reading,
    /// Another process has the folder.
    #[error("another process is using this server's lists; try again when it has stopped")]
    Elsewhere,
}
