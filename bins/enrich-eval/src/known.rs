//! Looks up well-known organisations by name, in look-up data that was imported from several
//! sources.
//!
//! A set of well-known names is a folder. Its subfolder `native/` contains the files that are
//! imported, in the order of their file names. The `*.jsonl` files in the set's folder itself
//! contain the queries.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use enrich_core::matching::ScoredCandidate;
use enrich_core::port::directory::Directory;
use enrich_core::port::importer::{Atomic, ImportOptions, NewSubjects};
use enrich_core::{Clock, CompanyRef, Confidence, Projection, Question, SourceName};
use enrich_import::{Source, import};
use enrich_store::{Options, Store, SystemClock};
use enrich_text::{CompanyName, Country, Domain};
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::Value;

/// The value of `kind` in queries for names that no company in the look-up data has.
const NOT_THERE: &str = "not-there";

/// A query for a well-known name, and the domains that are correct answers. If there are no such
/// domains, the only correct answer is "not found".
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct KnownQuery {
    pub(crate) id: String,
    pub(crate) query: String,
    #[serde(default)]
    pub(crate) country: Option<String>,
    pub(crate) domains: Vec<String>,
    pub(crate) kind: String,
    pub(crate) prominence: String,
    /// A domain that identifies the organisation to which the query belongs. All queries of one
    /// organisation are in the same part of the cross-validation.
    #[serde(default)]
    pub(crate) org: Option<String>,
}

impl KnownQuery {
    pub(crate) fn name(&self) -> anyhow::Result<CompanyName> {
        CompanyName::parse(&self.query).with_context(|| format!("{} is no name", self.query))
    }

    pub(crate) fn country(&self) -> Option<Country> {
        Country::from_code(self.country.as_deref()?).ok()
    }

    /// Whether a domain is a correct answer: one of the query's domains, or a host below one of
    /// them. If a query's domain is only a public suffix (`co.uk`), a host below it is not a
    /// correct answer.
    pub(crate) fn is_right(&self, answer: &str) -> bool {
        let registrable = Domain::parse(answer).map(|answer| answer.registrable());
        let shortest = registrable.map_or(0, |registrable| registrable.as_str().len());
        self.domains.iter().any(|domain| {
            let is_below = answer.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
            answer == domain || (is_below && domain.len() >= shortest)
        })
    }
}

/// A set of well-known names, imported into a folder.
#[derive(Debug, Args)]
pub(crate) struct KnownSet {
    /// Folder with the lists of names; its subfolder `native` contains the files to import
    #[arg(value_name = "SET")]
    pub(crate) set: PathBuf,
    /// Data folder into which the set is imported; if it already has look-up data, the folder is
    /// deleted first
    #[arg(long, value_name = "DIR", default_value = "target/eval-known")]
    pub(crate) data: PathBuf,
}

/// Looks up the names of a set of well-known organisations, and counts the answers by kind.
#[derive(Debug, Args)]
pub(crate) struct Known {
    #[command(flatten)]
    set: KnownSet,
    /// Uses the data folder as it is, without importing the set's files again
    #[arg(long)]
    keep: bool,
    /// Minimum confidence of an answer
    #[arg(long, value_name = "PERCENT", default_value_t = 90)]
    min_confidence: u8,
    /// Shows the best candidates of each query without a right answer
    #[arg(long)]
    show: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    right: u32,
    wrong: u32,
    missed: u32,
    absent: u32,
}

