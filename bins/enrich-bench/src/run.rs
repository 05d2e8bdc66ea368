//! `enrich-bench run`: prepares the data folders, measures a service with each of them, and writes
//! the report.

use std::io::Write;
use std::path::Path;

use anyhow::ensure;
use clap::Args;

use crate::bench_args::BenchArgs;
use crate::contest::{Setup, Target};
use crate::folder::{self, FolderSpec, Scratch, World};
use crate::generated::Generated;
use crate::load_args::{LoadArgs, are_distinct};
use crate::prepare::prepare;
use crate::program::Data;
use crate::report::Report;
use crate::workload::Workload;

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
    /// Number of companies in the look-up data; if several numbers are given, a server with each
    /// number is measured
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1000000",
          value_parser = clap::value_parser!(u64).range(1..))]
    companies: Vec<u64>,
    /// Also measure a server with the first number of companies and this number of charges in the
    /// ledger
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    ledger_charges: Option<u64>,
    /// Workloads
    #[arg(long, value_delimiter = ',', default_value = "found,hot,missing,mixed,repeats")]
    workloads: Vec<Workload>,
    #[command(flatten)]
    load: LoadArgs,
}

impl Run {
    pub(crate) fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
        self.load.check(&self.workloads)?;
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
        self.load.measure(&setup, &self.workloads, scratch, err)
    }

    /// Prepares the data folders of this run, and copies them into `folder`. The servers use the
    /// copies, so that a later run can use the prepared folders again.
    fn setup(
        &self,
        scratch: &Scratch,
        folder: &Path,
        err: &mut dyn Write,
    ) -> anyhow::Result<Setup> {
        let program = self.place.program()?;
        let plain = self.companies.iter().map(|companies| (*companies, 0));
        let charged = self.companies.first().copied().zip(self.ledger_charges);
        let mut targets = Vec::new();
        for (companies, charges) in plain.chain(charged) {
            let spec = FolderSpec { companies, charges };
            let keys = prepare(scratch, &program, spec, err)?;
            let copy = folder.join(format!("data-{}", targets.len()));
            folder::copy(&scratch.folder(spec), &copy)?;
            let world = World { spec, generated: Generated::new(companies), keys };
            let (name, servers) = (spec.description(), vec![Data::folder(&copy)]);
            targets.push(Target { name, world, servers });
        }
        let prices = program.prices()?;
        Ok(Setup {
            program,
            wrk: self.load.wrk.clone(),
            prices,
            folder: folder.to_owned(),
            targets,
        })
    }
}
