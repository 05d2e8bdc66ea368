//! Implements the trait [`JobRecords`] in memory, for tests. It replaces the records of jobs that
//! nodes share in a database.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use async_trait::async_trait;
use enrich_core::AccountId;
use enrich_core::port::error::StoreError;
use enrich_core::port::jobs::{
    JobChange, JobLease, JobPhase, JobRecords, JobRow, LEASE, LocalJob, RemoteJob,
};
use parking_lot::{Mutex, MutexGuard};

/// The records of jobs, in memory. A test simulates several nodes in one process: it gives each
/// node a [`JobConnection`] to the same records.
#[derive(Debug, Default)]
pub struct MemoryJobs(Mutex<Table>);

/// A node's connection to the records of jobs. A test can cut it off, to simulate a database that
/// cannot be reached.
#[derive(Debug)]
pub struct JobConnection<R> {
    /// The records that this connection reads and writes.
    pub records: R,
    /// Whether the connection is cut off, so that all calls fail with [`StoreError::Unavailable`].
    pub is_cut_off: AtomicBool,
}

#[derive(Debug, Default)]
struct Table {
    jobs: BTreeMap<u128, Job>,
    local: BTreeMap<(u128, u128), LocalJob>,
    /// A counter in place of a clock. It grows by 1 with each call of `create`, `change`,
    /// `take_next` and `release`.
    time: u64,
}

#[derive(Debug)]
struct Job {
    row: JobRow,
    /// The end of the lease; `None` if the job is free.
    until: Option<Instant>,
    waiting_since: u64,
    taken_at: u64,
}

impl MemoryJobs {
    /// Makes all leases expire now, as if their holders had not renewed them.
    pub fn expire_leases(&self) {
        let now = Instant::now();
        self.0.lock().jobs.values_mut().filter(|job| job.until.is_some()).for_each(|job| {
            job.until = Some(now);
        });
    }
}

impl Job {
    fn lease(&self) -> JobLease {
        match self.until {
            None => JobLease::Free,
            Some(until) if until > Instant::now() => JobLease::Held,
            Some(_) => JobLease::Expired,
        }
    }

    fn row(&self) -> JobRow {
        JobRow { lease: self.lease(), ..self.row.clone() }
    }

    fn is_running(&self) -> bool {
        let runs = matches!(self.row.phase, JobPhase::Running | JobPhase::Stopping);
        runs && self.lease() == JobLease::Held
    }

    fn is_due(&self) -> bool {
        let phases = [JobPhase::Waiting, JobPhase::Running, JobPhase::Stopping];
        phases.contains(&self.row.phase) && self.lease() != JobLease::Held
    }

    fn hold(&mut self, phase: JobPhase) {
        (self.row.phase, self.until) = (phase, Some(Instant::now() + LEASE));
        self.row.turn += 1;
    }

    fn put(&mut self, job: &JobChange, now: u64) {
        let is_stopping = self.row.phase == JobPhase::Stopping && job.phase == JobPhase::Waiting;
        if self.row.phase != job.phase {
            self.waiting_since = now;
        }
        self.row.phase = if is_stopping { JobPhase::Stopping } else { job.phase };
        (self.row.record, self.row.progress) = (job.record.clone(), job.progress.clone());
    }
}

impl Table {
    /// Returns the job `id`, if `turn` is its current turn and `is_so` returns true for it. The
    /// turn is a number. It grows when a node gets the lease, and with each change of a free job.
    /// So a caller that knows only an earlier turn gets `None`.
    fn with(&mut self, id: u128, turn: u64, is_so: impl Fn(&Job) -> bool) -> Option<&mut Job> {
        let found = self.jobs.get_mut(&id);
        found.filter(|job| job.row.turn == turn && is_so(job))
    }

    fn tick(&mut self) -> u64 {
        self.time += 1;
        self.time
    }
}

fn is_held(job: &Job) -> bool {
    job.until.is_some()
}

fn is_free(job: &Job) -> bool {
    job.until.is_none()
}

impl MemoryJobs {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock()
    }
}

#[async_trait]
impl JobRecords for MemoryJobs {
    async fn create(&self, account: AccountId, job: &JobChange) -> Result<(), StoreError> {
        let JobChange { id, turn, phase, record, progress } = job.clone();
        let mut table = self.table();
        let waiting_since = table.tick();
        let row = JobRow { id, account, phase, turn, lease: JobLease::Free, record, progress };
        let new = Job { row, until: None, waiting_since, taken_at: 0 };
        table.jobs.entry(id).or_insert(new);
        Ok(())
    }

