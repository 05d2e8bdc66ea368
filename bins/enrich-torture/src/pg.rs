//! Tortures of the ledger in PostgreSQL: failovers, killed nodes and cut connections, while several
//! nodes charge on one database.
//!
//! Nodes are processes that charge through the Rust interface of the store, without HTTP. Each
//! torture starts its own PostgreSQL servers in temporary folders, and new servers after every
//! twenty rounds.

mod call;
mod cut;
mod failover;
mod fleet;
mod judge;
mod kill;
mod node;
mod replication;
mod tally;
mod trial;
mod world;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Subcommand;
use enrich_testkit::postgres::skip_without_postgres;

pub(crate) use node::{NodeArgs, run as run_node};

use crate::report::{Console, Summary};

/// Number of rounds after which new PostgreSQL servers are used.
const ROUNDS_PER_DATABASE: u64 = 20;
/// Number of rounds after which the judge checks all calls: it compares the results that the
/// clients got with the rows of the ledger.
const ROUNDS_PER_JUDGEMENT: u64 = 10;

/// A torture of the ledger in PostgreSQL.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Case {
    /// Fail the primary under load (kill, freeze, freeze and wake, immediate stop), and promote its
    /// synchronous standby
    Failover {
        /// Number of failovers
        #[arg(long, value_name = "NUMBER", default_value_t = 100)]
        rounds: u64,
        /// Run a control with an asynchronous standby, which must lose charges. The command fails
        /// if the control loses none
        #[arg(long)]
        asynchronous: bool,
        #[command(flatten)]
        setting: Setting,
    },
    /// Kill one of three nodes under load, and start another one
    Node {
        /// Number of kills
        #[arg(long, value_name = "NUMBER", default_value_t = 100)]
        rounds: u64,
        #[command(flatten)]
        setting: Setting,
    },
    /// Hold back the bytes between nodes and the database, or cut the connections, also during
    /// COMMIT
    Cut {
        /// Number of cuts
        #[arg(long, value_name = "NUMBER", default_value_t = 60)]
        rounds: u64,
        #[command(flatten)]
        setting: Setting,
    },
}

/// The arguments that all tortures of the ledger in PostgreSQL have.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Setting {
    /// Seed of the random choices [default: a new seed]
    #[arg(long, value_name = "NUMBER", default_value_t = fastrand::u64(..1 << 20))]
    pub(crate) seed: u64,
    /// Number of clients of each node, each with one call at a time; with more than 256, a node
    /// uses all its lanes (connections for charges)
    #[arg(long, value_name = "NUMBER", default_value_t = 300)]
    pub(crate) clients: usize,
    /// Folder for the data; the torture creates a folder in it, and removes it at the end
    #[arg(long, value_name = "FOLDER", default_value_os_t = std::env::temp_dir())]
    pub(crate) work: PathBuf,
    /// Also write the summary to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

impl Case {
    /// Returns the path of the file for the summary as JSON; `None` if no file was requested.
    pub(crate) fn json(&self) -> Option<PathBuf> {
        self.setting().json.clone()
    }

    fn setting(&self) -> &Setting {
        match self {
            Self::Failover { setting, .. }
            | Self::Node { setting, .. }
            | Self::Cut { setting, .. } => setting,
        }
    }

    pub(crate) fn run(&self, console: &mut Console<'_>) -> Result<Summary> {
        let setting = self.setting();
        ensure!(!skip_without_postgres(), "PostgreSQL is not installed");
        ensure!(setting.clients > 0, "--clients 0 would ask nothing");
        console.print(format_args!("seed {}", setting.seed))?;
        match self {
            Self::Failover { rounds, asynchronous, .. } => {
                failover::run(setting, *rounds, !asynchronous, console)
            }
            Self::Node { rounds, .. } => kill::run(setting, *rounds, console),
            Self::Cut { rounds, .. } => cut::run(setting, *rounds, console),
        }
    }
}
