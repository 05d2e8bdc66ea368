//! Jobs that several processes share. Their records are in a store, and their files in a folder
//! that all processes see.
//!
//! Each process has a copy of the records in its registry, and reads a record again before it uses
//! the copy. A change is based on the copy. If another process has changed the record since it was
//! read, the store refuses the change.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use enrich_core::port::error::StoreError;
use enrich_core::port::jobs::{JobChange, JobLease, JobPhase, JobRecords, JobRow};
use enrich_core::{AccountId, Clock, Timestamp};
use enrich_wire::ApiVersion;
use pollster::block_on;

use super::error::Refusal;
use super::folder::ARRIVING;
use super::lease::{self, Lease};
use super::progress::{JobProgress, progress_of};
use super::record::{self, JobId, Record};
use super::running::{self, Callers};
use super::{Entry, JobError, JobRegistry, Jobs, JobsState, Settings, State, turn_folder};
use crate::stop::Stop;

/// Interval at which a thread without a job looks for a job that waits in the store.
const LOOK_EACH: Duration = Duration::from_secs(1);
/// Maximum number of records that are read in one query.
const PAGE: u32 = 500;
/// Minimum age of files that are removed because their job has no record. Newer files may belong to
/// an upload that is still arriving and has no record yet.
const ORPHANS_AFTER: Duration = Duration::from_secs(60 * 60);

impl Jobs {
    /// Opens the jobs that several processes share. All these processes must see the same `folder`.
    /// Any of them may run a job. If the process that runs a job ends, another one continues the
    /// job.
    ///
    /// # Errors
    ///
    /// When the folder cannot be created.
    pub fn open_shared(
        folder: &Path,
        records: Arc<dyn JobRecords>,
        api_versions: &'static [&'static ApiVersion],
        callers: Arc<dyn Callers>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, JobError> {
        record::make_folder(folder)?;
        record::make_folder(&folder.join(ARRIVING))?;
        let state = JobsState::new(folder, api_versions, callers, clock, settings);
        let jobs = Self::of(JobsState { records: Some(records), ..state });
        for _ in 0..settings.running.max(1) {
            jobs.begin(running::work)?;
        }
        jobs.begin(lease::renew_leases)?;
        Ok(jobs)
    }
}

impl JobsState {
    /// Reads the records of an account's jobs from the store again, because another process may
    /// have changed them.
    pub(super) fn refresh(&self, account: AccountId) -> Result<(), JobError> {
        let Some(records) = &self.records else { return Ok(()) };
        let rows = block_on(records.of_account(account)).map_err(unreachable)?;
        let there: BTreeSet<JobId> = rows.iter().map(|row| JobId::of(row.id)).collect();
        let mut registry = self.registry.lock();
        registry.jobs.retain(|id, entry| {
            entry.record.account != account || entry.lease.is_some() || there.contains(id)
        });
        rows.into_iter().for_each(|row| registry.merge(row));
        Ok(())
    }

    /// Reads the record of a job from the store again, because another process may have changed it.
    pub(super) fn refresh_one(&self, id: JobId) -> Result<(), JobError> {
        let Some(records) = &self.records else { return Ok(()) };
        let row = block_on(records.find(id.number())).map_err(unreachable)?;
        let was_left = row
            .as_ref()
            .is_some_and(|row| (row.phase, row.lease) == (JobPhase::Idle, JobLease::Expired));
        {
            let mut registry = self.registry.lock();
            match row {
                Some(row) => registry.merge(row),
                None => registry.forget(id),
            }
        }
        // An earlier process ended while it worked on this job's files. The job is neither waiting
        // nor running, so no process takes it in order to run it. So this process takes the job now
        // and completes the files.
        if was_left { self.with_turn(id, |_| Ok(())) } else { Ok(()) }
    }

