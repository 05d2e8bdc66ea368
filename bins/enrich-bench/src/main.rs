//! Measures the service against a bare handler: `just bench`.
//!
//! This program measures Enrich from outside, over HTTP. Some parts are also measured without a
//! server: look-ups by name, imports, and charges over PostgreSQL. The code of the service and its
//! tests are in other crates.

mod bench_args;
mod call;
mod client;
mod contest;
mod copy;
mod echo;
mod flood;
mod folder;
mod generated;
mod import;
mod limit;
mod load_args;
mod machine;
mod metrics;
mod mixed;
mod names;
mod nodes;
mod part;
mod pg;
mod postgres;
mod prepare;
mod prober;
mod process;
mod program;
mod reconciliation;
mod report;
mod run;
mod swap;
mod workload;
mod wrk;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::copy::Copy;
use crate::echo::Echo;
use crate::flood::Flood;
use crate::import::Import;
use crate::names::Names;
use crate::nodes::Nodes;
use crate::pg::Pg;
use crate::prepare::Prepare;
use crate::run::Run;
use crate::swap::Swap;

/// The yardstick (the server of `enrich-bench echo`) uses the same allocator as the service, so
/// that their speeds can be compared.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures Enrich against a bare handler with the same bodies and answers
#[derive(Debug, Parser)]
#[command(
    name = "enrich-bench",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  enrich-bench run --scratch target/bench
  enrich-bench run --scratch target/bench --workloads found,hot --connections 256,64
  enrich-bench run --scratch target/bench --companies 10000,10000000 --workloads found,missing
  enrich-bench names --scratch target/bench --companies 70000,1000000 --seconds 20
  enrich-bench flood --scratch target/bench --companies 1000000
  enrich-bench pg --cases bare400,accounts400 --rounds 5
  enrich-bench nodes --scratch target/bench --companies 1000000 --json nodes.json
  enrich-bench copy --scratch target/bench --charges 10000000
  enrich-bench import --scratch target/bench --companies 1000000
  enrich-bench swap --scratch target/bench --companies 1000000

Exit status: 0 measured, every answer was the expected one, and every limit holds (nodes, copy,
import, swap); 1 it could not be measured, an answer or the ledger was wrong, or a limit does not
hold; 2 a wrong
command line."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure the service and, in the same run, the yardstick (the server of `echo`)
    Run(Run),
    /// Measure look-ups of companies by name, without a server
    Names(Names),
    /// Measure look-ups by domain during a flood of misspelt names
    Flood(Flood),
    /// Measure charges to a ledger in PostgreSQL, without HTTP
    Pg(Pg),
    /// Measure several servers that share a PostgreSQL database, against one with a data folder
    Nodes(Nodes),
    /// Measure the copy of a ledger to PostgreSQL, and back
    Copy(Copy),
    /// Measure large imports against `sqlite3`
    Import(Import),
    /// Measure look-ups while nodes change to another snapshot of the look-up data
    Swap(Swap),
    /// Make the data folders that a run needs
    Prepare(Prepare),
    /// Serve the yardstick: a handler without look-ups that reads and writes the same JSON
    Echo(Echo),
}

fn main() -> ExitCode {
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let done = match Cli::parse().command {
        Command::Run(run) => run.run(&mut out, &mut err),
        Command::Names(names) => names.run(&mut out, &mut err),
        Command::Flood(flood) => flood.run(&mut out, &mut err),
        Command::Pg(pg) => pg.run(&mut out, &mut err),
        Command::Nodes(nodes) => nodes.run(&mut out, &mut err),
        Command::Copy(copy) => copy.run(&mut out, &mut err),
        Command::Import(import) => import.run(&mut out, &mut err),
        Command::Swap(swap) => swap.run(&mut out, &mut err),
        Command::Prepare(prepare) => prepare.run(&mut err),
        Command::Echo(echo) => echo.run(&mut out),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If the message cannot be written, the exit status still reports the error.
            let _ = writeln!(err, "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn both_programs_have_the_same_allocator() {
        let allocator = |text: &'static str| -> Vec<&str> {
            let lines = text.lines().skip_while(|line| *line != "#[global_allocator]");
            lines.take(2).collect()
        };
        let (service, yardstick) =
            (include_str!("../../enrich/src/main.rs"), include_str!("main.rs"));
        assert_eq!(allocator(service), allocator(yardstick));
    }
}
