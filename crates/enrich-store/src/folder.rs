//! The data folder: whether it is new, complete, or neither.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use enrich_secrets::{SECRET_FILE, Secret, SecretError, Secrets};
use enrich_store_directory::DIRECTORY;
use enrich_store_ledger::{self as ledger, LEDGER};
use enrich_store_sqlite::{
    self as sqlite, Database, Durability, OpenError,
    in_use::{self, InUse},
};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

/// The files of a data folder, in the order of their creation. The ledger comes last: a folder
/// without it is not complete.
const FILES: [&str; 3] = [SECRET_FILE, DIRECTORY.file, LEDGER.file];

/// A folder that exists in every new file system.
pub(crate) const LOST_AND_FOUND: &str = "lost+found";

/// The folder inside the data folder to which a restore is written. If it exists and the ledger
/// does not, the data folder is refused.
pub(crate) const UNFINISHED_RESTORE: &str = "restore.unfinished";

/// Whether a folder is new: it does not exist or is empty. A folder that is neither new nor
/// complete is refused.
pub(crate) fn is_new(folder: &Path) -> Result<bool, OpenError> {
    let unusable = |source: io::Error| OpenError::unusable(folder, source);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
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
    let is_missing = |file: &&&str| !names.iter().any(|name| name.as_os_str() == OsStr::new(file));
    let missing: Vec<&str> = FILES.iter().filter(is_missing).copied().collect();
    let is_left_over = |name: &&std::ffi::OsString| {
        name.to_str().is_some_and(|name| FILES.iter().any(|file| name.starts_with(file)))
    };
    let is_unfinished = names.iter().any(|name| name == UNFINISHED_RESTORE);
    if missing.is_empty() {
        Ok(false)
    } else if is_unfinished {
        Err(OpenError::UnfinishedRestore(folder.into()))
    } else if names.is_empty() {
        Ok(true)
    } else if names.iter().any(|name| is_left_over(&name)) {
        // A write-ahead log alone also counts, because it shows that there was a database.
        Err(OpenError::Incomplete { folder: folder.into(), missing: missing.join(", ") })
    } else {
        Err(OpenError::NotOurs(folder.into()))
    }
}

/// Creates a new folder and its files. After a failure, the folder is refused as incomplete.
pub(crate) fn create(folder: &Path) -> Result<(), OpenError> {
    let grown = grown_by(folder);
    enrich_secrets::private_folder()
        .recursive(true)
        .create(folder)
        .map_err(|source| OpenError::unusable(folder, source))?;
    let path = folder.join(SECRET_FILE);
    Secrets::create(&path).map_err(|source| OpenError::Secret { path, source })?;
    for database in [DIRECTORY, LEDGER] {
        sqlite::create(&folder.join(database.file), &database)?;
    }
    // The directory entries of the files and folders must also survive a power failure.
    for folder in std::iter::once(folder).chain(grown) {
        enrich_secrets::sync_folder(folder)
            .map_err(|source| OpenError::unusable(folder, source))?;
    }
    Ok(())
}

/// The folders that get a new entry when `folder` is created: the parent of each missing folder.
fn grown_by(folder: &Path) -> Vec<&Path> {
    let missing = folder.ancestors().take_while(|path| !is_here(path) && !path.exists());
    let parents = missing.filter_map(Path::parent);
    parents.map(|parent| if is_here(parent) { Path::new(".") } else { parent }).collect()
}

