//! Lists of accounts, kept in a folder and asked one after the other.
//!
//! Each job has a folder of its own, named by its id: the list as it was uploaded, `job.json`, and
//! the output as [`Part`](crate::Part) makes it. A job belongs to an account and is found through
//! it alone. Few jobs run at once, each on a thread of its own, so that they hold up nobody else's
//! look-ups; accounts take turns at running. Jobs that were running when the process ended go on
//! when it is started again. One process works in the folder: another that opens it waits, without
//! jobs, until the first has ended.

mod error;
mod folder;
mod limits;
mod lists;
mod output;
mod record;
mod running;
mod scrub;
mod turns;
mod view;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use enrich_core::{AccountId, Clock, KeyId, Timestamp};
use enrich_import::{ReadError, Source};
use enrich_text::Country;
use enrich_wire::ApiVersion;
use parking_lot::{Condvar, Mutex};

use crate::caller::Asked;
use crate::input::Input;
use crate::mapping::Mapping;
use crate::preview::Preview;
use crate::run::{Counts, End};
use crate::stop::Stop;
use record::Record;

pub use error::{JobError, Refusal};
pub use record::{JobId, MalformedId, Order, State};
pub use running::{Callers, MeteredCallers};
pub use view::{Job, Sample, Settings, Written};

/// The jobs of all accounts.
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
    /// Ends the reading of lists that nobody waits for any more.
    closing: Stop,
    /// The folder's lock, while it is this process's.
    locked: Mutex<Option<File>>,
}

/// What is known of all jobs, and what is to be done.
#[derive(Default)]
struct JobRegistry {
    jobs: BTreeMap<JobId, Entry>,
    waiting: VecDeque<JobId>,
    is_closing: bool,
    /// Whether another process has the folder.
    is_elsewhere: bool,
    /// Folders of jobs that can't be read.
    set_aside: Vec<PathBuf>,
    /// How many lists of an account are being uploaded.
    uploading: BTreeMap<AccountId, usize>,
    /// The accounts of which a list is being read to its end.
    reading: BTreeSet<AccountId>,
    /// When an account had its last turn, by the number of that turn.
    turns: BTreeMap<AccountId, u64>,
    last_turn: u64,
}

struct Entry {
    record: Record,
    counts: Counts,
    /// What its files take up.
    bytes: u64,
    /// Stops it while it runs.
    stop: Option<Stop>,
    /// Its account told it to stop.
    is_told: bool,
    /// Until when the rate limit holds its rows up.
    rate_limited_until: Option<Timestamp>,
    /// It was told to stop to make room for others.
    is_yielding: bool,
    /// Held while its files are looked through for forgotten values.
    files: Arc<Mutex<()>>,
    /// How many values were suppressed when it was looked through while it ran.
    scrubbed_running: u64,
    /// The preview that was made last.
    foreseen: Option<Foreseen>,
}

/// A preview, and what it was made with.
#[derive(Clone)]
struct Foreseen {
    endpoint: String,
    mapping: Mapping,
    country: Option<Country>,
    preview: Preview,
}

