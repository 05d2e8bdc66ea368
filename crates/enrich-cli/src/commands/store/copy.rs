//! `enrich store copy`: moves accounts, keys and ledger from a data folder to PostgreSQL, or back.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};

use clap::Args;
use enrich_core::port::ledger::Verification;
use enrich_ledger::copy::Batch;
use enrich_store::{
    LedgerCopyError, export_ledger, import_ledger, load_secrets, mark_ledger_moved, read_secrets,
};
use enrich_store_postgres::copy::{self as postgres, Mode};
use serde::Serialize;

use super::super::table::Pairs;
use super::super::{Console, Failure, Shown, Verdict};
use crate::commands::console::Format;
use crate::settings::StoreUrl;

/// Maximum number of batches of ledger rows that wait to be written, after they were read from the
/// other store.
const BATCHES: usize = 4;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, Args)]
pub(crate) struct Copy {
    /// Source: a data folder, or the postgres:// URL of a database
    #[arg(long, value_name = "DIR|URL")]
    from: Side,
    /// Target: the postgres:// URL of an empty database, or a folder without a ledger
    #[arg(long, value_name = "DIR|URL")]
    to: Side,
    #[command(flatten)]
    format: Format,
}

#[derive(Serialize)]
struct Copied {
    accounts: u64,
    entries: u64,
    granted: i64,
    charged: u64,
    #[serde(skip)]
    next_step: String,
}

/// The source or the target of a copy: a data folder or a database.
#[derive(Clone, Debug)]
enum Side {
    Folder(PathBuf),
    Database(StoreUrl),
}

impl FromStr for Side {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            text.parse().map(Self::Database)
        } else {
            Ok(Self::Folder(text.into()))
        }
    }
}

impl Copy {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let copied = match (self.from, self.to) {
            (Side::Folder(folder), Side::Database(url)) => to_database(&folder, &url)?,
            (Side::Database(url), Side::Folder(folder)) => to_folder(&url, &folder)?,
            (Side::Folder(_), Side::Folder(_)) => {
                return Err(Failure::refused(
                    "both are folders; `enrich backup` and `enrich restore` copy a folder",
                ));
            }
            (Side::Database(_), Side::Database(_)) => {
                return Err(Failure::refused(
                    "both are databases; copy one to the other with PostgreSQL's own tools",
                ));
            }
        };
        console.show(&copied, self.format)
    }
}

/// Copies accounts, keys and ledger of a data folder to an empty database. From then on, only the
/// database is used for them.
fn to_database(folder: &Path, url: &StoreUrl) -> Result<Copied, Failure> {
    let secrets = read_secrets(folder)?;
    enrich_store_postgres::migrate(url.expose(), &secrets)?;
    postgres::set_mode(url.expose(), &secrets, Mode::Copying)?;
    let (batches, received) = mpsc::sync_channel::<Option<Batch>>(BATCHES);
    let exported = thread::scope(|scope| {
        let exporting = scope.spawn(move || -> Result<Verification, LedgerCopyError> {
            let mut send = |batch| batches.send(Some(batch)).map_err(BoxError::from);
            let verified = export_ledger(folder, &mut send)?;
            // `None` tells the importing thread that the export is complete and verified. Until
            // then, the import makes nothing permanent. `send` fails only if the import has already
            // failed. This failure is ignored, because the error of the import is reported instead.
            let _ = batches.send(None);
            Ok(verified)
        });
        let mut next = || received.recv().map_err(BoxError::from);
        let imported = postgres::import(url.expose(), &secrets, &mut next);
        // Drops the receiver, so that `send` fails in the exporting thread. If the import has
        // failed, this ends the export now.
        drop(received);
        match (imported, joined(exporting)?) {
            (Ok(()), exported) => exported.map_err(Failure::from),
            // With the error `Other`, the import failed because the exporting thread had stopped
            // sending batches. So the error of the export is the cause, and is reported.
            (Err(postgres::CopyError::Other(_)), Err(first)) => Err(first.into()),
            (Err(error), _) => Err(error.into()),
        }
    })?;
    compare(&exported, &postgres::verify(url.expose(), &secrets)?)?;
    mark_ledger_moved(folder)?;
    postgres::set_mode(url.expose(), &secrets, Mode::Serving)?;
    let next_step = format!(
        "start the servers with --store; the ledger in {} is history and is not used any more",
        folder.display()
    );
    Ok(Copied::new(&exported, next_step))
}

