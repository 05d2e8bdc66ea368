//! The look-up data of a node: the snapshot in use, which can be replaced while the node answers
//! look-ups.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use enrich_core::port::directory::{Directory, Tenant};
use enrich_core::port::error::StoreError;
use enrich_core::port::snapshots::{SnapshotNumber, Snapshots};
use enrich_core::{
    DirectoryRevision, Found, Projection, Question, SuppressedValues, Timestamp, names_suppressed,
    without_suppressed,
};
use enrich_store_sqlite::Background;
use parking_lot::Mutex;

use crate::error::SnapshotError;
use crate::follow::{FollowState, first, follow, follow_suppressions, read_suppressions};
use crate::live::{Live, StoreSuppressions};
use crate::local_files::LocalFiles;
use crate::settings::SnapshotSettings;

/// Answers look-ups from a snapshot (a copy of the look-up data).
///
/// The list of snapshots, which all nodes share, says which snapshot is in use: all nodes should
/// answer from it. When another snapshot comes into use, the node changes to it. If that snapshot
/// cannot be used, the node logs the error, and goes on answering from its previous snapshot.
///
/// Each look-up uses one snapshot from its beginning to its end. A value that was suppressed after
/// the snapshot was published is left out of the answers.
pub struct SnapshotDirectory {
    shared: Arc<FollowState>,
    /// One thread watches the list of snapshots for changes, and the other one the list of
    /// suppressions (values that no answer may contain). Dropping this field ends both threads, and
    /// waits for their end.
    _threads: [Background; 2],
}

/// The state of a node's snapshots: the snapshot from which the node answers, the snapshot in use
/// (from which all nodes should answer), and the reason if the two differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotStatus {
    /// The number of the snapshot that the node answers from.
    pub live: SnapshotNumber,
    /// The revision of the directory (the look-up data) in this snapshot. It is a number that grows
    /// with every change of the directory.
    pub revision: DirectoryRevision,
    /// The time when this snapshot was copied from the look-up data of the machine that imports.
    pub at: Timestamp,
    /// The number of times that the node has changed to another snapshot since its start.
    pub swaps: u64,
    /// The number of failed attempts to use a snapshot since the node's start.
    pub refusals: u64,
    /// The number of the snapshot in use, from which all nodes should answer; `None` if there is
    /// none.
    pub in_use: Option<SnapshotNumber>,
    /// Why the node cannot answer from the snapshot in use; `None` if there is no problem, or if
    /// the node has not tried to use it yet.
    pub problem: Option<String>,
    /// The number of the last suppression (a value that no answer may contain) that the node
    /// applies. The node also applies all suppressions with lower numbers.
    pub suppression: u64,
}

impl SnapshotDirectory {
    /// Opens a first snapshot, so that the node can answer. This method blocks until then. It tries
    /// these snapshots in this order:
    ///
    /// 1. the snapshot in use (from which all nodes should answer), if it is in the data folder;
    /// 2. the other snapshots in the data folder, the newest first;
    /// 3. the snapshot in use, which is then fetched.
    ///
    /// Afterwards starts two threads. They watch the lists of snapshots and of suppressions (values
    /// that no answer may contain) for changes.
    ///
    /// # Errors
    ///
    /// See [`SnapshotError`].
    pub fn open(
        snapshots: Arc<dyn Snapshots>,
        settings: SnapshotSettings,
    ) -> Result<Self, SnapshotError> {
        let files = LocalFiles::of(&settings.data)?;
        let opened = first(&*snapshots, &settings, &files)?;
        snapshots.note_live(opened.number);
        // The suppressions (values that no answer may contain) are read after the snapshot was
        // prepared, because preparing takes long and new suppressions may arrive in this time.
        let mut suppressions = StoreSuppressions::none(&settings.secrets);
        read_suppressions(&*snapshots, &mut suppressions)?;
        let path = files.path(opened.number);
        let live = Live::new(Arc::new(opened), &suppressions);
        let shared = Arc::new(FollowState {
            snapshots,
            settings,
            files,
            live: ArcSwap::from_pointee(live),
            suppressions: Mutex::new(suppressions),
            problem: Mutex::default(),
            swaps: AtomicU64::new(0),
            refusals: AtomicU64::new(0),
        });
        let [swapping, suppressing] = [(); 2].map(|()| Arc::clone(&shared));
        let threads = [
            Background::start(&path, "enrich-snapshot", move |owner| follow(&swapping, owner))?,
            Background::start(&path, "enrich-forget", move |owner| {
                follow_suppressions(&suppressing, owner);
            })?,
        ];
        Ok(Self { shared, _threads: threads })
    }

    /// Returns the state of the node's snapshots, for health pages and metrics.
    pub fn status(&self) -> SnapshotStatus {
        let live = self.shared.live.load_full();
        // `problem` is unlocked before `suppressions` is locked. [`FollowState::swap`] locks
        // `suppressions` first and then `problem`. If this method locked both in the opposite
        // order, the two threads could wait for each other for ever.
        let problem = self.shared.problem.lock().clone();
        let suppression = self.shared.suppressions.lock().number;
        SnapshotStatus {
            live: live.opened.number,
            revision: live.opened.revision,
            at: live.opened.at,
            swaps: self.shared.swaps.load(Ordering::Relaxed),
            refusals: self.shared.refusals.load(Ordering::Relaxed),
            in_use: self.shared.snapshots.state().in_use,
            problem,
            suppression,
        }
    }
}

#[async_trait]
impl Directory for SnapshotDirectory {
    async fn find(
        &self,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        self.find_for(Tenant::default(), question, projection).await
    }

    async fn find_for(
        &self,
        tenant: Tenant,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        let live = self.shared.live.load_full();
        let overlay = live.overlay.as_ref().map(|values| values as &dyn SuppressedValues);
        if overlay.is_some_and(|values| names_suppressed(values, question)) {
            return Ok(None);
        }
        let found = live.opened.directory.find_for(tenant, question, projection).await?;
        Ok(match overlay {
            Some(values) => found.and_then(|found| without_suppressed(values, found)),
            None => found,
        })
    }

    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        Ok(Some(Arc::clone(&self.shared.live.load().suppressed) as _))
    }

    async fn revision(&self) -> Result<DirectoryRevision, StoreError> {
        Ok(self.shared.live.load().opened.revision)
    }
}
