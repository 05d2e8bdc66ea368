//! The data folder: checks what it contains, creates it and opens it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;

use enrich_secrets::{SECRET_FILE, Secrets};
use enrich_store_directory::DIRECTORY;
use enrich_store_ledger::LEDGER;
use enrich_store_sqlite::{
    self as sqlite, DataFile, Database, OpenError,
    in_use::{self, InUse},
};

use crate::recorded_secrets;

/// What a data folder must contain besides `secret.key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// The directory (the look-up data) and the ledger.
    Both,
    /// Only the directory (the look-up data), because the ledger is in a remote store.
    Directory,
}

/// What a data folder contains. If a folder contains anything else, [`find`] returns an error
/// instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The folder does not exist or is empty.
    Nothing,
    /// Only `secret.key`. An operator has copied it from another node, or `load_or_create_secrets`
    /// has created it. The folder can be used only by a node whose ledger is in a remote store.
    Secrets,
    /// All files that the requested [`Parts`] need.
    All,
}

/// The name of the file that marks a data folder whose ledger was moved to a remote store. The old
/// `ledger.sqlite` remains in the folder, but is outdated. If the folder has this mark, commands
/// refuse to use the old ledger.
pub(crate) const LEDGER_MOVED: &str = "ledger.moved";

/// A folder that some file systems create on new disks. A folder with only this counts as empty.
pub(crate) const LOST_AND_FOUND: &str = "lost+found";

/// The name of the folder, inside the data folder, to which a restore is written. Until the restore
/// is finished, at least one file of the data folder is missing, and opening the data folder is
/// refused.
pub(crate) const UNFINISHED_RESTORE: &str = "restore.unfinished";

impl Parts {
    /// Returns the files, in the order in which they are created. The ledger comes last. So a
    /// folder that has a ledger also has the other files.
    fn files(self) -> &'static [DataFile] {
        match self {
            Self::Both => &[DataFile::Secrets, DataFile::Directory, DataFile::Ledger],
            Self::Directory => &[DataFile::Secrets, DataFile::Directory],
        }
    }

    fn databases(self) -> &'static [Database] {
        match self {
            Self::Both => &[DIRECTORY, LEDGER],
            Self::Directory => &[DIRECTORY],
        }
    }

    /// Checks that the ledger is where it must be. With [`Self::Both`], the ledger must be in the
    /// folder, so it is an error if the ledger was moved to a remote store. With
    /// [`Self::Directory`], the ledger must be in a remote store, so it is an error if the folder
    /// has a ledger that was not moved.
    fn check_ledger(self, folder: &Path, names: &[OsString]) -> Result<(), OpenError> {
        let has = |file: &str| names.iter().any(|name| name == file);
        let has_ledger = names.iter().any(|name| is_left_over(name, &[DataFile::Ledger]));
        match self {
            Self::Both if has(LEDGER_MOVED) => Err(OpenError::LedgerMoved(folder.into())),
            Self::Directory if has_ledger && !has(LEDGER_MOVED) => {
                Err(OpenError::HasLedger(folder.into()))
            }
            Self::Both | Self::Directory => Ok(()),
        }
    }
}

/// Whether a folder is new: it does not exist or is empty. Returns an error if the folder is
/// neither new nor complete.
pub(crate) fn is_new(folder: &Path) -> Result<bool, OpenError> {
    Ok(find(folder, Parts::Both)? == Found::Nothing)
}

/// Returns what a folder contains: nothing, only its secrets, or all files. If it contains anything
/// else, returns an error.
pub(crate) fn find(folder: &Path, parts: Parts) -> Result<Found, OpenError> {
    let Some(names) = names(folder)? else { return Ok(Found::Nothing) };
    parts.check_ledger(folder, &names)?;
    let is_missing = |file: &DataFile| !names.iter().any(|name| name == file.name());
    let missing: Vec<DataFile> = parts.files().iter().copied().filter(is_missing).collect();
    let is_unfinished = names.iter().any(|name| name == UNFINISHED_RESTORE);
    if missing.is_empty() {
        Ok(Found::All)
    } else if is_unfinished {
        Err(OpenError::UnfinishedRestore(folder.into()))
    } else if names.is_empty() {
        Ok(Found::Nothing)
    } else if parts == Parts::Directory && names == [SECRET_FILE] {
        Ok(Found::Secrets)
    } else if names.iter().any(|name| is_left_over(name, parts.files())) {
        // A write-ahead log alone also counts as a file of Enrich, because it shows that there was
        // a database.
        Err(OpenError::Incomplete { folder: folder.into(), missing })
    } else {
        Err(OpenError::NotOurs(folder.into()))
    }
}

