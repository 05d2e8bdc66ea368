//! Follows the list of snapshots: makes the node answer from the snapshot in use, and applies new
//! suppressions (values that no answer may contain).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use enrich_core::port::error::StoreError;
use enrich_core::port::snapshots::{Snapshot, SnapshotNumber, Snapshots, Suppression};
use enrich_store_directory::Versions;
use enrich_store_sqlite::{Owner, at_lower_priority};
use parking_lot::Mutex;
use pollster::block_on;
use tracing::{debug, info, warn};

use crate::compression;
use crate::error::SnapshotError;
use crate::live::{Live, StoreSuppressions};
use crate::local_files::{LocalFiles, hash_of};
use crate::opened::{Opened, check_versions};
use crate::settings::SnapshotSettings;

/// Interval at which a node checks whether another snapshot is in use, and whether there are new
/// suppressions (values that no answer may contain). The check is cheap, because it only reads
/// memory.
const INTERVAL: Duration = Duration::from_millis(100);
/// Delay before a node tries again to use a snapshot after the first failure. The delay doubles
/// with each further failure, up to [`LAST_RETRY`].
const FIRST_RETRY: Duration = Duration::from_secs(2);
/// Maximum delay before a node tries again to use a snapshot.
const LAST_RETRY: Duration = Duration::from_secs(60);
/// The maximum number of suppressions (values that no answer may contain) in one read from the
/// store.
const PAGE: u32 = 10_000;

/// The state that several threads of a node share: all threads that make look-ups, the thread that
/// follows the list of snapshots, and the thread that follows the list of suppressions (values that
/// no answer may contain).
pub(crate) struct FollowState {
    pub(crate) snapshots: Arc<dyn Snapshots>,
    pub(crate) settings: SnapshotSettings,
    pub(crate) files: LocalFiles,
    pub(crate) live: ArcSwap<Live>,
    /// The suppressions that were read from the store. A thread that changes `live` must keep
    /// this field locked until `live` is changed.
    pub(crate) suppressions: Mutex<StoreSuppressions>,
    /// Why the node cannot answer from the snapshot in use (from which all nodes should answer);
    /// `None` if there is no problem.
    pub(crate) problem: Mutex<Option<String>>,
    /// The number of times that the node has changed to another snapshot.
    pub(crate) swaps: AtomicU64,
    /// The number of failed attempts to use a snapshot.
    pub(crate) refusals: AtomicU64,
}

struct Failed {
    number: SnapshotNumber,
    at: Instant,
    delay: Duration,
}

/// Opens the snapshot with which a node starts. If the snapshot in use (from which all nodes should
/// answer) is in the data folder, opens it. Otherwise opens the newest snapshot in the data folder
/// that can be used. If there is none, fetches the snapshot in use and opens it. Removes damaged
/// snapshots.
pub(crate) fn first(
    snapshots: &dyn Snapshots,
    settings: &SnapshotSettings,
    files: &LocalFiles,
) -> Result<Opened, SnapshotError> {
    let in_use = snapshots.state().in_use.ok_or(SnapshotError::NonePublished)?;
    let mut here = files.numbers()?;
    // The snapshot in use comes first. The sort is stable, so the other snapshots stay in their
    // order: the newest first.
    here.sort_by_key(|number| *number != in_use);
    for number in here {
        match open_here(snapshots, settings, files, number) {
            Ok(opened) => return Ok(opened),
            Err(error) => {
                warn!(
                    error = &error as &dyn std::error::Error,
                    number = number.0,
                    "a snapshot in the data folder cannot be used"
                );
                if error.is_damage() {
                    files.discard(number)?;
                }
            }
        }
    }
    let snapshot = listed(snapshots, in_use)?;
    let opened = fetch_and_open(settings, files, &snapshot, &|_| true)?;
    opened.prepare(&|_| true)?;
    Ok(opened)
}

/// Opens a snapshot in the data folder when a node starts. The check of the hash reads the whole
/// file. The operating system then has the file in its cache, which makes the first look-ups
/// faster.
fn open_here(
    snapshots: &dyn Snapshots,
    settings: &SnapshotSettings,
    files: &LocalFiles,
    number: SnapshotNumber,
) -> Result<Opened, SnapshotError> {
    let snapshot = listed(snapshots, number)?;
    let path = files.path(number);
    compression::check(&path, hash_of(&snapshot))?;
    let opened = Opened::open(&path, &snapshot, &settings.secrets, &settings.options)?;
    opened.prepare(&|_| true)?;
    Ok(opened)
}

