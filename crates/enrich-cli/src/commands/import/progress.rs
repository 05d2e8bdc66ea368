//! Shows the progress of an import if standard error is a terminal.

use std::path::Path;

use enrich_import::Progress;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line on standard error with the number of records, the rate and the remaining time. It is
/// removed at the end.
pub(super) struct Bar {
    bar: ProgressBar,
    records: u64,
}

impl Bar {
    /// Creates the progress line for a file of `total_bytes` bytes. If `total_bytes` is `None`, no
    /// remaining time is shown. If `is_watched` is false, the line is not shown.
    pub(super) fn new(file: &Path, total_bytes: Option<u64>, is_watched: bool) -> Self {
        let target =
            if is_watched { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let template = match total_bytes {
            Some(_) => "{prefix}  {wide_bar} {percent:>3}%  {msg}  {eta} left",
            None => "{prefix}  {spinner}  {msg}  {elapsed}",
        };
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(total_bytes, target)
            .with_style(style)
            .with_prefix(file.display().to_string());
        Self { bar, records: 0 }
    }
}

impl Progress for Bar {
    fn advance(&mut self, bytes: u64, records: u64) {
        self.records += records;
        if self.bar.is_hidden() {
            return;
        }
        let seconds = self.bar.elapsed().as_secs_f64().max(0.001);
        // The conversion to `f64` may round a large number of records. This does not matter for a
        // rate that is only shown.
        let rate = (self.records as f64 / seconds) as u64;
        let (records, rate) = (HumanCount(self.records), HumanCount(rate));
        self.bar.set_message(format!("{records} records, {rate}/s"));
        self.bar.inc(bytes);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