/// Returns the names of the files in a folder, except lock files and [`LOST_AND_FOUND`]; `None` if
/// the folder does not exist.
fn names(folder: &Path) -> Result<Option<Vec<OsString>>, OpenError> {
    let unusable = |source: io::Error| OpenError::unusable(folder, source);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(unusable)?.file_name();
        let is_known = in_use::FILES.iter().any(|file| name == OsStr::new(file));
        if name != OsStr::new(LOST_AND_FOUND) && !is_known {
            names.push(name);
        }
    }
    Ok(Some(names))
}

/// Whether a file belongs to one of `files`: its name begins with the name of this file. For
/// example, `ledger.sqlite-wal` belongs to `ledger.sqlite`.
fn is_left_over(name: &OsStr, files: &[DataFile]) -> bool {
    name.to_str().is_some_and(|name| files.iter().any(|file| name.starts_with(file.name())))
}

/// Creates a new data folder and its files. If this fails halfway, the folder is incomplete, and
/// opening it is refused.
pub(crate) fn create(folder: &Path) -> Result<(), OpenError> {
    create_secrets(folder)?;
    create_databases(folder, Parts::Both)
}

/// Creates the databases in a folder that already contains `secret.key`.
pub(crate) fn create_databases(folder: &Path, parts: Parts) -> Result<(), OpenError> {
    for database in parts.databases() {
        sqlite::create(&folder.join(database.file), database)?;
    }
    enrich_secrets::sync_folder(folder).map_err(|source| OpenError::unusable(folder, source))
}

/// Creates a new folder with a `secret.key`, and returns the new secrets.
fn create_secrets(folder: &Path) -> Result<Secrets, OpenError> {
    let grown = grown_by(folder);
    enrich_secrets::private_folder()
        .recursive(true)
        .create(folder)
        .map_err(|source| OpenError::unusable(folder, source))?;
    let path = folder.join(SECRET_FILE);
    let secrets = Secrets::create(&path).map_err(|source| OpenError::Secret { path, source })?;
    // The folders are synced, so that the files and folders keep their names after a power failure.
    for folder in std::iter::once(folder).chain(grown) {
        enrich_secrets::sync_folder(folder)
            .map_err(|source| OpenError::unusable(folder, source))?;
    }
    Ok(secrets)
}

/// Returns the secrets of a folder whose ledger is in a remote store. If the folder does not exist
/// or is empty, creates it with a new `secret.key`. The second value shows whether `secret.key` was
/// created.
///
/// # Errors
///
/// When the folder has a ledger of its own, or when some of its files are missing.
pub fn load_or_create_secrets(folder: &Path) -> Result<(Secrets, bool), OpenError> {
    match find(folder, Parts::Directory)? {
        Found::Nothing => Ok((create_secrets(folder)?, true)),
        Found::Secrets | Found::All => Ok((read_secrets(folder)?, false)),
    }
}

/// Returns the secrets of a folder whose ledger is in a remote store.
///
/// # Errors
///
/// The errors of [`load_or_create_secrets`]. [`OpenError::Missing`] when the folder does not exist
/// or is empty.
pub fn load_secrets(folder: &Path) -> Result<Secrets, OpenError> {
    match find(folder, Parts::Directory) {
        // A node that answers from snapshots has no `directory.sqlite` in its folder. So only this
        // file may be missing.
        Err(OpenError::Incomplete { missing, .. }) if missing == [DataFile::Directory] => {
            read_secrets(folder)
        }
        Err(error) => Err(error),
        Ok(Found::Nothing) => Err(OpenError::Missing(folder.into())),
        Ok(Found::Secrets | Found::All) => read_secrets(folder),
    }
}

/// Removes the `secret.key` that [`load_or_create_secrets`] has created, because the caller does
/// not need the key after all. If the folder contains anything else, removes nothing.
pub fn discard_new_secrets(folder: &Path) {
    if find(folder, Parts::Directory).is_ok_and(|found| found == Found::Secrets) {
        // If this fails, the next command reports that `secret.key` does not fit the remote store.
        let _ = fs::remove_file(folder.join(SECRET_FILE));
    }
}

/// Marks a folder whose ledger was moved to a remote store. From now on, opening the folder as a
/// [`Store`](crate::Store) with a ledger of its own is refused.
///
/// # Errors
///
/// When the file that marks the folder cannot be written.
pub fn mark_ledger_moved(folder: &Path) -> Result<(), OpenError> {
    let path = folder.join(LEDGER_MOVED);
    let unusable = |source| OpenError::unusable(&path, source);
    enrich_secrets::private_file()
        .create(true)
        .truncate(true)
        .open(&path)
        .and_then(|file| file.sync_all())
        .map_err(unusable)?;
    enrich_secrets::sync_folder(folder).map_err(unusable)
}

