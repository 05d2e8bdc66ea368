//! `enrich source`: lists and removes sources.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use enrich_core::SourceName;
use enrich_core::port::importer::{Importer, SourceInfo};
use serde::Serialize;

use super::import::source_name;
use super::table::{Side, Table, write_pairs};
use super::{Console, DataFolder, Failure, Format, Shown, Verdict, named};

#[derive(Debug, Subcommand)]
pub(crate) enum SourceCommand {
    /// List the sources, by name
    #[command(after_help = "\
Example:
  enrich source list

JSON: a list of {\"source\",\"values\",\"records\",\"first_imported_at\",\"last_imported_at\"}.")]
    List(List),
    /// Take a source's values out again
    #[command(after_help = "\
Example:
  enrich source remove companies

What other sources say as well stays. Importing the source again brings its values back; see
`enrich forget` for values that are not to come back. JSON: {\"source\",\"values\",\"subjects\"}:
values and subjects that are gone.")]
    Remove(Remove),
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The source's name
    #[arg(value_parser = source_name)]
    name: SourceName,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

impl SourceCommand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        match self {
            Self::List(list) => list.run(console),
            Self::Remove(remove) => remove.run(console),
        }?;
        Ok(Verdict::Yes)
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct SourceList(Vec<SourceRecord>);

#[derive(Serialize)]
struct SourceRecord {
    source: String,
    values: u64,
    records: u64,
    first_imported_at: String,
    last_imported_at: String,
    #[serde(skip)]
    times: [String; 2],
}

impl From<SourceInfo> for SourceRecord {
    fn from(info: SourceInfo) -> Self {
        Self {
            source: info.name.as_str().to_owned(),
            values: info.values,
            records: info.records,
            first_imported_at: info.first_at.to_string(),
            last_imported_at: info.last_at.to_string(),
            times: [info.first_at, info.last_at].map(named::to_the_second),
        }
    }
}

impl List {
    fn run(self, console: &mut Console<'_>) -> Result<(), Failure> {
        let sources = pollster::block_on(self.data.open()?.importer.sources())?;
        if sources.is_empty() {
            console.note("nothing was imported yet; `enrich import FILE` does it");
        }
        let list = SourceList(sources.into_iter().map(SourceRecord::from).collect());
        console.show(&list, self.format)
    }
}

impl Shown for SourceList {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new([
            ("SOURCE", Side::Left),
            ("RECORDS", Side::Right),
            ("VALUES", Side::Right),
            ("FIRST IMPORTED", Side::Left),
            ("LAST IMPORTED", Side::Left),
        ]);
        for source in &self.0 {
            let [first, last] = source.times.clone();
            let (records, values) = (source.records.to_string(), source.values.to_string());
            table.push([source.source.clone(), records, values, first, last]);
        }
        table.write(out)
    }
}

#[derive(Serialize)]
struct RemovedSource {
    source: String,
    values: u64,
    subjects: u64,
}

impl Remove {
    fn run(self, console: &mut Console<'_>) -> Result<(), Failure> {
        let store = self.data.open()?;
        let removed = pollster::block_on(store.importer.remove_source(&self.name))?;
        let source = self.name.as_str().to_owned();
        let removed = removed.ok_or_else(|| {
            Failure::refused(format!(
                "there is no source `{source}`; `enrich source list` shows them"
            ))
        })?;
        let shown = RemovedSource { source, values: removed.values, subjects: removed.subjects };
        console.show(&shown, self.format)
    }
}

impl Shown for RemovedSource {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let pairs = [
            ("source", self.source.clone()),
            ("values removed", self.values.to_string()),
            ("subjects removed", self.subjects.to_string()),
        ];
        write_pairs(&pairs, out)
    }
}
