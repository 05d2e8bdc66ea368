//! `enrich-bench copy`: measures how long it takes to copy a ledger from a data folder to
//! PostgreSQL, and back.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;

use crate::bench_args::BenchArgs;
use crate::folder::{self, FolderSpec, Scratch};
use crate::limit::{Bound, Limit, check_limits, write_limits};
use crate::machine::Machine;
use crate::postgres::Postgres;
use crate::prepare::prepare;
use crate::program::{Data, Program};
use crate::report::write_table;

/// Number of bytes that are compared in one step.
const CHUNK_BYTES: usize = 1 << 16;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich-bench copy --scratch target/bench --charges 10000000

Needs PostgreSQL's programs on this machine (`apt-get install postgresql`). Prepares a folder with
the charges, moves the accounts and the ledger to an empty database, and from there to a new folder.
Then verifies the database and both folders, and compares the exports of every account of both
folders byte for byte.

Exit status: 1 also if a copy takes longer than the limit of --most.")]
pub(crate) struct Copy {
    #[command(flatten)]
    place: BenchArgs,
    /// Number of companies in the look-up data; the look-up data is not copied
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    companies: u64,
    /// Number of charges in the ledger
    #[arg(long, value_name = "N", default_value_t = 10_000_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    charges: u64,
    /// Longest time that each copy may take. A slower copy is not stopped, but the exit status is 1
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    most: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    program: String,
    machine: Machine,
    charges: u64,
    to_database_seconds: f64,
    to_folder_seconds: f64,
    verify_folder_seconds: f64,
    verify_database_seconds: f64,
    /// The size of the output of `enrich ledger export --all` for one folder.
    exported_bytes: u64,
    limits: Vec<Limit>,
}

impl Copy {
    pub(crate) fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
        let scratch = self.place.scratch()?;
        let measure = |folder: &Path, err: &mut dyn Write| self.measure(&scratch, folder, err);
        let report = BenchArgs::in_new_folder(&scratch, "copy-", err, measure)?;
        self.place.write(&report)?;
        report.write_markdown(out)?;
        write_limits(&report.limits, out)?;
        check_limits(&report.limits)
    }

    fn measure(
        &self,
        scratch: &Scratch,
        folder: &Path,
        err: &mut dyn Write,
    ) -> anyhow::Result<Report> {
        let program = self.place.program()?;
        let spec = FolderSpec { companies: self.companies, charges: self.charges };
        prepare(scratch, &program, spec, err)?;
        let (prepared, from, to) = (scratch.folder(spec), folder.join("from"), folder.join("to"));
        folder::copy(&prepared, &from)?;
        folder::copy_node(&prepared, &to)?;
        let postgres = Postgres::start(Duration::ZERO, false)?;
        let url = postgres.database.url();

        writeln!(err, "copying to the database")?;
        let to_database_seconds = copy_to_database(&program, &from, &url)?;
        let original = program.prove(&Data::folder(&prepared))?;
        let moved = program.prove(&Data::with_store(&from, url.clone()))?;
        writeln!(err, "copying to a new folder")?;
        let to_folder_seconds = seconds_of_copy(&program, &url, path_text(&to)?)?;
        let back = program.prove(&Data::folder(&to))?;
        let sums = |proof: &crate::program::Proof| (proof.charges, proof.charged);
        ensure!(original.charges == self.charges, "the folder has {original:?}");
        ensure!(
            sums(&original) == sums(&moved) && sums(&original) == sums(&back),
            "the ledgers differ: {original:?}, {moved:?}, {back:?}"
        );
        writeln!(err, "comparing the exports of both folders")?;
        let exported_bytes = compare_exports(&program, &prepared, &to)?;
        let limits = [("folder to database", to_database_seconds), ("back", to_folder_seconds)];
        let limit = |(way, seconds): (&str, f64)| {
            let what = format!("{} charges, {way}, seconds", self.charges);
            Limit::new(what, seconds, Bound::AtMost(self.most))
        };
        Ok(Report {
            program: program.version()?,
            machine: Machine::with_data_in(scratch.path())?,
            charges: self.charges,
            to_database_seconds,
            to_folder_seconds,
            verify_folder_seconds: back.seconds,
            verify_database_seconds: moved.seconds,
            exported_bytes,
            limits: limits.map(limit).to_vec(),
        })
    }
}