impl Known {
    pub(crate) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let least = Confidence::clamped(self.min_confidence);
        let store = if self.keep {
            Store::open_with(
                &self.set.data,
                &Options { min_name_confidence: least, ..Options::default() },
            )?
        } else {
            open(&self.set.set, &self.set.data, least)?
        };
        let held = held(&self.set.set)?;
        let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
        let (mut all, mut sum, mut bands) = (0.0, 0.0, BTreeMap::new());
        for query in queries(&self.set.set)? {
            let answer = ask(&store, &query)?;
            let is_there = query.domains.iter().any(|domain| held.contains(domain));
            let is_right = answer.as_ref().is_some_and(|(domain, _)| query.is_right(domain));
            if let Some((_, percent)) = &answer
                && (is_there || query.kind == NOT_THERE)
            {
                let band: &mut (f64, f64, f64) = bands.entry(percent / 5).or_default();
                *band = (
                    band.0 + 1.0,
                    band.1 + f64::from(u8::from(is_right)),
                    band.2 + f64::from(*percent) / 100.0,
                );
            }
            let mut add = |kind: &str| {
                let tally = tallies.entry(kind.to_owned()).or_default();
                match (&answer, query.kind == NOT_THERE) {
                    (_, false) if !is_there => tally.absent += 1,
                    (None, _) => tally.missed += 1,
                    (Some(_), _) if is_right => tally.right += 1,
                    (Some(_), _) => tally.wrong += 1,
                }
            };
            add(&query.kind);
            if query.kind != NOT_THERE {
                add("all");
                add(&format!("prominence {}", query.prominence));
            }
            let is_fine = is_right || (query.domains.is_empty() && answer.is_none());
            if self.show && !is_fine && (is_there || query.kind == NOT_THERE) {
                tell(&store, &query, answer.as_ref(), out)?;
            }
        }
        for (kind, Tally { right, wrong, missed, absent }) in &tallies {
            let there = f64::from(right + wrong + missed).max(1.0);
            let share = 100.0 * f64::from(*right) / there;
            writeln!(
                out,
                "{kind:20} right {right:3} wrong {wrong:2} missed {missed:3} absent {absent:2}  {share:.1} %"
            )?;
        }
        for (band, (count, right, mean)) in bands {
            let (share, mean) = (right / count, mean / count);
            writeln!(
                out,
                "{:3}–{:3}: {count} answers, right {share:.3}, mean confidence {mean:.3}",
                band * 5,
                band * 5 + 4
            )?;
            all += count;
            sum += (share - mean).abs() * count;
        }
        writeln!(out, "expected calibration error {:.3}", sum / f64::max(all, 1.0))?;
        Ok(())
    }
}

/// Returns the queries of all lists in a set of well-known names.
pub(crate) fn queries(set: &Path) -> anyhow::Result<Vec<KnownQuery>> {
    let mut queries = Vec::new();
    for path in files(set, &["jsonl"])? {
        for line in BufReader::new(File::open(&path)?).lines() {
            let line = line?;
            if !line.trim().is_empty() {
                let query = serde_json::from_str(&line);
                queries.push(query.with_context(|| format!("{}: not a query", path.display()))?);
            }
        }
    }
    Ok(queries)
}

/// Imports the files of a set of well-known names into a new folder, and opens the folder. Each
/// file becomes a source of its own.
pub(crate) fn open(set: &Path, folder: &Path, least: Confidence) -> anyhow::Result<Store> {
    if folder.join("directory.sqlite").exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("{} can't be removed", folder.display()))?;
    }
    let options = Options { min_name_confidence: least, ..Options::default() };
    let store = Store::open_or_create_with(folder, &options)?;
    for path in files(&set.join("native"), &["jsonl", "gz"])? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = name.split('.').next().unwrap_or_default();
        let options = ImportOptions {
            source: SourceName::new(stem).context("a source's name")?,
            file: None,
            terms: None,
            at: SystemClock.now(),
            atomic: Atomic::InParts,
            new_subjects: NewSubjects::Add,
        };
        let source = Source::file(&path)?;
        pollster::block_on(import(source, &*store.importer, options, None, &mut ()))
            .with_context(|| format!("{} was not imported", path.display()))?;
    }
    Ok(store)
}

/// Names of companies. A name is cut before its first bracket: `Quill (UK)` becomes `Quill`.
pub(crate) struct Names {
    pub(crate) all: BTreeSet<String>,
    /// The names of the companies whose first domain has a page rank (a measure of how well known a
    /// website is).
    pub(crate) of_ranked: BTreeSet<String>,
}

