//! `enrich-bench import`: large imports, compared with the `sqlite3` command line tool.

mod beside;
mod child;
mod committed;
mod files;
mod yardstick;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Args;
use enrich_testkit::generate::Generator;
use serde::Serialize;

use crate::bench_args::BenchArgs;
use crate::limit::{Bound, Limit, check_limits, write_limits};
use crate::machine::Machine;
use crate::program::{Data, Program};
use crate::report::write_table;
use beside::{Case, LookUps};
use child::Usage;
use committed::CommittedCompanies;
use yardstick::Yardstick;

/// The seed of the generated companies. It is fixed, so that measurements can be compared.
const SEED: u64 = 20_261_121;
/// If the first source has at least this number of companies, the limits for large look-up data
/// apply.
const LARGE: u64 = 10_000_000;
/// The number of companies in one step of an import. The time of each step is measured, to show
/// whether the import becomes slower.
const STEP: u64 = 1_000_000;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich-bench import --scratch target/bench --companies 1000000

Needs the program `sqlite3`. Imports generated companies into a new folder, then a second source
that describes the same companies in another order, then the first file again. Before that, the
same rows are loaded by `sqlite3`: `.import` into a table with indexes of domain, page and name, and
a full-text index (FTS5) of the names. At the end, a server answers look-ups with charges, alone and
while a third source is loaded; this needs the program `wrk`.

Written bytes are what the process gave to the disk (`write_bytes` in /proc/PID/io), memory is its
private memory at most (`RssAnon`), kept bytes are those of directory.sqlite. A large import commits
more than a million companies at once. So the first and the last million are timed until they are
committed; between two commits, the number of companies is taken to grow evenly.

Exit status: 1 also if a limit does not hold.")]
pub(crate) struct Import {
    #[command(flatten)]
    place: BenchArgs,
    /// Number of companies in the first source
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    companies: u64,
    /// Number of records in the second source [default: as many as --companies, at most 2000000]
    #[arg(long, value_name = "N")]
    second: Option<u64>,
    /// Measure without the yardstick
    #[arg(long)]
    no_yardstick: bool,
    /// Measure without look-ups
    #[arg(long)]
    no_look_ups: bool,
    /// The load generator of look-ups
    #[arg(long, value_name = "FILE", default_value = "wrk")]
    wrk: PathBuf,
}

#[derive(Debug, Serialize)]
struct Report {
    program: String,
    machine: Machine,
    companies: u64,
    /// The times of the `sqlite3` program; `None` if they were not measured.
    yardstick: Option<Yardstick>,
    loads: Vec<Load>,
    /// The rates of look-ups before and during an import; `None` if they were not measured.
    look_ups: Option<LookUps>,
    limits: Vec<Limit>,
}

/// One run of `enrich import`.
#[derive(Clone, Debug, Serialize)]
struct Load {
    name: &'static str,
    records: u64,
    usage: Usage,
    /// The size of the file `directory.sqlite` after the load, in bytes.
    kept_bytes: u64,
}

