//! The published snapshots of the directory, and the suppressions that nodes apply before a
//! snapshot without the values is there.

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
    /// Its number.
    pub number: SnapshotNumber,
    /// The state of the directory in it.
    pub revision: DirectoryRevision,
    /// The length of the file, not compressed.
    pub bytes: u64,
    /// The BLAKE3 hash of the file, not compressed.
    pub blake3: [u8; 32],
    /// The folder that it was published to, as its publisher names it.
    pub location: String,
    /// The version of the file's schema.
    pub schema: u32,
    /// The version of the rules that its look-up data were derived by.
    pub derived_by: u32,
    /// The time when the file was copied from the directory.
    pub at: Timestamp,
}

/// The state of the list, as it was last read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotState {
    /// The snapshot that nodes are to answer from; `None` before the first one.
    pub in_use: Option<SnapshotNumber>,
    /// The number of the newest suppression; 0 before the first one.
    pub suppression: u64,
}

/// A value that is no longer answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// Its number, from 1. A later suppression has a higher number.
    pub number: u64,
    /// The keyed hash of the value.
    pub hash: [u8; 32],
    /// Since when it is suppressed.
    pub at: Timestamp,
}

/// A secret, as the hash that recognises it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretCheck {
    /// The number of the secret.
    pub id: u32,
    /// A keyed hash of nothing.
    pub hash: [u8; 32],
}

/// The snapshots and suppressions that all nodes share.
#[async_trait]
pub trait Snapshots: Send + Sync {
    /// The state, from memory. A store that other processes change reads it about twice a second.
    fn state(&self) -> SnapshotState;

    /// The snapshot with a number; `None` when there is none.
    async fn find(&self, number: SnapshotNumber) -> Result<Option<Snapshot>, StoreError>;

    /// The newest snapshots, the newest first, at most `limit`.
    async fn newest(&self, limit: u32) -> Result<Vec<Snapshot>, StoreError>;

    /// Adds a snapshot, and has all nodes answer from it. `false` when a snapshot with its number or
    /// a higher one exists; nothing is changed then. The same snapshot may be published again.
    async fn publish(&self, snapshot: &Snapshot) -> Result<bool, StoreError>;

    /// Has all nodes answer from the snapshot with a number; `false` when there is none.
    async fn answer_from(&self, number: SnapshotNumber) -> Result<bool, StoreError>;

    /// Notes which snapshot this node answers from, for the operator.
    fn note_live(&self, number: SnapshotNumber);

    /// Suppresses values by their keyed hashes; known ones keep their time. The same hashes may be
    /// suppressed again.
    async fn suppress(&self, hashes: &[[u8; 32]], at: Timestamp) -> Result<(), StoreError>;

    /// The suppressions after the one with a number, in order, at most `limit`.
    async fn suppressed_after(
        &self,
        number: u64,
        limit: u32,
    ) -> Result<Vec<Suppression>, StoreError>;

    /// The secrets that the store was made with.
    async fn secrets(&self) -> Result<Vec<SecretCheck>, StoreError>;
}