impl Jobs {
    /// Opens the folder, makes it where there is none, and goes on with what was running. Where
    /// another process has the folder, that begins once it has ended.
    ///
    /// # Errors
    ///
    /// When it can't be read or written. What is damaged in it is told of where it is asked for, or
    /// [set aside](Jobs::set_aside).
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
        let shared = Arc::new(JobsState {
            folder: folder.to_owned(),
            api_versions,
            callers,
            clock,
            settings,
            registry: Mutex::new(registry),
            changed: Condvar::new(),
            closing: Stop::default(),
            locked: Mutex::new(locked),
        });
        let jobs = Self { shared, threads: Mutex::default() };
        for _ in 0..settings.running.max(1) {
            jobs.begin(running::work)?;
        }
        if is_elsewhere {
            jobs.begin(folder::take_over)?;
        }
        Ok(jobs)
    }

    fn begin(&self, work: fn(&JobsState)) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("enrich-bulk".to_owned());
        self.threads.lock().push(thread.spawn(move || work(&shared))?);
        Ok(())
    }

    /// Whether another process has the folder, so that there are no jobs here until it has ended.
    pub fn are_elsewhere(&self) -> bool {
        self.shared.registry.lock().is_elsewhere
    }

    /// Where the folders of jobs are that couldn't be read when this was opened.
    pub fn set_aside(&self) -> Vec<PathBuf> {
        self.shared.registry.lock().set_aside.clone()
    }

    /// The jobs of an account, the newest first.
    pub fn of_account(&self, account: AccountId) -> Vec<Job> {
        let registry = self.shared.registry.lock();
        let mut jobs: Vec<Job> = registry.of_account(account).map(Entry::job).collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(job.created_at));
        jobs
    }

    /// A job of an account; `None` where it has no such job.
    pub fn get(&self, account: AccountId, id: JobId) -> Option<Job> {
        let registry = self.shared.registry.lock();
        registry.of(account, id).map(Entry::job).ok()
    }

    /// Starts a job: it runs once a thread is free.
    ///
    /// # Errors
    ///
    /// When there is no such job, it was started before, or the order can't be carried out.
    pub fn start(&self, account: AccountId, id: JobId, order: Order) -> Result<(), JobError> {
        let rows = self.preview(account, id, &order.endpoint, &order.mapping)?.rows;
        let mut registry = self.shared.registry.lock();
        let entry = registry.of_mut(account, id)?;
        if entry.record.state != State::New {
            return Err(JobError::WrongState(entry.record.state.in_words()));
        }
        let mut record = entry.record.clone();
        (record.order, record.rows) = (Some(order), Some(rows));
        self.shared.put_in_line(&mut registry, record)
    }

    /// Goes on with a job that ended before its list did, perhaps with another key or ceiling.
    ///
    /// # Errors
    ///
    /// When there is no such job, or none that could go on.
    pub fn go_on(
        &self,
        account: AccountId,
        id: JobId,
        key: KeyId,
        max_credits: Option<u64>,
    ) -> Result<(), JobError> {
        let mut registry = self.shared.registry.lock();
        let mut record = registry.of_mut(account, id)?.record.clone();
        let can_go_on = match &record.state {
            State::Ended(end) => *end != End::Whole,
            State::Broken(_) => true,
            State::New | State::Waiting | State::Running => false,
        };
        match &mut record.order {
            Some(order) if can_go_on => (order.key, order.max_credits) = (key, max_credits),
            _ => return Err(JobError::WrongState(record.state.in_words())),
        }
        self.shared.put_in_line(&mut registry, record)
    }

    /// Stops a job. Rows that are on their way are waited for; what is written stays.
    ///
    /// # Errors
    ///
    /// When there is no such job, or it doesn't run and isn't to.
    pub fn stop(&self, account: AccountId, id: JobId) -> Result<(), JobError> {
        let mut registry = self.shared.registry.lock();
        let entry = registry.of_mut(account, id)?;
        if let Some(stop) = &entry.stop {
            entry.is_told = true;
            stop.now();
            return Ok(());
        }
        if entry.record.state != State::Waiting {
            return Err(JobError::WrongState(entry.record.state.in_words()));
        }
        let mut record = entry.record.clone();
        record.end(State::Ended(End::Stopped), self.shared.clock.now());
        record.save(&self.shared.folder)?;
        entry.record = record;
        registry.waiting.retain(|waiting| *waiting != id);
        Ok(())
    }

    /// Deletes a job and all its files.
    ///
    /// # Errors
    ///
    /// When there is no such job, or it is running.
    pub fn delete(&self, account: AccountId, id: JobId) -> Result<(), JobError> {
        let mut registry = self.shared.registry.lock();
        let entry = registry.of_mut(account, id)?;
        if entry.stop.is_some() {
            return Err(JobError::WrongState(entry.record.state.in_words()));
        }
        record::remove(&self.shared.folder, id)?;
        registry.jobs.remove(&id);
        registry.waiting.retain(|waiting| *waiting != id);
        Ok(())
    }

    /// Deletes the jobs that were kept for long enough at `now`; how many.
    ///
    /// # Errors
    ///
    /// When files can't be deleted.
    pub fn sweep(&self, now: Timestamp) -> Result<usize, JobError> {
        let mut registry = self.shared.registry.lock();
        let before = now.as_second() - self.shared.settings.keep_seconds;
        let is_over = |entry: &&Entry| {
            let waits = matches!(entry.record.state, State::Waiting | State::Running);
            let since = entry.record.ended_at.unwrap_or(entry.record.created_at);
            !waits && since <= before
        };
        let over: Vec<JobId> =
            registry.jobs.values().filter(is_over).map(|entry| entry.record.id).collect();
        for id in &over {
            record::remove(&self.shared.folder, *id)?;
            registry.jobs.remove(id);
        }
        Ok(over.len())
    }

    /// Ends all work, waiting for rows on their way. Jobs that run go on when the folder is opened
    /// again.
    pub fn close(&self) {
        {
            let mut registry = self.shared.registry.lock();
            registry.is_closing = true;
            registry.jobs.values().filter_map(|entry| entry.stop.as_ref()).for_each(Stop::now);
        }
        self.shared.closing.now();
        self.shared.changed.notify_all();
        for thread in self.threads.lock().drain(..) {
            // A thread that failed has nothing left to wait for.
            let _ = thread.join();
        }
        // Nothing of this process changes the folder any more: another may have it.
        self.shared.locked.lock().take();
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.close();
    }
}

