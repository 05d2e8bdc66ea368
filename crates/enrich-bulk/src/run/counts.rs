//! What came of the rows of a run, and who sees it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::export::{Added, Status};

/// What came of the rows of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// All of them.
    pub rows: u64,
    /// With an answer.
    pub found: u64,
    /// Asked, and nothing found.
    pub not_found: u64,
    /// That can't be asked.
    pub invalid: u64,
    /// Asked and not answered.
    pub failed: u64,
    /// What they cost.
    pub credits: u64,
    /// Cells that are longer than those of an Excel workbook, and cut in the one that is written.
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

/// Sees a run advance.
pub trait Progress {
    /// What came of the rows until now; of those that are written, in order.
    fn advance(&mut self, counts: &Counts, read_bytes: u64);

    /// Is told a few times a second while rows are waited for, and for how long yet where the rate
    /// limit is why.
    fn wait(&mut self, _rate_limited_for: Option<Duration>) {}
}

/// Nobody looks.
impl Progress for () {
    fn advance(&mut self, _counts: &Counts, _read_bytes: u64) {}
}
