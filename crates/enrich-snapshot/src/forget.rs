//! Suppresses values on all nodes: no answer of a node may contain them any more.

use std::path::Path;

use enrich_core::Timestamp;
use enrich_core::port::error::StoreError;
use enrich_core::port::importer::Suppressed;
use enrich_core::port::snapshots::Snapshots;
use enrich_secrets::Secrets;
use enrich_store_directory::{DIRECTORY, DirectoryFile, SuppressedHashes};
use pollster::block_on;

use crate::error::SnapshotError;

/// Maximum number of hashes that are added in one call to the store.
const AT_ONCE: usize = 1000;

/// Suppresses values on all nodes: no answer may contain them any more. The store receives only the
/// keyed hashes of the values. The caller must also remove the values from the directory (the
/// look-up data) from which snapshots are copied, so that later snapshots do not contain them.
///
/// # Errors
///
/// The errors of the store. After an error, the call may be repeated with the same values.
pub fn forget(
    snapshots: &dyn Snapshots,
    secrets: &Secrets,
    values: &[Suppressed],
    at: Timestamp,
) -> Result<(), StoreError> {
    suppress(snapshots, values.iter().map(|value| (SuppressedHashes::hash(secrets, value), at)))
}

/// Reads the hashes of all suppressed values from the directory (the look-up data) of a data
/// folder. Then suppresses these values on all nodes: no answer may contain them any more. Call
/// this function after a suppression list was loaded into the directory, so that its values
/// disappear from the answers of all nodes too.
///
/// # Errors
///
/// An error if the directory cannot be read, or an error of the store. After an error, the call may
/// be repeated.
pub fn forget_all_of(snapshots: &dyn Snapshots, data: &Path) -> Result<(), SnapshotError> {
    let file = DirectoryFile::read_in_use(&data.join(DIRECTORY.file))?;
    Ok(suppress(snapshots, file.suppressed.into_iter())?)
}

/// Suppresses values by their keyed hashes. Each hash comes with the time at which its value was
/// forgotten.
pub(crate) fn suppress(
    snapshots: &dyn Snapshots,
    hashes: impl Iterator<Item = ([u8; 32], Timestamp)>,
) -> Result<(), StoreError> {
    let mut hashes: Vec<_> = hashes.map(|(hash, at)| (at, hash)).collect();
    hashes.sort_unstable();
    for of_one_time in hashes.chunk_by(|(at, _), (other, _)| at == other) {
        for (at, some) in
            of_one_time.chunks(AT_ONCE).filter_map(|some| Some((some.first()?.0, some)))
        {
            let some: Vec<[u8; 32]> = some.iter().map(|(_, hash)| *hash).collect();
            block_on(snapshots.suppress(&some, at))?;
        }
    }
    Ok(())
}
