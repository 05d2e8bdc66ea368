//! The progress of a shared job, in the form in which it is saved in the store of job records.

use enrich_core::Timestamp;
use serde::{Deserialize, Serialize};

use super::Entry;
use crate::run::Counts;

/// The values of a job that change while the job runs.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct JobProgress {
    pub(super) counts: Counts,
    pub(super) bytes: u64,
    /// The time until which the rate limit delays rows, in seconds since the Unix epoch.
    pub(super) rate_limited_until: Option<i64>,
}

/// Returns the progress of a job as JSON, for the store of shared job records.
pub(super) fn progress_of(entry: &Entry) -> String {
    let progress = JobProgress {
        counts: entry.counts,
        bytes: entry.bytes,
        rate_limited_until: entry.rate_limited_until.map(Timestamp::as_second),
    };
    serde_json::to_string(&progress).unwrap_or_default()
}
