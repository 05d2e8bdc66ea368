//! Runs the measured program and parses the output of its commands.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use enrich_testkit::serving::Serving;
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Debug)]
pub(crate) struct Program(PathBuf);

/// The data that a command works on: a data folder, and possibly a PostgreSQL database. If there is
/// a database, the accounts and the ledger are in the database.
#[derive(Clone)]
pub(crate) struct Data {
    pub(crate) folder: PathBuf,
    /// The URL of the PostgreSQL database; `None` if the accounts are in the folder.
    pub(crate) store: Option<String>,
}

/// The totals that `enrich ledger verify` prints.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Proof {
    ok: bool,
    granted: i64,
    pub(crate) charged: u64,
    pub(crate) charges: u64,
    /// The duration of `enrich ledger verify`, in seconds.
    #[serde(skip)]
    pub(crate) seconds: f64,
}

impl Program {
    /// Returns the program at `path`.
    ///
    /// # Errors
    ///
    /// When there is no such program.
    pub(crate) fn at(path: &Path) -> anyhow::Result<Self> {
        ensure!(
            path.is_file(),
            "{} is not there: build it with `cargo build --release`, or name it with --enrich",
            path.display()
        );
        Ok(Self(path.to_owned()))
    }

    pub(crate) fn version(&self) -> anyhow::Result<String> {
        let output = self.command(["--version"]).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Starts a server on a free port. If `data` names a database, the server gets `--one-copy`, so
    /// that it accepts a database without a standby.
    pub(crate) fn serve(
        &self,
        data: &Data,
        options: &[String],
        log: File,
    ) -> anyhow::Result<Serving> {
        let mut command = self.command(["serve", "--listen", "127.0.0.1:0"]);
        data.name_in(&mut command);
        if data.store.is_some() {
            command.arg("--one-copy");
        }
        command.args(options);
        Ok(Serving::spawn(command, log.into())?)
    }

    /// Imports records into the look-up data of a data folder; each line is one record. Creates the
    /// folder if it does not exist.
    ///
    /// # Errors
    ///
    /// When a record is rejected.
    pub(crate) fn import(
        &self,
        data: &Data,
        lines: impl Iterator<Item = String>,
    ) -> anyhow::Result<()> {
        let mut command = self.command(["import", "-", "--source", "generated", "--json"]);
        data.name_in(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("`enrich import` cannot be run")?;
        let mut given: u64 = 0;
        if let Some(input) = child.stdin.take() {
            let mut input = BufWriter::new(input);
            for line in lines {
                writeln!(input, "{line}").context("`enrich import` stopped reading")?;
                given += 1;
            }
            input.flush()?;
        }
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "`enrich import` ended with {}", output.status);
        let report: Value = serde_json::from_slice(&output.stdout)?;
        ensure!(
            report["read"] == given && report["rejected"] == 0,
            "`enrich import` was given {given} lines and says {report}"
        );
        Ok(())
    }

    pub(crate) fn balances(&self, data: &Data) -> anyhow::Result<u64> {
        let accounts = self.json(["account", "list"], Some(data))?;
        let accounts = accounts.as_array().context("`enrich account list` lists nothing")?;
        let balances = accounts.iter().map(|account| account["balance"].as_u64());
        balances.sum::<Option<u64>>().context("`enrich account list` shows an account without one")
    }

    /// Verifies the whole ledger. Returns the ledger's totals.
    pub(crate) fn prove(&self, data: &Data) -> anyhow::Result<Proof> {
        let began = Instant::now();
        let proof = self.json(["ledger", "verify"], Some(data))?;
        let read = Proof { seconds: began.elapsed().as_secs_f64(), ..Proof::deserialize(&proof)? };
        ensure!(read.ok, "`enrich ledger verify` says {proof}");
        let balances = self.balances(data)?;
        let left = u64::try_from(read.granted).ok().and_then(|all| all.checked_sub(read.charged));
        ensure!(left == Some(balances), "the balances are {balances} credits, but {proof}");
        Ok(read)
    }

    /// Checks that the databases are intact: the PostgreSQL database if `data` has one, else both
    /// databases of the data folder.
    pub(crate) fn check(&self, data: &Data) -> anyhow::Result<()> {
        let health = match data.store {
            None => self.json(["check"], Some(data))?,
            Some(_) => self.json(["store", "check", "--one-copy"], Some(data))?,
        };
        ensure!(health["ok"] == true, "the check of {} says {health}", data.folder.display());
        Ok(())
    }

    /// Returns the price of an answer at each endpoint, in credits. If the answer is a list, this
    /// is the price of up to five items.
    pub(crate) fn prices(&self) -> anyhow::Result<BTreeMap<String, u64>> {
        #[derive(Deserialize)]
        struct Endpoint {
            path: String,
            price: Price,
        }
        #[derive(Deserialize)]
        struct Price {
            credits: u64,
        }
        let endpoints = Vec::<Endpoint>::deserialize(self.json(["endpoints"], None)?)?;
        Ok(endpoints.into_iter().map(|endpoint| (endpoint.path, endpoint.price.credits)).collect())
    }

    /// Runs a command that prints JSON, and returns the JSON. The exit status is ignored if the
    /// output is JSON, because a check that finds faults prints them as JSON and ends with status
    /// 1.
    pub(crate) fn json<const N: usize>(
        &self,
        words: [&str; N],
        data: Option<&Data>,
    ) -> anyhow::Result<Value> {
        let shown = format!("`enrich {}`", words.join(" "));
        let mut command = self.command(words);
        command.arg("--json");
        if let Some(data) = data {
            data.name_in(&mut command);
        }
        let output = command.output().with_context(|| format!("{shown} cannot be run"))?;
        match serde_json::from_slice(&output.stdout) {
            Ok(value) => Ok(value),
            Err(_) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                bail!("{shown} ended with {}: {}", output.status, errors.trim())
            }
        }
    }

    /// Returns a command without the environment variables that are settings of Enrich, so that
    /// settings in the user's shell do not change the measurement.
    pub(crate) fn command<const N: usize>(&self, words: [&str; N]) -> Command {
        let mut command = Command::new(&self.0);
        command.args(words);
        let is_setting = |name: &OsStr| name.to_string_lossy().starts_with("ENRICH_");
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_setting(name)) {
            command.env_remove(name);
        }
        command
    }
}

impl Data {
    /// Returns a data folder that contains the accounts and the ledger.
    pub(crate) fn folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), store: None }
    }

    /// Returns a data folder whose accounts and ledger are in the database at `url`.
    pub(crate) fn with_store(folder: &Path, url: String) -> Self {
        Self { folder: folder.to_owned(), store: Some(url) }
    }

    /// Passes the folder and the URL to a command in environment variables. The URL has a
    /// password. Other users can see a command's arguments, but not its environment.
    pub(crate) fn name_in(&self, command: &mut Command) {
        command.env("ENRICH_DATA", &self.folder);
        if let Some(url) = &self.store {
            command.env("ENRICH_STORE", url);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_told_how_to_get() {
        let error = Program::at(Path::new("/nowhere/enrich")).unwrap_err().to_string();
        assert!(error.contains("cargo build --release"), "{error}");
    }
}
