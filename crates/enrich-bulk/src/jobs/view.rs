//! What is told of jobs, and how they are kept.

use std::fs::File;
use std::io;

use enrich_core::Timestamp;
use enrich_import::ReadError;

use super::record::{JobId, Order, Record, State};
use crate::mapping::MappingError;
use crate::part::PartError;
use crate::run::Counts;

/// How jobs are kept and run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How many run at once; the others wait.
    pub running: usize,
    /// How many rows of each are on their way at once.
    pub concurrency: usize,
    /// How long a job is kept after it has ended, or was uploaded and not started, in seconds.
    pub keep_seconds: i64,
    /// The largest list that is taken, in bytes.
    pub max_upload_bytes: u64,
    /// How many jobs an account may have.
    pub max_jobs: usize,
}

impl Default for Settings {
    /// Two at once with eight rows each, kept for a week; lists of 256 MiB, 100 of an account.
    fn default() -> Self {
        Self {
            running: 2,
            concurrency: 8,
            keep_seconds: 7 * 24 * 60 * 60,
            max_upload_bytes: 256 * 1024 * 1024,
            max_jobs: 100,
        }
    }
}

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
    #[error("there are {0} jobs already; delete one that is done")]
    TooMany(usize),
    /// There is no such endpoint.
    #[error("there is no endpoint `{0}`")]
    NoEndpoint(String),
    /// The list can't be read.
    #[error("the list cannot be read: {0}")]
    Input(#[from] ReadError),
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

/// A job as its account sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// What the list was called.
    pub file_name: String,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it ended, where it has.
    pub ended_at: Option<Timestamp>,
    /// What was ordered, where something was.
    pub order: Option<Order>,
    /// Where it stands.
    pub state: State,
    /// The rows of the list, once it was started.
    pub rows: Option<u64>,
    /// What came of them until now.
    pub counts: Counts,
}

impl Job {
    pub(super) fn of(record: &Record, counts: Counts) -> Self {
        let Record { id, file_name, created_at, ended_at, order, state, rows, .. } = record;
        let at = |second: i64| Timestamp::from_second(second).unwrap_or_default();
        Self {
            id: *id,
            file_name: file_name.clone(),
            created_at: at(*created_at),
            ended_at: ended_at.map(at),
            order: order.clone(),
            state: state.clone(),
            rows: *rows,
            counts,
        }
    }
}

/// The beginning of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its columns.
    pub columns: Vec<String>,
    /// Its first rows, a text for each column.
    pub rows: Vec<Vec<String>>,
}

/// What a job has written.
#[derive(Debug)]
pub struct Written {
    /// It, from its beginning.
    pub rows: io::Take<File>,
    /// What to call it.
    pub file_name: String,
    /// Whether it is all of it.
    pub is_whole: bool,
}
