//! Imports the companies of an evaluation set, as an operator imports a file.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use enrich_core::port::importer::{Atomic, ImportOptions, NewSubjects};
use enrich_core::{Clock, Confidence, SourceName};
use enrich_import::{Report, Source, import};
use enrich_store::{Options, Store, SystemClock};
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
pub(crate) struct Row {
    id: String,
    name: String,
    pub(crate) domain: String,
    country: String,
    /// The LinkedIn handle of the company; empty if it has none.
    pub(crate) linkedin: String,
}

impl Row {
    /// Returns the company's record in the native format.
    pub(crate) fn record(&self) -> Value {
        let countries: Vec<&str> =
            self.country.split('|').filter(|code| !code.is_empty()).collect();
        let mut record = json!({
            "type": "company", "id": self.id, "name": self.name, "domains": [self.domain],
            "country": countries,
        });
        if !self.linkedin.is_empty() {
            record["linkedin"] = json!([self.linkedin]);
        }
        record
    }
}

#[derive(Deserialize)]
struct Alias {
    id: String,
    alias: String,
}

/// The catalogue (the companies of an evaluation set) to import, and the folder to import it into.
#[derive(Debug, Args)]
pub(crate) struct Catalogue {
    /// Folder with the set of names and queries
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,
    /// Folder for the imported catalogue; if it already has look-up data, the folder is deleted
    /// first
    #[arg(long, value_name = "DIR", default_value = "target/eval")]
    pub(crate) data: PathBuf,
    /// Import the aliases too
    #[arg(long)]
    pub(crate) aliases: bool,
}

/// Imports the catalogue (the companies of an evaluation set) into its data folder, and opens the
/// folder.
pub(crate) fn open(catalogue: &Catalogue) -> anyhow::Result<Store> {
    let mut aliases: HashMap<String, Vec<String>> = HashMap::new();
    if catalogue.aliases {
        for alias in rows::<Alias>(&catalogue.set.join("catalog_aliases.csv.gz"))? {
            aliases.entry(alias.id).or_default().push(alias.alias);
        }
    }
    let mut records = Vec::new();
    for row in companies(&catalogue.set)? {
        let mut record = row.record();
        record["aliases"] = json!(aliases.remove(&row.id).unwrap_or_default());
        records.push(record);
    }
    let (store, _) = imported(&catalogue.data, &records)?;
    Ok(store)
}

pub(crate) fn companies(set: &Path) -> anyhow::Result<Vec<Row>> {
    rows(&set.join("catalog.csv.gz"))
}

/// Imports records into the data folder `folder`, and opens it. If the folder already contains
/// look-up data (`directory.sqlite`), the folder is deleted first.
pub(crate) fn imported(folder: &Path, records: &[Value]) -> anyhow::Result<(Store, Report)> {
    if folder.join("directory.sqlite").exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("{} can't be removed", folder.display()))?;
    }
    let options = Options { min_name_confidence: Confidence::MIN, ..Options::default() };
    let store = Store::open_or_create_with(folder, &options)?;
    let mut lines = Vec::new();
    for record in records {
        serde_json::to_writer(&mut lines, record)?;
        lines.push(b'\n');
    }
    let options = ImportOptions {
        source: SourceName::new("catalogue").context("a source's name")?,
        file: None,
        terms: None,
        at: SystemClock.now(),
        atomic: Atomic::InParts,
        new_subjects: NewSubjects::Add,
    };
    let source = Source::reader("catalogue.jsonl", Cursor::new(lines));
    let report = pollster::block_on(import(source, &*store.importer, options, None, &mut ()))?;
    let first = report.first_rejected.first().map(|(line, why)| format!("record {line}: {why}"));
    anyhow::ensure!(
        report.rejected == 0,
        "{} records of the set were rejected; {}",
        report.rejected,
        first.unwrap_or_default()
    );
    Ok((store, report))
}

fn rows<T: for<'de> Deserialize<'de>>(path: &Path) -> anyhow::Result<Vec<T>> {
    let file = File::open(path).with_context(|| format!("{} can't be read", path.display()))?;
    let input: Box<dyn Read> = Box::new(GzDecoder::new(file));
    csv::Reader::from_reader(input).deserialize().map(|row| Ok(row?)).collect()
}
