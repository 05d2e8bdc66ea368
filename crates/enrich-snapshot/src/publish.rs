//! Publishes the directory (the look-up data) as a snapshot: copies it, compresses the copy, and
//! adds it to the list of snapshots.

use std::path::{Path, PathBuf};

use enrich_core::Timestamp;
use enrich_core::port::error::StoreError;
use enrich_core::port::snapshots::{Snapshot, SnapshotNumber, Snapshots};
use enrich_store_directory::{self as directory, DIRECTORY, DirectoryFile};
use enrich_store_sqlite as sqlite;
use pollster::block_on;

use crate::compression::{self, FileHash};
use crate::error::SnapshotError;
use crate::forget::suppress;
use crate::local_files::{LocalFiles, file_name, lock, remove, rename};

/// The name of the lock file in the folder that snapshots are published to. A process must lock
/// it before it publishes to the folder.
const LOCK: &str = "publish.lock";
/// The name of a compressed snapshot's file until the file is complete.
const UNFINISHED: &str = "unfinished.sqlite.zst";

/// What to publish: a directory (the data for look-ups), the folder for its snapshot, and the time
/// that is written into the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishFrom {
    /// The data folder with the directory. The caller must have opened the data folder before,
    /// because opening a data folder checks its files.
    pub data: PathBuf,
    /// The folder that snapshots are published to, and that all nodes read.
    pub location: PathBuf,
    /// The time at which the snapshot is published.
    pub at: Timestamp,
}

/// Publishes the directory (the look-up data) of a data folder, and makes all nodes answer from it.
/// Other processes may use the data folder at the same time. A second publication waits until the
/// first has ended.
///
/// Publishing ten gigabytes takes some minutes. Meanwhile, a copy of the directory is on the disk
/// of the data folder, and needs as much space as the directory.
///
/// # Errors
///
/// See [`SnapshotError`]. After an error, nothing is published. There is one exception: after
/// `StoreError::Unknown`, it is unknown whether the snapshot is in the list.
pub fn publish(snapshots: &dyn Snapshots, from: &PublishFrom) -> Result<Snapshot, SnapshotError> {
    let source = from.data.join(DIRECTORY.file);
    check_secrets(snapshots, &DirectoryFile::read_in_use(&source)?)?;
    let files = LocalFiles::of(&from.data)?;
    let local = files.lock(&|_| true)?;
    let _location = lock(&from.location.join(LOCK), &|_| true)?;
    sqlite::check_space(&from.data, sqlite::file_bytes(&source))?;
    let copy = files.unfinished(&local)?;
    let compressed = from.location.join(UNFINISHED);
    remove(&compressed)?;
    let published = copy_and_compress(&source, &copy, &compressed)
        .and_then(|(file, hash)| add(snapshots, from, &compressed, &file, hash));
    // If a file cannot be removed, the next publication removes it.
    let _ = remove(&copy);
    if published.is_err() {
        let _ = remove(&compressed);
    }
    published
}

/// Returns an error if the directory (the look-up data) was made with a secret that is not among
/// the secrets of `snapshots`, the store that all nodes share. Nodes have only the secrets of this
/// store, so they could not use such a directory.
fn check_secrets(snapshots: &dyn Snapshots, file: &DirectoryFile) -> Result<(), SnapshotError> {
    let known = block_on(snapshots.secrets())?;
    match file.secrets.iter().find(|check| !known.contains(check)) {
        Some(check) => Err(SnapshotError::StoreSecret(check.id)),
        None => Ok(()),
    }
}

/// Copies the database file of the directory (the look-up data) in one consistent state, and
/// compresses the copy.
fn copy_and_compress(
    source: &Path,
    copy: &Path,
    compressed: &Path,
) -> Result<(DirectoryFile, FileHash), SnapshotError> {
    directory::copy_into(source, copy)?;
    let file = DirectoryFile::read(copy)?;
    Ok((file, compression::compress(copy, compressed)?))
}

/// Gives a compressed snapshot its final name, and adds it to the list under the next number.
fn add(
    snapshots: &dyn Snapshots,
    from: &PublishFrom,
    compressed: &Path,
    file: &DirectoryFile,
    hash: FileHash,
) -> Result<Snapshot, SnapshotError> {
    // Before the snapshot is published, the suppressions (values that no answer may contain) are
    // copied from the directory to the store, which all nodes read. The new snapshot contains no
    // suppressed value, but earlier snapshots may. If a node goes back to an earlier snapshot, it
    // must leave these values out too.
    suppress(snapshots, file.suppressed.iter().copied())?;
    let mut place = compressed.to_owned();
    loop {
        let number = next_number(snapshots, &from.location)?;
        let path = from.location.join(file_name(number));
        rename(&place, &path)?;
        let snapshot = Snapshot {
            number,
            revision: file.revision,
            bytes: hash.bytes,
            blake3: hash.blake3,
            location: from.location.display().to_string(),
            schema: file.versions.schema,
            derived_by: file.versions.derived_by,
            at: from.at,
        };
        match block_on(snapshots.publish(&snapshot)) {
            Ok(true) => return Ok(snapshot),
            // Another process has just published a snapshot with this number. That process
            // publishes to a different folder, so it did not wait for the lock on this folder. The
            // loop tries the next number.
            Ok(false) => place = path,
            Err(error) => {
                // If it is unknown whether the snapshot was added to the list, the file is kept,
                // because nodes may need it.
                if !matches!(error, StoreError::Unknown(_)) {
                    let _ = remove(&path);
                }
                return Err(error.into());
            }
        }
    }
}

/// Returns the number after the newest snapshot in the list. Skips a number if its file already
/// exists: a publication that was interrupted has left this file.
fn next_number(
    snapshots: &dyn Snapshots,
    location: &Path,
) -> Result<SnapshotNumber, SnapshotError> {
    let newest = block_on(snapshots.newest(1))?;
    let mut number = newest.first().map_or(1, |snapshot| snapshot.number.0 + 1);
    while location.join(file_name(SnapshotNumber(number))).exists() {
        number += 1;
    }
    Ok(SnapshotNumber(number))
}
