//! Publishes a directory: copies it, compresses it, and adds it to the list.

use std::path::{Path, PathBuf};
use std::thread;

use enrich_core::Timestamp;
use enrich_core::port::error::StoreError;
use enrich_core::port::snapshots::{Snapshot, SnapshotNumber, Snapshots};
use enrich_store_directory::{self as directory, DIRECTORY, DirectoryFile};
use enrich_store_sqlite as sqlite;
use pollster::block_on;

use crate::compression::{self, FileHash};
use crate::error::SnapshotError;
use crate::forget::suppress;
use crate::local_files::{LocalFiles, check_space, file_name, lock, remove, rename};

/// The holder of this lock, a file at the location, publishes.
const LOCK: &str = "publish.lock";
/// The name of a snapshot at the location until it is complete.
const UNFINISHED: &str = "unfinished.sqlite.zst";

/// What to publish, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishFrom {
    /// The data folder with the directory. The caller has opened it, which checks it.
    pub data: PathBuf,
    /// The folder that all nodes read.
    pub location: PathBuf,
    /// The present time.
    pub at: Timestamp,
}

/// Publishes the directory of a data folder, and has all nodes answer from it. Other processes may
/// use the folder meanwhile; a second publication waits for the first.
///
/// Takes some minutes for ten gigabytes. Needs as much space on the disk of the data folder as the
/// directory has, until it is done.
///
/// # Errors
///
/// See [`SnapshotError`]. Nothing is published then.
pub fn publish(snapshots: &dyn Snapshots, from: &PublishFrom) -> Result<Snapshot, SnapshotError> {
    let source = from.data.join(DIRECTORY.file);
    check_secrets(snapshots, &DirectoryFile::read_in_use(&source)?)?;
    let files = LocalFiles::of(&from.data)?;
    let wait = |pause| {
        thread::sleep(pause);
        true
    };
    let local = files.lock(&wait)?;
    let _location = lock(&from.location.join(LOCK), &wait)?;
    check_space(&from.data, sqlite::file_bytes(&source))?;
    let copy = files.unfinished(&local)?;
    let compressed = from.location.join(UNFINISHED);
    remove(&compressed)?;
    let published = copy_and_compress(&source, &copy, &compressed)
        .and_then(|(file, hash)| add(snapshots, from, &compressed, &file, hash));
    // If a file stays, the next publication removes it.
    let _ = remove(&copy);
    if published.is_err() {
        let _ = remove(&compressed);
    }
    published
}

/// Refuses a directory with a secret that the store does not have: nodes could not use it.
fn check_secrets(snapshots: &dyn Snapshots, file: &DirectoryFile) -> Result<(), SnapshotError> {
    let known = block_on(snapshots.secrets())?;
    match file.secrets.iter().find(|check| !known.contains(check)) {
        Some(check) => Err(SnapshotError::StoreSecret(check.id)),
        None => Ok(()),
    }
}

/// Copies one state of the directory, and compresses the copy.
fn copy_and_compress(
    source: &Path,
    copy: &Path,
    compressed: &Path,
) -> Result<(DirectoryFile, FileHash), SnapshotError> {
    directory::copy_into(source, copy)?;
    let file = DirectoryFile::read(copy)?;
    Ok((file, compression::compress(copy, compressed)?))
}

/// Moves a compressed snapshot to its place and adds it to the list, under the next number.
fn add(
    snapshots: &dyn Snapshots,
    from: &PublishFrom,
    compressed: &Path,
    file: &DirectoryFile,
    hash: FileHash,
) -> Result<Snapshot, SnapshotError> {
    // So that no node answers with the values when it goes back to an earlier snapshot.
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
            // Another location was published to meanwhile.
            Ok(false) => place = path,
            Err(error) => {
                // If the row was written after all, the file is needed.
                if !matches!(error, StoreError::Unknown(_)) {
                    let _ = remove(&path);
                }
                return Err(error.into());
            }
        }
    }
}

/// The number after the newest. A file without a row is left from a publication that ended early.
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
