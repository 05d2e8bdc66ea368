//! Counts the groups of charges that the lanes send to the database, and adds up their times.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::ledger::job::Job;

/// The number of groups of charges that were processed since the store was opened. A group is a
/// number of charges that one lane (a task that accepts or refuses charges) processes at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCounts {
    /// Counts of the groups of charges that took one round trip to the database. The lane
    /// remembered the last ledger row of each account and sent these rows. The database compared
    /// them with the last ledger rows that it had stored. Accounts were locked only during this
    /// round trip.
    pub compared: PathCounts,
    /// Counts of the groups of charges that took two round trips without waiting for locks. The
    /// first round trip locked the accounts that no other transaction had locked, and read their
    /// last ledger rows. The second round trip added the new rows.
    pub read: PathCounts,
    /// Counts of the groups of charges that took two round trips and waited for locks. The first
    /// round trip waited until no other transaction had locked the accounts.
    pub locked: PathCounts,
    /// How often an account was left out of a group of charges, because another node or lane had
    /// locked it or changed it.
    pub conflicts: u64,
    /// How long the decided charges and grants have waited: the sum of the times from the arrival
    /// of each one to the start of its group of charges.
    pub waited: Duration,
    /// The number of charges and grants that are in the queues now.
    pub waiting: u64,
}

/// Counts of the groups of charges that were decided in one of three ways, since the store was
/// opened. [`LaneCounts`] lists the three ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCounts {
    /// The number of groups of charges that were sent to the database. A group that was sent twice
    /// is counted twice.
    pub groups: u64,
    /// The number of charges and grants that were decided in the counted groups of charges.
    pub jobs: u64,
    /// The sum of the times that the groups of charges took. The time of a group is from its start
    /// to its answer or failure.
    pub took: Duration,
}

#[derive(Debug, Default)]
pub(super) struct LaneCounter {
    pub(super) compared: PathCounter,
    pub(super) read: PathCounter,
    pub(super) locked: PathCounter,
    pub(super) conflicts: AtomicU64,
    waited_micros: AtomicU64,
}

#[derive(Debug, Default)]
pub(super) struct PathCounter {
    groups: AtomicU64,
    jobs: AtomicU64,
    micros: AtomicU64,
}

impl LaneCounter {
    /// Adds the time that a job (a charge or a grant) has waited: from its arrival to `began`, the
    /// start of its group of charges.
    pub(super) fn count_wait(&self, job: &Job, began: Instant) {
        add(&self.waited_micros, micros(began.saturating_duration_since(job.arrived)));
    }

    /// Adds the counts of this lane to `sum`, the counts of all lanes.
    pub(super) fn add_to(&self, sum: &mut LaneCounts) {
        self.compared.add_to(&mut sum.compared);
        self.read.add_to(&mut sum.read);
        self.locked.add_to(&mut sum.locked);
        sum.conflicts += self.conflicts.load(Ordering::Relaxed);
        sum.waited += Duration::from_micros(self.waited_micros.load(Ordering::Relaxed));
    }
}

impl PathCounter {
    /// Counts a group of charges that was sent at `began`, and adds the time until now.
    pub(super) fn count_group(&self, began: Instant) {
        add(&self.groups, 1);
        add(&self.micros, micros(began.elapsed()));
    }

    /// Adds `jobs` to the number of decided jobs (charges and grants).
    pub(super) fn count_jobs(&self, jobs: usize) {
        add(&self.jobs, jobs as u64);
    }

    fn add_to(&self, sum: &mut PathCounts) {
        sum.groups += self.groups.load(Ordering::Relaxed);
        sum.jobs += self.jobs.load(Ordering::Relaxed);
        sum.took += Duration::from_micros(self.micros.load(Ordering::Relaxed));
    }
}

pub(super) fn add(count: &AtomicU64, by: u64) {
    count.fetch_add(by, Ordering::Relaxed);
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
