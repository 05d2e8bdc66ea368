//! The arguments that all tortures have: the program, the folder, the load, the seed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::broken::Broken;

/// The arguments that all tortures have.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Setting {
    /// The program to test
    #[arg(long, value_name = "FILE", default_value = "target/release/enrich")]
    pub(crate) enrich: PathBuf,
    /// Seed of the random choices [default: a new seed]
    #[arg(long, value_name = "NUMBER", default_value_t = fastrand::u64(..1 << 32))]
    pub(crate) seed: u64,
    /// Number of clients
    #[arg(long, value_name = "NUMBER", default_value_t = 24)]
    pub(crate) clients: usize,
    /// Folder for the data; the torture creates a folder in it, and removes it at the end
    #[arg(long, value_name = "FOLDER", default_value_os_t = std::env::temp_dir())]
    pub(crate) work: PathBuf,
    /// Also write the summary to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

impl Setting {
    /// Returns an error if the program to test does not exist, or if the number of clients is 0.
    pub(crate) fn check(&self) -> Result<()> {
        let enrich = self.enrich.display();
        ensure!(
            self.enrich.is_file(),
            "{enrich} is not there; build it (cargo build --release --bin enrich) or name it with \
             --enrich"
        );
        ensure!(self.clients > 0, "--clients 0 would ask nothing");
        Ok(())
    }

    /// Runs `what` in a new folder. Removes the folder afterwards, but keeps it if `what` returns
    /// the error [`Broken`].
    pub(crate) fn in_folder<T>(&self, what: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        let folder = tempfile::Builder::new().prefix("enrich-torture-").tempdir_in(&self.work);
        let folder = folder.with_context(|| format!("{} cannot be used", self.work.display()))?;
        what(folder.path()).map_err(|error| left_in_place(folder, error))
    }
}

pub(crate) fn left_in_place(folder: TempDir, error: anyhow::Error) -> anyhow::Error {
    if error.downcast_ref::<Broken>().is_none() {
        return error;
    }
    let left = folder.keep();
    error.context(format!("everything is left as it was found in {}", left.display()))
}

/// Returns an error if this process may not mount file systems, because it does not run as root.
pub(crate) fn need_root(what: &str) -> Result<()> {
    let user = fs::metadata("/proc/self").context("who runs this cannot be told")?.uid();
    ensure!(user == 0, "{what} needs root: it mounts file systems; run it with sudo");
    Ok(())
}

/// Returns an error if a program is not installed.
pub(crate) fn need_program(program: &str, package: &str, what: &str) -> Result<()> {
    let mut command = Command::new(program);
    command.arg("-V").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.status() {
        bail!("{what} needs `{program}` ({error}); install the package {package}");
    }
    Ok(())
}

/// Runs a program until it ends. Returns an error if the program fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("{command:?} cannot be started"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {}", complaint.trim());
    Ok(())
}
