//! The counts of a run's rows, and the trait that receives the progress of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::export::{Added, Status};

/// The number of rows of each status, and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// All rows of the list whose results are written to the output.
    pub rows: u64,
    /// Rows whose look-up found an answer.
    pub found: u64,
    /// Rows whose look-up found nothing.
    pub not_found: u64,
    /// Invalid rows, which are not sent.
    pub invalid: u64,
    /// Rows that were sent but not answered.
    pub failed: u64,
    /// The cost of all rows, in credits.
    pub credits: u64,
    /// Cells that are truncated in the workbook, because they exceed Excel's limit of 32,767
    /// characters.
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
    /// Called when rows were written. `counts` covers all rows that were written so far.
    /// `read_bytes` is the number of bytes of the list that were read so far, before decompression.
    fn advance(&mut self, counts: &Counts, read_bytes: u64);

    /// Called a few times a second while the run waits for answers. `_rate_limited_for` is the time
    /// for which the rate limit still delays the rows; `None` if it delays no rows.
    fn wait(&mut self, _rate_limited_for: Option<Duration>) {}
}

/// Ignores the progress of a run.
impl Progress for () {
    fn advance(&mut self, _counts: &Counts, _read_bytes: u64) {}
}
