//! Restores a backup to a folder. The folder must not exist, or must be empty.

use std::fs;
use std::io;
use std::path::Path;

use enrich_secrets::SECRET_FILE;
use enrich_store_directory::DIRECTORY;
use enrich_store_ledger::LEDGER;
use enrich_store_sqlite::{self as sqlite, OpenError, in_use};

use super::file_entry::FileEntry;
use super::manifest::Manifest;
use super::take::migrate_and_check;
use super::{BackupError, BackupReport, files};
use crate::folder::{self, UNFINISHED_RESTORE};

/// Restores a backup to `folder`. The folder must not exist, or must be empty. The files are copied
/// and checked before the folder becomes a data folder. Files that an interrupted restore has left
/// are removed first.
///
/// # Errors
///
/// See [`BackupError`]. After an error, either `folder` is unchanged, or opening it is refused
/// because a restore is not finished. In the second case, another call of `restore` removes the
/// unfinished files and begins again.
pub fn restore(backup: &Path, folder: &Path) -> Result<BackupReport, BackupError> {
    sqlite::check_version()?;
    let manifest = Manifest::read(backup)?;
    check_empty(folder)?;
    let is_made = make(folder)?;
    // With this lock, no other process can open the folder. If a server still uses the folder,
    // locking fails.
    let lock = in_use::lock_exclusive(folder)?;
    let report = match prepare(backup, folder, &manifest) {
        Ok(report) => report,
        Err(error) => {
            // If removing fails, the next restore to this folder removes the files.
            let _ = fs::remove_dir_all(folder.join(UNFINISHED_RESTORE));
            if is_made {
                let _ = fs::remove_file(folder.join(in_use::FILE));
                let _ = fs::remove_dir(folder);
            }
            return Err(error);
        }
    };
    move_in(&folder.join(UNFINISHED_RESTORE), folder, &manifest.files)?;
    drop(lock);
    Ok(report)
}

/// Checks that a backup can be restored to the folder: it does not exist, is empty, or contains
/// only files that an interrupted restore has left.
fn check_empty(folder: &Path) -> Result<(), BackupError> {
    match folder::is_new(folder) {
        Ok(true) | Err(OpenError::UnfinishedRestore { .. }) => Ok(()),
        Ok(false)
        | Err(OpenError::Incomplete { .. } | OpenError::NotOurs(_) | OpenError::LedgerMoved(_)) => {
            if folder.join(in_use::FILE).exists() {
                // If another process has the folder open, locking fails. The caller then gets the
                // error of locking, which says more than `NotEmpty`.
                drop(in_use::lock_exclusive(folder)?);
            }
            Err(BackupError::NotEmpty(folder.into()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Creates the folder if it does not exist. Returns whether this call has created it.
fn make(folder: &Path) -> Result<bool, BackupError> {
    match enrich_secrets::private_folder().create(folder) {
        Ok(()) => {
            let parent = folder.parent().unwrap_or(Path::new("."));
            enrich_secrets::sync_folder(parent)
                .map_err(|source| BackupError::file(parent, source))?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(BackupError::file(folder, error)),
    }
}

/// Copies the backup into the folder and checks the copy. Does not move any file into place.
fn prepare(backup: &Path, folder: &Path, manifest: &Manifest) -> Result<BackupReport, BackupError> {
    // This process has locked the folder, so no other process can change the result of this check.
    check_empty_alone(folder)?;
    clear(folder)?;
    sqlite::check_space(folder, manifest.files.iter().map(|file| file.bytes).sum())?;
    let unfinished = folder.join(UNFINISHED_RESTORE);
    enrich_secrets::private_folder()
        .create(&unfinished)
        .map_err(|e| BackupError::file(&unfinished, e))?;
    copy(backup, &unfinished, &manifest.files)?;
    let (ledger, last_entry_at) = migrate_and_check(&unfinished)?;
    Ok(manifest.report(ledger, last_entry_at))
}

/// Makes the same check as [`check_empty`], but does not lock the folder, because this process has
/// already locked it.
fn check_empty_alone(folder: &Path) -> Result<(), BackupError> {
    match folder::is_new(folder) {
        Ok(true) | Err(OpenError::UnfinishedRestore { .. }) => Ok(()),
        Ok(false) => Err(BackupError::NotEmpty(folder.into())),
        Err(error) => Err(error.into()),
    }
}

/// Removes the files that an interrupted restore has left. All files in the folder are from that
/// restore: the folder was empty when the restore began, and until a restore is finished, no
/// process can open the folder.
fn clear(folder: &Path) -> Result<(), BackupError> {
    let failed = |source| BackupError::file(folder, source);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if in_use::FILES.iter().any(|file| name == *file) || name == folder::LOST_AND_FOUND {
            continue;
        }
        let removed = match entry.file_type().map_err(failed)?.is_dir() {
            true => fs::remove_dir_all(entry.path()),
            false => fs::remove_file(entry.path()),
        };
        removed.map_err(failed)?;
    }
    Ok(())
}

/// Copies every file of a backup and compares it with the manifest.
fn copy(backup: &Path, to: &Path, all: &[FileEntry]) -> Result<(), BackupError> {
    for file in all {
        let (source, target) = (backup.join(&file.name), to.join(&file.name));
        if let Some(parent) = target.parent().filter(|parent| !parent.is_dir()) {
            let created = enrich_secrets::private_folder().recursive(true).create(parent);
            created.map_err(|source| BackupError::file(parent, source))?;
        }
        let copied = files::copy(&source, &target, &file.name)
            .map_err(|error| BackupError::file(source, error))?;
        if copied != *file {
            return Err(BackupError::Altered(file.name.clone()));
        }
    }
    sync_all(to)
}

/// Syncs to disk the names of the files in a folder, and in all folders below it.
fn sync_all(folder: &Path) -> Result<(), BackupError> {
    let failed = |source| BackupError::file(folder, source);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            sync_all(&entry.path())?;
        }
    }
    enrich_secrets::sync_folder(folder).map_err(failed)
}

/// Moves the restored files into the data folder, the ledger last. Until the ledger is in place,
/// opening the folder is refused.
fn move_in(from: &Path, to: &Path, all: &[FileEntry]) -> Result<(), BackupError> {
    let failed = |source| BackupError::file(to, source);
    let mut others: Vec<&str> =
        all.iter().filter_map(|file| file.name.split_once('/')).map(|(top, _)| top).collect();
    others.dedup();
    others.extend([SECRET_FILE, DIRECTORY.file]);
    for name in others {
        fs::rename(from.join(name), to.join(name)).map_err(failed)?;
    }
    sync_all(from)?;
    enrich_secrets::sync_folder(to).map_err(failed)?;
    fs::rename(from.join(LEDGER.file), to.join(LEDGER.file)).map_err(failed)?;
    enrich_secrets::sync_folder(to).map_err(failed)?;
    // The data folder is complete. `from` now contains only lock files and empty folders, which do
    // no harm if they cannot be removed.
    let _ = fs::remove_dir_all(from);
    Ok(())
}