pub(crate) fn listed(
    snapshots: &dyn Snapshots,
    number: SnapshotNumber,
) -> Result<Snapshot, SnapshotError> {
    block_on(snapshots.find(number))?.ok_or(SnapshotError::NotListed(number))
}

fn fetch_and_open(
    settings: &SnapshotSettings,
    files: &LocalFiles,
    snapshot: &Snapshot,
    goes_on: &(dyn Fn(Duration) -> bool + Sync),
) -> Result<Opened, SnapshotError> {
    // The versions are checked before the file is copied, so that gigabytes are not copied in vain.
    check_versions(Versions { schema: snapshot.schema, derived_by: snapshot.derived_by })?;
    let path = files.path(snapshot.number);
    // Fetching takes much processor time. The lower priority gives look-ups on other threads more
    // of this time.
    at_lower_priority(|| files.fetch(snapshot, &settings.location, goes_on))
        .map_err(|source| SnapshotError::file(&path, source))??;
    Opened::open(&path, snapshot, &settings.secrets, &settings.options)
}

/// Prepares a snapshot for fast look-ups. Works at lower priority, because the node answers
/// look-ups at the same time.
fn prepare(
    opened: &Opened,
    goes_on: &(dyn Fn(Duration) -> bool + Sync),
) -> Result<(), SnapshotError> {
    at_lower_priority(|| opened.prepare(goes_on)).map_err(StoreError::failed)?
}

/// Reads all suppressions from the store that are not in `known` yet, and adds them to `known`.
pub(crate) fn read_suppressions(
    snapshots: &dyn Snapshots,
    known: &mut StoreSuppressions,
) -> Result<(), StoreError> {
    loop {
        let page = block_on(snapshots.suppressed_after(known.number, PAGE))?;
        if page.is_empty() {
            return Ok(());
        }
        known.add(&page);
    }
}

/// Changes the node to another snapshot whenever the snapshot in use changes. The snapshot in use
/// is the one from which all nodes should answer. Returns when the `SnapshotDirectory` that has
/// started this thread is dropped.
pub(crate) fn follow(shared: &FollowState, owner: &Owner) {
    let mut failed: Option<Failed> = None;
    // The snapshots from which the node answered before. A look-up that began earlier may still use
    // such a snapshot. This list keeps the snapshot until no look-up uses it any more. Then this
    // thread closes it, so that no look-up is slowed down by the closing.
    let mut earlier: Vec<Arc<Opened>> = Vec::new();
    while owner.wait_or_stopped(INTERVAL) {
        earlier.retain(|opened| Arc::strong_count(opened) > 1);
        let live = shared.live_number();
        let Some(in_use) = shared.snapshots.state().in_use else { continue };
        if in_use == live {
            (*shared.problem.lock(), failed) = (None, None);
            continue;
        }
        let is_too_soon = |it: &Failed| it.number == in_use && it.at.elapsed() < it.delay;
        if failed.as_ref().is_some_and(is_too_soon) {
            continue;
        }
        match shared.change_to(in_use, owner) {
            Ok(replaced) => {
                earlier.push(replaced);
                failed = None;
            }
            Err(SnapshotError::Stopped) => return,
            Err(error) => {
                shared.note_problem(in_use, &error);
                let delay = match &failed {
                    Some(it) if it.number == in_use => (it.delay * 2).min(LAST_RETRY),
                    _ => FIRST_RETRY,
                };
                failed = Some(Failed { number: in_use, at: Instant::now(), delay });
            }
        }
    }
}

