//! The results as a table in Markdown, and as JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::machine::Machine;
use crate::part::{Part, median};
use crate::workload::Workload;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) program: String,
    pub(crate) machine: Machine,
    pub(crate) settings: Settings,
    pub(crate) rows: Vec<Row>,
    pub(crate) first_answers: Vec<FirstAnswers>,
    /// Sentences about the requests of the workloads. The report prints them.
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Settings {
    pub(crate) rounds: u64,
    pub(crate) seconds: u64,
    pub(crate) warmup_seconds: u64,
}

/// The measurements of one server under one workload.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    workload: Workload,
    connections: usize,
    server: String,
    median: Part,
    /// The medians, each divided by the median of the yardstick (the bare server); `None` for the
    /// yardstick itself.
    to_yardstick: Option<Part>,
    /// The medians, each divided by the first service's median; `None` for the first service itself
    /// and for the yardstick (the bare server).
    to_first: Option<Part>,
    rounds: Vec<Part>,
}

/// The times from the start of a service's servers to the first charged answer, one for each
/// workload.
#[derive(Debug, Serialize)]
pub(crate) struct FirstAnswers {
    pub(crate) server: String,
    pub(crate) seconds: Vec<f64>,
}

impl Row {
    /// Returns the report's rows for one workload. For each round, `rounds` contains the
    /// measurements of all servers, one [`Part`] each. The first one is that of the yardstick.
    pub(crate) fn all(
        workload: Workload,
        connections: usize,
        servers: impl Iterator<Item = String>,
        rounds: &[Vec<Part>],
    ) -> Vec<Self> {
        let of = |place: usize| -> Vec<Part> {
            rounds.iter().filter_map(|parts| parts.get(place).copied()).collect()
        };
        let (yardstick, first) = (Part::median(&of(0)), Part::median(&of(1)));
        let row = |(place, server)| {
            let rounds = of(place);
            let median = Part::median(&rounds)?;
            let over = |other: Option<Part>, from| {
                other.filter(|_| place >= from).map(|other| median.over(&other))
            };
            let (to_yardstick, to_first) = (over(yardstick, 1), over(first, 2));
            Some(Self { workload, connections, server, median, to_yardstick, to_first, rounds })
        };
        servers.enumerate().filter_map(row).collect()
    }
}

impl Report {
    /// Returns the throughput of every service except the first, as a ratio to the first service's
    /// throughput. Each ratio comes with its workload and number of connections.
    pub(crate) fn to_first(&self) -> impl Iterator<Item = (Workload, usize, f64)> {
        let rows = self.rows.iter();
        rows.filter_map(|row| {
            Some((row.workload, row.connections, row.to_first?.requests_per_second))
        })
    }

    /// Writes the tables in Markdown. Numbers in brackets are ratios to the yardstick.
    pub(crate) fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let Settings { rounds, seconds, warmup_seconds } = self.settings;
        writeln!(out, "{} on {}.", self.program, self.machine.description())?;
        writeln!(
            out,
            "Medians of {rounds} rounds of {seconds} seconds after {warmup_seconds} seconds of \
             warm-up; in brackets the ratio to the yardstick.\n"
        )?;
        write_table(&self.results(), out)?;
        let comparisons = self.comparisons();
        if comparisons.len() > 1 {
            writeln!(out, "\nThroughput as a ratio to the first service:\n")?;
            write_table(&comparisons, out)?;
        }
        writeln!(out, "\nFrom the start of the process to the first charged answer:\n")?;
        write_table(&self.starts(), out)?;
        for note in &self.notes {
            writeln!(out, "\n{note}.")?;
        }
        Ok(())
    }

    fn results(&self) -> Vec<Vec<String>> {
        let titles = [
            "workload",
            "connections",
            "server",
            "requests/s",
            "p50 µs",
            "p99 µs",
            "p99.9 µs",
            "processor µs/request",
            "RssAnon MB",
        ];
        let mut table = vec![titles.map(str::to_owned).to_vec()];
        for row in &self.rows {
            let cell = |measure: fn(&Part) -> f64, decimals: usize| {
                let number = format!("{:.decimals$}", measure(&row.median));
                let ratio = row.to_yardstick.map(|ratio| format!(" ({:.2})", measure(&ratio)));
                number + &ratio.unwrap_or_default()
            };
            let megabytes = format!("{:.1}", row.median.private_bytes / 1e6);
            let ratio = row.to_yardstick.map(|ratio| format!(" ({:.2})", ratio.private_bytes));
            table.push(vec![
                row.workload.to_string(),
                row.connections.to_string(),
                row.server.clone(),
                cell(|part| part.requests_per_second, 0),
                cell(|part| part.p50_micros, 0),
                cell(|part| part.p99_micros, 0),
                cell(|part| part.p99_9_micros, 0),
                cell(|part| part.processor_micros, 1),
                megabytes + &ratio.unwrap_or_default(),
            ]);
        }
        table
    }

    fn comparisons(&self) -> Vec<Vec<String>> {
        let titles = ["workload", "connections", "server", "ratio"];
        let mut table = vec![titles.map(str::to_owned).to_vec()];
        for row in &self.rows {
            if let Some(ratio) = row.to_first {
                table.push(vec![
                    row.workload.to_string(),
                    row.connections.to_string(),
                    row.server.clone(),
                    format!("{:.2}", ratio.requests_per_second),
                ]);
            }
        }
        table
    }

    fn starts(&self) -> Vec<Vec<String>> {
        let titles = ["server", "starts", "median s", "longest s"];
        let mut table = vec![titles.map(str::to_owned).to_vec()];
        for FirstAnswers { server, seconds } in &self.first_answers {
            let longest = seconds.iter().copied().fold(0.0, f64::max);
            table.push(vec![
                server.clone(),
                seconds.len().to_string(),
                median(seconds.clone()).map_or_else(String::new, |median| format!("{median:.3}")),
                format!("{longest:.3}"),
            ]);
        }
        table
    }
}

