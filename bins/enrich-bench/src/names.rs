//! `enrich-bench names`: times look-ups of companies by name, and checks their answers.
//!
//! Only the work of the directory (the look-up data) is timed, one look-up after the other, in this
//! process. There is no connection, no request and no charge. If a name is exactly the name of one
//! company, the calling thread finds the company. For any other name, a thread of the directory
//! searches, and the measured time includes the hand-over to that thread.

mod drawn;
mod report;

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Args;
use enrich_core::port::directory::Directory;
use enrich_core::{Company, CompanyRef, Confidence, Found, Projection, Question};
use enrich_store::{Options, SqliteDirectory, Store};

use self::drawn::Asked;
pub(crate) use self::drawn::{Kind, NameGenerator};
use self::report::{Report, Row, Timed, Wrong, latencies, share};
use crate::bench_args::BenchArgs;
use crate::folder::{self, FolderSpec};
use crate::generated::Generated;
use crate::machine::Machine;
use crate::prepare::prepare;
use crate::process::Process;

/// Maximum number of names of a kind. Each name is looked up once.
const NAMES: usize = 20_000;
/// Maximum number of wrong answers of a kind that the report shows.
const WRONG: usize = 5;
/// The seed from which the names of the warm-up are drawn. It differs from [`TIMED`], so that the
/// warm-up looks up other names than the measurement.
const WARMING: u64 = 1 << 48;
/// The seed from which the names of the measurement are drawn.
const TIMED: u64 = 2 << 48;
/// The sentence in the report about what was measured.
const MEASURED: &str = "The directory's processing alone, one look-up at a time in this process, \
                        without a connection, a request or a charge.";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich-bench names --scratch target/bench
  enrich-bench names --scratch target/bench --companies 70000 --seconds 30 --json names.json
  enrich-bench names --scratch target/bench --companies 10000000 --kinds misspelt

Private memory grows with every kind and every number of companies: for that of one alone, ask for
it alone.")]
pub(crate) struct Names {
    #[command(flatten)]
    place: BenchArgs,
    /// Number of companies in the look-up data; if several numbers are given, each is measured
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "70000,1000000,10000000",
          value_parser = clap::value_parser!(u64).range(1..))]
    companies: Vec<u64>,
    /// Kinds of names
    #[arg(long, value_delimiter = ',', default_value = "exact,shared,misspelt,unknown,ambiguous")]
    kinds: Vec<Kind>,
    /// Maximum seconds for each kind; the measurement ends earlier after 20,000 names
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Seconds of warm-up for each kind, with other names
    #[arg(long, value_name = "SECONDS", default_value_t = 5,
          value_parser = clap::value_parser!(u64).range(1..))]
    warmup: u64,
}

impl Names {
    pub(crate) fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
        let scratch = self.place.scratch()?;
        let mut report = Report {
            program: concat!("enrich-bench ", env!("CARGO_PKG_VERSION")).to_owned(),
            machine: Machine::with_data_in(scratch.path())?,
            measured: MEASURED,
            seconds: self.seconds,
            warmup_seconds: self.warmup,
            rows: Vec::new(),
        };
        for companies in self.companies.iter().copied() {
            let spec = FolderSpec { companies, charges: 0 };
            if !scratch.is_ready(spec) {
                prepare(&scratch, &self.place.program()?, spec, err)?;
            }
            let copies = tempfile::Builder::new().prefix("names-").tempdir_in(scratch.path())?;
            let copy = copies.path().join("data");
            folder::copy(&scratch.folder(spec), &copy)?;
            read_through(&copy.join(folder::SHARED))?;
            let rows = self.measure(&copy, Generated::new(companies), err);
            report.rows.extend(rows.with_context(|| spec.description())?);
        }
        self.place.write(&report)?;
        Ok(report.write_markdown(out)?)
    }

    fn measure(
        &self,
        folder: &Path,
        generated: Generated,
        err: &mut dyn Write,
    ) -> anyhow::Result<Vec<Row>> {
        let options =
            Options { min_name_confidence: Confidence::MIN_BY_NAME, ..Options::default() };
        let store = Store::open_with(folder, &options)?;
        let process = Process::with_id(std::process::id())?;
        let mut rows = Vec::new();
        for kind in self.kinds.iter().copied() {
            let row = self.row(&store.directory, &process, generated, kind)?;
            match row {
                Some(row) => {
                    writeln!(
                        err,
                        "{} companies, {kind:?}: median {:.1} µs, 99 % {:.1} µs",
                        generated.companies, row.median_micros, row.p99_micros
                    )?;
                    rows.push(row);
                }
                None => writeln!(err, "{} companies: no {kind:?} name", generated.companies)?,
            }
        }
        Ok(rows)
    }

    /// Measures look-ups of names of one kind. Returns `None` if no name of this kind was drawn.
    fn row(
        &self,
        directory: &SqliteDirectory,
        process: &Process,
        generated: Generated,
        kind: Kind,
    ) -> anyhow::Result<Option<Row>> {
        let warming = NameGenerator::new(generated, WARMING).names(kind, NAMES)?;
        ask(directory, &warming, Duration::from_secs(self.warmup))?;
        drop(warming);
        let names = NameGenerator::new(generated, TIMED).names(kind, NAMES)?;
        let before = process.processor_micros()?;
        let all = ask(directory, &names, Duration::from_secs(self.seconds))?;
        let used = process.processor_micros()?.saturating_sub(before);
        let (private_bytes, load) = (process.private_bytes()?, load()?);
        let (mut timed, mut wrong) = (Vec::with_capacity(all.len()), Vec::new());
        for (asked, one) in names.iter().zip(&all) {
            if !is_of(kind, directory, asked)? {
                continue;
            }
            timed.push(*one);
            if one.is_found && one.is_right != Some(true) && wrong.len() < WRONG {
                wrong.push(Wrong::new(directory, asked)?);
            }
        }
        let Some((median, p99, longest)) = latencies(&timed) else { return Ok(None) };
        let has_meant = timed.iter().any(|one| one.is_right.is_some());
        Ok(Some(Row {
            companies: generated.companies,
            kind,
            asked: timed.len(),
            median_micros: median,
            p99_micros: p99,
            longest_micros: longest,
            processor_micros: (timed.len() == all.len()).then(|| used as f64 / all.len() as f64),
            found: share(&timed, |one| one.is_found),
            right: has_meant.then(|| share(&timed, |one| one.is_right == Some(true))),
            wrong,
            private_bytes,
            load,
        }))
    }
}