/// Reads the secrets of a folder. Does not check what else the folder contains.
///
/// # Errors
///
/// When `secret.key` cannot be read.
pub fn read_secrets(folder: &Path) -> Result<Secrets, OpenError> {
    let path = folder.join(SECRET_FILE);
    Secrets::load(&path).map_err(|source| OpenError::Secret { path, source })
}

/// Returns the folders in which a new entry appears when `folder` is created: the parents of all
/// folders that do not exist yet.
fn grown_by(folder: &Path) -> Vec<&Path> {
    let missing = folder.ancestors().take_while(|path| !is_here(path) && !path.exists());
    let parents = missing.filter_map(Path::parent);
    parents.map(|parent| if is_here(parent) { Path::new(".") } else { parent }).collect()
}

/// Whether a path is empty. An empty path means the current folder.
fn is_here(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

/// Opens a data folder that must be complete: takes its lock with `lock`, migrates its databases,
/// and returns its secrets.
pub(crate) fn enter(
    folder: &Path,
    parts: Parts,
    lock: impl FnOnce(&Path) -> Result<InUse, OpenError>,
) -> Result<(Secrets, InUse), OpenError> {
    refuse_new(folder, parts)?;
    let in_use = lock(folder)?;
    Ok((bring_up_to_date(folder, parts)?, in_use))
}

/// Returns an error if the folder is new or incomplete, or if the linked SQLite is too old.
fn refuse_new(folder: &Path, parts: Parts) -> Result<(), OpenError> {
    sqlite::check_version()?;
    match find(folder, parts)? {
        Found::Nothing => Err(OpenError::Missing(folder.into())),
        Found::Secrets => {
            Err(OpenError::Incomplete { folder: folder.into(), missing: vec![DataFile::Directory] })
        }
        Found::All => Ok(()),
    }
}

/// Brings a complete folder up to date, and returns its secrets. Migrates its databases, checks
/// that they were made with these secrets, and records secrets that the databases do not know yet.
pub(crate) fn bring_up_to_date(folder: &Path, parts: Parts) -> Result<Secrets, OpenError> {
    refuse_new(folder, parts)?;
    let secrets = read_secrets(folder)?;
    // Only one process at a time may migrate a schema; a second process would fail.
    let _changing = in_use::changing_schema(folder)?;
    refuse_without_logs(folder, parts)?;
    for database in parts.databases() {
        sqlite::prepare(&folder.join(database.file), database)?;
    }
    recorded_secrets::match_and_record(folder, &secrets, parts.databases())?;
    Ok(secrets)
}

/// Returns the secrets of a folder, and writes nothing to its databases. Returns an error if the
/// folder is not complete, if its ledger has the schema of another version of Enrich, or if its
/// ledger was made with other secrets.
pub(crate) fn read_for_verification(folder: &Path) -> Result<Secrets, OpenError> {
    refuse_new(folder, Parts::Both)?;
    let secrets = read_secrets(folder)?;
    refuse_without_logs(folder, Parts::Both)?;
    sqlite::refuse_other_schema(&folder.join(LEDGER.file), &LEDGER)?;
    recorded_secrets::compare(folder, &LEDGER, &secrets)?;
    Ok(secrets)
}

fn refuse_without_logs(folder: &Path, parts: Parts) -> Result<(), OpenError> {
    parts
        .databases()
        .iter()
        .try_for_each(|database| sqlite::refuse_without_log(&folder.join(database.file)))
}

/// Reads the database files of a folder from beginning to end, so that the operating system has
/// them in its cache.
///
/// [`Store::check`](crate::Store::check) reads the pages in the order of the B-trees, so its reads
/// are scattered over the file. On some disks, scattered reads are a hundred times slower than
/// reading in order.
///
/// This process must not have the folder open as a store: closing a file here would release all
/// locks that the process has on it (SQLite's documentation, "How To Corrupt An SQLite Database
/// File", 2.2).
///
/// # Errors
///
/// When a file does not exist or cannot be read.
pub fn read_through(folder: &Path) -> io::Result<()> {
    for database in Parts::Both.databases() {
        io::copy(&mut fs::File::open(folder.join(database.file))?, &mut io::sink())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_that_gets_a_new_name_is_known() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path();
        let deep = outer.join("a/b/c");
        assert_eq!(grown_by(&deep), [outer.join("a/b"), outer.join("a"), outer.to_owned()]);
        assert_eq!(grown_by(outer), [] as [&Path; 0], "it is there");
        assert_eq!(grown_by(Path::new("not-there")), [Path::new(".")]);
    }
}