    async fn find(&self, id: u128) -> Result<Option<JobRow>, StoreError> {
        Ok(self.table().jobs.get(&id).map(Job::row))
    }

    async fn of_account(&self, account: AccountId) -> Result<Vec<JobRow>, StoreError> {
        let table = self.table();
        let own = table.jobs.values().filter(|job| job.row.account == account);
        Ok(own.map(Job::row).collect())
    }

    async fn rows_after(&self, after: u128, limit: u32) -> Result<Vec<JobRow>, StoreError> {
        let table = self.table();
        let later = table.jobs.values().filter(|job| job.row.id > after);
        Ok(later.take(limit as usize).map(Job::row).collect())
    }

    async fn change(&self, job: &JobChange) -> Result<bool, StoreError> {
        let mut table = self.table();
        let now = table.tick();
        let Some(found) = table.with(job.id, job.turn, is_free) else { return Ok(false) };
        found.put(job, now);
        found.row.turn += 1;
        Ok(true)
    }

    async fn hold(&self, id: u128, turn: u64, phase: JobPhase) -> Result<bool, StoreError> {
        let mut table = self.table();
        let found = table.with(id, turn, |job| job.lease() != JobLease::Held);
        Ok(found.map(|job| job.hold(phase)).is_some())
    }

    async fn take_next(&self) -> Result<Option<JobRow>, StoreError> {
        let mut table = self.table();
        let now = table.tick();
        let rank = |job: &&Job| {
            let account = job.row.account;
            let own = || table.jobs.values().filter(move |job| job.row.account == account);
            let running = own().filter(|job| job.is_running()).count();
            let last_turn = own().map(|job| job.taken_at).max();
            (running, last_turn, job.waiting_since, job.row.id)
        };
        let next = table.jobs.values().filter(|job| job.is_due()).min_by_key(rank);
        let Some(id) = next.map(|job| job.row.id) else { return Ok(None) };
        Ok(table.jobs.get_mut(&id).map(|job| {
            let lease = job.lease();
            let is_stopping = job.row.phase == JobPhase::Stopping;
            job.hold(if is_stopping { JobPhase::Stopping } else { JobPhase::Running });
            job.taken_at = now;
            JobRow { lease, ..job.row.clone() }
        }))
    }

    async fn renew(
        &self,
        id: u128,
        turn: u64,
        progress: &str,
    ) -> Result<Option<JobPhase>, StoreError> {
        let mut table = self.table();
        Ok(table.with(id, turn, is_held).map(|job| {
            job.until = Some(Instant::now() + LEASE);
            progress.clone_into(&mut job.row.progress);
            job.row.phase
        }))
    }

    async fn save(&self, job: &JobChange) -> Result<bool, StoreError> {
        let mut table = self.table();
        let Some(found) = table.with(job.id, job.turn, is_held) else { return Ok(false) };
        found.until = Some(Instant::now() + LEASE);
        (found.row.record, found.row.progress) = (job.record.clone(), job.progress.clone());
        Ok(true)
    }

    async fn release(&self, job: &JobChange) -> Result<bool, StoreError> {
        let mut table = self.table();
        let now = table.tick();
        let Some(found) = table.with(job.id, job.turn, is_held) else { return Ok(false) };
        found.put(job, now);
        found.until = None;
        Ok(true)
    }

    async fn stop(&self, id: u128) -> Result<bool, StoreError> {
        let mut table = self.table();
        let runs = |job: &&mut Job| matches!(job.row.phase, JobPhase::Running | JobPhase::Stopping);
        let found = table.jobs.get_mut(&id).filter(runs);
        Ok(found.map(|job| job.row.phase = JobPhase::Stopping).is_some())
    }

    async fn remove(&self, id: u128, turn: u64) -> Result<bool, StoreError> {
        let mut table = self.table();
        let is_held = table.with(id, turn, is_held).is_some();
        if is_held {
            table.jobs.remove(&id);
        }
        Ok(is_held || !table.jobs.contains_key(&id))
    }

