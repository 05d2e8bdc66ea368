//! Leases: a process works on a shared job only while it holds the job's lease.
//!
//! One thread renews all leases of the process. Before each commit of output rows, the thread that
//! runs the job checks that the process still holds the lease.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use enrich_core::port::jobs::{JobPhase, JobRecords, LEASE};
use parking_lot::Mutex;
use pollster::block_on;

use super::progress::progress_of;
use super::record::JobId;
use super::{Entry, JobsState};

/// Interval between renewals of a lease. A renewal also returns whether another process has asked
/// to stop the job.
const RENEW_EACH: Duration = Duration::from_secs(1);
/// Time after a renewal in which this process certainly still holds the lease. In this time, a
/// commit of output rows does not renew the lease.
const SURE: Duration = Duration::from_secs(10);
/// How long after the last renewal this process continues to write rows, if it cannot reach the
/// shared job records. The time is shorter than [`LEASE`], so that a commit that has already begun
/// ends before the lease expires.
const UNREACHABLE: Duration = LEASE.saturating_sub(SURE);

/// The lease of one job in this process.
pub(super) struct Lease {
    id: JobId,
    /// The job's turn when this process took the job: a number that grows with each new holder. If
    /// the store has another turn for the job, the lease is lost.
    pub(super) turn: u64,
    /// Whether the earlier holder of the job may still write files: its lease expired, but it has
    /// not released the job.
    pub(super) was_expired: bool,
    records: Arc<dyn JobRecords>,
    /// When this process sent the last renewal that succeeded. The database starts the time of the
    /// lease when the renewal arrives, which is a little later. So the lease never ends earlier
    /// than this process expects.
    renewed_at: Mutex<Instant>,
    progress: Mutex<String>,
    is_lost: AtomicBool,
}

impl Lease {
    /// Returns the lease of a job. `began` is the time just before the lease was requested.
    pub(super) fn new(
        id: JobId,
        turn: u64,
        was_expired: bool,
        records: &Arc<dyn JobRecords>,
        began: Instant,
    ) -> Self {
        Self {
            id,
            turn,
            was_expired,
            records: Arc::clone(records),
            renewed_at: Mutex::new(began),
            progress: Mutex::default(),
            is_lost: AtomicBool::new(false),
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    /// Returns whether this process still holds the job, so that it may commit rows. If the last
    /// renewal is older than [`SURE`], renews the lease first.
    pub(super) fn may_write(&self) -> bool {
        if self.is_lost() {
            return false;
        }
        let is_sure = self.renewed_at.lock().elapsed() < SURE;
        is_sure || self.renew() != Renewed::Lost
    }

    /// Renews the lease. The lease is lost if another process holds the job, or if the shared job
    /// records were unreachable for too long.
    fn renew(&self) -> Renewed {
        let (began, progress) = (Instant::now(), self.progress.lock().clone());
        match block_on(self.records.renew(self.id.number(), self.turn, &progress)) {
            Ok(Some(phase)) => {
                *self.renewed_at.lock() = began;
                if phase == JobPhase::Stopping { Renewed::MustStop } else { Renewed::Held }
            }
            Err(_) if self.renewed_at.lock().elapsed() < UNREACHABLE => Renewed::Held,
            Ok(None) | Err(_) => {
                self.is_lost.store(true, Ordering::Release);
                Renewed::Lost
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Renewed {
    Held,
    MustStop,
    Lost,
}

/// The main function of the thread that renews the leases of this process. It ends when the process
/// shuts down and holds no lease any more.
pub(super) fn renew_leases(shared: &JobsState) {
    let Some(records) = &shared.records else { return };
    loop {
        let (held, is_full) = {
            let registry = shared.registry.lock();
            let held: Vec<Arc<Lease>> =
                registry.jobs.values().filter_map(|entry| entry.held_with_progress()).collect();
            if registry.is_closing && held.is_empty() {
                return;
            }
            let running = registry.jobs.values().filter(|entry| entry.stop.is_some()).count();
            (held, running >= shared.settings.running.max(1))
        };
        for lease in held {
            let renewed = lease.renew();
            if renewed == Renewed::Held {
                continue;
            }
            let mut registry = shared.registry.lock();
            if let Some(entry) = registry.jobs.get_mut(&lease.id) {
                entry.is_stopped |= renewed == Renewed::MustStop;
                entry.stop.iter().for_each(crate::stop::Stop::now);
            }
        }
        let contenders =
            if is_full { block_on(records.contenders()).unwrap_or_default() } else { 0 };
        let mut registry = shared.registry.lock();
        registry.contenders = usize::try_from(contenders).unwrap_or(usize::MAX);
        if registry.is_closing {
            // The threads that run jobs send no signal when they end, so this thread checks often
            // whether they have ended.
            shared.changed.wait_for(&mut registry, RENEW_EACH / 20);
        } else {
            shared.changed.wait_for(&mut registry, RENEW_EACH);
        }
    }
}

impl Entry {
    /// Returns the lease and gives it the job's present progress, which the next renewal saves.
    /// Returns `None` if the job has no lease or the lease is lost.
    fn held_with_progress(&self) -> Option<Arc<Lease>> {
        let lease = self.lease.as_ref().filter(|lease| !lease.is_lost())?;
        *lease.progress.lock() = progress_of(self);
        Some(Arc::clone(lease))
    }
}

/// Returns a function that is called before each commit of output rows. The function returns
/// whether this process still holds the lease.
pub(super) fn guard(lease: &Arc<Lease>) -> Arc<dyn Fn() -> bool + Send + Sync> {
    let lease: Weak<Lease> = Arc::downgrade(lease);
    Arc::new(move || lease.upgrade().is_some_and(|lease| lease.may_write()))
}