/// Copies accounts, keys and ledger of a database to a folder that contains the database's
/// `secret.key`. First makes all nodes stop charging. If the copy fails, they may charge again.
fn to_folder(url: &StoreUrl, folder: &Path) -> Result<Copied, Failure> {
    let secrets = load_secrets(folder)?;
    // In the mode `Copying`, nodes stop charging within half a second. The ledger is read only
    // after 2 seconds. So the nodes can finish the charges that they have already begun.
    postgres::set_mode(url.expose(), &secrets, Mode::Copying)?;
    thread::sleep(std::time::Duration::from_secs(2));
    let copied = copy_to_folder(url, folder, &secrets);
    if copied.is_err() {
        postgres::set_mode(url.expose(), &secrets, Mode::Serving)?;
    }
    copied
}

fn copy_to_folder(
    url: &StoreUrl,
    folder: &Path,
    secrets: &enrich_store::Secrets,
) -> Result<Copied, Failure> {
    let (batches, received) = mpsc::sync_channel::<Option<Batch>>(BATCHES);
    let (verified, imported) = thread::scope(|scope| {
        let importing = scope
            .spawn(move || import_ledger(folder, &mut || received.recv().map_err(BoxError::from)));
        let verifying = scope.spawn(|| postgres::verify(url.expose(), secrets));
        let mut send = |batch| batches.send(Some(batch)).map_err(BoxError::from);
        let exported = postgres::export(url.expose(), secrets, &mut send);
        let verified = joined(verifying)?;
        let is_sound = verified.as_ref().is_ok_and(|verified| verified.faults.is_empty());
        if exported.is_ok() && is_sound {
            // `None` tells the importing thread that the export is complete and verified. Until
            // then, the import makes nothing permanent. `send` fails only if the import has already
            // failed. This failure is ignored, because the error of the import is reported instead.
            let _ = batches.send(None);
        }
        drop(batches);
        match (exported, joined(importing)?) {
            // If the export returns the error `Other`, it could not send a batch, because the
            // importing thread had already failed. So the error of the import is reported. If the
            // export returns another error, it has failed by itself, and this error is reported.
            (Err(postgres::CopyError::Other(_)), Err(error)) => Err(error.into()),
            (Err(first), _) => Err(first.into()),
            (Ok(()), imported) => {
                let verified = verified?;
                does_add_up(&verified)?;
                Ok::<_, Failure>((verified, imported?))
            }
        }
    })?;
    compare(&verified, &imported)?;
    let next_step = format!(
        "start one server on {}; the database stays in mode `copying`, in which no node charges",
        folder.display()
    );
    Ok(Copied::new(&imported, next_step))
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> Result<T, Failure> {
    let panicked = |_| Failure::Impossible("the copying thread panicked".to_owned());
    thread.join().map_err(panicked)
}

/// Compares a copied ledger with the original. Returns an error if they differ, or if the copy has
/// faults.
fn compare(original: &Verification, copy: &Verification) -> Result<(), Failure> {
    does_add_up(copy)?;
    if original == copy {
        return Ok(());
    }
    Err(Failure::Impossible(
        "the copied ledger has other sums than the first one; nothing was switched over".to_owned(),
    ))
}

/// Returns an error if a ledger has faults.
fn does_add_up(verified: &Verification) -> Result<(), Failure> {
    match verified.faults.first() {
        Some(fault) => {
            Err(Failure::Impossible(format!("the copied ledger does not add up: {fault}")))
        }
        None => Ok(()),
    }
}

impl Copied {
    fn new(verified: &Verification, next_step: String) -> Self {
        let Verification { accounts, entries, granted, charged, .. } = *verified;
        Self { accounts, entries, granted, charged, next_step }
    }
}

impl Shown for Copied {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        Pairs::default()
            .add("accounts", self.accounts)
            .add("entries", self.entries)
            .add("granted", self.granted)
            .add("charged", self.charged)
            .write(out)?;
        writeln!(out, "{}", self.next_step)
    }
}
