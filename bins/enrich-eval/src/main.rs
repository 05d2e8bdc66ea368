//! Evaluates name look-ups on a set of real names, and trains the weights of matching.

mod ask;
mod calibration;
mod catalogue;
mod draw;
mod half;
mod identifiers;
mod known;
mod logit;
mod pairs;
mod prominence;
mod queries;
mod run;
mod strict;
mod train;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The allocator of the service. Look-ups are timed here, so they must use the same allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Look up the queries of an evaluation set, score the answers and draw charts
    Run(run::Run),
    /// Look up well-known organisations by name, and count the answers by kind
    Known(known::Known),
    /// Train the weights of the name matching on the queries of an evaluation set
    Train(train::Train),
    /// Train the weights of prominence (how well known a company is) on well-known names
    Prominence(prominence::TrainProminence),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = std::io::stdout();
    let done = match cli.command {
        Command::Run(run) => run.run(&mut out),
        Command::Known(known) => known.run(&mut out),
        Command::Train(train) => train.run(&mut out),
        Command::Prominence(train) => train.run(&mut out),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "enrich-eval: {error:#}");
            ExitCode::FAILURE
        }
    }
}