/// Writes a table in Markdown with aligned columns. The first row has the titles.
pub(crate) fn write_table(rows: &[Vec<String>], out: &mut dyn Write) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for (number, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(&widths) {
            write!(out, "| {cell:<width$} ")?;
        }
        writeln!(out, "|")?;
        if number == 0 {
            for width in &widths {
                write!(out, "|{:-<1$}", "", width + 2)?;
            }
            writeln!(out, "|")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(number: f64) -> Part {
        Part {
            requests_per_second: number,
            p50_micros: number,
            p99_micros: number,
            p99_9_micros: number,
            processor_micros: number,
            private_bytes: number * 1e6,
        }
    }

    fn rows() -> Vec<Row> {
        let servers = ["yardstick", "10,000 companies", "1 million companies"];
        let rounds = [[100.0, 50.0, 40.0], [120.0, 60.0, 45.0], [110.0, 44.0, 46.0]];
        let rounds: Vec<Vec<Part>> = rounds.iter().map(|round| round.map(part).to_vec()).collect();
        Row::all(Workload::Found, 256, servers.map(str::to_owned).into_iter(), &rounds)
    }

    #[test]
    fn ratios_are_those_of_the_medians() {
        let rows = rows();
        assert_eq!(rows[0].median, part(110.0));
        assert!(rows[0].to_yardstick.is_none() && rows[1].to_first.is_none());
        let to_yardstick = rows[1].to_yardstick.unwrap().requests_per_second;
        assert!((to_yardstick - 50.0 / 110.0).abs() < 1e-9, "{to_yardstick}");
        let to_first = rows[2].to_first.unwrap().requests_per_second;
        assert!((to_first - 45.0 / 50.0).abs() < 1e-9, "{to_first}");
    }

    #[test]
    fn the_table_shows_the_ratios_in_brackets() {
        let report = Report {
            program: "enrich 0.1.0".to_owned(),
            machine: Machine::with_data_in(std::path::Path::new(".")).unwrap(),
            settings: Settings { rounds: 3, seconds: 8, warmup_seconds: 3 },
            rows: rows(),
            first_answers: vec![FirstAnswers { server: "a".to_owned(), seconds: vec![0.25, 0.5] }],
            notes: vec!["Name, a: half of them".to_owned()],
        };
        let mut text = Vec::new();
        report.write_markdown(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("Medians of 3 rounds of 8 seconds"), "{text}");
        let cells: Vec<&str> = lines[6].split('|').map(str::trim).collect();
        assert_eq!(cells[1..6], ["found", "256", "10,000 companies", "50 (0.45)", "50 (0.45)"]);
        assert!(text.contains("| 1 million companies | 0.90"), "{text}");
        assert!(text.contains("| a      | 2      | 0.375    | 0.500     |"), "{text}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["rows"][1]["workload"], "found");
        assert_eq!(json["rows"][0]["to_yardstick"], serde_json::Value::Null);
    }
}
