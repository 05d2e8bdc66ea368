//! Shows the progress of a list: as a bar on a terminal, otherwise as a line from time to time.

use std::io::Write;
use std::time::{Duration, Instant};

use enrich_bulk::{Counts, Progress};
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::super::Console;
use super::in_words;

/// Time between two lines of progress, if standard error is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

pub(super) struct Shown<'a> {
    rows: Option<u64>,
    /// How many rows earlier runs have written; `None` until progress is reported for the first
    /// time.
    before: Option<u64>,
    begun: Instant,
    shown_at: Instant,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Bar(ProgressBar),
    Lines(&'a mut dyn Write),
}

impl<'a> Shown<'a> {
    /// Starts to show the progress of a list with this number of rows. `None` means that the number
    /// is unknown.
    pub(super) fn new(rows: Option<u64>, console: &'a mut Console<'_>) -> Self {
        let kind =
            if console.is_watched { Kind::Bar(bar(rows)) } else { Kind::Lines(&mut *console.err) };
        let now = Instant::now();
        Self { rows, before: None, begun: now, shown_at: now, kind }
    }

    pub(super) fn finish(self) {
        if let Kind::Bar(bar) = self.kind {
            bar.finish_and_clear();
        }
    }

    fn rate(&self, counts: &Counts) -> f64 {
        let done = counts.rows.saturating_sub(self.before.unwrap_or_default());
        // The conversion to `f64` may round a large number of rows. This does not matter for a rate
        // that is only shown.
        done as f64 / self.begun.elapsed().as_secs_f64().max(0.001)
    }

    fn line(&self, counts: &Counts) -> String {
        let rate = self.rate(counts);
        let of = self.rows.map(|rows| format!(" of {rows}")).unwrap_or_default();
        let left = self.rows.filter(|_| rate >= 1.0).map(|rows| {
            let seconds = rows.saturating_sub(counts.rows) as f64 / rate;
            format!(", {} left", HumanDuration(Duration::from_secs_f64(seconds)))
        });
        let (rows, left) = (counts.rows, left.unwrap_or_default());
        format!("{rows}{of} rows: {}; {rate:.0} rows/s{left}", in_words(counts))
    }
}

impl Progress for Shown<'_> {
    fn advance(&mut self, counts: &Counts, _read_bytes: u64) {
        self.before.get_or_insert(counts.rows);
        let is_due = self.shown_at.elapsed() >= LINE_EVERY;
        match &self.kind {
            Kind::Bar(bar) => {
                bar.set_position(counts.rows);
                if bar.is_hidden() {
                    return;
                }
                // The terminal draws the bar only ten times a second, so its text need not change
                // more often.
                if self.shown_at.elapsed() >= Duration::from_millis(100) {
                    let rate = HumanCount(self.rate(counts) as u64);
                    bar.set_message(format!("{}; {rate}/s", in_words(counts)));
                    self.shown_at = Instant::now();
                }
            }
            Kind::Lines(_) if !is_due => {}
            Kind::Lines(_) => {
                let line = self.line(counts);
                self.shown_at = Instant::now();
                if let Kind::Lines(err) = &mut self.kind {
                    // Writing fails if standard error is closed. Then nobody can read the line
                    // anyway.
                    let _ = writeln!(err, "{line}");
                }
            }
        }
    }
}

fn bar(rows: Option<u64>) -> ProgressBar {
    let template = match rows {
        Some(_) => "{wide_bar} {percent:>3}%  {msg}  {eta} left",
        None => "{spinner}  {pos} rows  {msg}  {elapsed}",
    };
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(rows, ProgressDrawTarget::stderr_with_hz(10)).with_style(style)
}
