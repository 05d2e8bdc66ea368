//! The uploaded lists of accounts, and the jobs that look up the rows of these lists.
//!
//! Each job has a folder with the job's id as its name. The folder contains the uploaded list,
//! `job.json`, and the output as [`Part`](crate::Part) writes it. A job can be found only through
//! its account. Only a few jobs run at the same time, each on its own thread, so that they do not
//! delay other look-ups. Accounts take turns. Jobs that were running when the process ended
//! continue when the program starts again.
//!
//! Usually only one process works in the folder of jobs. If a second process opens the folder, it
//! has no jobs until the first process ends. But several processes can share jobs, if the records
//! of the jobs are in a store: see `job_sync`. Processes that do not share jobs can tell each other
//! which lists they have: see `announce`.

mod announce;
mod error;
mod folder;
mod job_sync;
mod lease;
mod limits;
mod lists;
mod output;
mod progress;
mod record;
mod running;
mod scrub;
mod state;
mod turn_folder;
mod turns;
mod view;

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use enrich_core::port::jobs::JobRecords;
use enrich_core::{AccountId, Clock, KeyId, Timestamp};
use enrich_text::Country;
use enrich_wire::ApiVersion;
use parking_lot::{Condvar, Mutex};

use crate::account_limit::AccountLimit;
use crate::mapping::Mapping;
use crate::preview::Preview;
use crate::run::{Counts, End};
use crate::stop::Stop;
use announce::Neighbours;
use lease::Lease;
use record::Record;

pub use announce::RemoteList;
pub use error::{JobError, Refusal};
pub use record::{JobId, MalformedId, Order, State};
pub use running::{Callers, MeteredCallers};
pub use view::{Job, Sample, Settings, Written};

/// The jobs of all accounts, stored in a folder.
pub struct Jobs {
    shared: Arc<JobsState>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct JobsState {
    folder: PathBuf,
    api_versions: &'static [&'static ApiVersion],
    callers: Arc<dyn Callers>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    registry: Mutex<JobRegistry>,
    changed: Condvar,
    uploads: AccountLimit,
    /// The permits for reading whole lists, for example to count their rows. They limit how many
    /// lists of one account are read at the same time.
    reads: AccountLimit,
    /// Stops the reading of lists at shutdown.
    closing: Stop,
    /// The lock on the folder of jobs, while this process holds it; otherwise `None`.
    locked: Mutex<Option<File>>,
    /// The store of the job records, if several processes share the jobs; `None` if the records are
    /// in the folder of jobs.
    records: Option<Arc<dyn JobRecords>>,
    /// What this process needs to tell other processes which uploaded lists are in its folder, and
    /// to find out which lists the others have. Not set if processes do not tell each other.
    neighbours: OnceLock<Neighbours>,
}

/// All jobs, and the queue of the jobs that wait to run.
#[derive(Default)]
struct JobRegistry {
    jobs: BTreeMap<JobId, Entry>,
    waiting: VecDeque<JobId>,
    is_closing: bool,
    /// Whether another process works in the folder of jobs. If so, this process has no jobs.
    is_elsewhere: bool,
    /// The folders of those jobs whose record could not be read.
    set_aside: Vec<PathBuf>,
    /// Job starts are numbered 1, 2, 3 and so on, over all accounts. For each account, this is the
    /// number of its latest job start. Of two waiting accounts with equally many running jobs, the
    /// account with the lower number comes first.
    turns: BTreeMap<AccountId, u64>,
    last_turn: u64,
    /// The number of accounts that have waiting jobs in the shared job records, but no running job.
    contenders: usize,
}

struct Entry {
    record: Record,
    counts: Counts,
    /// The size of all files of the job, in bytes.
    bytes: u64,
    /// The signal that stops the job; `None` if the job is not running.
    stop: Option<Stop>,
    /// Whether the account has asked to stop the running job. Then the job ends, and does not
    /// return to the queue.
    is_stopped: bool,
    /// The time until which the rate limit delays the job's look-ups; `None` if it delays none.
    rate_limited_until: Option<Timestamp>,
    /// Whether the running job must stop and return to the queue, because another account waits or
    /// the job's files must be rewritten.
    is_yielding: bool,
    /// A thread locks this before it searches the job's files for values that must be erased, and
    /// rewrites the files without them.
    files: Arc<Mutex<()>>,
    /// Only for a running job. The suppressed values (data that must be erased) have a version,
    /// which changes with them. This is the version for which the job's files were last searched.
    scrubbed_running: u64,
    /// The last preview, and the inputs that it was computed from.
    cached_preview: Option<CachedPreview>,
    /// The lease of a shared job: for a limited time, only this process may work on the job. `None`
    /// if this process does not hold the job.
    lease: Option<Arc<Lease>>,
    /// The turn of a shared job when its record was last read or changed. The turn is a number that
    /// grows when a process takes the job, or changes it while no process holds it.
    turn: u64,
    /// Whether the process that last held a shared job let its lease expire. If so, that process
    /// may still write files.
    was_expired: bool,
}

