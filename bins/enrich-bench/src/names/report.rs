//! The results of look-ups by name as a table in Markdown, and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::drawn::Kind;
use crate::machine::Machine;
use crate::report::write_table;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) program: String,
    pub(crate) machine: Machine,
    /// A sentence that says what was measured.
    pub(crate) measured: &'static str,
    pub(crate) seconds: u64,
    pub(crate) warmup_seconds: u64,
    pub(crate) rows: Vec<Row>,
}

/// The results for the names of the kind `kind`, in look-up data with `companies` companies.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) companies: u64,
    pub(crate) kind: Kind,
    /// The number of names of this kind that were looked up.
    pub(crate) asked: usize,
    pub(crate) median_micros: f64,
    pub(crate) p99_micros: f64,
    pub(crate) longest_micros: f64,
    /// The mean processor time of a look-up, of all threads together, in microseconds. It can only
    /// be measured for all look-ups together. So it is `None` if some of the names that were looked
    /// up turned out to be of another kind than `kind`.
    pub(crate) processor_micros: Option<f64>,
    /// The share of look-ups that found a company.
    pub(crate) found: f64,
    /// The share of look-ups that found the right company; `None` for names that should find no
    /// company.
    pub(crate) right: Option<f64>,
    /// Some wrong answers: another company than the right one, or any company for a name that
    /// should find none.
    pub(crate) wrong: Vec<Wrong>,
    /// The private memory of the process after these look-ups, in bytes.
    pub(crate) private_bytes: u64,
    /// The machine's load average of the last minute, after these look-ups.
    pub(crate) load: f64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Wrong {
    pub(crate) asked: String,
    pub(crate) meant: Option<String>,
    pub(crate) answered: Option<String>,
    pub(crate) confidence: Option<u8>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    pub(crate) took: Duration,
    pub(crate) is_found: bool,
    /// Whether the answer is the right company; `None` if the name should find no company.
    pub(crate) is_right: Option<bool>,
}

/// Returns the median, the 99th percentile and the maximum of the times, in microseconds; `None` if
/// there are no look-ups.
pub(crate) fn latencies(timed: &[Timed]) -> Option<(f64, f64, f64)> {
    let mut all: Vec<Duration> = timed.iter().map(|one| one.took).collect();
    all.sort_unstable();
    // `share` is a percentage. The result is the nearest-rank percentile.
    let of_hundred = |share: usize| {
        let place = (all.len() * share).div_ceil(100).checked_sub(1)?;
        all.get(place).map(|took| took.as_secs_f64() * 1e6)
    };
    Some((of_hundred(50)?, of_hundred(99)?, of_hundred(100)?))
}

/// Returns the share of look-ups for which `is` returns true.
pub(crate) fn share(timed: &[Timed], is: impl Fn(&Timed) -> bool) -> f64 {
    timed.iter().filter(|one| is(one)).count() as f64 / timed.len().max(1) as f64
}

impl Report {
    pub(crate) fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} on {}.", self.program, self.machine.description())?;
        writeln!(
            out,
            "{} Up to {} seconds for each kind after {} seconds of warm-up.\n",
            self.measured, self.seconds, self.warmup_seconds
        )?;
        let titles = [
            "companies",
            "names",
            "asked",
            "median µs",
            "p99 µs",
            "longest µs",
            "processor µs",
            "found %",
            "right %",
            "RssAnon MB",
            "load",
        ];
        let mut table = vec![titles.map(str::to_owned).to_vec()];
        table.extend(self.rows.iter().map(Row::cells));
        write_table(&table, out)
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let percent = |share: f64| format!("{:.1}", share * 100.0);
        let or_none = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
        vec![
            self.companies.to_string(),
            format!("{:?}", self.kind).to_lowercase(),
            self.asked.to_string(),
            format!("{:.1}", self.median_micros),
            format!("{:.1}", self.p99_micros),
            format!("{:.1}", self.longest_micros),
            or_none(self.processor_micros.map(|micros| format!("{micros:.1}"))),
            percent(self.found),
            or_none(self.right.map(percent)),
            format!("{:.1}", self.private_bytes as f64 / 1e6),
            format!("{:.2}", self.load),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(micros: u64) -> Timed {
        Timed {
            took: Duration::from_micros(micros),
            is_found: micros.is_multiple_of(2),
            is_right: None,
        }
    }

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let all: Vec<Timed> = (1..=200).rev().map(timed).collect();
        assert_eq!(latencies(&all), Some((100.0, 198.0, 200.0)));
        assert_eq!(latencies(&[timed(7)]), Some((7.0, 7.0, 7.0)));
        assert_eq!(latencies(&[]), None);
        assert!((share(&all, |one| one.is_found) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn the_table_says_that_it_is_the_processing_alone() {
        let row = Row {
            companies: 70_000,
            kind: Kind::Unknown,
            asked: 20_000,
            median_micros: 512.34,
            p99_micros: 900.0,
            longest_micros: 1000.0,
            processor_micros: None,
            found: 0.0125,
            right: None,
            wrong: Vec::new(),
            private_bytes: 12_300_000,
            load: 0.5,
        };
        let report = Report {
            program: "enrich-bench 0.1.0".to_owned(),
            machine: Machine::with_data_in(std::path::Path::new(".")).unwrap(),
            measured: "The processing alone.",
            seconds: 10,
            warmup_seconds: 5,
            rows: vec![row],
        };
        let mut text = Vec::new();
        report.write_markdown(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("The processing alone."), "{text}");
        let last = text.lines().last().unwrap();
        let cells: Vec<&str> = last.split('|').map(str::trim).collect();
        let wanted =
            ["70000", "unknown", "20000", "512.3", "900.0", "1000.0", "-", "1.2", "-", "12.3"];
        assert_eq!(cells[1..11], wanted);
    }
}
