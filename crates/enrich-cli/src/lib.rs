//! The operator's commands and the server's settings: what can be typed, and what it does.
//!
//! Results go to standard output, everything else to standard error. What is not here: a rule of
//! metering, of reading inputs or of merging. They are in the crates below, where a program that
//! uses them as a library finds them too.

mod cli;
mod commands;
mod demo;
mod serve;
mod settings;
mod telemetry;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::commands::{Console, Failure};

/// Does what the command line asks for. The exit status is 0 when it is done, 1 when the answer is
/// no or what was named is not there, 2 when it could not be done.
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
                // Where the message cannot be written either, the status has to do.
                let _ = writeln!(err, "error: {message}");
            }
            failure.exit_status().into()
        }
    }
}
