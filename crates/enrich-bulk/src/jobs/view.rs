//! What is told of jobs, and how they are kept.

use std::fs::File;
use std::io;
use std::time::Duration;

use enrich_core::Timestamp;
use enrich_import::{Layout, ReadAs};

use super::record::{JobId, Order, Record, State};
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
    /// The largest list that is read, in bytes and unpacked.
    pub max_unpacked_bytes: u64,
    /// The most rows of a list; its lines count, blank ones, too.
    pub max_rows: u64,
    /// How many bytes the lists and outputs of an account may take up.
    pub max_account_bytes: u64,
    /// How many bytes stay free on the file system: below that, no list is taken and none goes on.
    pub min_free_bytes: u64,
    /// How long a job runs on while an account waits that has none running.
    pub turn: Duration,
    /// After how long a list has to have arrived that arrives very slowly.
    pub upload_patience: Duration,
}

impl Settings {
    /// For lists of at most so many bytes: four times as much of one that is packed, at least
    /// 256 MiB, and eight times as much of an account.
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
    /// Two at once with eight rows each, kept for a week; lists of 256 MiB, 100 of an account.
    fn default() -> Self {
        Self::with_max_upload(256 * 1024 * 1024)
    }
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
    /// The rows of the list.
    pub rows: Option<u64>,
    /// What came of them until now.
    pub counts: Counts,
    /// Until when the key's rate limit holds its rows up; `None` where it does not.
    pub rate_limited_until: Option<Timestamp>,
    /// How many rows were emptied or left out of the output, since they held values that were
    /// forgotten.
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

/// The beginning of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Its columns.
    pub columns: Vec<String>,
    /// Its first rows, a text for each column.
    pub rows: Vec<Vec<String>>,
    /// How the list is read.
    pub layout: Option<Layout>,
    /// What of that was chosen.
    pub read_as: ReadAs,
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
