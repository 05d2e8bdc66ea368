//! Where a command writes: its results to one place, everything else to the other.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use super::failure::Failure;

/// Standard output and standard error, or what stands for them in a test.
pub(crate) struct Console<'a> {
    /// Takes results, and nothing else.
    pub(crate) out: &'a mut dyn Write,
    /// Takes everything else.
    pub(crate) err: &'a mut dyn Write,
    /// Whether somebody watches standard error: it is a terminal.
    pub(crate) is_watched: bool,
}

/// A result. Its JSON is its serialisation.
pub(crate) trait Shown: Serialize {
    /// Writes it for people.
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()>;
}

// How a result is printed. (A doc comment here would become the help of every command.)
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Format {
    /// Print the result as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Console<'_> {
    /// Writes a result. Where nobody reads it any more, the command still ends as it would.
    pub(crate) fn show(&mut self, result: &impl Shown, format: Format) -> Result<(), Failure> {
        match self.write(result, format).map_err(Failure::from) {
            Ok(()) | Err(Failure::ReaderGone) => Ok(()),
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

    /// Tells the operator something that is no result.
    pub(crate) fn note(&mut self, text: &str) {
        // Nobody is there to be told where standard error is closed.
        let _ = writeln!(self.err, "{text}");
    }
}
