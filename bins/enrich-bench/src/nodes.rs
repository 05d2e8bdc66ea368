//! `enrich-bench nodes`: measures several servers that share one PostgreSQL database, against one
//! server with a data folder.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;

use crate::bench_args::BenchArgs;
use crate::contest::{Setup, Target};
use crate::copy::copy_to_database;
use crate::folder::{self, FolderSpec, Scratch, World};
use crate::generated::Generated;
use crate::limit::{Bound, Limit, check_limits, write_limits};
use crate::load_args::LoadArgs;
use crate::postgres::Postgres;
use crate::prepare::prepare;
use crate::program::{Data, Program};
use crate::report::Report;
use crate::workload::Workload;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich-bench nodes --scratch target/bench
  enrich-bench nodes --scratch target/bench --workloads found,missing,hot,keyed --delay 2 --standby

Needs PostgreSQL's programs on this machine (`apt-get install postgresql`). The yardstick, one
server over a data folder, and the nodes are loaded in turn; the connections are spread evenly over
the nodes. Database, servers and load generator share this machine. All ledgers are verified at the
end.

Exit status: 1 also if the nodes are slower than the limit of --least.")]
pub(crate) struct Nodes {
    #[command(flatten)]
    place: BenchArgs,
    /// Number of companies in the look-up data
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    companies: u64,
    /// Number of servers that share the database
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u16).range(1..))]
    nodes: u16,
    /// Workloads
    #[arg(long, value_delimiter = ',', default_value = "found")]
    workloads: Vec<Workload>,
    #[command(flatten)]
    load: LoadArgs,
    /// Round-trip delay between each server and the database, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0)]
    delay: u64,
    /// Give the database a synchronous standby
    #[arg(long)]
    standby: bool,
    /// Minimum rate of all servers that share the database, as a ratio to the rate of the server
    /// with a data folder
    #[arg(long, value_name = "RATIO", default_value_t = 0.4)]
    least: f64,
}

#[derive(Debug, Serialize)]
struct NodesReport {
    #[serde(flatten)]
    report: Report,
    limits: Vec<Limit>,
}

impl Nodes {
    pub(crate) fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
        self.load.check(&self.workloads)?;
        let fewest = self.load.connections.iter().min();
        ensure!(fewest.is_some_and(|n| *n >= self.nodes), "there are fewer connections than nodes");
        let scratch = self.place.scratch()?;
        let measure = |folder: &Path, err: &mut dyn Write| self.measure(&scratch, folder, err);
        let report = BenchArgs::in_new_folder(&scratch, "nodes-", err, measure)?;
        let limits = report.to_first().map(|(workload, connections, ratio)| {
            let what = format!(
                "{workload}, {connections} connections: {} over PostgreSQL, of one over a folder",
                self.nodes
            );
            Limit::new(what, ratio, Bound::AtLeast(self.least))
        });
        let report = NodesReport { limits: limits.collect(), report };
        self.place.write(&report)?;
        report.report.write_markdown(out)?;
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
        let keys = prepare(scratch, &program, spec, err)?;
        let postgres = Postgres::start(Duration::from_millis(self.delay), self.standby)?;
        let prepared = scratch.folder(spec);
        let single = folder.join("single");
        folder::copy(&prepared, &single)?;
        let world = World { spec, generated: Generated::new(self.companies), keys };
        let servers = self.make_nodes(&program, &prepared, folder, &postgres)?;
        let targets = vec![
            Target {
                name: "one folder".to_owned(),
                world: world.clone(),
                servers: vec![Data::folder(&single)],
            },
            Target { name: format!("{} over PostgreSQL", self.nodes), world, servers },
        ];
        let (prices, wrk) = (program.prices()?, self.load.wrk.clone());
        let setup = Setup { program, wrk, prices, folder: folder.to_owned(), targets };
        let mut report = self.load.measure(&setup, &self.workloads, scratch, err)?;
        let standby = if self.standby { "a" } else { "no" };
        report.notes.push(format!("The database has {standby} standby, {} ms away", self.delay));
        Ok(report)
    }

    /// Makes the data folders of the nodes, and copies the accounts to the database. All folders
    /// have the same look-up data.
    fn make_nodes(
        &self,
        program: &Program,
        prepared: &Path,
        folder: &Path,
        postgres: &Postgres,
    ) -> anyhow::Result<Vec<Data>> {
        let folders: Vec<PathBuf> =
            (1..=self.nodes).map(|number| folder.join(format!("node-{number}"))).collect();
        let first = folders.first().context("there are no nodes")?;
        folder::copy(prepared, first)?;
        copy_to_database(program, first, &postgres.database.url())?;
        for other in folders.iter().skip(1) {
            folder::copy_node(first, other)?;
        }
        Ok(folders.iter().map(|folder| Data::with_store(folder, postgres.url())).collect())
    }
}
