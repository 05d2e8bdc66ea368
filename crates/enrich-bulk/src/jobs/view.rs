//! Jobs as their accounts see them, and the settings of jobs. A job looks up the rows of one
//! uploaded list.

use std::fs::File;
use std::io;
use std::time::Duration;

use enrich_core::Timestamp;
use enrich_import::{Layout, ReadAs};

use super::record::{JobId, Order, Record, State};
use crate::run::Counts;

/// Settings for storing and running jobs.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Maximum number of jobs that run at the same time.
    pub running: usize,
    /// Maximum number of rows that each running job has in flight: sent and not yet answered.
    pub concurrency: usize,
    /// The time for which a job is kept, in seconds. It begins when the job ends. For a job that
    /// was not started, it begins when the list was uploaded.
    pub keep_seconds: i64,
    /// Maximum size of an upload, in bytes.
    pub max_upload_bytes: u64,
    /// Maximum number of jobs of an account.
    pub max_jobs: usize,
    /// Maximum size of a list after decompression, in bytes.
    pub max_unpacked_bytes: u64,
    /// Maximum number of lines of a list. Blank lines count too.
    pub max_rows: u64,
    /// Maximum size of all lists and outputs of an account, in bytes.
    pub max_account_bytes: u64,
    /// If the file system has fewer free bytes than this, no list is accepted, and no job
    /// continues.
    pub min_free_bytes: u64,
    /// The time after which a job must stop for a while, so that a job of another account can run.
    /// It must do so only if the other account has no running job, and the maximum number of jobs
    /// is running.
    pub turn: Duration,
    /// The time at the start of an upload in which its speed is not checked.
    pub upload_patience: Duration,
}

impl Settings {
    /// Returns settings for uploads of at most `max_upload_bytes` bytes. After decompression, a
    /// list may have four times as many bytes, or 256 MiB if that is more. All files of an account
    /// together may have eight times `max_upload_bytes` bytes.
    pub fn with_max_upload(max_upload_bytes: u64) -> Self {
        const MEBIBYTE: u64 = 1024 * 1024;
        Self {
            running: 2,
            concurrency: 8,
            keep_seconds: 7 * 24 * 60 * 60,
            max_upload_bytes,
            max_jobs: 100,
            max_unpacked_bytes: max_upload_bytes.saturating_mul(4).max(256 * MEBIBYTE),
            max_rows: 5_000_000,
            max_account_bytes: max_upload_bytes.saturating_mul(8),
            min_free_bytes: 256 * MEBIBYTE,
            turn: Duration::from_secs(60),
            upload_patience: Duration::from_secs(30),
        }
    }
}

impl Default for Settings {
    /// Returns settings with two jobs at a time, and eight rows in flight (sent and not yet
    /// answered) for each job. A job is kept for a week, an upload may have 256 MiB, and an account
    /// may have 100 jobs.
    fn default() -> Self {
        Self::with_max_upload(256 * 1024 * 1024)
    }
}

/// A job as its account sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The job's id.
    pub id: JobId,
    /// The file name of the list.
    pub file_name: String,
    /// When the list was uploaded.
    pub created_at: Timestamp,
    /// When the job ended; `None` if it has not ended.
    pub ended_at: Option<Timestamp>,
    /// What the account has ordered: the endpoint, the mapping, the API key that pays, and the
    /// ceiling (the maximum cost). `None` until the job is started.
    pub order: Option<Order>,
    /// The job's state.
    pub state: State,
    /// The number of rows of the list; `None` until the rows are counted.
    pub rows: Option<u64>,
    /// The counts of the job's rows so far.
    pub counts: Counts,
    /// The time until which the key's rate limit delays the job's rows; `None` if the limit delays
    /// no rows.
    pub rate_limited_until: Option<Timestamp>,
    /// The number of rows that were emptied in the list, or removed from the output, because they
    /// contained suppressed values (data that must be erased).
    pub removed_rows: u64,
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
            rate_limited_until: None,
            removed_rows: record.removed_rows,
        }
    }
}

/// The first rows of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The columns of the list.
    pub columns: Vec<String>,
    /// The rows. Each row has one text for every column.
    pub rows: Vec<Vec<String>>,
    /// The layout of the list, such as its delimiter and its encoding, as it was detected.
    pub layout: Option<Layout>,
    /// The options that the user has set for reading the list, such as its delimiter.
    pub read_as: ReadAs,
}

/// The rows that a job has written.
#[derive(Debug)]
pub struct Written {
    /// The file with the rows, limited to the complete rows.
    pub rows: io::Take<File>,
    /// The file name for the download.
    pub file_name: String,
    /// Whether the output is complete.
    pub is_whole: bool,
}
