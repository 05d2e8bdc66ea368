//! Marks a data folder as in use, by a lock on an empty file.
//!
//! Every process that opens a folder takes a shared lock on the file. A command that must be the
//! only process takes an exclusive lock. When a process ends, even by a crash, the system releases
//! its lock.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use crate::OpenError;
use enrich_secrets::private_file;

/// The name of the lock file. The file must never be replaced or removed: two processes could then
/// hold locks on different files. A copy of the folder does not need the file.
pub const FILE: &str = "in-use.lock";
/// The name of the file that a process locks while it migrates the schema. Other processes wait for
/// this lock.
const SCHEMA_FILE: &str = "schema.lock";
/// The names of the two lock files of this module.
pub const FILES: [&str; 2] = [FILE, SCHEMA_FILE];

/// A lock on a data folder. Dropping this value releases the lock.
#[derive(Debug)]
pub struct InUse {
    _locked: File,
}

/// Marks a folder as in use by this process. Other processes may use it too. Returns an error if
/// another process uses the folder exclusively.
pub fn lock_shared(folder: &Path) -> Result<InUse, OpenError> {
    lock(folder, File::try_lock_shared, |folder| OpenError::BeingReindexed(folder.into()))
}

/// Marks a folder as in exclusive use by this process. Returns an error if another process uses the
/// folder.
pub fn lock_exclusive(folder: &Path) -> Result<InUse, OpenError> {
    lock(folder, File::try_lock, |folder| OpenError::InUse(folder.into()))
}

fn lock(
    folder: &Path,
    lock: impl FnOnce(&File) -> Result<(), TryLockError>,
    refused: impl FnOnce(&Path) -> OpenError,
) -> Result<InUse, OpenError> {
    let path = folder.join(FILE);
    let unusable = |source| OpenError::unusable(&path, source);
    let file = open(&path).map_err(unusable)?;
    match lock(&file) {
        Ok(()) => Ok(InUse { _locked: file }),
        Err(TryLockError::WouldBlock) => Err(refused(folder)),
        Err(TryLockError::Error(source)) => Err(unusable(source)),
    }
}

/// Waits until no other process migrates the folder's databases, and then takes the lock for
/// migrations. As long as the returned value exists, no other process can migrate these databases.
pub fn changing_schema(folder: &Path) -> Result<InUse, OpenError> {
    let path = folder.join(SCHEMA_FILE);
    let locked = open(&path).and_then(|file| file.lock().map(|()| file));
    let locked = locked.map_err(|source| OpenError::unusable(&path, source))?;
    Ok(InUse { _locked: locked })
}

fn open(path: &Path) -> io::Result<File> {
    private_file().create(true).truncate(false).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_hold_the_shared_lock_and_one_the_exclusive_lock() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (lock_shared(folder.path()), lock_shared(folder.path()));
        assert!(matches!(lock_exclusive(folder.path()), Err(OpenError::InUse { .. })));
        drop((one.unwrap(), other.unwrap()));
        let only = lock_exclusive(folder.path()).unwrap();
        assert!(matches!(lock_shared(folder.path()), Err(OpenError::BeingReindexed { .. })));
        drop(only);
        lock_shared(folder.path()).unwrap();
    }
}
