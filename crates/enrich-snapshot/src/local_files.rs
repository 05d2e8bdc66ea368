//! The files of snapshots in a node's data folder. A file gets the name of a snapshot only after
//! its content was checked.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use enrich_core::port::snapshots::{Snapshot, SnapshotNumber};
use enrich_secrets::{private_file, private_folder, sync_folder};
use enrich_store_sqlite as sqlite;

use crate::compression::{self, FileHash};
use crate::error::SnapshotError;

/// The folder with the snapshots, inside the data folder.
pub const SNAPSHOTS: &str = "snapshots";
/// The name of the lock file. A process must lock it before it writes files of the folder.
const LOCK: &str = "snapshots.lock";
/// The name of a snapshot's file until the file is complete and checked.
const UNFINISHED: &str = "unfinished.sqlite";
/// The number of snapshot files that a node keeps: the newest ones. A node always also keeps the
/// file of the snapshot from which it answers.
const KEPT: usize = 2;
/// Interval between two attempts to get a lock.
const LOCK_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
pub(crate) struct LocalFiles {
    folder: PathBuf,
}

/// The lock on the folder with the snapshots. As long as this value exists, other processes wait
/// before they write files of the folder. Dropping this value releases the lock.
pub(crate) struct Locked {
    _file: File,
}

impl LocalFiles {
    /// Returns the folder with the snapshots of a data folder. Creates the folder if it does not
    /// exist.
    pub(crate) fn of(data: &Path) -> Result<Self, SnapshotError> {
        let files = Self::at(data);
        let created = private_folder().recursive(true).create(&files.folder);
        created.map_err(|source| SnapshotError::file(&files.folder, source))?;
        Ok(files)
    }

    /// Returns the folder with the snapshots of a data folder. Unlike [`of`](Self::of), does not
    /// create the folder.
    pub(crate) fn at(data: &Path) -> Self {
        Self { folder: data.join(SNAPSHOTS) }
    }

    /// Returns the path of a snapshot's file. The file need not exist.
    pub(crate) fn path(&self, number: SnapshotNumber) -> PathBuf {
        self.folder.join(format!("directory-{}.sqlite", number.0))
    }

    /// Returns the path for a file that is not complete yet. If an earlier process has left a file
    /// at this path, removes it. Only a caller that has the lock can call this method, because it
    /// must pass a [`Locked`].
    pub(crate) fn unfinished(&self, _: &Locked) -> Result<PathBuf, SnapshotError> {
        let path = self.folder.join(UNFINISHED);
        remove(&path)?;
        Ok(path)
    }

    /// Waits for the lock on the folder with the snapshots. Stops waiting when `goes_on` returns
    /// `false`.
    pub(crate) fn lock(&self, goes_on: &dyn Fn(Duration) -> bool) -> Result<Locked, SnapshotError> {
        lock(&self.folder.join(LOCK), goes_on)
    }

    /// Returns the numbers of the snapshots in the folder, the newest first.
    pub(crate) fn numbers(&self) -> Result<Vec<SnapshotNumber>, SnapshotError> {
        let failed = |source| SnapshotError::file(&self.folder, source);
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("directory-"));
            let number = number.and_then(|name| name.strip_suffix(".sqlite"));
            numbers.extend(number.and_then(|number| number.parse().ok()).map(SnapshotNumber));
        }
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        Ok(numbers)
    }

    pub(crate) fn has(&self, number: SnapshotNumber) -> bool {
        self.path(number).is_file()
    }

    /// Copies a snapshot from `location`, the folder that snapshots are published to, into the
    /// node's folder. Checks its length and hash. Does nothing if the snapshot is already in the
    /// node's folder.
    pub(crate) fn fetch(
        &self,
        snapshot: &Snapshot,
        location: &Path,
        goes_on: &dyn Fn(Duration) -> bool,
    ) -> Result<(), SnapshotError> {
        let locked = self.lock(goes_on)?;
        if self.has(snapshot.number) {
            return Ok(());
        }
        let unfinished = self.unfinished(&locked)?;
        let path = self.path(snapshot.number);
        sqlite::check_space(&self.folder, snapshot.bytes)?;
        let from = location.join(file_name(snapshot.number));
        let fetched = compression::expand(&from, &unfinished, hash_of(snapshot), goes_on)
            .and_then(|()| rename(&unfinished, &path));
        if fetched.is_err() {
            // The unfinished file may have gigabytes, so it is removed now. If that fails, the
            // next attempt removes it.
            let _ = fs::remove_file(&unfinished);
        }
        fetched
    }

    pub(crate) fn discard(&self, number: SnapshotNumber) -> Result<(), SnapshotError> {
        remove(&self.path(number))
    }

    /// Removes the files of old snapshots. Keeps the newest two, and `live`, the snapshot from
    /// which the node answers.
    pub(crate) fn remove_old(&self, live: SnapshotNumber) -> Result<(), SnapshotError> {
        let mut old = self.numbers()?.into_iter().skip(KEPT).filter(|number| *number != live);
        old.try_for_each(|number| remove(&self.path(number)))
    }
}

/// Returns the name of a snapshot's file in the folder to which snapshots are published.
pub fn file_name(number: SnapshotNumber) -> String {
    format!("directory-{}.sqlite.zst", number.0)
}

/// Returns the length and the hash that the file of a snapshot must have after it was expanded.
pub(crate) fn hash_of(snapshot: &Snapshot) -> FileHash {
    FileHash { bytes: snapshot.bytes, blake3: snapshot.blake3 }
}

/// Gives a complete file its final name, and syncs the folder, so that the name survives a power
/// failure.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), SnapshotError> {
    let failed = |source| SnapshotError::file(to, source);
    fs::rename(from, to).map_err(failed)?;
    sync_folder(to.parent().unwrap_or(Path::new("."))).map_err(failed)
}

pub(crate) fn remove(path: &Path) -> Result<(), SnapshotError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SnapshotError::file(path, error))
        }
        _ => Ok(()),
    }
}

/// Waits for the lock on a file, and creates the file if it does not exist. Stops waiting when
/// `goes_on` returns `false`. On a file system without locks, succeeds immediately.
pub(crate) fn lock(
    path: &Path,
    goes_on: &dyn Fn(Duration) -> bool,
) -> Result<Locked, SnapshotError> {
    let failed = |source| SnapshotError::file(path, source);
    let file = private_file().create(true).truncate(false).open(path).map_err(failed)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Locked { _file: file }),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                return Ok(Locked { _file: file });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if goes_on(Duration::ZERO) => {
                thread::sleep(LOCK_INTERVAL)
            }
            Err(TryLockError::WouldBlock) => return Err(SnapshotError::Stopped),
        }
    }
}
