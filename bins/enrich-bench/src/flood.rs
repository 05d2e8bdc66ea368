//! `enrich-bench flood`: measures how much a flood of name searches slows down look-ups by domain.
//!
//! One load generator sends look-ups by domain, first alone, and then together with a second load
//! generator, which sends misspelt names. The server searches for these names, and the searches
//! wait in a bounded queue. When the queue is full, the server refuses further searches
//! immediately. The second load generator then sends the next names without a pause.

use std::fs::{self, File};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, anyhow, ensure};
use clap::Args;
use serde::Serialize;

use crate::bench_args::BenchArgs;
use crate::call::Call;
use crate::folder::{self, FolderSpec, Scratch, World};
use crate::generated::Generated;
use crate::machine::Machine;
use crate::metrics::Tally;
use crate::names::{Kind, NameGenerator};
use crate::part::median;
use crate::prepare::prepare;
use crate::process::Process;
use crate::program::Data;
use crate::reconciliation::Reconciliation;
use crate::report::write_table;
use crate::workload::Workload;
use crate::wrk::{self, Requests, Wrk};

/// Number of misspelt names in the flood.
const NAMES: usize = 20_000;
/// The flood lasts this number of seconds longer than the measurement, so that the flood does not
/// end first.
const LONGER_SECONDS: u64 = 1;
/// The endpoint of the measured look-ups by domain.
const CALM: &str = "/v1/dtc";
/// The endpoint of the name searches that the flood sends.
const FLOODED: &str = "/v1/cuf";

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich-bench flood --scratch target/bench --companies 1000000 --flood 64,512

The load generators and the service share the processors: what the flood's own requests cost comes
off the others as well.")]
pub(crate) struct Flood {
    #[command(flatten)]
    place: BenchArgs,
    /// Number of companies in the look-up data
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    companies: u64,
    /// Number of connections that send look-ups by domain
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u16).range(1..))]
    connections: u16,
    /// Number of connections that send misspelt names; if several numbers are given, each is
    /// measured
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "64,512",
          value_parser = clap::value_parser!(u16).range(1..))]
    flood: Vec<u16>,
    /// Number of rounds; each round measures without a flood, and with each number of --flood
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// Seconds of each measurement
    #[arg(long, value_name = "SECONDS", default_value_t = 8,
          value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// The load generator
    #[arg(long, value_name = "FILE", default_value = "wrk")]
    wrk: PathBuf,
}

#[derive(Debug, Serialize)]
struct Report {
    program: String,
    machine: Machine,
    companies: u64,
    connections: u16,
    rounds: u64,
    seconds: u64,
    rows: Vec<Row>,
}

/// The results of look-ups by domain during a flood of misspelt names over `flood` connections. If
/// `flood` is 0, there was no flood.
#[derive(Debug, Serialize)]
struct Row {
    flood: u16,
    requests_per_second: f64,
    p99_micros: f64,
    /// The ratio of `requests_per_second` to the same figure without a flood.
    to_alone: f64,
    /// How many of the flood's name searches the service answered per second.
    searched_per_second: f64,
    refused_per_second: f64,
    /// The private memory of the service at the end of the measurement, in bytes.
    private_bytes: f64,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    requests_per_second: f64,
    p99_micros: f64,
    searched_per_second: f64,
    refused_per_second: f64,
    private_bytes: f64,
}

/// A running service and its process, and the load generators for the look-ups and for the flood.
struct Setup {
    address: SocketAddr,
    process: Process,
    calm: Wrk,
    flooding: Wrk,
    reconciliation: Reconciliation,
}

