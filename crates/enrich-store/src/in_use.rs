//! Whether a data folder is in use, which the system knows: a lock on its `secret.key`.
//!
//! Whoever opens a folder shares the lock; what needs the folder to itself takes all of it. The
//! system gives it back when a process ends, however it ends.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::error::OpenError;
use crate::secret;

/// A use of a folder, until it is dropped.
#[derive(Debug)]
pub(crate) struct InUse {
    _locked: File,
}

/// Uses a folder beside others.
pub(crate) fn beside_others(folder: &Path) -> Result<InUse, OpenError> {
    lock(folder, File::try_lock_shared, |folder| OpenError::BeingReindexed {
        folder: folder.into(),
    })
}

/// Uses a folder alone.
pub(crate) fn alone(folder: &Path) -> Result<InUse, OpenError> {
    lock(folder, File::try_lock, |folder| OpenError::InUse { folder: folder.into() })
}

fn lock(
    folder: &Path,
    lock: impl FnOnce(&File) -> Result<(), TryLockError>,
    refused: impl FnOnce(&Path) -> OpenError,
) -> Result<InUse, OpenError> {
    let path = folder.join(secret::FILE);
    let unusable = |source| OpenError::unusable(&path, source);
    let file = File::open(&path).map_err(unusable)?;
    match lock(&file) {
        Ok(()) => Ok(InUse { _locked: file }),
        Err(TryLockError::WouldBlock) => Err(refused(folder)),
        Err(TryLockError::Error(source)) => Err(unusable(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_use_a_folder_beside_each_other_and_one_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(secret::FILE), "").unwrap();
        let (one, other) = (beside_others(folder.path()), beside_others(folder.path()));
        assert!(matches!(alone(folder.path()), Err(OpenError::InUse { .. })));
        drop((one.unwrap(), other.unwrap()));
        let only = alone(folder.path()).unwrap();
        assert!(matches!(beside_others(folder.path()), Err(OpenError::BeingReindexed { .. })));
        drop(only);
        beside_others(folder.path()).unwrap();
    }
}