/// Returns the names of the companies in the compressed files (`*.gz`) of a set of well-known
/// names.
pub(crate) fn names(set: &Path) -> anyhow::Result<Names> {
    let (mut names, mut ranked) = (Vec::new(), HashSet::new());
    for path in files(&set.join("native"), &["gz"])? {
        for line in BufReader::new(GzDecoder::new(File::open(&path)?)).lines() {
            let record: Value = serde_json::from_str(&line?)?;
            let name = record["name"].as_str().unwrap_or_default();
            let name = name.split(['(', '[']).next().unwrap_or(name).trim();
            let domain = record["domains"].get(0).unwrap_or(&record["domain"]);
            let domain = domain.get("domain").unwrap_or(domain).as_str().unwrap_or_default();
            if record.get("page_rank").is_some() {
                ranked.insert(domain.to_owned());
            } else if !name.is_empty() {
                names.push((name.to_owned(), domain.to_owned()));
            }
        }
    }
    let is_ranked = |(_, domain): &(String, String)| ranked.contains(domain);
    let of_ranked = names.iter().filter(|one| is_ranked(one)).map(|(name, _)| name.clone());
    Ok(Names {
        of_ranked: of_ranked.collect(),
        all: names.into_iter().map(|(name, _)| name).collect(),
    })
}

/// Returns every domain in the records of the set's compressed files (`*.gz`), and all parent
/// domains of these domains: for `shop.quill.example` also `quill.example` and `example`.
fn held(set: &Path) -> anyhow::Result<HashSet<String>> {
    let mut held = HashSet::new();
    for path in files(&set.join("native"), &["gz"])? {
        for line in BufReader::new(GzDecoder::new(File::open(&path)?)).lines() {
            let record: Value = serde_json::from_str(&line?)?;
            for domain in record["domains"].as_array().into_iter().flatten() {
                let domain = domain.get("domain").unwrap_or(domain).as_str().unwrap_or_default();
                let Ok(domain) = Domain::parse(domain) else { continue };
                let mut rest = domain.as_str();
                held.insert(rest.to_owned());
                while let Some((_, above)) = rest.split_once('.') {
                    held.insert(above.to_owned());
                    rest = above;
                }
            }
        }
    }
    Ok(held)
}

/// Returns the files in a folder with one of these endings, in the order of their names.
fn files(folder: &Path, endings: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("no folder {}", folder.display()))?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    files.retain(|path| {
        path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
    });
    files.sort();
    Ok(files)
}

fn ask(store: &Store, query: &KnownQuery) -> anyhow::Result<Option<(String, u8)>> {
    let (name, country) = (query.name()?, query.country());
    let question = Question::Company(CompanyRef::Name { name: name.clone(), country });
    let found = pollster::block_on(store.directory.find(&question, Projection::Profile))?;
    Ok(found.and_then(|found| {
        let company = found.company()?;
        Some((company.domain_near(&name, country)?.to_owned(), found.confidence.percent()))
    }))
}

fn tell(
    store: &Store,
    query: &KnownQuery,
    answer: Option<&(String, u8)>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let KnownQuery { id, query: name, kind, country, .. } = query;
    writeln!(out, "{id} {kind}: {name} {} → {answer:?}", country.as_deref().unwrap_or_default())?;
    if let Some((only, sure)) = store.directory.only_match(&query.name()?, query.country())? {
        writeln!(out, "    only match {} {:?} {}", only.name, only.domain(), sure.percent())?;
    }
    for one in store.directory.judged(&query.name()?, query.country())?.iter().take(5) {
        let ScoredCandidate { company, name, score, probability, .. } = one;
        let right = company.sites.iter().any(|site| query.is_right(&site.domain));
        let domain = company.domain().unwrap_or("–");
        writeln!(
            out,
            "    {}{:3.0} {score:6.2} p{:.2} {} = {name} [{domain}] {} sites, {:?}",
            if right { "* " } else { "  " },
            100.0 * probability,
            one.prominence.value(),
            company.name,
            company.sites.len(),
            company.ids,
        )?;
    }
    Ok(())
}