impl Import {
    pub(crate) fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
        let scratch = self.place.scratch()?;
        let measure = |folder: &Path, err: &mut dyn Write| self.measure(folder, err);
        let report = BenchArgs::in_new_folder(&scratch, "import-", err, measure)?;
        self.place.write(&report)?;
        report.write_markdown(out)?;
        write_limits(&report.limits, out)?;
        check_limits(&report.limits)
    }

    fn measure(&self, folder: &Path, err: &mut dyn Write) -> anyhow::Result<Report> {
        let program = self.place.program()?;
        let generator = Generator::new(SEED);
        let (first, second) = (folder.join("first.jsonl"), folder.join("second.jsonl"));
        let overlapping = self.second.unwrap_or(self.companies.min(2 * STEP));
        writeln!(err, "writing the files of {} companies", self.companies)?;
        files::write(&first, (0..self.companies).map(|index| generator.company(index)))?;
        files::write(
            &second,
            files::overlapping(generator, self.companies, overlapping, "contact"),
        )?;
        let yardstick = match self.no_yardstick {
            true => None,
            false => {
                writeln!(err, "loading the rows into the yardstick")?;
                Some(yardstick::measure(folder, &first)?)
            }
        };
        let data = folder.join("data");
        let mut loads = Vec::new();
        for (name, file, records) in [
            ("first load", &first, self.companies),
            ("second source", &second, overlapping),
            ("same file again", &first, self.companies),
        ] {
            let log = File::create(folder.join("import.log"))?;
            let load = load(&program, &data, name, (file, records), log)?;
            writeln!(err, "{name}: {:.1} s", load.usage.seconds)?;
            loads.push(load);
        }
        program.check(&Data::folder(&data))?;
        let mut limits = limits(self.companies, yardstick, &loads);
        let look_ups = match self.no_look_ups {
            true => None,
            false => Some(self.look_ups(&program, data, (folder, err))?),
        };
        limits.extend(look_ups.iter().map(|look_ups| {
            let what = "look-ups beside a load, to their pace without";
            Limit::new(what, look_ups.ratio(), Bound::AtLeast(0.7))
        }));
        Ok(Report {
            program: program.version()?,
            machine: Machine::with_data_in(folder)?,
            companies: self.companies,
            yardstick,
            loads,
            look_ups,
            limits,
        })
    }

    /// Measures look-ups before the file of a third source is imported, and during the import.
    fn look_ups(
        &self,
        program: &Program,
        data: PathBuf,
        (folder, err): (&Path, &mut dyn Write),
    ) -> anyhow::Result<LookUps> {
        let (companies, generator) = (self.companies, Generator::new(SEED));
        let file = folder.join("third.jsonl");
        let records = companies.min(STEP);
        files::write(&file, files::overlapping(generator, companies, records, "third"))?;
        writeln!(err, "look-ups, alone and beside a load")?;
        Case { program, wrk: &self.wrk, data, companies, file: &file }.measure(folder)
    }
}

fn load(
    program: &Program,
    data: &Path,
    name: &'static str,
    (file, records): (&PathBuf, u64),
    log: File,
) -> anyhow::Result<Load> {
    let mut command = program.command(["import", "--json"]);
    command.arg(file).arg("--data").arg(data);
    let path = data.join("directory.sqlite");
    let mut committed = CommittedCompanies::default();
    let (usage, report) = child::watch(command, log, || committed.read(&path))?;
    ensure!(
        report["read"] == records && report["rejected"] == 0,
        "`enrich import` was given {records} records and says {report}"
    );
    let kept_bytes = fs::metadata(&path)?.len();
    Ok(Load { name, records, usage, kept_bytes })
}

fn limits(companies: u64, yardstick: Option<Yardstick>, loads: &[Load]) -> Vec<Limit> {
    let [first, second, again] = loads else { return Vec::new() };
    let mut limits = vec![
        Limit::new("first load, KB written a record", first.written_kb(), Bound::AtMost(6.0)),
        Limit::new("memory, GB", first.memory_gb().max(second.memory_gb()), Bound::AtMost(1.5)),
    ];
    if companies >= LARGE {
        let slower = first.seconds_of_last_step() / first.seconds_until(STEP);
        limits.extend([
            Limit::new("first load, seconds", first.usage.seconds, Bound::AtMost(720.0)),
            Limit::new("last million to first million, committed", slower, Bound::AtMost(2.0)),
            Limit::new("second source, seconds", second.usage.seconds, Bound::AtMost(360.0)),
        ]);
        return limits;
    }
    limits.extend([
        Limit::new("bytes kept a company", first.bytes_per_company(), Bound::AtMost(600.0)),
        Limit::new("second source, KB written a record", second.written_kb(), Bound::AtMost(6.0)),
        Limit::new("same file again, records a second", again.pace(), Bound::AtLeast(200_000.0)),
    ]);
    if let Some(yardstick) = yardstick {
        let of_one = yardstick.seconds / companies as f64;
        let times = |load: &Load| load.usage.seconds / load.records as f64 / of_one;
        limits.extend([
            Limit::new("first load, times the yardstick", times(first), Bound::AtMost(3.0)),
            Limit::new("second source, times the yardstick", times(second), Bound::AtMost(5.0)),
        ]);
    }
    limits
}

