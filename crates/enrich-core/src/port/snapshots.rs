//! The published snapshots and the suppressions. A snapshot is a copy of the directory (the look-up
//! data); nodes (server processes) answer from this copy. A suppression forbids a value in all
//! answers. A snapshot may contain a value that was suppressed after the copy was made. Until the
//! nodes answer from a newer snapshot without the value, each node removes the value from its
//! answers.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::port::error::StoreError;
use crate::subject::DirectoryRevision;

/// The number of a snapshot (a copy of the look-up data), from 1. A later snapshot has a higher
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotNumber(pub u64);

/// A published snapshot: a file with a copy of the look-up data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The snapshot's number.
    pub number: SnapshotNumber,
    /// The revision (version number) of the look-up data in the snapshot.
    pub revision: DirectoryRevision,
    /// The length of the uncompressed file, in bytes.
    pub bytes: u64,
    /// The BLAKE3 hash of the uncompressed file.
    pub blake3: [u8; 32],
    /// The folder to which the publisher has copied the snapshot: its path on the publisher's
    /// machine.
    pub location: String,
    /// The version of the database schema of the file.
    pub schema: u32,
    /// The version of the rules by which the look-up data in the file was calculated from the
    /// imported facts.
    pub derived_by: u32,
    /// The time when the look-up data was copied into the file.
    pub at: Timestamp,
}

/// Which snapshot (copy of the look-up data) is in use, and which suppression (a value that no
/// answer may contain) is the newest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotState {
    /// The snapshot (copy of the look-up data) from which all nodes must answer; `None` before the
    /// first snapshot.
    pub in_use: Option<SnapshotNumber>,
    /// The number of the newest suppression (a value that no answer may contain); 0 before the
    /// first suppression.
    pub suppression: u64,
}

/// The suppression of one value. No answer may contain the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The suppression's number, from 1. A later suppression has a higher number.
    pub number: u64,
    /// The keyed hash of the value.
    pub hash: [u8; 32],
    /// The time from which the value is suppressed.
    pub at: Timestamp,
}

/// Identifies a secret without revealing it: the number of the secret, and a hash that was made
/// with the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretCheck {
    /// The number of the secret.
    pub id: u32,
    /// The keyed hash of an empty text, with the secret as the key. If two secrets have the same
    /// hash, they are equal.
    pub hash: [u8; 32],
}

/// Stores the snapshots (copies of the look-up data) and the suppressions (values that no answer
/// may contain). All nodes (server processes) share them.
#[async_trait]
pub trait Snapshots: Send + Sync {
    /// Returns which snapshot (copy of the look-up data) is in use, and which suppression (a value
    /// that no answer may contain) is the newest. Only reads memory, so the call is cheap. If other
    /// processes can change the store, the implementation updates its memory from the store about
    /// twice a second.
    fn state(&self) -> SnapshotState;

    /// Finds the snapshot with this number; `None` if no snapshot has this number.
    async fn find(&self, number: SnapshotNumber) -> Result<Option<Snapshot>, StoreError>;

    /// Returns at most `limit` snapshots, the newest first.
    async fn newest(&self, limit: u32) -> Result<Vec<Snapshot>, StoreError>;

    /// Adds a snapshot (a copy of the look-up data), makes all nodes (server processes) answer from
    /// it, and returns `true`. If another snapshot with the same or a higher number exists, changes
    /// nothing and returns `false`. Exception: if exactly this snapshot is already stored, changes
    /// nothing and returns `true`.
    async fn publish(&self, snapshot: &Snapshot) -> Result<bool, StoreError>;

    /// Makes all nodes (server processes) answer from the snapshot with this number. Returns
    /// `false` if no snapshot has this number.
    async fn answer_from(&self, number: SnapshotNumber) -> Result<bool, StoreError>;

    /// Records that this node (server process) now answers from this snapshot, so that the operator
    /// can see it.
    fn note_live(&self, number: SnapshotNumber);

    /// Suppresses the values with these keyed hashes: answers must not contain them any more. If a
    /// hash was already suppressed, the time of its first suppression stays stored. So the caller
    /// may repeat the call.
    async fn suppress(&self, hashes: &[[u8; 32]], at: Timestamp) -> Result<(), StoreError>;

    /// Returns at most `limit` suppressions (values that no answer may contain) whose number is
    /// above `number`, in the order of their numbers.
    async fn suppressed_after(
        &self,
        number: u64,
        limit: u32,
    ) -> Result<Vec<Suppression>, StoreError>;

    /// Returns a [`SecretCheck`] for each secret of the store. All nodes have these secrets. So a
    /// directory (the look-up data) must not be published if it uses another secret.
    async fn secrets(&self) -> Result<Vec<SecretCheck>, StoreError>;
}