impl Flood {
    pub(crate) fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
        wrk::find(&self.wrk)?;
        let scratch = self.place.scratch()?;
        let measure = |folder: &Path, err: &mut dyn Write| self.measure(&scratch, folder, err);
        let report = BenchArgs::in_new_folder(&scratch, "flood-", err, measure)?;
        self.place.write(&report)?;
        Ok(report.write_markdown(out)?)
    }

    fn measure(
        &self,
        scratch: &Scratch,
        folder: &Path,
        err: &mut dyn Write,
    ) -> anyhow::Result<Report> {
        let program = self.place.program()?;
        let spec = FolderSpec { companies: self.companies, charges: 0 };
        let keys = prepare(scratch, &program, spec, err)?;
        let data = folder.join("data");
        folder::copy(&scratch.folder(spec), &data)?;
        let data = Data::folder(&data);
        let world = World { spec, generated: Generated::new(self.companies), keys };
        let before = program.prove(&data)?;
        let serving = program.serve(&data, &[], File::create(folder.join("service.log"))?)?;
        let address = serving.address();
        let mut setup = Setup {
            address,
            process: Process::with_id(serving.process_id())?,
            calm: self.calm(&world, folder)?,
            flooding: self.flooding(&world, folder)?,
            reconciliation: Reconciliation::new(
                &program,
                data.clone(),
                vec![address],
                program.balances(&data)?,
            ),
        };
        let numbers: Vec<u16> = std::iter::once(0).chain(self.flood.iter().copied()).collect();
        let mut seen = vec![Vec::new(); numbers.len()];
        for round in 0..=self.rounds {
            for (number, seen) in numbers.iter().zip(&mut seen) {
                let one = self.part(&mut setup, *number, round)?;
                writeln!(err, "round {round}, a flood of {number}: {one:?}")?;
                // Round 0 is the warm-up, so its results are not used.
                if round > 0 {
                    seen.push(one);
                }
            }
        }
        let (charges, credits) = setup.reconciliation.charged();
        serving.stop()?;
        let after = program.prove(&data)?;
        let grown = (after.charges - before.charges, after.charged - before.charged);
        ensure!(
            grown == (charges, credits),
            "the service charged {charges} answers, {credits} credits in all, and the ledger grew \
             by {grown:?}"
        );
        Ok(Report {
            program: program.version()?,
            machine: Machine::with_data_in(scratch.path())?,
            companies: self.companies,
            connections: self.connections,
            rounds: self.rounds,
            seconds: self.seconds,
            rows: rows(&numbers, &seen).context("nothing was measured")?,
        })
    }

    /// Puts load on the service: look-ups by domain, and a flood of names over `flood` connections
    /// (no flood if `flood` is 0). Then checks the service's counters: every domain must have been
    /// found, and every name must have been searched for or refused.
    fn part(&self, setup: &mut Setup, flood: u16, round: u64) -> anyhow::Result<Seen> {
        let (calm, seconds) = (usize::from(self.connections), self.seconds);
        let summary = thread::scope(|scope| {
            let flooding = (flood > 0).then(|| {
                let load = (usize::from(flood), seconds + LONGER_SECONDS);
                let (wrk, address) = (&setup.flooding, setup.address);
                scope.spawn(move || wrk.run(&[address], load, round, "flood"))
            });
            let summary = setup.calm.run(&[setup.address], (calm, seconds), round, "calm")?;
            if let Some(flooding) = flooding {
                // The summary of the flood is ignored, because wrk counts refused searches as
                // failures. The service's counters are checked instead.
                flooding.join().map_err(|_| anyhow!("the flood panicked"))??;
            }
            anyhow::Ok(summary)
        })?;
        summary.check()?;
        let private_bytes = setup.process.private_bytes()? as f64;
        let searches = searches(&setup.reconciliation.reconcile()?, flood > 0)?;
        let lasted = (seconds + LONGER_SECONDS) as f64;
        Ok(Seen {
            requests_per_second: summary.requests_a_second(),
            p99_micros: summary.p99 as f64,
            searched_per_second: searches.0 as f64 / lasted,
            refused_per_second: searches.1 as f64 / lasted,
            private_bytes,
        })
    }

    fn calm(&self, world: &World, folder: &Path) -> anyhow::Result<Wrk> {
        let calls = Workload::Found.redraw(world, 1)?.context("there are no calls")?;
        let keys = world.keys.many.clone();
        self.wrk(&folder.join("calm"), &Requests { calls, keys, fresh_after: None })
    }

    /// Returns the load generator that sends the flood of misspelt names. All its requests use one
    /// account.
    fn flooding(&self, world: &World, folder: &Path) -> anyhow::Result<Wrk> {
        let names = NameGenerator::new(world.generated, 1).names(Kind::Misspelt, NAMES)?;
        let keys = vec![world.keys.hot.clone()];
        let call = |name: &str| Call::new(FLOODED, "companyName", name);
        let calls =
            names.iter().map(|name| call(&name.text).halves(world.keys.hot.len(), None)).collect();
        self.wrk(&folder.join("flooding"), &Requests { calls, keys, fresh_after: None })
    }

    fn wrk(&self, folder: &Path, requests: &Requests) -> anyhow::Result<Wrk> {
        fs::create_dir(folder).with_context(|| folder.display().to_string())?;
        Wrk::new(&self.wrk, folder, requests)
    }
}