/// Whether a path is empty, which means the current folder.
fn is_here(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

/// Opens a complete folder: takes its lock with `lock`, reads its secrets and migrates its
/// databases.
pub(crate) fn enter(
    folder: &Path,
    lock: impl FnOnce(&Path) -> Result<InUse, OpenError>,
) -> Result<(Secrets, InUse), OpenError> {
    refuse_new(folder)?;
    let in_use = lock(folder)?;
    Ok((load(folder)?, in_use))
}

/// Refuses a new folder, and a version of SQLite that can corrupt a database.
fn refuse_new(folder: &Path) -> Result<(), OpenError> {
    sqlite::check_version()?;
    match is_new(folder)? {
        true => Err(OpenError::Missing(folder.into())),
        false => Ok(()),
    }
}

/// Reads the secrets of a complete folder, migrates its databases, and checks that they were made
/// with these secrets. New secrets are recorded.
pub(crate) fn load(folder: &Path) -> Result<Secrets, OpenError> {
    refuse_new(folder)?;
    let path = folder.join(SECRET_FILE);
    let secrets = Secrets::load(&path);
    let secrets = secrets.map_err(|source| OpenError::Secret { path, source })?;
    // If two processes migrated an older schema at the same time, one would fail.
    let _changing = in_use::changing_schema(folder)?;
    for database in [DIRECTORY, LEDGER] {
        sqlite::refuse_without_log(&folder.join(database.file))?;
    }
    for database in [DIRECTORY, LEDGER] {
        sqlite::prepare(&folder.join(database.file), &database)?;
    }
    match_secrets(folder, &secrets)?;
    Ok(secrets)
}

/// Reads both databases of a folder sequentially, so that the system caches them in memory.
///
/// [`Store::check`](crate::Store::check) reads in the order of the B-trees, which are scattered
/// pages of the file. Some disks read them at a hundredth of their sequential speed.
///
/// No store of this folder may be open in this process: closing a file releases all locks that the
/// process has on it (SQLite, How To Corrupt An SQLite Database File, 2.2).
///
/// # Errors
///
/// When a file does not exist or cannot be read.
pub fn read_through(folder: &Path) -> io::Result<()> {
    for database in [DIRECTORY, LEDGER] {
        io::copy(&mut fs::File::open(folder.join(database.file))?, &mut io::sink())?;
    }
    Ok(())
}

/// Checks that both databases were made with these secrets, and records new secrets.
fn match_secrets(folder: &Path, secrets: &Secrets) -> Result<(), OpenError> {
    let mut unknown = Vec::new();
    for database in [DIRECTORY, LEDGER] {
        let path = folder.join(database.file);
        let compared = sqlite::reader(&path).and_then(|file| compare(&file, &database, secrets));
        let compared = compared.map_err(|source| OpenError::of_sqlite(&path, source))?;
        let new = compared
            .map_err(|source| OpenError::Secret { path: folder.join(SECRET_FILE), source })?;
        unknown.push((path, new));
    }
    for (path, new) in unknown.iter().filter(|(_, new)| !new.is_empty()) {
        let noted = sqlite::writer(path, Durability::Commit)
            .and_then(|file| note(file, new, secrets, path.ends_with(LEDGER.file)));
        noted.map_err(|source| OpenError::of_sqlite(path, source))?;
    }
    Ok(())
}

/// The secrets that a database has not recorded yet. Fails if a recorded one does not match.
fn compare<'a>(
    connection: &Connection,
    database: &Database,
    secrets: &'a Secrets,
) -> rusqlite::Result<Result<Vec<&'a Secret>, SecretError>> {
    let mut new = Vec::new();
    for secret in secrets.newest_first() {
        let noted: Option<[u8; 32]> = connection
            .query_row("SELECT check_hash FROM secret WHERE id = ?1", [secret.id()], |row| {
                row.get(0)
            })
            .optional()?;
        match noted {
            None => new.push(secret),
            Some(noted) if noted != secret.check_hash() => {
                let (id, database) = (secret.id(), database.name);
                return Ok(Err(SecretError::Different { id, database }));
            }
            Some(_) => {}
        }
    }
    let mut statement = connection.prepare("SELECT id FROM secret")?;
    let mut ids = statement.query([])?;
    while let Some(row) = ids.next()? {
        let id = row.get(0)?;
        if secrets.with_id(id).is_none() {
            return Ok(Err(SecretError::Missing { id, database: database.name }));
        }
    }
    Ok(Ok(new))
}

/// Records the new secrets. A ledger without any is new, so its log begins here.
fn note(
    mut connection: Connection,
    new: &[&Secret],
    secrets: &Secrets,
    is_ledger: bool,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let is_new = !transaction.prepare("SELECT 1 FROM secret")?.exists([])?;
    for secret in new {
        transaction.execute(
            "INSERT INTO secret (id, check_hash) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            (secret.id(), secret.check_hash()),
        )?;
    }
    if is_ledger && is_new {
        ledger::begin(&transaction, secrets)?;
    }
    transaction.commit()
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
