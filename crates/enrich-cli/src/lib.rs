//! The operator's commands and the server's settings.
//!
//! Results go to standard output, everything else to standard error. This crate does not contain
//! the rules of metering, of parsing inputs and of merging records. Those rules are in other
//! crates, which can be used without this one.

mod account_ports;
mod cli;
mod commands;
mod demo;
mod hide;
mod missed_names;
mod node;
mod serve;
mod served;
mod settings;
mod store_metrics;
mod telemetry;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::commands::{Console, Failure};

/// Runs the command line. Returns the exit status: 0 for success; 1 if the command has a negative
/// result, or if the command line names something that does not exist; 2 if an error has prevented
/// the command from running.
pub fn run() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return cli::refuse(&error),
    };
    let mut out = BufWriter::new(io::stdout());
    let mut err = io::stderr();
    let is_watched = err.is_terminal();
    let mut console = Console { out: &mut out, err: &mut err, is_watched };
    let done = commands::run(cli.command, &mut console);
    let done = match (done, out.flush().map_err(Failure::from)) {
        (Ok(_), Err(failure)) if failure != Failure::ReaderGone => Err(failure),
        (done, _) => done,
    };
    match done {
        Ok(status) => status,
        Err(failure) => {
            if let Some(message) = failure.message() {
                // If the message cannot be written, at least the exit status shows the error.
                let _ = writeln!(err, "error: {}", hide::without_store_urls(message));
            }
            failure.exit_status().into()
        }
    }
}