    /// Reads all records from the store again and returns them; none if jobs are not shared.
    pub(super) fn refresh_all(&self) -> Result<Vec<JobRow>, JobError> {
        let Some(records) = &self.records else { return Ok(Vec::new()) };
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let page = block_on(records.rows_after(after, PAGE)).map_err(unreachable)?;
            let Some(last) = page.last() else { break };
            after = last.id;
            all.extend(page);
        }
        let there: BTreeSet<JobId> = all.iter().map(|row| JobId::of(row.id)).collect();
        let mut registry = self.registry.lock();
        registry.jobs.retain(|id, entry| entry.lease.is_some() || there.contains(id));
        all.iter().cloned().for_each(|row| registry.merge(row));
        Ok(all)
    }

    /// Saves the record of a job, then changes the copy in `entry`. A shared job must be held by
    /// this process or by no process.
    pub(super) fn save(&self, entry: &mut Entry, record: Record) -> Result<(), JobError> {
        let Some(records) = &self.records else {
            record.save(&self.folder)?;
            entry.record = record;
            return Ok(());
        };
        let change = change_to(entry, &record)?;
        let saved = match &entry.lease {
            Some(_) => block_on(records.save(&change)),
            None => block_on(records.change(&change)),
        };
        if !saved.map_err(unreachable)? {
            return Err(Refusal::Changed.into());
        }
        if entry.lease.is_none() {
            entry.turn += 1;
        }
        entry.record = record;
        Ok(())
    }

    /// Adds the record of a new job to the store, if jobs are shared.
    pub(super) fn add(&self, entry: &Entry) -> Result<(), JobError> {
        let Some(records) = &self.records else { return Ok(()) };
        let change = change_to(entry, &entry.record)?;
        block_on(records.create(entry.record.account, &change)).map_err(unreachable)
    }

    /// Asks another process to stop the job that it runs. The request is stored with the job
    /// record, and the other process reads it there.
    pub(super) fn stop_elsewhere(&self, id: JobId) -> Result<(), JobError> {
        let Some(records) = &self.records else { return Ok(()) };
        let is_running = block_on(records.stop(id.number())).map_err(unreachable)?;
        if is_running { Ok(()) } else { Err(Refusal::Changed.into()) }
    }

    /// Removes the files of a job, then its record. The job must not be running.
    pub(super) fn remove_job(&self, registry: &mut JobRegistry, id: JobId) -> Result<(), JobError> {
        let Some(records) = &self.records else { return Ok(record::remove(&self.folder, id)?) };
        let Some(entry) = registry.jobs.get_mut(&id) else { return Ok(()) };
        let turn = match &entry.lease {
            Some(lease) => lease.turn,
            None => {
                let held = block_on(records.hold(id.number(), entry.turn, JobPhase::Removing));
                if !held.map_err(unreachable)? {
                    return Err(Refusal::Changed.into());
                }
                entry.turn + 1
            }
        };
        // The files are removed before the record. If the process ends in between, the record still
        // shows that the removal must be completed. Without a record, the remaining files would be
        // removed only after an hour (`ORPHANS_AFTER`).
        record::remove(&self.folder, id)?;
        block_on(records.remove(id.number(), turn)).map_err(unreachable)?;
        Ok(())
    }

    /// Waits for a job to run, takes it, and returns its record and stop signal; `None` at
    /// shutdown.
    pub(super) fn take_shared(&self, records: &Arc<dyn JobRecords>) -> Option<(Record, Stop)> {
        loop {
            if self.registry.lock().is_closing {
                return None;
            }
            let began = Instant::now();
            if let Ok(Some(row)) = block_on(records.take_next())
                && let Some(begun) = self.registry.lock().begin(row, records, began)
            {
                return Some(begun);
            }
            let mut registry = self.registry.lock();
            if !registry.is_closing {
                self.changed.wait_for(&mut registry, LOOK_EACH);
            }
        }
    }

    /// Puts the files of a shared job into a new folder for this process. So an earlier process
    /// that held the job can no longer change them. Then removes the earlier folders. Does nothing
    /// if this process does not hold the job.
    pub(super) fn open_turn(&self, id: JobId) -> Result<(), JobError> {
        let (record, lease) = {
            let registry = self.registry.lock();
            let entry = registry.jobs.get(&id).ok_or(JobError::NotThere)?;
            let Some(lease) = &entry.lease else { return Ok(()) };
            (entry.record.clone(), Arc::clone(lease))
        };
        turn_folder::carry_over(&self.folder, &record, lease.turn, lease.was_expired)?;
        let record = {
            let mut registry = self.registry.lock();
            let entry = registry.jobs.get_mut(&id).ok_or(JobError::NotThere)?;
            let record = Record { turn_folder: Some(lease.turn), ..entry.record.clone() };
            self.save(entry, record.clone())?;
            record
        };
        turn_folder::remove_others(&self.folder, &record)?;
        super::scrub::complete(&record.folder(&self.folder), record.is_replacing)?;
        Ok(())
    }

    /// Does `work` on the files of a job that is not running. If jobs are shared, this process
    /// takes the job first and releases it afterwards.
    pub(super) fn with_turn<T>(
        &self,
        id: JobId,
        work: impl FnOnce(&Record) -> Result<T, JobError>,
    ) -> Result<T, JobError> {
        let Some(records) = &self.records else {
            let record = self.registry.lock().jobs.get(&id).map(|entry| entry.record.clone());
            return work(&record.ok_or(JobError::NotThere)?);
        };
        let began = Instant::now();
        {
            let mut registry = self.registry.lock();
            let entry = registry.jobs.get_mut(&id).ok_or(JobError::NotThere)?;
            if entry.lease.is_some() {
                return Err(Refusal::Changed.into());
            }
            let held = block_on(records.hold(id.number(), entry.turn, phase_of(&entry.record)));
            if !held.map_err(unreachable)? {
                return Err(Refusal::Changed.into());
            }
            entry.turn += 1;
            let lease = Lease::new(id, entry.turn, entry.was_expired, records, began);
            entry.lease = Some(Arc::new(lease));
        }
        let done = self.open_turn(id).and_then(|()| {
            let record = self.registry.lock().jobs.get(&id).map(|entry| entry.record.clone());
            work(&record.ok_or(JobError::NotThere)?)
        });
        let mut registry = self.registry.lock();
        if let Some(entry) = registry.jobs.get_mut(&id) {
            let record = entry.record.clone();
            self.release(entry, record);
        }
        self.changed.notify_all();
        done
    }

    /// Ends this process's lease of a job, and saves the job's record. If the lease is already
    /// lost, another process may have changed the record. Then this function does not save it.
    pub(super) fn release(&self, entry: &mut Entry, record: Record) {
        let (Some(records), Some(lease)) = (&self.records, entry.lease.clone()) else { return };
        if !lease.is_lost()
            && let Ok(change) = change_to(entry, &record)
            // If the release fails, the lease expires later. Then another process can take the job.
            && let Ok(true) = block_on(records.release(&change))
        {
            entry.record = record;
        }
        (entry.lease, entry.was_expired) = (None, false);
    }

    /// Completes interrupted removals of jobs. Also removes the old files of jobs that have no
    /// record.
    pub(super) fn sweep_shared(&self) -> Result<(), JobError> {
        let Some(records) = &self.records else { return Ok(()) };
        let rows = self.refresh_all()?;
        for row in &rows {
            let is_left = row.phase == JobPhase::Removing && row.lease != JobLease::Held;
            if is_left
                && block_on(records.hold(row.id, row.turn, row.phase)).map_err(unreachable)?
            {
                record::remove(&self.folder, JobId::of(row.id))?;
                block_on(records.remove(row.id, row.turn + 1)).map_err(unreachable)?;
            }
        }
        let known: BTreeSet<u128> = rows.iter().map(|row| row.id).collect();
        let is_known = |id: JobId| known.contains(&id.number());
        Ok(turn_folder::remove_orphans(&self.folder, is_known, ORPHANS_AFTER)?)
    }
}

