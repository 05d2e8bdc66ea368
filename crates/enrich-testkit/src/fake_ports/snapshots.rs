//! A replacement in memory for two lists that nodes share in a database: snapshots (copies of the
//! look-up data), and suppressions (values that no answer may contain).

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use enrich_core::Timestamp;
use enrich_core::port::error::StoreError;
use enrich_core::port::snapshots::{
    SecretCheck, Snapshot, SnapshotNumber, SnapshotState, Snapshots, Suppression,
};
use parking_lot::Mutex;

/// The lists of snapshots and of suppressions, in memory. Several simulated nodes in one process
/// can use the same lists.
#[derive(Debug, Default)]
pub struct MemorySnapshots {
    /// The result of [`Snapshots::secrets`]: for each secret, a value that identifies it without
    /// revealing it.
    pub secrets: Mutex<Vec<SecretCheck>>,
    list: Mutex<List>,
    live: AtomicU64,
}

#[derive(Debug, Default)]
struct List {
    in_use: Option<SnapshotNumber>,
    snapshots: Vec<Snapshot>,
    suppressions: Vec<Suppression>,
}

impl MemorySnapshots {
    /// Returns the number of the snapshot from which a node answers, as the node last reported it
    /// with `note_live`. Returns 0 if no node has reported one.
    pub fn noted(&self) -> SnapshotNumber {
        SnapshotNumber(self.live.load(Ordering::SeqCst))
    }

    /// Changes the entry of a snapshot in the list. Panics if there is no such entry.
    pub fn change(&self, number: SnapshotNumber, change: impl FnOnce(&mut Snapshot)) {
        let mut list = self.list.lock();
        change(list.snapshots.iter_mut().find(|snapshot| snapshot.number == number).unwrap());
    }
}

#[async_trait]
impl Snapshots for MemorySnapshots {
    fn state(&self) -> SnapshotState {
        let list = self.list.lock();
        let suppression = list.suppressions.last().map_or(0, |last| last.number);
        SnapshotState { in_use: list.in_use, suppression }
    }

    async fn find(&self, number: SnapshotNumber) -> Result<Option<Snapshot>, StoreError> {
        let list = self.list.lock();
        Ok(list.snapshots.iter().find(|snapshot| snapshot.number == number).cloned())
    }

    async fn newest(&self, limit: u32) -> Result<Vec<Snapshot>, StoreError> {
        let list = self.list.lock();
        Ok(list.snapshots.iter().rev().take(limit as usize).cloned().collect())
    }

    async fn publish(&self, snapshot: &Snapshot) -> Result<bool, StoreError> {
        let mut list = self.list.lock();
        if list.snapshots.contains(snapshot) {
            return Ok(true);
        }
        if list.snapshots.last().is_some_and(|last| last.number >= snapshot.number) {
            return Ok(false);
        }
        list.snapshots.push(snapshot.clone());
        list.in_use = Some(snapshot.number);
        Ok(true)
    }

    async fn answer_from(&self, number: SnapshotNumber) -> Result<bool, StoreError> {
        let mut list = self.list.lock();
        let is_there = list.snapshots.iter().any(|snapshot| snapshot.number == number);
        if is_there {
            list.in_use = Some(number);
        }
        Ok(is_there)
    }

    fn note_live(&self, number: SnapshotNumber) {
        self.live.store(number.0, Ordering::SeqCst);
    }

    async fn suppress(&self, hashes: &[[u8; 32]], at: Timestamp) -> Result<(), StoreError> {
        let mut list = self.list.lock();
        for &hash in hashes {
            if list.suppressions.iter().all(|known| known.hash != hash) {
                let number = list.suppressions.len() as u64 + 1;
                list.suppressions.push(Suppression { number, hash, at });
            }
        }
        Ok(())
    }

    async fn suppressed_after(
        &self,
        number: u64,
        limit: u32,
    ) -> Result<Vec<Suppression>, StoreError> {
        let list = self.list.lock();
        let later = list.suppressions.iter().filter(|known| known.number > number);
        Ok(later.take(limit as usize).copied().collect())
    }

    async fn secrets(&self) -> Result<Vec<SecretCheck>, StoreError> {
        Ok(self.secrets.lock().clone())
    }
}
