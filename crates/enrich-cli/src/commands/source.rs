//! `enrich source`: lists and removes sources.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use enrich_core::port::importer::{Importer, SourceInfo};
use enrich_core::{SourceName, Timestamp};
use serde::Serialize;

use super::import::source_name;
use super::table::{Pairs, Row};
use super::{Common, Console, Failure, Shown, Verdict, named};

#[derive(Debug, Subcommand)]
pub(crate) enum SourceCommand {
    /// List the sources, by name
    #[command(after_help = "\
Example:
  enrich source list

JSON: a list of {\"source\",\"values\",\"records\",\"first_imported_at\",\"last_imported_at\",
\"licence\",\"attribution\",\"homepage\"}; the last three are empty for a list of your own.")]
    List(Common),
    /// Remove all values that came only from this source
    #[command(after_help = "\
Example:
  enrich source remove companies

Values that other sources also gave stay. If the source is imported again, its values are back;
`enrich forget` removes values so that no import brings them back.
JSON: {\"source\",\"values\",\"subjects\"}:
the numbers of removed values and subjects.")]
    Remove(Remove),
}

#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The source's name
    #[arg(value_parser = source_name)]
    name: SourceName,
    #[command(flatten)]
    common: Common,
}

impl SourceCommand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        match self {
            Self::List(common) => list(&common, console),
            Self::Remove(remove) => remove.run(console),
        }
    }
}

#[derive(Serialize)]
struct SourceRecord {
    source: String,
    values: u64,
    records: u64,
    first_imported_at: Timestamp,
    last_imported_at: Timestamp,
    licence: String,
    attribution: String,
    homepage: String,
}

impl From<SourceInfo> for SourceRecord {
    fn from(info: SourceInfo) -> Self {
        Self {
            source: info.name.as_str().to_owned(),
            values: info.values,
            records: info.records,
            first_imported_at: info.first_at,
            last_imported_at: info.last_at,
            licence: info.terms.licence,
            attribution: info.terms.attribution,
            homepage: info.terms.homepage,
        }
    }
}

fn list(common: &Common, console: &mut Console<'_>) -> Result<Verdict, Failure> {
    let sources = pollster::block_on(common.open_directory()?.importer.sources())?;
    if sources.is_empty() {
        console.note("nothing was imported yet; `enrich import FILE` does it");
    }
    let list: Vec<SourceRecord> = sources.into_iter().map(SourceRecord::from).collect();
    common.show(&list, console)
}

impl Row for SourceRecord {
    const TITLES: &'static [&'static str] = &[
        "SOURCE",
        ">RECORDS",
        ">VALUES",
        "FIRST IMPORTED",
        "LAST IMPORTED",
        "LICENCE",
        "ATTRIBUTION",
        "HOMEPAGE",
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.source.clone(),
            self.records.to_string(),
            self.values.to_string(),
            named::to_the_second(self.first_imported_at),
            named::to_the_second(self.last_imported_at),
            self.licence.clone(),
            self.attribution.clone(),
            self.homepage.clone(),
        ]
    }
}

#[derive(Serialize)]
struct RemovedSource {
    source: String,
    values: u64,
    subjects: u64,
}

impl Remove {
    fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let store = self.common.open_directory()?;
        let removed = pollster::block_on(store.importer.remove_source(&self.name))?;
        let source = self.name.as_str().to_owned();
        let removed = removed.ok_or_else(|| {
            Failure::refused(format!(
                "there is no source `{source}`; `enrich source list` shows them"
            ))
        })?;
        let shown = RemovedSource { source, values: removed.values, subjects: removed.subjects };
        self.common.show(&shown, console)
    }
}

impl Shown for RemovedSource {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        Pairs::default()
            .add("source", &self.source)
            .add("values removed", self.values)
            .add("subjects removed", self.subjects)
            .write(out)
    }
}
