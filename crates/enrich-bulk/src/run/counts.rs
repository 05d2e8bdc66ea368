//! Counts of a run's rows, and the progress interface.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::export::{Added, Status};

/// The results of a list's rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// All rows.
    pub rows: u64,
    /// Found.
    pub found: u64,
    /// Not found.
    pub not_found: u64,
    /// Invalid rows, which are not sent.
    pub invalid: u64,
    /// Sent but not answered.
    pub failed: u64,
    /// The cost of the rows.
    pub credits: u64,
    /// Cells that are truncated in the workbook, because they exceed Excel's limit.
    #[serde(default)]
    pub cut_cells: u64,
}

impl Counts {
    pub(super) fn add(&mut self, added: &Added) {
        self.rows += 1;
        self.credits += added.credits;
        *match added.status {
            Status::Found => &mut self.found,
            Status::NotFound => &mut self.not_found,
            Status::Invalid => &mut self.invalid,
            Status::Failed => &mut self.failed,
        } += 1;
    }
}

/// Receives the progress of a run.
pub trait Progress {
    /// The counts of the rows written so far.
    fn advance(&mut self, counts: &Counts, read_bytes: u64);

    /// Called a few times a second while the run waits for rows. If the rate limit delays them,
    /// `_rate_limited_for` is the remaining time.
    fn wait(&mut self, _rate_limited_for: Option<Duration>) {}
}

/// Ignores the progress.
impl Progress for () {
    fn advance(&mut self, _counts: &Counts, _read_bytes: u64) {}
}
