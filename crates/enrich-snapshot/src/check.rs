//! Checks a node's copy of the snapshot in use. This is the snapshot from which all nodes should
//! answer. A node makes the same checks when it starts.

use enrich_core::port::snapshots::{SnapshotNumber, Snapshots};

use crate::compression;
use crate::error::SnapshotError;
use crate::follow::listed;
use crate::local_files::{LocalFiles, hash_of};
use crate::opened::Opened;
use crate::settings::SnapshotSettings;

/// Checks the file of the snapshot in use in a data folder: its length and hash, its schema, its
/// secret and its directory revision. The snapshot in use is the one from which all nodes should
/// answer. Returns its number. Changes nothing. Blocks until the whole file is read.
///
/// # Errors
///
/// [`SnapshotError::NonePublished`] if no snapshot is in use. [`SnapshotError::NotCopied`] if the
/// file of the snapshot is not in the data folder. Other errors if the file cannot be used.
pub fn check(
    snapshots: &dyn Snapshots,
    settings: &SnapshotSettings,
) -> Result<SnapshotNumber, SnapshotError> {
    let in_use = snapshots.state().in_use.ok_or(SnapshotError::NonePublished)?;
    let path = LocalFiles::at(&settings.data).path(in_use);
    if !path.is_file() {
        return Err(SnapshotError::NotCopied(in_use));
    }
    let snapshot = listed(snapshots, in_use)?;
    let opened = compression::check(&path, hash_of(&snapshot))
        .and_then(|()| Opened::open(&path, &snapshot, &settings.secrets, &settings.options));
    match opened {
        Ok(_) => Ok(in_use),
        Err(error) if error.is_damage() => Err(SnapshotError::DamagedHere(path)),
        Err(error) => Err(error),
    }
}
