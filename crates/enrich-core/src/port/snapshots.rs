//! The published snapshots of the directory. Also the suppressions that nodes apply until there is
//! a snapshot without the suppressed values.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::port::error::StoreError;
use crate::subject::DirectoryRevision;

/// The number of a snapshot, from 1. A later snapshot has a higher number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotNumber(pub u64);

/// A published snapshot: one directory file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The snapshot's number.
    pub number: SnapshotNumber,
    /// The revision of the directory that the snapshot contains.
    pub revision: DirectoryRevision,
    /// The length of the uncompressed file, in bytes.
    pub bytes: u64,
    /// The BLAKE3 hash of the uncompressed file.
    pub blake3: [u8; 32],
    /// The folder to which the snapshot was published, as the publisher names the folder.
    pub location: String,
    /// The version of the file's schema.
    pub schema: u32,
    /// The version of the rules by which the file's look-up data was derived.
    pub derived_by: u32,
    /// The time when the file was copied from the directory.
    pub at: Timestamp,
}

/// The state of the snapshots and suppressions, as it was last read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotState {
    /// The snapshot from which nodes must answer; `None` before the first snapshot.
    pub in_use: Option<SnapshotNumber>,
    /// The number of the newest suppression; 0 before the first suppression.
    pub suppression: u64,
}

/// A suppressed value: no answer may contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The suppression's number, from 1. A later suppression has a higher number.
    pub number: u64,
    /// The keyed hash of the value.
    pub hash: [u8; 32],
    /// The time from which the value is suppressed.
    pub at: Timestamp,
}

/// A secret's number, and the hash by which the secret is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretCheck {
    /// The number of the secret.
    pub id: u32,
    /// The keyed hash of no bytes, made with the secret.
    pub hash: [u8; 32],
}

/// The snapshots and suppressions that all nodes share.
#[async_trait]
pub trait Snapshots: Send + Sync {
    /// Returns the state from memory. A store that other processes can change reads the state about
    /// twice a second.
    fn state(&self) -> SnapshotState;

    /// Finds the snapshot with this number; `None` when there is no such snapshot.
    async fn find(&self, number: SnapshotNumber) -> Result<Option<Snapshot>, StoreError>;

    /// Returns the newest snapshots, at most `limit`, the newest first.
    async fn newest(&self, limit: u32) -> Result<Vec<Snapshot>, StoreError>;

    /// Adds a snapshot and makes all nodes answer from it. If a snapshot with the same or a higher
    /// number exists, changes nothing and returns `false`. The same snapshot may be published
    /// again.
    async fn publish(&self, snapshot: &Snapshot) -> Result<bool, StoreError>;

    /// Makes all nodes answer from the snapshot with this number; `false` when there is no such
    /// snapshot.
    async fn answer_from(&self, number: SnapshotNumber) -> Result<bool, StoreError>;

    /// Records from which snapshot this node answers, to show it to the operator.
    fn note_live(&self, number: SnapshotNumber);

    /// Suppresses values by their keyed hashes. If a hash is already suppressed, its time does not
    /// change, so the call may be repeated.
    async fn suppress(&self, hashes: &[[u8; 32]], at: Timestamp) -> Result<(), StoreError>;

    /// Returns the suppressions with a number above `number`, in order, at most `limit`.
    async fn suppressed_after(
        &self,
        number: u64,
        limit: u32,
    ) -> Result<Vec<Suppression>, StoreError>;

    /// Returns the secrets with which the store was made.
    async fn secrets(&self) -> Result<Vec<SecretCheck>, StoreError>;
}
