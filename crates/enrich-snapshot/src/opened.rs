//! One snapshot, opened for look-ups.

use std::path::Path;
use std::time::Duration;

use enrich_core::DirectoryRevision;
use enrich_core::port::snapshots::{Snapshot, SnapshotNumber};
use enrich_secrets::Secrets;
use enrich_store_directory::{DirectoryFile, SqliteDirectory, SuppressedHashes, Versions};
use enrich_store_sqlite::Options;

use crate::error::SnapshotError;

/// An open snapshot.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) number: SnapshotNumber,
    pub(crate) revision: DirectoryRevision,
    pub(crate) directory: SqliteDirectory,
    /// The values that are suppressed in it.
    pub(crate) suppressed: SuppressedHashes,
}

impl Opened {
    /// Opens a snapshot whose hash was checked. Checks what the file says of itself.
    pub(crate) fn open(
        path: &Path,
        snapshot: &Snapshot,
        secrets: &Secrets,
        options: &Options,
    ) -> Result<Self, SnapshotError> {
        let file = DirectoryFile::read(path)?;
        check_versions(file.versions)?;
        if let Some(secret) = file.unknown_secret(secrets) {
            return Err(SnapshotError::NodeSecret(secret.id));
        }
        if file.revision != snapshot.revision {
            return Err(SnapshotError::Altered(path.into()));
        }
        let directory = SqliteDirectory::open_snapshot(path, secrets, options)?;
        let mut suppressed = SuppressedHashes::none(secrets);
        for (hash, at) in file.suppressed {
            suppressed.add(hash, at);
        }
        Ok(Self { number: snapshot.number, revision: file.revision, directory, suppressed })
    }

    /// Builds what makes look-ups fast, with pauses.
    pub(crate) fn prepare(&self, goes_on: &dyn Fn(Duration) -> bool) -> Result<(), SnapshotError> {
        Ok(self.directory.prepare_snapshot(goes_on)?)
    }
}

/// Refuses versions that this build does not read.
pub(crate) fn check_versions(found: Versions) -> Result<(), SnapshotError> {
    let known = Versions::known();
    if found.schema != known.schema {
        return Err(SnapshotError::Schema { found: found.schema, known: known.schema });
    }
    if found.derived_by != known.derived_by {
        return Err(SnapshotError::DerivedBy { found: found.derived_by, known: known.derived_by });
    }
    Ok(())
}