/// Returns two numbers of searches by name: how many were answered, and how many were refused.
/// `is_flooded` says whether this run had a flood: many searches by name beside the look-ups by
/// domain.
///
/// # Errors
///
/// - When a look-up by domain was refused or found nothing.
/// - When an answered search was counted neither as "found" nor as "not found".
/// - When a run without a flood has answered searches, or a run with a flood has none.
/// - When another endpoint was called.
fn searches(tally: &Tally, is_flooded: bool) -> anyhow::Result<(u64, u64)> {
    let calm = tally.0.get(CALM).copied().unwrap_or_default();
    ensure!(
        (calm.refused, calm.missed) == (0, 0) && calm.found == calm.answered,
        "not every domain was found: {calm:?}"
    );
    let flooded = tally.0.get(FLOODED).copied().unwrap_or_default();
    ensure!(
        flooded.answered == flooded.found + flooded.missed && is_flooded == (flooded.answered > 0),
        "not every name was searched for or refused: {flooded:?}"
    );
    let others = tally.0.keys().find(|path| ![CALM, FLOODED].contains(&path.as_str()));
    ensure!(others.is_none(), "{others:?} was answered, too");
    Ok((flooded.answered, flooded.refused))
}

/// Returns the report's row for each size of the flood (its number of connections), with the
/// medians over the rounds. The row without a flood comes first.
fn rows(numbers: &[u16], seen: &[Vec<Seen>]) -> Option<Vec<Row>> {
    let of = |seen: &[Seen], measure: fn(&Seen) -> f64| median(seen.iter().map(measure).collect());
    let alone = of(seen.first()?, |one| one.requests_per_second)?;
    let row = |(flood, seen): (&u16, &Vec<Seen>)| {
        let requests_per_second = of(seen, |one| one.requests_per_second)?;
        Some(Row {
            flood: *flood,
            requests_per_second,
            p99_micros: of(seen, |one| one.p99_micros)?,
            to_alone: requests_per_second / alone,
            searched_per_second: of(seen, |one| one.searched_per_second)?,
            refused_per_second: of(seen, |one| one.refused_per_second)?,
            private_bytes: of(seen, |one| one.private_bytes)?,
        })
    };
    numbers.iter().zip(seen).map(row).collect()
}

impl Report {
    fn write_markdown(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "{} on {}.", self.program, self.machine.description())?;
        writeln!(
            out,
            "Look-ups by domain over {} connections among {} companies, alone and beside a flood \
             of misspelt names; medians of {} rounds of {} seconds.\n",
            self.connections, self.companies, self.rounds, self.seconds
        )?;
        let titles = [
            "flood of",
            "requests/s",
            "to alone",
            "p99 µs",
            "searched/s",
            "refused/s",
            "RssAnon MB",
        ];
        let mut table = vec![titles.map(str::to_owned).to_vec()];
        table.extend(self.rows.iter().map(|row| {
            vec![
                row.flood.to_string(),
                format!("{:.0}", row.requests_per_second),
                format!("{:.2}", row.to_alone),
                format!("{:.0}", row.p99_micros),
                format!("{:.0}", row.searched_per_second),
                format!("{:.0}", row.refused_per_second),
                format!("{:.1}", row.private_bytes / 1e6),
            ]
        }));
        write_table(&table, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Counts;

    fn seen(requests_per_second: f64) -> Seen {
        Seen {
            requests_per_second,
            p99_micros: 1.0,
            searched_per_second: 1.0,
            refused_per_second: 0.0,
            private_bytes: 1.0,
        }
    }

    #[test]
    fn what_a_flood_takes_is_told_by_the_medians() {
        let all = [vec![seen(90.0), seen(100.0), seen(300.0)], vec![seen(40.0)]];
        let rows = rows(&[0, 64], &all).unwrap();
        assert!((rows[0].to_alone - 1.0).abs() < 1e-9);
        assert!((rows[1].to_alone - 0.4).abs() < 1e-9);
    }

    #[test]
    fn a_domain_that_is_refused_is_one_too_many() {
        let calm = Counts { answered: 5, found: 5, credits: 5, ..Counts::default() };
        let flood =
            Counts { answered: 3, found: 1, missed: 2, refused: 7, credits: 1, replayed: 0 };
        let tally = |calm, flood| {
            Tally([(CALM.to_owned(), calm), (FLOODED.to_owned(), flood)].into_iter().collect())
        };
        assert_eq!(searches(&tally(calm, flood), true).unwrap(), (3, 7));
        assert!(searches(&tally(Counts { refused: 1, ..calm }, flood), true).is_err());
        assert!(searches(&tally(calm, Counts { missed: 1, ..flood }), true).is_err());
        assert!(searches(&tally(calm, flood), false).is_err());
    }
}