    async fn contenders(&self) -> Result<u64, StoreError> {
        let table = self.table();
        let accounts = |jobs: &dyn Fn(&Job) -> bool| -> Vec<AccountId> {
            table.jobs.values().filter(|job| jobs(job)).map(|job| job.row.account).collect()
        };
        let running = accounts(&|job| job.is_running());
        let is_waiting = |job: &Job| job.is_due() && job.row.phase == JobPhase::Waiting;
        let mut waiting = accounts(&is_waiting);
        waiting.retain(|account| !running.contains(account));
        waiting.sort_unstable();
        waiting.dedup();
        Ok(waiting.len() as u64)
    }

    async fn announce(&self, folder: u128, jobs: &[LocalJob]) -> Result<(), StoreError> {
        let mut table = self.table();
        table.local.retain(|(known, _), _| *known != folder);
        table.local.extend(jobs.iter().map(|job| ((folder, job.id), job.clone())));
        Ok(())
    }

    async fn elsewhere(
        &self,
        account: AccountId,
        folder: Option<u128>,
    ) -> Result<Vec<RemoteJob>, StoreError> {
        let table = self.table();
        let is_other =
            |(known, job): &(u128, &LocalJob)| job.account == account && folder != Some(*known);
        let all = table.local.iter().map(|((folder, _), job)| (*folder, job));
        let others = all.filter(is_other);
        Ok(others.map(|(_, job)| RemoteJob { job: job.clone(), node: String::new() }).collect())
    }
}

impl<R> JobConnection<R> {
    /// Returns a connection that works.
    pub fn new(records: R) -> Self {
        Self { records, is_cut_off: AtomicBool::new(false) }
    }

    /// Cuts off the connection if `is_cut_off` is `true`: all later calls fail. Restores the
    /// connection if it is `false`.
    pub fn cut_off(&self, is_cut_off: bool) {
        self.is_cut_off.store(is_cut_off, Ordering::SeqCst);
    }

    fn reach(&self) -> Result<&R, StoreError> {
        let is_cut_off = self.is_cut_off.load(Ordering::SeqCst);
        if is_cut_off {
            return Err(StoreError::unavailable("the test has cut off the connection"));
        }
        Ok(&self.records)
    }
}

#[async_trait]
impl<R> JobRecords for JobConnection<R>
where
    R: std::ops::Deref<Target: JobRecords> + Send + Sync,
{
    async fn create(&self, account: AccountId, job: &JobChange) -> Result<(), StoreError> {
        self.reach()?.create(account, job).await
    }

    async fn find(&self, id: u128) -> Result<Option<JobRow>, StoreError> {
        self.reach()?.find(id).await
    }

    async fn of_account(&self, account: AccountId) -> Result<Vec<JobRow>, StoreError> {
        self.reach()?.of_account(account).await
    }

    async fn rows_after(&self, after: u128, limit: u32) -> Result<Vec<JobRow>, StoreError> {
        self.reach()?.rows_after(after, limit).await
    }

    async fn change(&self, job: &JobChange) -> Result<bool, StoreError> {
        self.reach()?.change(job).await
    }

    async fn hold(&self, id: u128, turn: u64, phase: JobPhase) -> Result<bool, StoreError> {
        self.reach()?.hold(id, turn, phase).await
    }

    async fn take_next(&self) -> Result<Option<JobRow>, StoreError> {
        self.reach()?.take_next().await
    }

    async fn renew(
        &self,
        id: u128,
        turn: u64,
        progress: &str,
    ) -> Result<Option<JobPhase>, StoreError> {
        self.reach()?.renew(id, turn, progress).await
    }

    async fn save(&self, job: &JobChange) -> Result<bool, StoreError> {
        self.reach()?.save(job).await
    }

    async fn release(&self, job: &JobChange) -> Result<bool, StoreError> {
        self.reach()?.release(job).await
    }

    async fn stop(&self, id: u128) -> Result<bool, StoreError> {
        self.reach()?.stop(id).await
    }

    async fn remove(&self, id: u128, turn: u64) -> Result<bool, StoreError> {
        self.reach()?.remove(id, turn).await
    }

    async fn contenders(&self) -> Result<u64, StoreError> {
        self.reach()?.contenders().await
    }

    async fn announce(&self, folder: u128, jobs: &[LocalJob]) -> Result<(), StoreError> {
        self.reach()?.announce(folder, jobs).await
    }

    async fn elsewhere(
        &self,
        account: AccountId,
        folder: Option<u128>,
    ) -> Result<Vec<RemoteJob>, StoreError> {
        self.reach()?.elsewhere(account, folder).await
    }
}
