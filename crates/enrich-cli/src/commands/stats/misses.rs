//! Prints the company names that look-ups did not find.

use std::io::{self, Write};

use enrich_core::Timestamp;
use enrich_text::CompanyName;
use serde::Serialize;

use super::super::table::write_table;
use super::super::{Failure, Shown};
use super::date;
use crate::missed_names::MissedNames;

/// Maximum number of names that are printed.
const MAX: usize = 100;
/// Number of hexadecimal digits of a name's hash that are printed, if the name's text was not
/// stored.
const DIGITS: usize = 16;

#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct MostMissed(Vec<Missed>);

#[derive(Serialize)]
struct Missed {
    hash: String,
    name: Option<String>,
    calls: u64,
    last_day: String,
}

/// A company name, and the number of look-ups that did not find it.
#[derive(Serialize)]
pub(super) struct OneMissed {
    name: String,
    calls: u64,
}

pub(super) fn most_missed(names: &MissedNames, now: Timestamp) -> Result<MostMissed, Failure> {
    let missed = names.most(now, MAX)?.into_iter().map(|it| Missed {
        hash: it.hash.iter().map(|byte| format!("{byte:02x}")).collect(),
        name: it.name,
        calls: it.calls,
        last_day: date(it.last_day),
    });
    Ok(MostMissed(missed.collect()))
}

pub(super) fn missed(
    names: &MissedNames,
    now: Timestamp,
    name: &str,
) -> Result<OneMissed, Failure> {
    let read = CompanyName::parse(name).map_err(|error| Failure::impossible(&error))?;
    let calls = names.calls(now, &read)?;
    Ok(OneMissed { name: read.display().to_owned(), calls })
}

impl Shown for MostMissed {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.0.is_empty() {
            return writeln!(out, "no missed names are counted; see `enrich serve --count-misses`");
        }
        let row = |it: &Missed| {
            let hash = || format!("hash {}", it.hash.chars().take(DIGITS).collect::<String>());
            let name = it.name.clone().unwrap_or_else(hash);
            vec![name, it.calls.to_string(), it.last_day.clone()]
        };
        write_table(&["NAME", ">MISSED", "LAST"], self.0.iter().map(row), out)
    }
}

impl Shown for OneMissed {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let times = if self.calls == 1 { "time" } else { "times" };
        writeln!(out, "missed {} {times} in 30 days", self.calls)
    }
}