impl JobRegistry {
    /// Updates this process's copy of a record with a row that was read from the store. The copy
    /// stays unchanged if this process holds the job, or if the row is older than the copy.
    fn merge(&mut self, row: JobRow) {
        let id = JobId::of(row.id);
        if row.phase == JobPhase::Removing {
            return self.forget(id);
        }
        let known = self.jobs.get(&id);
        let is_newer = known.is_none_or(|entry| entry.lease.is_none() && row.turn >= entry.turn);
        let Some(read) = Entry::of_row(&row).filter(|_| is_newer) else { return };
        match self.jobs.get_mut(&id) {
            Some(entry) => {
                if entry.turn != read.turn {
                    entry.cached_preview = None;
                }
                (entry.record, entry.counts, entry.bytes) = (read.record, read.counts, read.bytes);
                entry.rate_limited_until = read.rate_limited_until;
                (entry.turn, entry.was_expired) = (read.turn, read.was_expired);
            }
            None => {
                self.jobs.insert(id, read);
            }
        }
    }

    fn forget(&mut self, id: JobId) {
        if self.jobs.get(&id).is_some_and(|entry| entry.lease.is_none()) {
            self.jobs.remove(&id);
        }
    }

    /// Adds to the registry a job that this process has taken from the store, and prepares the
    /// job's run.
    fn begin(
        &mut self,
        row: JobRow,
        records: &Arc<dyn JobRecords>,
        began: Instant,
    ) -> Option<(Record, Stop)> {
        let (id, was_expired) = (JobId::of(row.id), row.lease == JobLease::Expired);
        let mut entry = Entry::of_row(&row)?;
        let stop = Stop::default();
        entry.record.state = State::Running;
        entry.stop = Some(stop.clone());
        if row.phase == JobPhase::Stopping {
            entry.is_stopped = true;
            stop.now();
        }
        // If `close` was called already, it has not stopped this job, because the job is added to
        // the registry only now.
        if self.is_closing {
            stop.now();
        }
        entry.lease = Some(Arc::new(Lease::new(id, row.turn, was_expired, records, began)));
        let record = entry.record.clone();
        self.jobs.insert(id, entry);
        Some((record, stop))
    }
}

