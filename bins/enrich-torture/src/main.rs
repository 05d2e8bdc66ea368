//! Tests the ledger of a data folder with kills, power cuts, full disks and damaged files (`just
//! torture`). Also tests the ledger in PostgreSQL with failovers, killed nodes and cut connections
//! (`just torture-pg`).
//!
//! This program uses only HTTP, the command line and the ports (the traits that a store
//! implements). So it can also test another implementation of the ledger. It contains no part of
//! the ledger itself.

mod attack;
mod audit;
mod broken;
mod call_log;
mod cli;
mod flip;
mod fsync;
mod full;
mod judge;
mod kill;
mod load;
mod mount;
mod pg;
mod power;
mod report;
mod setting;
mod tally;
mod trial;
mod world;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use crate::broken::Broken;
use crate::report::Console;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let mut out = io::stdout();
    let mut console = Console { out: &mut out };
    let Err(error) = cli.run(&mut console) else {
        return ExitCode::SUCCESS;
    };
    let is_broken = error.downcast_ref::<Broken>().is_some();
    // The error of a failed write is ignored, because the exit status also reports `error`.
    let _ = console.print(format_args!("error: {error:#}"));
    ExitCode::from(if is_broken { 1 } else { 2 })
}
