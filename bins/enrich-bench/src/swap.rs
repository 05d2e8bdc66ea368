//! `enrich-bench swap`: measures look-ups while nodes change to another snapshot of the look-up
//! data, and while they forget an email address.

mod callers;
mod fleet;
mod seconds;

use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;

use crate::bench_args::BenchArgs;
use crate::folder::{FolderSpec, Scratch};
use crate::generated::Generated;
use crate::limit::{Bound, Limit, check_limits, write_limits};
use crate::machine::Machine;
use crate::report::write_table;
use crate::swap::callers::{Called, Callers};
use crate::swap::fleet::{Fleet, Marker};
use crate::swap::seconds::{Seconds, Window};

/// Maximum time that all nodes may take to change to a snapshot. If they take longer, the
/// measurement fails.
const CHANGED_WITHIN: Duration = Duration::from_secs(900);
/// The limit, in seconds, for the time until no node answers with a forgotten email address.
const FORGOTTEN_WITHIN: f64 = 2.0;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich-bench swap --scratch target/bench
  enrich-bench swap --scratch target/bench --companies 1000000

Needs PostgreSQL's programs on this machine (`apt-get install postgresql`). Starts nodes that answer
from snapshots, and sends them look-ups at a constant rate, each of which must find its company.
Meanwhile publishes a directory with one more company, goes back to the earlier snapshot and forward
again, and forgets an address. The ledger is verified at the end.

Exit status: 1 also if a limit does not hold.")]
pub(crate) struct Swap {
    #[command(flatten)]
    place: BenchArgs,
    /// Number of companies in the look-up data
    #[arg(long, value_name = "N", default_value_t = 100_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    companies: u64,
    /// Number of servers that share the database
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u16).range(1..))]
    nodes: u16,
    /// Look-ups per second, over all nodes together
    #[arg(long, value_name = "N", default_value_t = 300,
          value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Seconds of load before the first change, and after each change
    #[arg(long, value_name = "SECONDS", default_value_t = 15,
          value_parser = clap::value_parser!(u64).range(2..))]
    seconds: u64,
    /// Maximum growth of the 99th percentile of the latency, as a ratio
    #[arg(long, value_name = "RATIO", default_value_t = 3.0)]
    most: f64,
}

/// The times and durations of the events of a run, in seconds. Times are counted from the beginning
/// of the load.
#[derive(Debug, Default, Serialize)]
struct Times {
    publish_began: f64,
    publish_ended: f64,
    /// The times at which the first node and the last node began to answer from the new snapshot.
    changed: [f64; 2],
    /// How long it took until all nodes answered from the earlier snapshot again, after the command
    /// to go back to it.
    back_seconds: f64,
    /// How long it took until all nodes answered from the new snapshot again, after the command to
    /// return from the earlier snapshot to the new one.
    forward_seconds: f64,
    forgetting_began: f64,
    /// How long it took until no node answered with the forgotten email address, after `enrich
    /// forget` had started.
    forgotten_seconds: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    program: String,
    machine: Machine,
    companies: u64,
    nodes: u16,
    rate: u32,
    times: Times,
    lookups: u64,
    failed: Vec<String>,
    windows: Vec<Window>,
    limits: Vec<Limit>,
}

