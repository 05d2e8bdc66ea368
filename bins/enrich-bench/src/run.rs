//! `enrich-bench run`: prepares the folders, measures, verifies the ledgers and writes the report.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;

use crate::bench_args::BenchArgs;
use crate::contest::{Account, Contest, Load, Setup};
use crate::folder::{self, FolderSpec, Scratch, World};
use crate::generated::Generated;
use crate::machine::Machine;
use crate::part::Part;
use crate::prepare::prepare;
use crate::program::{Program, Proof};
use crate::report::{FirstAnswers, Report, Row, Settings};
use crate::workload::Workload;
use crate::wrk;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich-bench run --scratch target/bench
  enrich-bench run --scratch target/bench --companies 10000,10000000 --workloads found,missing
  enrich-bench run --scratch target/bench --ledger-charges 10000000 --workloads found

Every workload is run on the yardstick and on the service in turn, in one run; ratios are those of
the medians over the rounds. A run counts only if every answer was the expected one and the ledger
holds exactly the charges that were answered: anything else is an error.")]
pub(crate) struct Run {
    #[command(flatten)]
    place: BenchArgs,
    /// Companies in the directory; each of several numbers is served and measured
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1000000",
          value_parser = clap::value_parser!(u64).range(1..))]
    companies: Vec<u64>,
    /// Measure one more service: the first number of companies, with this many charges in the
    /// ledger
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    ledger_charges: Option<u64>,
    /// Workloads
    #[arg(long, value_delimiter = ',', default_value = "found,hot,missing,mixed,repeats")]
    workloads: Vec<Workload>,
    /// Connections of the load generator; each workload runs with each of several numbers
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "256",
          value_parser = clap::value_parser!(u16).range(1..))]
    connections: Vec<u16>,
    /// How often each server is measured
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// Seconds of each measurement
    #[arg(long, value_name = "SECONDS", default_value_t = 8,
          value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Seconds of warm-up of each server
    #[arg(long, value_name = "SECONDS", default_value_t = 3,
          value_parser = clap::value_parser!(u64).range(1..))]
    warmup: u64,
    /// The load generator
    #[arg(long, value_name = "FILE", default_value = "wrk")]
    wrk: PathBuf,
}

/// What is known of a folder's ledger: its totals before the run, and the charges of the run.
struct Ledger {
    before: Proof,
    charges: u64,
    credits: u64,
}

