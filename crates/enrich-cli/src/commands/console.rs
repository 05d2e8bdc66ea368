//! The output of commands. A result goes to standard output, everything else to standard error.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use super::failure::{Failure, Verdict};

/// The streams of a command: standard output and standard error, or their replacements in a test.
pub(crate) struct Console<'a> {
    /// The stream for results. Nothing else is written to it.
    pub(crate) out: &'a mut dyn Write,
    /// The stream for messages, errors and progress.
    pub(crate) err: &'a mut dyn Write,
    /// Whether standard error is a terminal, so that progress can be shown.
    pub(crate) is_watched: bool,
}

/// The result of a command. With `--json`, it is serialised and printed.
pub(crate) trait Shown: Serialize {
    /// Writes the result as text for people.
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()>;
}

// The option for the format of the result. (A doc comment here would become the help of every
// command.)
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Format {
    /// Print the result as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Console<'_> {
    /// Prints a result and returns `Yes`. If the program that reads the output has ended, such as
    /// `head`, this also counts as success, so that the command can continue.
    pub(crate) fn show(&mut self, result: &impl Shown, format: Format) -> Result<Verdict, Failure> {
        match self.write(result, format).map_err(Failure::from) {
            Ok(()) | Err(Failure::ReaderGone) => Ok(Verdict::Yes),
            Err(failure) => Err(failure),
        }
    }

    fn write(&mut self, result: &impl Shown, format: Format) -> io::Result<()> {
        if !format.json {
            return result.write_text(self.out);
        }
        let line = serde_json::to_string(result).map_err(io::Error::other)?;
        writeln!(self.out, "{line}")
    }

    /// Writes a message to standard error.
    pub(crate) fn note(&mut self, text: &str) {
        // Writing fails if standard error is closed. Then nobody can read the message anyway.
        let _ = writeln!(self.err, "{text}");
    }
}
