//! The arguments that describe a load (connections, rounds, seconds), and the measurement of
//! several services under the same workloads.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Args;

use crate::contest::{Account, Contest, Load, Setup};
use crate::folder::Scratch;
use crate::machine::Machine;
use crate::part::Part;
use crate::program::{Data, Program, Proof};
use crate::report::{FirstAnswers, Report, Row, Settings};
use crate::workload::Workload;
use crate::wrk;

// Arguments of `run` and `nodes`. This is no doc comment, because clap would show a doc comment as
// the help of both commands.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Number of connections of the load generator; if several numbers are given, each workload
    /// runs with each number
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "256",
          value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) connections: Vec<u16>,
    /// Number of measurements of each server
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
    pub(crate) wrk: PathBuf,
}

/// The totals of a service's ledger before the run, and the charges that the run made.
struct Ledger {
    before: Proof,
    charges: u64,
    credits: u64,
}

impl LoadArgs {
    /// Checks the arguments before anything is prepared.
    pub(crate) fn check(&self, workloads: &[Workload]) -> anyhow::Result<()> {
        wrk::find(&self.wrk)?;
        ensure!(are_distinct(workloads), "a workload is named twice");
        ensure!(are_distinct(&self.connections), "a number of connections is named twice");
        Ok(())
    }

    /// Measures the services, verifies their ledgers and checks their databases.
    pub(crate) fn measure(
        &self,
        setup: &Setup,
        workloads: &[Workload],
        scratch: &Scratch,
        err: &mut dyn Write,
    ) -> anyhow::Result<Report> {
        let ledgers = setup.targets.iter().map(|target| {
            let before = setup.program.prove(target.data()?)?;
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
        for workload in workloads.iter().copied() {
            let accounts = self.contest(setup, workload, &mut report, err);
            let accounts = accounts.with_context(|| format!("workload {workload}"))?;
            for (place, account) in accounts.into_iter().enumerate() {
                let Account { charges, credits, first_answer } = account;
                ledgers[place].charges += charges;
                ledgers[place].credits += credits;
                first_answers[place].push(first_answer.as_secs_f64());
            }
        }
        for ((target, ledger), seconds) in setup.targets.iter().zip(ledgers).zip(first_answers) {
            let name = target.name.clone();
            writeln!(err, "proving the ledger, and checking both databases: {name}")?;
            let Proof { charges, seconds: took, .. } =
                ledger.prove(&setup.program, target.data()?).with_context(|| name.clone())?;
            let note = format!("{name}: `ledger verify` walked {charges} charges in {took:.1} s");
            report.notes.push(note);
            report.first_answers.push(FirstAnswers { server: name, seconds });
        }
        Ok(report)
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
            let services = setup.targets.iter().map(|target| target.name.clone());
            let servers = std::iter::once("yardstick".to_owned()).chain(services);
            report.rows.extend(Row::all(workload, connections, servers, &rounds));
        }
        contest.close()
    }
}

impl Ledger {
    /// Checks the ledger: its sums must be right, and it must have grown by exactly the charges of
    /// this run. Also checks that the databases are intact.
    fn prove(&self, program: &Program, data: &Data) -> anyhow::Result<Proof> {
        let after = program.prove(data)?;
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
        program.check(data)?;
        Ok(after)
    }
}

/// Returns the requests per second of each server, as a progress message.
fn rates(parts: &[Part]) -> String {
    let rates = parts.iter().map(|part| format!("{:.0}/s", part.requests_per_second));
    rates.collect::<Vec<_>>().join(", ")
}

pub(crate) fn are_distinct<T: PartialEq>(items: &[T]) -> bool {
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