impl Run {
    pub(crate) fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
        wrk::find(&self.wrk)?;
        ensure!(are_distinct(&self.workloads), "a workload is named twice");
        ensure!(are_distinct(&self.connections), "a number of connections is named twice");
        ensure!(are_distinct(&self.companies), "a number of companies is named twice");
        let scratch = self.place.scratch()?;
        let measure = |folder: &Path, err: &mut dyn Write| self.measure(&scratch, folder, err);
        let report = BenchArgs::in_new_folder(&scratch, "run-", err, measure)?;
        self.place.write(&report)?;
        Ok(report.write_markdown(out)?)
    }

    fn measure(
        &self,
        scratch: &Scratch,
        folder: &Path,
        err: &mut dyn Write,
    ) -> anyhow::Result<Report> {
        let setup = self.setup(scratch, folder, err)?;
        let ledgers = setup.worlds.iter().map(|(_, folder)| {
            let before = setup.program.prove(folder)?;
            anyhow::Ok(Ledger { before, charges: 0, credits: 0 })
        });
        let mut ledgers = ledgers.collect::<Result<Vec<_>, _>>()?;
        let mut report = Report {
            program: setup.program.version()?,
            machine: Machine::with_data_in(scratch.path())?,
            settings: Settings {
                rounds: self.rounds,
                seconds: self.seconds,
                warmup_seconds: self.warmup,
            },
            rows: Vec::new(),
            first_answers: Vec::new(),
            notes: Vec::new(),
        };
        let mut first_answers = vec![Vec::new(); ledgers.len()];
        for workload in self.workloads.iter().copied() {
            let accounts = self.contest(&setup, workload, &mut report, err);
            let accounts = accounts.with_context(|| format!("workload {workload}"))?;
            for (place, account) in accounts.into_iter().enumerate() {
                let Account { charges, credits, first_answer } = account;
                ledgers[place].charges += charges;
                ledgers[place].credits += credits;
                first_answers[place].push(first_answer.as_secs_f64());
            }
        }
        for (((world, folder), ledger), seconds) in
            setup.worlds.iter().zip(ledgers).zip(first_answers)
        {
            let name = world.spec.description();
            writeln!(err, "proving the ledger, and checking both databases: {name}")?;
            let Proof { charges, seconds: took, .. } =
                ledger.prove(&setup.program, folder).with_context(|| name.clone())?;
            let note = format!("{name}: `ledger verify` walked {charges} charges in {took:.1} s");
            report.notes.push(note);
            report.first_answers.push(FirstAnswers { server: name, seconds });
        }
        Ok(report)
    }

    /// Prepares the data folders of this run, and copies them.
    fn setup(
        &self,
        scratch: &Scratch,
        folder: &Path,
        err: &mut dyn Write,
    ) -> anyhow::Result<Setup> {
        let program = self.place.program()?;
        let plain = self.companies.iter().map(|companies| (*companies, 0));
        let charged = self.companies.first().copied().zip(self.ledger_charges);
        let mut worlds = Vec::new();
        for (companies, charges) in plain.chain(charged) {
            let spec = FolderSpec { companies, charges };
            let keys = prepare(scratch, &program, spec, err)?;
            let copy = folder.join(format!("data-{}", worlds.len()));
            folder::copy(&scratch.folder(spec), &copy)?;
            worlds.push((World { spec, generated: Generated::new(companies), keys }, copy));
        }
        let prices = program.prices()?;
        Ok(Setup { program, wrk: self.wrk.clone(), prices, folder: folder.to_owned(), worlds })
    }

    /// Runs a workload with each number of connections, and adds its rows to the report.
    fn contest(
        &self,
        setup: &Setup,
        workload: Workload,
        report: &mut Report,
        err: &mut dyn Write,
    ) -> anyhow::Result<Vec<Account>> {
        let mut contest = Contest::open(setup, workload)?;
        let notes = contest.notes.drain(..);
        report.notes.extend(notes.map(|note| format!("{workload}, {note}")));
        for connections in self.connections.iter().copied().map(usize::from) {
            let warm = Load { connections, seconds: self.warmup, round: 0 };
            contest.round(setup, warm)?;
            let mut rounds = Vec::new();
            for round in 1..=self.rounds {
                let load = Load { connections, seconds: self.seconds, round };
                let parts = contest.round(setup, load)?;
                writeln!(
                    err,
                    "{workload}, {connections} connections, round {round}: {}",
                    rates(&parts)
                )?;
                rounds.push(parts);
            }
            let services = setup.worlds.iter().map(|(world, _)| world.spec.description());
            let servers = std::iter::once("yardstick".to_owned()).chain(services);
            report.rows.extend(Row::all(workload, connections, servers, &rounds));
        }
        contest.close()
    }
}

impl Ledger {
    /// Checks that the ledger of `folder` adds up, that it has grown by exactly the charges that
    /// were made, and that both databases are sound.
    fn prove(&self, program: &Program, folder: &Path) -> anyhow::Result<Proof> {
        let after = program.prove(folder)?;
        let grown = (
            after.charges.checked_sub(self.before.charges),
            after.charged.checked_sub(self.before.charged),
        );
        ensure!(
            grown == (Some(self.charges), Some(self.credits)),
            "the services charged {} answers, {} credits in all, and the ledger went from {:?} \
             to {after:?}",
            self.charges,
            self.credits,
            self.before
        );
        program.check(folder)?;
        Ok(after)
    }
}

/// Returns the requests per second of each server, as a progress message.
fn rates(parts: &[Part]) -> String {
    let rates = parts.iter().map(|part| format!("{:.0}/s", part.requests_per_second));
    rates.collect::<Vec<_>>().join(", ")
}

fn are_distinct<T: PartialEq>(items: &[T]) -> bool {
    items.iter().enumerate().all(|(place, item)| !items[..place].contains(item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_twice_is_noticed() {
        assert!(are_distinct(&[1, 2, 3]) && are_distinct::<u8>(&[]));
        assert!(!are_distinct(&[1, 2, 1]));
    }
}
