//! One snapshot, opened for look-ups.

use std::path::Path;
use std::time::Duration;

use enrich_core::port::snapshots::{Snapshot, SnapshotNumber};
use enrich_core::{DirectoryRevision, Timestamp};
use enrich_secrets::Secrets;
use enrich_store_directory::{DirectoryFile, SqliteDirectory, SuppressedHashes, Versions};
use enrich_store_sqlite::Options;

use crate::error::SnapshotError;

/// An opened snapshot (a copy of the look-up data), with the values that were read from its file.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) number: SnapshotNumber,
    pub(crate) revision: DirectoryRevision,
    /// The time when the snapshot was copied from the look-up data of the machine that imports.
    pub(crate) at: Timestamp,
    pub(crate) directory: SqliteDirectory,
    /// The values that no answer may contain, as keyed hashes. The values themselves are not in the
    /// snapshot.
    pub(crate) suppressed: SuppressedHashes,
    /// The hashes of values that were suppressed by a suppression list, and whose suppression was
    /// taken back (ended) before this snapshot was made. Each hash comes with the time of this end.
    pub(crate) taken_back: Vec<([u8; 32], Timestamp)>,
    /// How many times the suppressed values (values that no answer may contain) had changed when
    /// this snapshot was made. Each suppression of a value counts as one change. Each end of a
    /// suppression counts as one more change.
    pub(crate) suppression_changes: u64,
}

impl Opened {
    /// Opens a snapshot's file. The caller must have checked the hash of the file before. This
    /// function checks the schema, the secret and the revision in the file.
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
        Ok(Self {
            number: snapshot.number,
            revision: file.revision,
            at: snapshot.at,
            directory,
            suppressed,
            taken_back: file.taken_back,
            suppression_changes: file.suppression_changes,
        })
    }

    /// Prepares the snapshot for fast look-ups. Above all, builds the hash index: an index of
    /// identifiers in memory. From time to time, calls `goes_on` with a time for which `goes_on`
    /// must pause, so that other threads can use the processor. If `goes_on` returns `false`, stops
    /// without a hash index.
    pub(crate) fn prepare(&self, goes_on: &dyn Fn(Duration) -> bool) -> Result<(), SnapshotError> {
        Ok(self.directory.prepare_snapshot(goes_on)?)
    }
}

/// Returns an error if this build does not support the schema of the directory, or the rules by
/// which its look-up data was derived.
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