/// Looks up the names one after the other, until all are done or the time `longest` is over.
fn ask(
    directory: &SqliteDirectory,
    names: &[Asked],
    longest: Duration,
) -> anyhow::Result<Vec<Timed>> {
    let (began, mut timed) = (Instant::now(), Vec::with_capacity(names.len()));
    for Asked { text, question, meant } in names {
        let started = Instant::now();
        let found = pollster::block_on(directory.find(question, Projection::Profile));
        let took = started.elapsed();
        let found = found.with_context(|| text.clone())?;
        let name = found.as_ref().and_then(Found::company).map(|company| company.name.as_str());
        let is_right = meant.as_deref().map(|meant| name == Some(meant));
        timed.push(Timed { took, is_found: name.is_some(), is_right });
        if began.elapsed() > longest {
            break;
        }
    }
    ensure!(!timed.is_empty(), "no name was asked for");
    Ok(timed)
}

impl Wrong {
    /// Repeats a look-up that gave a wrong answer, and describes the answer.
    fn new(directory: &SqliteDirectory, asked: &Asked) -> anyhow::Result<Self> {
        let found = pollster::block_on(directory.find(&asked.question, Projection::Profile))?;
        let name = found.as_ref().and_then(Found::company).map(|company| company.name.clone());
        Ok(Self {
            asked: asked.text.clone(),
            meant: asked.meant.clone(),
            answered: name,
            confidence: found.map(|found| found.confidence.percent()),
        })
    }
}

/// Whether a randomly selected name is really of its kind: an exact name must belong to only one
/// company, and a shared name to several companies. Names of the other kinds are not checked.
fn is_of(kind: Kind, directory: &SqliteDirectory, asked: &Asked) -> anyhow::Result<bool> {
    let bears_alone = || -> anyhow::Result<bool> {
        let Question::Company(CompanyRef::Name { name, country }) = &asked.question else {
            return Ok(false);
        };
        let only: Option<(Company, Confidence)> = directory.only_match(name, *country)?;
        Ok(only.is_some())
    };
    Ok(match kind {
        Kind::Exact => bears_alone()?,
        Kind::Shared => !bears_alone()?,
        Kind::Misspelt | Kind::Unknown | Kind::Ambiguous => true,
    })
}

/// Reads a file once, so that the operating system caches it as far as it fits into memory.
fn read_through(path: &Path) -> anyhow::Result<()> {
    let mut file = File::open(path).with_context(|| path.display().to_string())?;
    let mut bytes = vec![0; 1 << 20];
    while file.read(&mut bytes).with_context(|| path.display().to_string())? > 0 {}
    Ok(())
}

/// Returns the machine's load average of the last minute.
fn load() -> anyhow::Result<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").context("/proc/loadavg")?;
    let first = text.split(' ').next().and_then(|first| first.parse().ok());
    first.with_context(|| format!("/proc/loadavg says `{}`", text.trim()))
}
