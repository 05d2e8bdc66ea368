//! Copies the ledger of a data folder to another store, or from another store into a data folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use enrich_core::port::ledger::Verification;
use enrich_ledger::copy::Batch;
use enrich_store_ledger::{self as ledger, CopyError, LEDGER};
use enrich_store_sqlite::{self as sqlite, OpenError, in_use};

use crate::folder::{self, Found, Parts};
use crate::recorded_secrets;

/// The name of a new ledger's file until all rows are copied into it.
const UNFINISHED: &str = "unfinished-copy.sqlite";

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a ledger could not be copied from a folder or into a folder.
#[derive(Debug, thiserror::Error)]
pub enum LedgerCopyError {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] OpenError),
    /// The rows cannot be read or written.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The folder into which a ledger was to be copied already has one.
    #[error("{0} has a ledger; name a new folder that holds secret.key alone, or a node's folder")]
    HasLedger(PathBuf),
    /// The verification of the ledger found faults.
    #[error("the ledger does not add up: {0}")]
    DoesNotAddUp(String),
    /// The ledger was not verified to its end, because the thread that verified it has panicked.
    #[error("the ledger could not be verified")]
    NotVerified,
}

/// Passes the rows of a folder's ledger to `each` in batches. At the same time, verifies the ledger
/// on another thread. Returns the result of the verification. If this function fails, the passed
/// rows must not be used. No other process may have the folder open.
///
/// # Errors
///
/// When the folder is in use or cannot be read, when the verification finds faults, or when `each`
/// returns an error.
pub fn export_ledger(
    folder: &Path,
    each: &mut dyn FnMut(Batch) -> Result<(), BoxError>,
) -> Result<Verification, LedgerCopyError> {
    let (secrets, _in_use) = folder::enter(folder, Parts::Both, in_use::lock_exclusive)?;
    let path = folder.join(LEDGER.file);
    thread::scope(|scope| {
        let verifying = scope.spawn(|| verify(&path, &secrets));
        let exported = ledger::export(&path, each);
        let verified = verifying.join().map_err(|_| LedgerCopyError::NotVerified)?;
        exported?;
        verified
    })
}

/// Creates the ledger of a folder. Its rows come in batches from `next`, until `next` returns
/// `None`. Returns the result of verifying the new ledger. The folder must contain `secret.key`,
/// and may contain `directory.sqlite`. The file gets the ledger's name only when it is complete.
///
/// # Errors
///
/// - The folder already has a ledger, or cannot be written.
/// - The verification of the new ledger finds faults.
/// - `next` returns an error.
pub fn import_ledger(
    folder: &Path,
    next: &mut dyn FnMut() -> Result<Option<Batch>, BoxError>,
) -> Result<Verification, LedgerCopyError> {
    let final_path = folder.join(LEDGER.file);
    if final_path.exists() {
        return Err(LedgerCopyError::HasLedger(folder.into()));
    }
    if folder::find(folder, Parts::Directory)? == Found::Secrets {
        folder::create_databases(folder, Parts::Directory)?;
    }
    let (secrets, _in_use) = folder::enter(folder, Parts::Directory, in_use::lock_exclusive)?;
    let path = folder.join(UNFINISHED);
    let unusable = |source: io::Error| OpenError::unusable(&path, source);
    // An earlier attempt may have left an unfinished copy.
    remove_unfinished(&path).map_err(unusable)?;
    sqlite::create(&path, &LEDGER)?;
    recorded_secrets::begin_ledger(&path, &secrets)?;
    ledger::import(&path, &secrets, next)?;
    let verified = verify(&path, &secrets)?;
    // The import has closed its connection, which moved the write-ahead log into the file. So only
    // this file must be renamed.
    fs::rename(&path, &final_path).map_err(unusable)?;
    // The verification has opened the file with a connection that cannot write. Such a connection
    // leaves an empty write-ahead log, which is removed here.
    remove_unfinished(&path).map_err(unusable)?;
    enrich_secrets::sync_folder(folder).map_err(unusable)?;
    Ok(verified)
}

/// Removes the files of an unfinished copy, which do not have the ledger's name yet.
fn remove_unfinished(path: &Path) -> io::Result<()> {
    for path in [path.to_owned(), with_suffix(path, "-wal"), with_suffix(path, "-shm")] {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn verify(path: &Path, secrets: &enrich_secrets::Secrets) -> Result<Verification, LedgerCopyError> {
    let verified = ledger::verify(path, secrets);
    let verified = verified.map_err(|source| OpenError::of_sqlite(path, source))?;
    match verified.faults.first() {
        Some(fault) => Err(LedgerCopyError::DoesNotAddUp(fault.clone())),
        None => Ok(verified),
    }
}
