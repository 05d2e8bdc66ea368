//! The preview of a list, and its result, as they are printed.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use enrich_bulk::{Counts, End, Input, Layout, Mapping, Preview, whole_cells_of};
use serde::Serialize;

use super::super::import::is_standard;
use super::super::table::Pairs;
use super::super::{Failure, Shown, Verdict};

/// Maximum number of characters that are printed of each row.
const MAX_SHOWN_LETTERS: usize = 160;

/// The preview of a list: its highest cost, and how it is read.
#[derive(Serialize)]
pub(super) struct CostEstimate {
    #[serde(flatten)]
    preview: Preview,
    /// How the list is read (its format, delimiter and encoding), in words.
    read_as: String,
    delimiter: Option<&'static str>,
    encoding: Option<String>,
    columns: Vec<String>,
    /// For each mapped field: the name of the field, and the column that gives its value.
    mapping: BTreeMap<String, String>,
    first_rows: Vec<Vec<String>>,
    #[serde(skip)]
    pub(super) layout: Option<Layout>,
    #[serde(skip)]
    is_metered: bool,
}

impl CostEstimate {
    /// Creates the preview of a list that was read to its end.
    pub(super) fn new(
        preview: Preview,
        is_metered: bool,
        input: &Input,
        mapping: &Mapping,
        first_rows: Vec<Vec<String>>,
    ) -> Self {
        let layout = input.layout();
        let of_layout = layout.as_ref();
        // Look-ups in the data folder cost nothing.
        let highest_credits = if is_metered { preview.highest_credits } else { Some(0) };
        Self {
            preview: Preview { highest_credits, ..preview },
            read_as: of_layout.map(Layout::to_string).unwrap_or_default(),
            delimiter: of_layout.and_then(|layout| Some(layout.delimiter?.as_str())),
            encoding: of_layout.and_then(|layout| Some(layout.encoding?.label())),
            columns: input.columns().to_vec(),
            mapping: mapping.columns.iter().cloned().collect(),
            first_rows,
            layout,
            is_metered,
        }
    }

    pub(super) fn rows(&self) -> u64 {
        self.preview.rows
    }

    fn cost(&self) -> String {
        match self.preview.highest_credits {
            _ if !self.is_metered => "nothing, since no server is asked".to_owned(),
            Some(credits) => format!("at most {credits} credits"),
            None => "no bound: map `limit`, for example limit:=10".to_owned(),
        }
    }

    pub(super) fn in_a_line(&self) -> String {
        let Preview { rows, invalid, .. } = self.preview;
        format!("{rows} rows, {invalid} of them invalid; cost: {}", self.cost())
    }
}

impl Shown for CostEstimate {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        Pairs::default()
            .add("rows", self.preview.rows)
            .add("invalid", self.preview.invalid)
            .add("cost", self.cost())
            .add("read as", &self.read_as)
            .write(out)?;
        for (field, column) in &self.mapping {
            writeln!(out, "{field} is taken from the column `{column}`")?;
        }
        writeln!(out, "first rows:")?;
        for row in [&self.columns].into_iter().chain(&self.first_rows) {
            let line = row.join("  |  ").replace(char::is_control, " ");
            writeln!(out, "  {}", line.chars().take(MAX_SHOWN_LETTERS).collect::<String>())?;
        }
        Ok(())
    }
}

/// The result of a list, as it is printed.
#[derive(Serialize)]
pub(super) struct Outcome {
    end: &'static str,
    #[serde(flatten)]
    counts: Counts,
    seconds: f64,
    #[serde(skip)]
    ended: End,
}

impl Outcome {
    pub(super) fn new(outcome: enrich_bulk::Outcome, took: Duration) -> Self {
        let enrich_bulk::Outcome { counts, end: ended } = outcome;
        let end = match &ended {
            End::Whole => "whole",
            End::Stopped => "stopped",
            End::Ceiling => "ceiling",
            End::OutOfCredits(_) => "out_of_credits",
            End::Refused(_) => "refused",
            End::Unreachable(_) => "unreachable",
        };
        let seconds = (took.as_secs_f64() * 1000.0).round() / 1000.0;
        Self { end, counts, seconds, ended }
    }

    /// Creates the result for a list whose rows were all written by an earlier run.
    pub(super) fn whole(counts: Counts, took: Duration) -> Self {
        Self::new(enrich_bulk::Outcome { counts, end: End::Whole }, took)
    }

    /// If cells of the workbook were truncated, returns a note that says so. Returns `None` if all
    /// cells are complete, or if the workbook is not complete yet.
    pub(super) fn cut(&self, out: &Path) -> Option<String> {
        let (cut_cells, whole) = (self.counts.cut_cells, whole_cells_of(out));
        let is_there = cut_cells > 0 && self.ended == End::Whole;
        is_there.then(|| {
            format!(
                "{cut_cells} cells are longer than the 32,767 characters that Excel allows, and cut \
                 in {}; {} has them whole",
                out.display(),
                whole.display()
            )
        })
    }

    /// Returns `Yes` if all rows were written. Otherwise, the failure contains the reason, and how
    /// the user can continue.
    pub(super) fn verdict(&self, out: &Path) -> Result<Verdict, Failure> {
        let (why, what) = match &self.ended {
            End::Whole => return Ok(Verdict::Yes),
            End::Stopped => ("it was stopped", "the same command continues"),
            End::Ceiling => {
                let what = "the same command with a higher --max-credits continues";
                ("the next row might cost more than --max-credits leaves", what)
            }
            End::OutOfCredits(why) => {
                (why.as_str(), "once there are credits, the same command continues")
            }
            End::Refused(why) | End::Unreachable(why) => {
                (why.as_str(), "the same command continues")
            }
        };
        let text = if is_standard(out) {
            why.to_owned()
        } else {
            format!("{why}; what is done is in {}.part, and {what}", out.display())
        };
        match self.ended {
            End::Refused(_) | End::Unreachable(_) => Err(Failure::Impossible(text)),
            _ => Err(Failure::Refused(text)),
        }
    }
}

impl Shown for Outcome {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Counts { rows, found, not_found, invalid, failed, credits, cut_cells } = self.counts;
        let mut pairs = Pairs::default()
            .add("end", self.end)
            .add("rows", rows)
            .add("found", found)
            .add("not found", not_found)
            .add("invalid", invalid)
            .add("failed", failed)
            .add("credits", credits)
            .add("seconds", format!("{:.3}", self.seconds));
        if cut_cells > 0 {
            pairs = pairs.add("cut cells", cut_cells);
        }
        pairs.write(out)
    }
}