/// A preview, and the inputs that it was computed from.
#[derive(Clone)]
struct CachedPreview {
    endpoint: String,
    mapping: Mapping,
    candidates: usize,
    country: Option<Country>,
    preview: Preview,
}

impl Jobs {
    /// Opens the folder, or creates it, and continues the jobs that were running. If another
    /// process works in the folder, the jobs continue when the other process ends.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read or written. A damaged job is not an error here. A job with a
    /// damaged record is [set aside](Jobs::set_aside). If only the output is damaged, the job is
    /// kept. If it was waiting or running, it gets the state [`State::Broken`].
    pub fn open(
        folder: &Path,
        api_versions: &'static [&'static ApiVersion],
        callers: Arc<dyn Callers>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, JobError> {
        record::make_folder(folder)?;
        let locked = folder::lock(folder)?;
        let registry = match &locked {
            Some(_) => folder::load(folder)?,
            None => JobRegistry { is_elsewhere: true, ..JobRegistry::default() },
        };
        let is_elsewhere = registry.is_elsewhere;
        let state = JobsState::new(folder, api_versions, callers, clock, settings);
        let (registry, locked) = (Mutex::new(registry), Mutex::new(locked));
        let jobs = Self::of(JobsState { registry, locked, ..state });
        for _ in 0..settings.running.max(1) {
            jobs.begin(running::work)?;
        }
        if is_elsewhere {
            jobs.begin(folder::take_over)?;
        }
        Ok(jobs)
    }

    fn of(state: JobsState) -> Self {
        Self { shared: Arc::new(state), threads: Mutex::default() }
    }

