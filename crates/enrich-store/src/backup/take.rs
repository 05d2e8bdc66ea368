//! Makes a backup of a data folder.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use enrich_core::port::ledger::Verification;
use enrich_core::{Clock, Timestamp};
use enrich_secrets::SECRET_FILE;
use enrich_store_directory::{self as directory, DIRECTORY};
use enrich_store_ledger::{self as ledger, LEDGER};
use enrich_store_sqlite::{self as sqlite, Column, Database, OpenError, in_use};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::manifest::{self, Manifest};
use super::{BackupError, BackupReport, files};
use crate::folder::{self, Parts};

/// The number of pages that are copied between two syncs to disk: 16 MiB. Each charge is synced to
/// disk too, and may have to wait until the copied pages are on disk. So with more pages, charges
/// would wait longer.
const STEP_PAGES: i32 = 4096;
/// The ending of a backup's name until the backup is complete.
const UNFINISHED: &str = ".unfinished";
/// The endings of the files that SQLite creates beside a database.
const BESIDE_DATABASES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Writes a backup of the data folder at `folder` to the folder `into`. The backup also contains
/// the subfolders `others` of the data folder. Other processes may use the data folder at the same
/// time.
///
/// While copying, calls `progress` with two numbers: the bytes that are already copied, and the
/// bytes of both databases.
///
/// # Errors
///
/// See [`BackupError`]. After an error, `into` is as it was before. There is one exception: if only
/// the last sync to disk fails, `into` contains the complete backup.
pub fn back_up(
    folder: &Path,
    into: &Path,
    others: &[&str],
    clock: &dyn Clock,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<BackupReport, BackupError> {
    let (_, _in_use) = folder::enter(folder, Parts::Both, in_use::lock_shared)?;
    let paths = BackupPaths::of(into, folder)?;
    let needed =
        [DIRECTORY, LEDGER].map(|database| sqlite::file_bytes(&folder.join(database.file)));
    let lists: u64 = others.iter().map(|name| files::folder_bytes(&folder.join(name))).sum();
    sqlite::check_space(&paths.parent, needed.iter().sum::<u64>() + lists)?;

    let lock = paths.begin(others)?;
    let written = write(folder, &paths.unfinished, others, clock, progress);
    let report = match written {
        Ok(report) => report,
        Err(error) => {
            // If removing fails, the next backup to this destination removes the files.
            let _ = fs::remove_dir_all(&paths.unfinished);
            return Err(error);
        }
    };
    paths.finish()?;
    drop(lock);
    Ok(report)
}

struct BackupPaths {
    /// The path that the backup will have when it is complete.
    complete: PathBuf,
    /// The path of the backup until it is complete. It is in the same folder as `complete`, so that
    /// the complete backup only has to be renamed.
    unfinished: PathBuf,
    /// The folder that contains `complete` and `unfinished`.
    parent: PathBuf,
}

impl BackupPaths {
    fn of(into: &Path, data: &Path) -> Result<Self, BackupError> {
        let no_name = || BackupError::file(into, "a backup is a folder with a name");
        let name = into.file_name().ok_or_else(no_name)?;
        let parent = match into.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let parent = parent.canonicalize().map_err(|source| BackupError::file(parent, source))?;
        let data = data.canonicalize().map_err(|source| BackupError::file(data, source))?;
        let complete = parent.join(name);
        if complete.starts_with(&data) {
            return Err(BackupError::Inside(into.into()));
        }
        match fs::read_dir(&complete).map(|mut entries| entries.next().is_none()) {
            Ok(true) => {}
            Ok(false) => return Err(BackupError::NotEmpty(into.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(BackupError::file(into, error)),
        }
        let mut unfinished = OsString::from(name);
        unfinished.push(UNFINISHED);
        Ok(Self { unfinished: parent.join(unfinished), complete, parent })
    }

    /// Creates and locks the folder to which the backup is written. If an interrupted backup has
    /// left files in the folder, removes them.
    fn begin(&self, others: &[&str]) -> Result<in_use::InUse, BackupError> {
        let failed = |source| BackupError::file(&self.unfinished, source);
        match enrich_secrets::private_folder().create(&self.unfinished) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(failed)?,
        }
        let lock = in_use::lock_exclusive(&self.unfinished).map_err(|error| match error {
            OpenError::InUse { .. } => BackupError::UnderWay(self.complete.clone()),
            error => error.into(),
        })?;
        let entries =
            fs::read_dir(&self.unfinished).and_then(|all| all.collect::<io::Result<Vec<_>>>());
        let mut left = Vec::new();
        for entry in entries.map_err(failed)? {
            let name = entry.file_name();
            if in_use::FILES.iter().any(|file| name == *file) {
                continue;
            }
            let is_folder = entry.file_type().map_err(failed)?.is_dir();
            let is_ours = match is_folder {
                true => others.iter().any(|other| name == *other),
                false => is_of_backup(&name),
            };
            if !is_ours {
                return Err(BackupError::NotUnfinished(self.unfinished.clone()));
            }
            left.push((entry.path(), is_folder));
        }
        // All files and folders in `left` have names that a backup uses. So they are from an
        // interrupted backup, and can be removed.
        for (path, is_folder) in left {
            let removed = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            removed.map_err(failed)?;
        }
        Ok(lock)
    }

    fn finish(&self) -> Result<(), BackupError> {
        let failed = |source| BackupError::file(&self.complete, source);
        fs::rename(&self.unfinished, &self.complete).map_err(failed)?;
        enrich_secrets::sync_folder(&self.parent).map_err(failed)?;
        for file in in_use::FILES {
            // A lock file is not part of the backup, so it does no harm if it stays.
            let _ = fs::remove_file(self.complete.join(file));
        }
        Ok(())
    }
}

/// Whether this is the name of a file that a backup writes.
fn is_of_backup(name: &std::ffi::OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let is_database = |database: &Database| {
        let beside = name.strip_prefix(database.file);
        beside.is_some_and(|rest| rest.is_empty() || BESIDE_DATABASES.contains(&rest))
    };
    [DIRECTORY, LEDGER].iter().any(is_database) || [SECRET_FILE, manifest::FILE].contains(&name)
}

/// Writes a backup to the empty folder `to`, and checks the backup.
fn write(
    folder: &Path,
    to: &Path,
    others: &[&str],
    clock: &dyn Clock,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<BackupReport, BackupError> {
    let mut written = Vec::new();
    for name in others {
        if folder.join(name).is_dir() {
            files::copy_folder(&folder.join(name), &to.join(name), name, &mut written)?;
        }
    }
    let made_at = copy_databases(folder, to, clock, progress)?;
    let key = files::copy(&folder.join(SECRET_FILE), &to.join(SECRET_FILE), SECRET_FILE);
    written.push(key.map_err(|source| BackupError::file(folder.join(SECRET_FILE), source))?);

    let (ledger, last_entry_at) = migrate_and_check(to)?;
    for database in [DIRECTORY, LEDGER] {
        let path = to.join(database.file);
        let entry = files::describe(&path, database.file);
        written.push(entry.map_err(|source| BackupError::file(path, source))?);
    }
    let manifest = Manifest::new(made_at, ledger.entries, written);
    manifest.write(to)?;
    enrich_secrets::sync_folder(to).map_err(|source| BackupError::file(to, source))?;
    Ok(manifest.report(ledger, last_entry_at))
}

/// Copies `ledger.sqlite` and `directory.sqlite` from `folder` to `to`. First begins a read
/// transaction in the ledger, and then one in the directory. The copy of a database has the state
/// from the beginning of the database's transaction. Returns a time between the beginnings of the
/// two transactions.
fn copy_databases(
    folder: &Path,
    to: &Path,
    clock: &dyn Clock,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Timestamp, BackupError> {
    let hold = |database: Database| {
        let path = folder.join(database.file);
        begin_reading(&path).map_err(|source| OpenError::of_sqlite(path, source))
    };
    let ledger = hold(LEDGER)?;
    let made_at = clock.now();
    let directory = hold(DIRECTORY)?;
    let size = |connection: &Connection| sqlite::bytes(connection).unwrap_or_default();
    let (first, all) = (size(&ledger), size(&ledger) + size(&directory));
    // The ledger is copied first, so that its read transaction ends early. While the transaction is
    // open, SQLite cannot empty the write-ahead log, and every charge makes the log longer.
    copy_database(ledger, &to.join(LEDGER.file), &mut |done| progress(done, all))?;
    copy_database(directory, &to.join(DIRECTORY.file), &mut |done| progress(first + done, all))?;
    Ok(made_at)
}

fn begin_reading(path: &Path) -> rusqlite::Result<Connection> {
    let connection = sqlite::reader(path)?;
    connection.execute_batch("BEGIN")?;
    // SQLite begins the transaction only at its first read. This is the first read.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Copies a database in the state that the read transaction of `source` sees. Syncs the copy to
/// disk.
fn copy_database(
    source: Connection,
    to: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<(), BackupError> {
    let failed = |error: rusqlite::Error| BackupError::file(to, error);
    let file = enrich_secrets::private_file()
        .create_new(true)
        .open(to)
        .map_err(|source| BackupError::file(to, source))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags).map_err(failed)?;
    // A failed copy is removed, so the copy needs no journal. SQLite need not sync the copy,
    // because this function does.
    target.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(())).map_err(failed)?;
    target.pragma_update(None, "synchronous", "OFF").map_err(failed)?;
    let page_bytes: u64 =
        source.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(failed)?;
    {
        let copy = Backup::new(&source, &mut target).map_err(failed)?;
        loop {
            let step = copy.step(STEP_PAGES).map_err(failed)?;
            let at = copy.progress();
            progress(u64::try_from(at.pagecount - at.remaining).unwrap_or_default() * page_bytes);
            file.sync_data().map_err(|source| BackupError::file(to, source))?;
            match step {
                StepResult::Done => break,
                StepResult::More => {}
                // SQLite should not report that it is busy: no other process has the target open,
                // and `source` already has its lock.
                _ => return Err(BackupError::file(to, "SQLite reports that it is busy")),
            }
        }
    }
    target.close().map_err(|(_, error)| failed(error))?;
    file.sync_all().map_err(|source| BackupError::file(to, source))
}

/// Migrates the databases of the copied data folder, and checks everything in it. Returns the
/// result of verifying its ledger, and the time of the ledger's last row.
pub(super) fn migrate_and_check(
    folder: &Path,
) -> Result<(Verification, Option<Timestamp>), BackupError> {
    let secrets = folder::bring_up_to_date(folder, Parts::Both)?;
    let mut problems = Vec::new();
    let checks: [(_, fn(&Path) -> _); 2] = [(DIRECTORY, directory::check), (LEDGER, ledger::check)];
    for (database, check) in checks {
        let path = folder.join(database.file);
        let report = check(&path).map_err(|source| OpenError::of_sqlite(path, source))?;
        let found = report.problems.into_iter();
        problems.extend(found.map(|found| format!("{}: {found}", database.name)));
    }
    let path = folder.join(LEDGER.file);
    let verified = ledger::verify(&path, &secrets)
        .and_then(|found| Ok((found, last_entry_at(&sqlite::reader(&path)?)?)));
    let (ledger, last) = verified.map_err(|source| OpenError::of_sqlite(&path, source))?;
    problems.extend(ledger.faults.iter().map(|fault| format!("ledger: {fault}")));
    if !problems.is_empty() {
        return Err(BackupError::Unsound(problems));
    }
    clear_away(folder)?;
    Ok((ledger, last))
}

fn last_entry_at(ledger: &Connection) -> rusqlite::Result<Option<Timestamp>> {
    let last = "SELECT at FROM entry ORDER BY position DESC LIMIT 1";
    ledger.query_row(last, [], |row| Ok(row.get::<_, Column<Timestamp>>(0)?.0)).optional()
}

/// Moves the changes that [`migrate_and_check`] has made, such as migrations, from the write-ahead
/// logs into the database files, and removes the logs.
fn clear_away(folder: &Path) -> Result<(), BackupError> {
    for database in [DIRECTORY, LEDGER] {
        let path = folder.join(database.file);
        let emptied = sqlite::writer(&path, sqlite::Durability::Commit).and_then(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        });
        let is_busy: bool = emptied.map_err(|source| OpenError::of_sqlite(&path, source))?;
        if is_busy {
            return Err(BackupError::file(path, "somebody else has the copy open"));
        }
        for ending in BESIDE_DATABASES {
            let mut beside = path.clone().into_os_string();
            beside.push(ending);
            match fs::remove_file(&beside) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(BackupError::file(beside, error));
                }
                _ => {}
            }
        }
    }
    Ok(())
}