impl JobsState {
    fn asked(&self, path: &str) -> Result<Asked, JobError> {
        let mut api_versions = self.api_versions.iter().copied();
        let found = api_versions.find_map(|api_version| {
            let endpoint = api_version.endpoint(path)?;
            Some(Asked { api_version, endpoint })
        });
        found.ok_or_else(|| JobError::NoEndpoint(path.to_owned()))
    }

    /// The rows of a list in this folder, within the limits, until `stop` is told.
    fn input(&self, folder: &Path, record: &Record, stop: &Stop) -> Result<Input, ReadError> {
        self.input_at(&record.list(folder), record, stop)
    }

    /// The same for a list in this file.
    fn input_at(&self, path: &Path, record: &Record, stop: &Stop) -> Result<Input, ReadError> {
        let source = Source::file(path)?;
        let input = Input::open(source.read_as(record.read_as()).bounded(self.bounds(stop)))?;
        // How it was read before its rows were emptied: its output goes on like that.
        Ok(match &record.layout {
            Some(layout) if record.is_rewritten => input.with_layout(layout.clone()),
            _ => input,
        })
    }

    /// Puts a job in line, on disk first.
    fn put_in_line(&self, registry: &mut JobRegistry, mut record: Record) -> Result<(), JobError> {
        if registry.is_closing {
            return Err(Refusal::Elsewhere.into());
        }
        (record.state, record.ended_at) = (State::Waiting, None);
        record.save(&self.folder)?;
        let id = record.id;
        if let Some(entry) = registry.jobs.get_mut(&id) {
            entry.record = record;
            registry.waiting.push_back(id);
            self.changed.notify_one();
        }
        Ok(())
    }
}

impl JobRegistry {
    fn of(&self, account: AccountId, id: JobId) -> Result<&Entry, JobError> {
        let entry = self.jobs.get(&id).filter(|entry| entry.record.account == account);
        entry.ok_or(JobError::NotThere)
    }

    fn of_mut(&mut self, account: AccountId, id: JobId) -> Result<&mut Entry, JobError> {
        let entry = self.jobs.get_mut(&id).filter(|entry| entry.record.account == account);
        entry.ok_or(JobError::NotThere)
    }
}