impl Load {
    /// Returns the number of imported records per second.
    fn pace(&self) -> f64 {
        self.records as f64 / self.usage.seconds
    }

    /// Returns how much was written to the disk for each record, in kilobytes.
    fn written_kb(&self) -> f64 {
        self.usage.written_bytes as f64 / 1e3 / self.records as f64
    }

    /// Returns the time, in seconds since the start, at which `companies` companies were committed.
    /// Between two commits, the number of committed companies is interpolated linearly. Returns NaN
    /// if fewer companies were committed.
    fn seconds_until(&self, companies: u64) -> f64 {
        let commits = &self.usage.commits;
        let Some(at) = commits.iter().position(|(_, committed)| *committed >= companies) else {
            return f64::NAN;
        };
        let (begin, before) = at.checked_sub(1).map_or((0.0, 0), |before| commits[before]);
        let (end, behind) = commits[at];
        let share = (companies - before) as f64 / (behind - before).max(1) as f64;
        begin + share * (end - begin)
    }

    /// Returns how long it took to commit the last [`STEP`] companies, in seconds.
    fn seconds_of_last_step(&self) -> f64 {
        let all = self.usage.commits.iter().map(|(_, committed)| *committed).max().unwrap_or(0);
        self.seconds_until(all) - self.seconds_until(all.saturating_sub(STEP))
    }

    /// Returns the duration of each step, in seconds: how long it took to commit [`STEP`] more
    /// companies.
    fn step_seconds(&self) -> impl Iterator<Item = f64> {
        let companies = |(_, companies): &(f64, u64)| *companies;
        let before = self.usage.commits.first().map_or(0, companies);
        let all = self.usage.commits.last().map_or(0, companies);
        let steps = if before < all { all / STEP } else { 0 };
        (1..=steps)
            .map(|step| self.seconds_until(step * STEP) - self.seconds_until((step - 1) * STEP))
    }

    fn memory_gb(&self) -> f64 {
        self.usage.private_bytes as f64 / 1e9
    }

    /// Returns the size of `directory.sqlite` in bytes per company. Call this only for the import
    /// of the first source, in which each record is another company.
    fn bytes_per_company(&self) -> f64 {
        self.kept_bytes as f64 / self.records as f64
    }
}

impl Report {
    fn write_markdown(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        writeln!(out, "{}, {}\n", self.program, self.machine.description())?;
        if let Some(Yardstick { seconds, processor_seconds }) = self.yardstick {
            let pace = self.companies as f64 / seconds;
            writeln!(
                out,
                "The yardstick took {seconds:.1} s ({processor_seconds:.1} s of processor time): \
                 {pace:.0} rows a second.\n"
            )?;
        }
        let heads = [
            "load",
            "records",
            "s",
            "records/s",
            "processor s",
            "KB written a record",
            "memory, MB",
        ];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        rows[0].extend(["directory, MB", "s of each new million"].map(str::to_owned));
        for load in &self.loads {
            let steps = load.step_seconds().map(|seconds| format!("{seconds:.0}"));
            rows.push(vec![
                load.name.to_owned(),
                load.records.to_string(),
                format!("{:.1}", load.usage.seconds),
                format!("{:.0}", load.pace()),
                format!("{:.1}", load.usage.processor_seconds),
                format!("{:.2}", load.written_kb()),
                format!("{:.0}", load.usage.private_bytes as f64 / 1e6),
                format!("{:.0}", load.kept_bytes as f64 / 1e6),
                steps.collect::<Vec<_>>().join(" "),
            ]);
        }
        write_table(&rows, out)?;
        if let Some(LookUps { alone, beside, .. }) = &self.look_ups {
            writeln!(
                out,
                "\nLook-ups, each charged: {:.0} a second (p99 {:.1} ms); beside a load {:.0} \
                 (p99 {:.1} ms).",
                alone.requests_per_second,
                alone.p99_micros / 1e3,
                beside.requests_per_second,
                beside.p99_micros / 1e3
            )?;
        }
        Ok(())
    }
}
