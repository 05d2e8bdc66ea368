//! Command-line arguments that all measurements share: the folder for the data, the program to
//! measure, and the file for the report.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;

use crate::folder::Scratch;
use crate::program::Program;

// Arguments of all measurements. This is no doc comment, because clap would show a doc comment as
// the help of each command.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Folder that contains the data folders; missing data folders are created and kept
    #[arg(long, value_name = "DIR")]
    scratch: PathBuf,
    /// The `enrich` program to measure; it also creates the data folders
    #[arg(long, value_name = "FILE", default_value = "target/release/enrich")]
    enrich: PathBuf,
    /// Also write the report to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl BenchArgs {
    /// Opens the folder that contains all prepared data folders (`--scratch`). First checks that
    /// the folder of the report file (`--json`) exists. So if it is missing, the error comes before
    /// the measurement.
    pub(crate) fn scratch(&self) -> anyhow::Result<Scratch> {
        if let Some(parent) = self.json.as_deref().and_then(Path::parent) {
            let is_there = parent.as_os_str().is_empty() || parent.is_dir();
            ensure!(is_there, "{} is not there, for the report", parent.display());
        }
        Scratch::at(&self.scratch)
    }

    pub(crate) fn program(&self) -> anyhow::Result<Program> {
        Program::at(&self.enrich)
    }

    /// Runs `measure` in a new folder. The folder is removed after success, and kept after a
    /// failure.
    pub(crate) fn in_new_folder<T>(
        scratch: &Scratch,
        prefix: &str,
        err: &mut dyn Write,
        measure: impl FnOnce(&Path, &mut dyn Write) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(scratch.path())?;
        measure(folder.path(), err).or_else(|error| {
            let kept = folder.keep();
            writeln!(err, "the data and logs of this run are kept in {}", kept.display())?;
            Err(error)
        })
    }

    /// Writes the report as JSON to the file of `--json`. Without `--json`, nothing is written.
    pub(crate) fn write(&self, report: &impl Serialize) -> anyhow::Result<()> {
        let Some(path) = &self.json else { return Ok(()) };
        let text = serde_json::to_string_pretty(report)?;
        fs::write(path, text + "\n").with_context(|| path.display().to_string())
    }
}