    fn begin(&self, work: fn(&JobsState)) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("enrich-bulk".to_owned());
        self.threads.lock().push(thread.spawn(move || work(&shared))?);
        Ok(())
    }

    /// Whether another process works in the folder of jobs. If so, this process has no jobs, and
    /// accepts no lists, until the other process ends.
    pub fn are_elsewhere(&self) -> bool {
        self.shared.registry.lock().is_elsewhere
    }

    /// Returns the folders of damaged jobs: jobs whose record could not be read. These folders are
    /// kept for the operator.
    pub fn set_aside(&self) -> Vec<PathBuf> {
        self.shared.registry.lock().set_aside.clone()
    }

    /// Returns the jobs of an account, newest first.
    pub fn of_account(&self, account: AccountId) -> Vec<Job> {
        // If the shared job records cannot be read, the list shows the last known state.
        let _ = self.shared.refresh(account);
        let registry = self.shared.registry.lock();
        let mut jobs: Vec<Job> = registry.of_account(account).map(Entry::job).collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(job.created_at));
        jobs
    }

    /// Returns a job of an account; `None` if the account has no such job.
    pub fn get(&self, account: AccountId, id: JobId) -> Option<Job> {
        // If the shared job records cannot be read, the result shows the last known state.
        let _ = self.shared.refresh_one(id);
        let registry = self.shared.registry.lock();
        registry.of(account, id).map(Entry::job).ok()
    }

    /// Starts a job. The job runs when a thread is free.
    ///
    /// # Errors
    ///
    /// When there is no such job, the job was started before, the endpoint or the mapping in
    /// `order` is invalid, or the list cannot be read.
    pub fn start(&self, account: AccountId, id: JobId, order: Order) -> Result<(), JobError> {
        let Order { endpoint, mapping, candidates, .. } = &order;
        let rows = self.preview(account, id, endpoint, mapping, *candidates)?.rows;
        let mut registry = self.shared.registry.lock();
        let entry = registry.of_mut(account, id)?;
        if entry.record.state != State::New {
            return Err(JobError::WrongState(entry.record.state.in_words()));
        }
        let mut record = entry.record.clone();
        (record.order, record.rows) = (Some(order), Some(rows));
        self.shared.put_in_line(&mut registry, record)
    }

    /// Continues a job that ended early. The API key and the maximum cost may differ from those of
    /// the earlier run.
    ///
    /// # Errors
    ///
    /// When there is no such job, or the job cannot continue.
    pub fn go_on(
        &self,
        account: AccountId,
        id: JobId,
        key: KeyId,
        max_credits: Option<u64>,
    ) -> Result<(), JobError> {
        self.shared.refresh_one(id)?;
        let mut registry = self.shared.registry.lock();
        let mut record = registry.of_mut(account, id)?.record.clone();
        let can_go_on = record.state.can_go_on();
        match &mut record.order {
            Some(order) if can_go_on => (order.key, order.max_credits) = (key, max_credits),
            _ => return Err(JobError::WrongState(record.state.in_words())),
        }
        self.shared.put_in_line(&mut registry, record)
    }

    /// Stops a job. A running job sends no more rows of its list. It waits for the rows in flight
    /// (sent and not yet answered), and keeps all answers. A waiting job is removed from the queue.
    ///
    /// # Errors
    ///
    /// When there is no such job, or the job is neither running nor waiting.
    pub fn stop(&self, account: AccountId, id: JobId) -> Result<(), JobError> {
        self.shared.refresh_one(id)?;
        let mut registry = self.shared.registry.lock();
        let entry = registry.of_mut(account, id)?;
        if let Some(stop) = &entry.stop {
            entry.is_stopped = true;
            stop.now();
            return Ok(());
        }
        if self.shared.records.is_some() && entry.record.state == State::Running {
            return self.shared.stop_elsewhere(id);
        }
        if entry.record.state != State::Waiting {
            return Err(JobError::WrongState(entry.record.state.in_words()));
        }
        let mut record = entry.record.clone();
        record.end(State::Ended(End::Stopped), self.shared.clock.now());
        self.shared.save(entry, record)?;
        registry.waiting.retain(|waiting| *waiting != id);
        Ok(())
    }

    /// Deletes a job and all its files.
    ///
    /// # Errors
    ///
    /// When there is no such job, or the job is running.
    pub fn delete(&self, account: AccountId, id: JobId) -> Result<(), JobError> {
        self.shared.refresh_one(id)?;
        let mut registry = self.shared.registry.lock();
        let entry = registry.of_mut(account, id)?;
        if entry.stop.is_some() || entry.record.state == State::Running {
            return Err(JobError::WrongState(entry.record.state.in_words()));
        }
        self.shared.remove_job(&mut registry, id)?;
        registry.jobs.remove(&id);
        registry.waiting.retain(|waiting| *waiting != id);
        Ok(())
    }

    /// Deletes the jobs that have reached the end of their retention time at `now`. Returns the
    /// number of deleted jobs.
    ///
    /// # Errors
    ///
    /// When files cannot be deleted.
    pub fn sweep(&self, now: Timestamp) -> Result<usize, JobError> {
        self.shared.sweep_shared()?;
        let mut registry = self.shared.registry.lock();
        let before = now.as_second() - self.shared.settings.keep_seconds;
        let is_over = |entry: &&Entry| {
            let waits = matches!(entry.record.state, State::Waiting | State::Running);
            let since = entry.record.ended_at.unwrap_or(entry.record.created_at);
            !waits && since <= before
        };
        let over: Vec<JobId> =
            registry.jobs.values().filter(is_over).map(|entry| entry.record.id).collect();
        let mut deleted = 0;
        for id in over {
            match self.shared.remove_job(&mut registry, id) {
                // Another process holds this job, or has just changed it. The next call of `sweep`
                // tries again to delete the job.
                Err(JobError::Refused(Refusal::Changed)) => continue,
                removed => removed?,
            }
            registry.jobs.remove(&id);
            deleted += 1;
        }
        Ok(deleted)
    }

    /// Stops all jobs, and waits until their rows in flight (sent and not yet answered) are
    /// answered. The jobs that were running continue when the folder is opened again.
    pub fn close(&self) {
        {
            let mut registry = self.shared.registry.lock();
            registry.is_closing = true;
            registry.jobs.values().filter_map(|entry| entry.stop.as_ref()).for_each(Stop::now);
        }
        self.shared.closing.now();
        self.shared.changed.notify_all();
        for thread in self.threads.lock().drain(..) {
            // `join` fails only if the thread panicked. Then the thread has ended too, so the error
            // is ignored.
            let _ = thread.join();
        }
        // This process no longer changes the folder, so another process may take the lock.
        self.shared.locked.lock().take();
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.close();
    }
}