/// Reads new suppressions (values that no answer may contain) from the store again and again, and
/// applies them to the answers. Returns when the `SnapshotDirectory` that has started this thread
/// is dropped.
pub(crate) fn follow_suppressions(shared: &FollowState, owner: &Owner) {
    while owner.wait_or_stopped(INTERVAL) {
        let newest = shared.snapshots.state().suppression;
        let known = {
            let mut suppressions = shared.suppressions.lock();
            if newest < suppressions.number {
                // The number of the store's newest suppression is lower than the last number that
                // this node has read. So the store is now another database, such as a restored
                // backup. All its suppressions must be read from the beginning. The suppressions
                // that this process has already read still apply.
                suppressions.number = 0;
            }
            suppressions.number
        };
        if newest == known {
            continue;
        }
        match block_on(shared.snapshots.suppressed_after(known, PAGE)) {
            Ok(mut page) => {
                // `newest` was read from memory, so the store may already have suppressions with
                // higher numbers. They are left for the next pass of this loop. Otherwise
                // `suppressions.number` could be higher than `newest` in the next pass. The loop
                // would then believe that the store is another database, and read all suppressions
                // again.
                page.retain(|suppression| suppression.number <= newest);
                shared.suppress(&page);
            }
            // The store was reachable a moment ago, because `newest` has just changed. So this
            // failure is probably short, and is only logged for debugging. The next pass of this
            // loop tries again.
            Err(error) => debug!(%error, "the suppressions cannot be read"),
        }
    }
}

impl FollowState {
    /// Returns the number of the snapshot from which the node answers.
    pub(crate) fn live_number(&self) -> SnapshotNumber {
        self.live.load().opened.number
    }

    /// Makes the node answer from another snapshot. Returns the snapshot from which the node
    /// answered before.
    ///
    /// If the node already has the file of the snapshot, the file was checked when it was fetched.
    /// The node answers from the snapshot immediately, so an operator can quickly go back to an
    /// earlier snapshot. Afterwards, the node builds the hash index (an index of identifiers in
    /// memory, which makes look-ups faster). If the node does not have the file, it fetches the
    /// file and builds the hash index first.
    fn change_to(
        &self,
        number: SnapshotNumber,
        owner: &Owner,
    ) -> Result<Arc<Opened>, SnapshotError> {
        let goes_on = |pause| owner.wait_or_stopped(pause);
        let snapshot = listed(&*self.snapshots, number)?;
        let is_here = self.files.has(number);
        let opened = fetch_and_open(&self.settings, &self.files, &snapshot, &goes_on)?;
        let opened = Arc::new(opened);
        if !is_here {
            prepare(&opened, &goes_on)?;
            if !owner.wait_or_stopped(Duration::ZERO) {
                return Err(SnapshotError::Stopped);
            }
        }
        let replaced = self.swap(Arc::clone(&opened));
        let revision = opened.revision.0;
        info!(
            number = number.0,
            revision,
            before = replaced.number.0,
            "look-ups use a new snapshot"
        );
        if is_here && let Err(error) = prepare(&opened, &goes_on) {
            warn!(%error, "the identifiers of a snapshot cannot be read to their end");
        }
        if let Err(error) = self.files.remove_old(number) {
            warn!(%error, "an old snapshot cannot be removed");
        }
        Ok(replaced)
    }

    /// Makes the node answer from `opened` from now on. Returns the snapshot from which the node
    /// answered before.
    fn swap(&self, opened: Arc<Opened>) -> Arc<Opened> {
        let suppressions = self.suppressions.lock();
        let number = opened.number;
        let live = Arc::new(Live::new(opened, &suppressions));
        let before = Arc::clone(&self.live.swap(live).opened);
        *self.problem.lock() = None;
        self.swaps.fetch_add(1, Ordering::Relaxed);
        self.snapshots.note_live(number);
        before
    }

    /// Adds the suppressions of `page`. From now on, no answer contains their values.
    fn suppress(&self, page: &[Suppression]) {
        let mut known = self.suppressions.lock();
        known.add(page);
        let opened = Arc::clone(&self.live.load().opened);
        self.live.store(Arc::new(Live::new(opened, &known)));
    }

    fn note_problem(&self, number: SnapshotNumber, error: &SnapshotError) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
        let text = error.to_string();
        let mut problem = self.problem.lock();
        if problem.as_ref() != Some(&text) {
            let error = error as &dyn std::error::Error;
            warn!(error, number = number.0, "a snapshot cannot be used; the one before stays");
        }
        *problem = Some(text);
    }
}
