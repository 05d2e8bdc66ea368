//! The result of an import as it is printed: its counts, and the problems in the input.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use enrich_import::{LeftOut, Rejection, Report};
use enrich_mapping::Note;
use serde::Serialize;

use super::super::table::{Pairs, write_table};
use super::super::{Console, Shown};

/// The counts of an import, as they are printed.
#[derive(Serialize)]
pub(super) struct Outcome {
    read: u64,
    added: u64,
    merged: u64,
    unchanged: u64,
    rejected: u64,
    name_only: u64,
    dropped: u64,
    /// How many records of the source the mapping has left out, for each reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    skipped: BTreeMap<String, u64>,
    seconds: f64,
    #[serde(skip)]
    details: Details,
}

/// The details that are printed besides the counts.
struct Details {
    dropped: Vec<Vec<String>>,
    ignored: Vec<String>,
    unused_keys: Vec<String>,
    name_only: u64,
    left_out: Vec<String>,
}

impl Outcome {
    /// Creates the result from a report. If several files were imported, line numbers are not
    /// printed, because they would not show which file is meant.
    pub(super) fn new(report: &Report, took: Duration, is_only_file: bool) -> Self {
        Self {
            read: report.read,
            added: report.added,
            merged: report.merged,
            unchanged: report.unchanged,
            rejected: report.rejected,
            name_only: report.name_only,
            dropped: report.dropped,
            skipped: report.skipped.clone(),
            seconds: (took.as_secs_f64() * 1000.0).round() / 1000.0,
            details: Details::of(report, is_only_file),
        }
    }

    /// Prints the details of an import to standard error: what was dropped, ignored and left out.
    /// The caller uses this if the printed result does not contain the details, for example if it
    /// is JSON.
    pub(super) fn note_details(&self, console: &mut Console<'_>) {
        let mut text = Vec::new();
        // Writing into memory always succeeds.
        if self.details.write(&mut text).is_ok() && !text.is_empty() {
            console.note(String::from_utf8_lossy(&text).trim_end());
        }
    }
}

impl Details {
    fn of(report: &Report, is_only_file: bool) -> Self {
        let mut dropped: Vec<Vec<String>> = report
            .dropped_values
            .iter()
            .map(|values| {
                let line = if is_only_file { values.first_line.to_string() } else { String::new() };
                vec![values.count.to_string(), values.field.into(), line, values.reason.to_string()]
            })
            .collect();
        if report.suppressed_values > 0 {
            let count = report.suppressed_values.to_string();
            let reason = "the value is suppressed".to_owned();
            dropped.push(vec![count, "any".to_owned(), String::new(), reason]);
        }
        Self {
            dropped,
            ignored: report.ignored_fields.iter().cloned().collect(),
            unused_keys: report.unused_keys().into_iter().map(str::to_owned).collect(),
            name_only: report.name_only,
            left_out: report
                .left_out
                .iter()
                .map(|(what, LeftOut { count, first_line })| {
                    let place = match is_only_file {
                        true => format!(", the first in line {first_line}"),
                        false => String::new(),
                    };
                    let advice = match *what == Note::NationalPhone.as_str() {
                        true => "; give the country with --country, such as --country DE",
                        false => "",
                    };
                    format!("{count} {what} were left out{place}{advice}")
                })
                .collect(),
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.dropped.is_empty() {
            writeln!(out, "values that were dropped:")?;
            let titles = [">COUNT", "FIELD", ">FIRST LINE", "REASON"];
            write_table(&titles, self.dropped.iter().cloned(), out)?;
        }
        if !self.ignored.is_empty() {
            let names = self.ignored.join(", ");
            writeln!(out, "fields that no record of their kind has were ignored: {names}")?;
        }
        if !self.unused_keys.is_empty() {
            let names = self.unused_keys.join(", ");
            writeln!(
                out,
                "columns that look like domains or addresses were not used: {names}; rename them \
                 to import them, for example to domains or emails"
            )?;
        }
        for line in &self.left_out {
            writeln!(out, "{line}")?;
        }
        if self.name_only > 0 {
            writeln!(
                out,
                "{} records have no key but a name (name only); they rarely answer anything",
                self.name_only
            )?;
        }
        Ok(())
    }
}

impl Shown for Outcome {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        Pairs::default()
            .add("read", self.read)
            .add("added", self.added)
            .add("merged", self.merged)
            .add("unchanged", self.unchanged)
            .add("rejected", self.rejected)
            .add("name only", self.name_only)
            .add("dropped", self.dropped)
            .add("seconds", format!("{:.3}", self.seconds))
            .write(out)?;
        for (reason, count) in &self.skipped {
            writeln!(out, "{count} records of the source were skipped: {reason}")?;
        }
        self.details.write(out)
    }
}

/// Prints the layout of a file, unless it is the usual one: UTF-8, with commas, and not a workbook.
pub(super) fn note_layout(file: &Path, report: &Report, console: &mut Console<'_>) {
    if let Some(layout) = report.layout.as_ref().filter(|layout| !layout.is_plain()) {
        console.note(&format!("{}: {layout}", file.display()));
    }
}

/// Prints the first rejected lines of a file, with the reasons. Also prints advice if the encoding
/// or the mapping does not fit the file.
pub(super) fn note_rejected(file: &Path, report: &Report, console: &mut Console<'_>) {
    for (line, reason) in &report.first_rejected {
        console.note(&format!("{}: line {line}: {}", file.display(), reason.explained()));
    }
    let told = u64::try_from(report.first_rejected.len()).unwrap_or(u64::MAX);
    let more = report.rejected.saturating_sub(told);
    if more > 0 {
        let hint = "--rejects FILE writes all of them";
        console.note(&format!("{}: {more} more rejected lines; {hint}", file.display()));
    }
    if report.read == 0 && !report.skipped.is_empty() {
        console.note(&format!(
            "{}: no record of this file was used; the reasons are counted below. If the columns or \
             keys were not understood, name them with --column",
            file.display()
        ));
    }
    if report.first_rejected.iter().any(|(_, reason)| *reason == Rejection::NotUtf8) {
        console.note("a file in another encoding is read with --encoding, such as windows-1252");
    }
}