impl Entry {
    /// Reads a job from a row of the store. Returns `None` if the job record in the row is
    /// unreadable.
    fn of_row(row: &JobRow) -> Option<Self> {
        let mut record = serde_json::from_str::<Record>(&row.record).ok()?;
        if record.id.number() != row.id || record.account != row.account {
            return None;
        }
        match row.phase {
            JobPhase::Waiting => record.state = State::Waiting,
            JobPhase::Running | JobPhase::Stopping => record.state = State::Running,
            JobPhase::Idle | JobPhase::Removing => {}
        }
        let progress: JobProgress = serde_json::from_str(&row.progress).unwrap_or_default();
        let mut entry = Self::new(record, progress.counts, progress.bytes);
        let until = progress.rate_limited_until;
        entry.rate_limited_until = until.and_then(|until| Timestamp::from_second(until).ok());
        entry.turn = row.turn;
        entry.was_expired = row.lease == JobLease::Expired;
        Some(entry)
    }
}

fn change_to(entry: &Entry, record: &Record) -> Result<JobChange, JobError> {
    Ok(JobChange {
        id: record.id.number(),
        turn: entry.lease.as_ref().map_or(entry.turn, |lease| lease.turn),
        phase: phase_of(record),
        record: serde_json::to_string(record).map_err(io::Error::other)?,
        progress: progress_of(entry),
    })
}

fn phase_of(record: &Record) -> JobPhase {
    match record.state {
        State::Waiting => JobPhase::Waiting,
        State::Running => JobPhase::Running,
        State::New | State::Ended(_) | State::Broken(_) => JobPhase::Idle,
    }
}

pub(super) fn unreachable(error: StoreError) -> JobError {
    JobError::Records(error)
}