impl Swap {
    pub(crate) fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
        let scratch = self.place.scratch()?;
        let measure = |folder: &Path, err: &mut dyn Write| self.measure(&scratch, folder, err);
        let report = BenchArgs::in_new_folder(&scratch, "swap-", err, measure)?;
        self.place.write(&report)?;
        report.write_markdown(out)?;
        write_limits(&report.limits, out)?;
        check_limits(&report.limits)
    }

    fn measure(
        &self,
        scratch: &Scratch,
        folder: &Path,
        err: &mut dyn Write,
    ) -> anyhow::Result<Report> {
        let program = self.place.program()?;
        let spec = FolderSpec { companies: self.companies, charges: 0 };
        let fleet = Fleet::start(scratch, folder, &program, spec, self.nodes, err)?;
        let generated = Generated::new(self.companies);
        let callers = Callers::start(fleet.addresses(), fleet.keys(), generated, self.rate)?;
        // If `change` fails, the callers (the threads that send look-ups) are stopped before the
        // error is returned. The return drops `fleet` and so ends the nodes. Look-ups that still
        // run at that moment would fail.
        let times = self.change(&fleet, callers.began(), err);
        let called = callers.stop()?;
        let times = times?;
        let asked = fleet.stop(called.found)?;
        writeln!(err, "the ledger has {asked} charges, as many as were answered")?;
        let windows = measured_windows(&called.seconds, &times);
        Ok(Report {
            program: program.version()?,
            machine: Machine::with_data_in(scratch.path())?,
            companies: self.companies,
            nodes: self.nodes,
            rate: self.rate,
            limits: self.limits(&called, &windows, &times)?,
            times,
            lookups: called.found,
            failed: called.failed,
            windows,
        })
    }

    /// Publishes a snapshot, goes back to the earlier one, goes forward again, and forgets an email
    /// address. Callers have sent look-ups to the nodes since `start`.
    fn change(&self, fleet: &Fleet, start: Instant, err: &mut dyn Write) -> anyhow::Result<Times> {
        let pause = Duration::from_secs(self.seconds);
        let mut times = Times::default();
        thread::sleep(pause);
        let marker = Marker::new();
        fleet.import(&marker)?;
        times.publish_began = start.elapsed().as_secs_f64();
        writeln!(err, "publishing a snapshot with one more company")?;
        fleet.publish()?;
        times.publish_ended = start.elapsed().as_secs_f64();
        let changed = fleet.wait_for(&marker, true, CHANGED_WITHIN)?;
        times.changed = changed.map(|at| at.duration_since(start).as_secs_f64());
        thread::sleep(pause);
        writeln!(err, "going back to the first snapshot, and forward again")?;
        let began = Instant::now();
        fleet.answer_from(1)?;
        let [_, all] = fleet.wait_for(&marker, false, CHANGED_WITHIN)?;
        times.back_seconds = all.duration_since(began).as_secs_f64();
        thread::sleep(pause);
        let began = Instant::now();
        fleet.answer_from(2)?;
        let [_, all] = fleet.wait_for(&marker, true, CHANGED_WITHIN)?;
        times.forward_seconds = all.duration_since(began).as_secs_f64();
        thread::sleep(pause);
        writeln!(err, "forgetting an address")?;
        fleet.expect_address(&marker)?;
        let began = Instant::now();
        times.forgetting_began = start.elapsed().as_secs_f64();
        fleet.forget(&marker)?;
        let gone = fleet.wait_for_no_address(&marker)?;
        times.forgotten_seconds = gone.duration_since(began).as_secs_f64();
        thread::sleep(pause);
        Ok(times)
    }

    fn limits(
        &self,
        called: &Called,
        windows: &[Window],
        times: &Times,
    ) -> anyhow::Result<Vec<Limit>> {
        let [before, others @ ..] = windows else { anyhow::bail!("nothing was measured") };
        ensure!(before.median_p99_millis > 0.0, "no second before the change was measured");
        let mut limits =
            vec![Limit::new("failed look-ups", called.failed.len() as f64, Bound::AtMost(0.0))];
        limits.extend(others.iter().map(|window| {
            let what = format!("p99 of a second, median while {}, of before", window.what);
            let ratio = window.median_p99_millis / before.median_p99_millis;
            Limit::new(what, ratio, Bound::AtMost(self.most))
        }));
        limits.push(Limit::new(
            "a forgotten address is gone from all nodes, seconds",
            times.forgotten_seconds,
            Bound::AtMost(FORGOTTEN_WITHIN),
        ));
        Ok(limits)
    }
}

/// Returns the latencies of the look-ups in each phase of the run, such as the phase in which the
/// nodes fetch the new snapshot. The last phase lasts until the end of the run. It includes the
/// change to the earlier snapshot and back, and the forgetting of an email address.
fn measured_windows(seconds: &Seconds, times: &Times) -> Vec<Window> {
    let [first, last] = times.changed;
    vec![
        seconds.window("nothing changed", 1.0, times.publish_began),
        seconds.window("a snapshot was published", times.publish_began, times.publish_ended),
        seconds.window("nodes fetched and prepared it", times.publish_ended, first),
        seconds.window("nodes changed to it", first - 1.0, last + 1.0),
        seconds.window("all answered from it", last + 1.0, f64::MAX),
    ]
    .into_iter()
    .filter(|window| window.seconds > 0)
    .collect()
}

impl Report {
    fn write_markdown(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let Self { program, machine, companies, nodes, rate, times, lookups, failed, .. } = self;
        writeln!(out, "{program} on {}.", machine.description())?;
        writeln!(
            out,
            "{nodes} nodes with {companies} companies, asked {rate} times a second: {lookups} \
             look-ups, {} failed.",
            failed.len()
        )?;
        for text in failed.iter().take(10) {
            writeln!(out, "- {text}")?;
        }
        let [first, last] = times.changed;
        writeln!(
            out,
            "The publication took {:.1} s; the nodes changed {:.1} to {:.1} s after it. Back took \
             {:.2} s, forward {:.2} s, forgetting {:.2} s.\n",
            times.publish_ended - times.publish_began,
            first - times.publish_ended,
            last - times.publish_ended,
            times.back_seconds,
            times.forward_seconds,
            times.forgotten_seconds
        )?;
        let head = ["while", "seconds", "median p99", "worst p99"].map(str::to_owned).to_vec();
        let rows = self.windows.iter().map(|window| {
            vec![
                window.what.to_owned(),
                window.seconds.to_string(),
                format!("{:.1} ms", window.median_p99_millis),
                format!("{:.1} ms", window.worst_p99_millis),
            ]
        });
        let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
        write_table(&rows, out).context("the report cannot be written")
    }
}