/// Copies the accounts and the ledger of a folder to an empty database. Returns the duration, in
/// seconds.
pub(crate) fn copy_to_database(program: &Program, from: &Path, url: &str) -> anyhow::Result<f64> {
    seconds_of_copy(program, path_text(from)?, url)
}

/// Runs `enrich store copy`, and returns the duration in seconds. Other users of the machine can
/// see the URL's password among the command's arguments. This is accepted, because the PostgreSQL
/// server is started only for this measurement.
fn seconds_of_copy(program: &Program, from: &str, to: &str) -> anyhow::Result<f64> {
    let began = Instant::now();
    let copied = program.json(["store", "copy", "--from", from, "--to", to], None);
    // The error text may contain the URL with its password, so the URL is replaced.
    let copied = copied.map_err(|error| {
        let text = format!("{:#}", error.root_cause());
        anyhow::anyhow!("`enrich store copy` failed: {}", text.replace(from, "…").replace(to, "…"))
    })?;
    ensure!(copied["entries"].is_u64(), "`enrich store copy` says {copied}");
    Ok(began.elapsed().as_secs_f64())
}

fn path_text(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| format!("{} is not text", path.display()))
}

/// Compares the ledger rows of all accounts of two folders, as `enrich ledger export --all` writes
/// them. Returns the number of bytes of one export.
fn compare_exports(program: &Program, one: &Path, other: &Path) -> anyhow::Result<u64> {
    let (one, other) = (Data::folder(one), Data::folder(other));
    let accounts = program.json(["account", "list"], Some(&one))?;
    ensure!(
        accounts == program.json(["account", "list"], Some(&other))?,
        "both folders have different accounts"
    );
    let (mut first, mut second) = (export(program, &one)?, export(program, &other)?);
    let outputs = (first.stdout.take(), second.stdout.take());
    let (Some(a), Some(b)) = outputs else { anyhow::bail!("an export without an output") };
    let same = compare(a, b)?;
    let ended = first.wait()?.success() && second.wait()?.success();
    ensure!(ended, "`enrich ledger export --all` failed");
    same.context("the exports of both folders differ")
}

fn export(program: &Program, data: &Data) -> anyhow::Result<Child> {
    let mut command = program.command(["ledger", "export", "--all"]);
    data.name_in(&mut command);
    Ok(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?)
}

/// Compares two inputs, and reads both to their ends. Returns their length if they are equal, else
/// `None`.
fn compare(mut one: impl Read, mut other: impl Read) -> io::Result<Option<u64>> {
    let (mut length, mut is_same) = (0, true);
    loop {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let read = one.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut left)?;
        other.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut right)?;
        if left.is_empty() && right.is_empty() {
            return Ok(is_same.then_some(length));
        }
        is_same &= left == right;
        length += read as u64;
    }
}

impl Report {
    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} on {}.", self.program, self.machine.description())?;
        writeln!(
            out,
            "A ledger of {} charges was copied to PostgreSQL and back; the exports of both folders \
             are the same {} bytes.\n",
            self.charges, self.exported_bytes
        )?;
        let row = |what: &str, seconds: f64| {
            let rate = format!("{:.0}", self.charges as f64 / seconds);
            vec![what.to_owned(), format!("{seconds:.1}"), rate]
        };
        let titles = ["command", "seconds", "charges/s"].map(str::to_owned).to_vec();
        let rows = [
            titles,
            row("store copy, folder to database", self.to_database_seconds),
            row("store copy, database to folder", self.to_folder_seconds),
            row("ledger verify of the database", self.verify_database_seconds),
            row("ledger verify of the new folder", self.verify_folder_seconds),
        ];
        write_table(&rows, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_are_the_same_only_in_every_byte() {
        let long = vec![b'x'; CHUNK_BYTES + 7];
        assert_eq!(compare(&long[..], &long[..]).unwrap(), Some(long.len() as u64));
        assert_eq!(compare(&long[..], &long[1..]).unwrap(), None);
        let mut other = long.clone();
        other[CHUNK_BYTES + 1] = b'y';
        assert_eq!(compare(&long[..], &other[..]).unwrap(), None);
        assert_eq!(compare(&[][..], &long[..]).unwrap(), None);
    }
}
