//! Restoring a backup to a folder that is not there, or is empty.

use std::fs;
use std::io;
use std::path::Path;

use enrich_core::Timestamp;

use super::file_entry::FileEntry;
use super::manifest::Manifest;
use super::take::check;
use super::{BackupError, BackupReport, files};
use crate::error::OpenError;
use crate::folder::{self, UNFINISHED_RESTORE};
use crate::in_use;
use crate::secret;
use crate::sqlite::{self, DIRECTORY, LEDGER};

/// Copies a backup to `folder`, which must not be there or be empty, and checks the copy before it
/// becomes a data folder. What a restore left there that was killed is cleared first.
///
/// # Errors
///
/// See [`BackupError`]. Then `folder` is no data folder: it is as it was, or refused as unfinished.
pub fn restore(backup: &Path, folder: &Path) -> Result<BackupReport, BackupError> {
    sqlite::check_version()?;
    let manifest = Manifest::read(backup)?;
    see_empty(folder)?;
    let is_made = make(folder)?;
    // Nobody opens the folder from here on: not a server that still runs on it, nor one that is
    // started now.
    let lock = in_use::alone(folder)?;
    let report = match prepare(backup, folder, &manifest) {
        Ok(report) => report,
        Err(error) => {
            // What cannot be removed is cleared by the next restore to this folder.
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

/// Makes sure that there is nothing in the folder, or what a restore left that was killed.
fn see_empty(folder: &Path) -> Result<(), BackupError> {
    match folder::is_new(folder) {
        Ok(true) | Err(OpenError::UnfinishedRestore { .. }) => Ok(()),
        Ok(false) | Err(OpenError::Incomplete { .. } | OpenError::NotOurs { .. }) => {
            if folder.join(in_use::FILE).exists() {
                // Who still has it open is the better reason.
                drop(in_use::alone(folder)?);
            }
            Err(BackupError::NotEmpty { folder: folder.into() })
        }
        Err(error) => Err(error.into()),
    }
}

/// Makes the folder; whether it was not there.
fn make(folder: &Path) -> Result<bool, BackupError> {
    match files::create_folder(folder) {
        Ok(()) => {
            let parent = folder.parent().unwrap_or(Path::new("."));
            files::sync_folder(parent).map_err(|source| BackupError::file(parent, source))?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(BackupError::file(folder, error)),
    }
}

/// Copies the backup into the folder and checks it; nothing is in its place yet.
fn prepare(backup: &Path, folder: &Path, manifest: &Manifest) -> Result<BackupReport, BackupError> {
    // Nobody else has the folder any more, so this holds from now on.
    see_empty_alone(folder)?;
    clear(folder)?;
    files::see_room(folder, manifest.files.iter().map(|file| file.bytes).sum())?;
    let unfinished = folder.join(UNFINISHED_RESTORE);
    files::create_folder(&unfinished).map_err(|e| BackupError::file(&unfinished, e))?;
    copy(backup, &unfinished, &manifest.files)?;
    let (ledger, last_entry_at) = check(&unfinished)?;
    let bytes = |name: &str| {
        manifest.files.iter().find(|file| file.name == name).map_or(0, |file| file.bytes)
    };
    let others = || manifest.files.iter().filter(|file| file.name.contains('/'));
    Ok(BackupReport {
        made_at: manifest.made_at().unwrap_or(Timestamp::UNIX_EPOCH),
        directory_bytes: bytes(DIRECTORY.file),
        ledger_bytes: bytes(LEDGER.file),
        other_files: others().count() as u64,
        other_bytes: others().map(|file| file.bytes).sum(),
        ledger,
        last_entry_at,
    })
}

/// The same as [`see_empty`], for who has the folder's lock.
fn see_empty_alone(folder: &Path) -> Result<(), BackupError> {
    match folder::is_new(folder) {
        Ok(true) | Err(OpenError::UnfinishedRestore { .. }) => Ok(()),
        Ok(false) => Err(BackupError::NotEmpty { folder: folder.into() }),
        Err(error) => Err(error.into()),
    }
}

/// Removes what an unfinished restore wrote. The folder was empty when that began, and nobody has
/// opened it since, so all that is in it is the restore's.
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

/// Copies every file of a backup, and compares it with what was written.
fn copy(backup: &Path, to: &Path, all: &[FileEntry]) -> Result<(), BackupError> {
    for file in all {
        let (source, target) = (backup.join(&file.name), to.join(&file.name));
        if let Some(parent) = target.parent().filter(|parent| !parent.is_dir()) {
            make_folders(to, parent)?;
        }
        let copied = files::copy(&source, &target, &file.name)
            .map_err(|error| BackupError::file(source, error))?;
        if copied != *file {
            return Err(BackupError::Altered { file: file.name.clone() });
        }
    }
    sync_all(to)
}

/// Makes the folders from `top` down to `folder`.
fn make_folders(top: &Path, folder: &Path) -> Result<(), BackupError> {
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|path| *path != top && !path.is_dir()).collect();
    for folder in missing.into_iter().rev() {
        files::create_folder(folder).map_err(|source| BackupError::file(folder, source))?;
    }
    Ok(())
}

/// Waits until all names below a folder are on the disk.
fn sync_all(folder: &Path) -> Result<(), BackupError> {
    let failed = |source| BackupError::file(folder, source);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            sync_all(&entry.path())?;
        }
    }
    files::sync_folder(folder).map_err(failed)
}

/// Moves what was restored to its place, the ledger last: until it is there, the folder is refused.
fn move_in(from: &Path, to: &Path, all: &[FileEntry]) -> Result<(), BackupError> {
    let failed = |source| BackupError::file(to, source);
    let mut others: Vec<&str> =
        all.iter().filter_map(|file| file.name.split_once('/')).map(|(top, _)| top).collect();
    others.dedup();
    others.extend([secret::FILE, DIRECTORY.file]);
    for name in others {
        fs::rename(from.join(name), to.join(name)).map_err(failed)?;
    }
    sync_all(from)?;
    files::sync_folder(to).map_err(failed)?;
    fs::rename(from.join(LEDGER.file), to.join(LEDGER.file)).map_err(failed)?;
    files::sync_folder(to).map_err(failed)?;
    // The folder is complete. What is left is empty but for locks, and does no harm.
    let _ = fs::remove_dir_all(from);
    Ok(())
}
