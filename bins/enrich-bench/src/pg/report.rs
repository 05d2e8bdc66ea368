//! The measurements of the ledger in PostgreSQL, as a table and as JSON.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use crate::pg::Case;
use crate::report::write_table;

/// The rates that were measured in one [`Case`], in charges per second. There is one rate for each
/// round.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) case: Case,
    paces: Vec<f64>,
}

impl Figure {
    pub(crate) fn new(case: Case) -> Self {
        Self { case, paces: Vec::new() }
    }

    pub(crate) fn add(&mut self, pace: f64) {
        self.paces.push(pace);
    }

    fn median(&self) -> f64 {
        let mut paces = self.paces.clone();
        paces.sort_by(f64::total_cmp);
        paces.get(paces.len() / 2).copied().unwrap_or_default()
    }
}

/// Writes a table in Markdown: for each case, its median rate, and the ratio of this rate to that
/// of the yardstick, the case `bare400`. If `json` is a path, also writes all rates to this file.
pub(crate) fn write_report(
    out: &mut dyn Write,
    figures: &[Figure],
    json: Option<&Path>,
) -> Result<()> {
    let bare = figures.iter().find(|figure| figure.case == Case::Bare400).map(Figure::median);
    let head = ["case", "charges a second", "of bare400"].map(str::to_owned).to_vec();
    let rows = figures.iter().map(|figure| {
        let ratio = bare.map_or("–".to_owned(), |bare| format!("{:.2}", figure.median() / bare));
        vec![figure.case.to_string(), format!("{:.0}", figure.median()), ratio]
    });
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    write_table(&rows, out)?;
    if let Some(path) = json {
        fs::write(path, serde_json::to_vec_pretty(figures)?)?;
    }
    Ok(())
}
