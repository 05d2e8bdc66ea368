//! The result of an import as it is printed: its counts, and the problems in the input.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use enrich_import::{LeftOutKind, Occurrences, Rejection, Report};
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
    /// The number of records that were skipped, for each reason.
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
    /// For each reason: the line of the first record that was skipped.
    first_skipped: BTreeMap<String, u64>,
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
            skipped: skipped(report),
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
            left_out: left_out(report, is_only_file),
            first_skipped: first_skipped(report, is_only_file),
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

/// Returns the number of skipped records for each reason, as text. The mapping skips records for
/// reasons of its own. Other records are skipped because their company or person is not in the
/// directory, and the import may only change existing ones.
fn skipped(report: &Report) -> BTreeMap<String, u64> {
    let mut skipped = BTreeMap::new();
    for (reason, occurrences) in &report.skipped {
        // Several reasons can have the same text, because a mapping defines texts of its own. So
        // their counts are added.
        *skipped.entry(reason.to_string()).or_default() += occurrences.count;
    }
    if report.not_held > 0 {
        *skipped.entry("not in the directory".to_owned()).or_default() += report.not_held;
    }
    skipped
}

/// Returns the line of the first record that was skipped for each reason. Returns nothing if
/// several files were imported, because a line number would not show which file is meant.
fn first_skipped(report: &Report, is_only_file: bool) -> BTreeMap<String, u64> {
    let mut first = BTreeMap::new();
    for (reason, occurrences) in report.skipped.iter().filter(|_| is_only_file) {
        let line = first.entry(reason.to_string()).or_insert(occurrences.first_line);
        *line = occurrences.first_line.min(*line);
    }
    first
}

/// Returns a sentence for each kind of values that were left out, sorted by the name of the kind.
fn left_out(report: &Report, is_only_file: bool) -> Vec<String> {
    let mut kinds: Vec<_> = report.left_out.iter().collect();
    kinds.sort_by_key(|(kind, _)| kind.as_str());
    let sentence = |(kind, left_out): (&LeftOutKind, &Occurrences)| {
        let Occurrences { count, first_line } = left_out;
        let place = match is_only_file {
            true => format!(", the first in line {first_line}"),
            false => String::new(),
        };
        let advice = match kind {
            LeftOutKind::ByMapping(Note::NationalPhone) => {
                "; --country gives one to rows without a country, such as --country DE"
            }
            _ => "",
        };
        format!("{count} {} were left out{place}{advice}", kind.as_str())
    };
    kinds.into_iter().map(sentence).collect()
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
            let line = self.details.first_skipped.get(reason);
            let place = line.map_or_else(String::new, |line| format!(", the first in line {line}"));
            writeln!(out, "{count} records of the source were skipped{place}: {reason}")?;
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

#[cfg(test)]
mod tests {
    use enrich_import::SkipReason;

    use super::*;

    #[test]
    fn reasons_and_kinds_are_printed_as_texts_in_the_order_of_the_texts() {
        let by_mapping = |reason: &str| SkipReason::ByMapping(reason.to_owned());
        let mut report = Report::default();
        report.not_held = 4;
        let times = |count, first_line| Occurrences { count, first_line };
        report.skipped.extend([
            (SkipReason::TotalRow, times(1, 9)),
            (by_mapping("dissolved"), times(2, 7)),
            (by_mapping("total row"), times(3, 8)),
        ]);
        let kinds = [
            LeftOutKind::ByMapping(Note::NationalPhone),
            LeftOutKind::ByMapping(Note::Platform),
            LeftOutKind::OfSharedDomain,
            LeftOutKind::ByMapping(Note::UnknownCountry),
        ];
        report.left_out.extend(kinds.map(|kind| (kind, times(2, 7))));
        let outcome = Outcome::new(&report, Duration::ZERO, true);
        let json = serde_json::to_value(&outcome).unwrap();
        let skipped = r#"{"dissolved":2,"not in the directory":4,"total row":4}"#;
        assert_eq!(json["skipped"].to_string(), skipped);
        let mut text = Vec::new();
        outcome.write_text(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for line in [
            "2 records of the source were skipped, the first in line 7: dissolved",
            "4 records of the source were skipped: not in the directory",
            "4 records of the source were skipped, the first in line 8: total row",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(
            outcome.details.left_out,
            [
                "2 addresses on platforms were left out, the first in line 7",
                "2 national phone numbers of an unknown country were left out, the first in line 7; \
                 --country gives one to rows without a country, such as --country DE",
                "2 unknown countries were left out, the first in line 7",
                "2 values of domains that too many records share were left out, the first in line 7",
            ]
        );
        let several = Outcome::new(&report, Duration::ZERO, false).details.left_out;
        assert_eq!(several[0], "2 addresses on platforms were left out");
    }
}
