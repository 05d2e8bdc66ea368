//! Lists of accounts, kept in a folder and asked one after the other.
//!
//! Each job has a folder of its own, named by its id: the list as it was uploaded, `job.json`, and
//! the output as [`Part`](crate::Part) makes it. A job belongs to an account and is found through
//! it alone. Few jobs run at once, each on a thread of its own, so that they hold up nobody else's
//! look-ups; jobs that were running when the process ended go on when it is started again.

mod record;
mod running;
mod view;

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use enrich_core::{AccountId, Clock, KeyId, Timestamp};
use enrich_import::{Cells, ReadError, Source};
use enrich_wire::Generation;
use parking_lot::{Condvar, Mutex};

use crate::caller::Asked;
use crate::export;
use crate::input::Input;
use crate::mapping::Mapping;
use crate::part::{self, PartError};
use crate::preview::{Preview, PreviewError, preview};
use crate::run::{Counts, End};
use crate::stop::Stop;
use record::Record;

pub use record::{JobId, MalformedId, Order, State};
pub use running::{Callers, MeteredCallers};
pub use view::{Job, JobError, Sample, Settings, Written};

/// The jobs of all accounts.
pub struct Jobs {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    folder: PathBuf,
    generations: &'static [&'static Generation],
    callers: Arc<dyn Callers>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    desk: Mutex<Desk>,
    changed: Condvar,
}

/// What is known of all jobs, and what is to be done.
#[derive(Default)]
struct Desk {
    jobs: BTreeMap<JobId, Entry>,
    waiting: VecDeque<JobId>,
    is_closing: bool,
}

struct Entry {
    record: Record,
    counts: Counts,
    /// Stops it while it runs.
    stop: Option<Stop>,
}

impl Jobs {
    /// Opens the folder, makes it where there is none, and goes on with what was running.
    ///
    /// # Errors
    ///
    /// When it can't be read or written, or a job in it is damaged.
    pub fn open(
        folder: &Path,
        generations: &'static [&'static Generation],
        callers: Arc<dyn Callers>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, JobError> {
        record::make_folder(folder)?;
        let mut desk = Desk::default();
        for record in record::read_all(folder)? {
            let counts = part::counts_of(&record.output(folder))?.unwrap_or_default();
            if matches!(record.state, State::Waiting | State::Running) {
                desk.waiting.push_back(record.id);
            }
            desk.jobs.insert(record.id, Entry { record, counts, stop: None });
        }
        // Those that were started first go on first.
        let jobs = &desk.jobs;
        let since = |id: &JobId| jobs.get(id).map(|entry| entry.record.created_at);
        desk.waiting.make_contiguous().sort_by_key(since);
        let shared = Arc::new(Shared {
            folder: folder.to_owned(),
            generations,
            callers,
            clock,
            settings,
            desk: Mutex::new(desk),
            changed: Condvar::new(),
        });
        let jobs = Self { shared, threads: Mutex::default() };
        for _ in 0..settings.running.max(1) {
            let shared = Arc::clone(&jobs.shared);
            let thread = std::thread::Builder::new().name("enrich-bulk".to_owned());
            jobs.threads.lock().push(thread.spawn(move || running::work(&shared))?);
        }
        Ok(jobs)
    }

    /// Takes a list of an account. It is asked once it is [started](Jobs::start).
    ///
    /// # Errors
    ///
    /// When it is too large or no list that can be read, or there are too many.
    pub fn create(
        &self,
        account: AccountId,
        file_name: &str,
        content: &mut dyn Read,
    ) -> Result<Job, JobError> {
        let Settings { max_upload_bytes, max_jobs, .. } = self.shared.settings;
        if self.of_account(account).len() >= max_jobs {
            return Err(JobError::TooMany(max_jobs));
        }
        let record = Record::new(account, file_name, self.shared.clock.now())?;
        let folder = &self.shared.folder;
        let taken = record::store_list(folder, &record, content, max_upload_bytes);
        let taken = taken.and_then(|()| Ok(self.shared.input(&record).map(drop)?));
        if let Err(error) = taken.and_then(|()| Ok(record.save(folder)?)) {
            record::remove(folder, record.id)?;
            return Err(error);
        }
        let entry = Entry { record, counts: Counts::default(), stop: None };
        let job = entry.job();
        self.shared.desk.lock().jobs.insert(job.id, entry);
        Ok(job)
    }

    /// The jobs of an account, the newest first.
    pub fn of_account(&self, account: AccountId) -> Vec<Job> {
        let desk = self.shared.desk.lock();
        let mut jobs: Vec<Job> = desk
            .jobs
            .values()
            .filter(|entry| entry.record.account == account)
            .map(Entry::job)
            .collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(job.created_at));
        jobs
    }

    /// A job of an account; `None` where it has no such job.
    pub fn get(&self, account: AccountId, id: JobId) -> Option<Job> {
        let desk = self.shared.desk.lock();
        desk.of(account, id).map(Entry::job).ok()
    }

    /// The columns of a list and its first rows, at most `rows` of them.
    ///
    /// # Errors
    ///
    /// When there is no such job, or its list can't be read.
    pub fn sample(&self, account: AccountId, id: JobId, rows: usize) -> Result<Sample, JobError> {
        let record = self.shared.desk.lock().of(account, id)?.record.clone();
        let mut input = self.shared.input(&record)?;
        let columns = input.columns().to_vec();
        let mut sample = Sample { columns, rows: Vec::new() };
        while sample.rows.len() < rows {
            let Some(row) = input.next_row()? else { break };
            let mut cells: Vec<String> = export::csv_cells(input.shape(), &row)
                .iter()
                .map(|cell| String::from_utf8_lossy(cell).into_owned())
                .collect();
            // Members without a column, which only rows of JSON Lines have, are left out.
            if matches!(row.cells, Ok(Cells::Json(_))) {
                cells.truncate(sample.columns.len());
            }
            sample.rows.push(cells);
        }
        Ok(sample)
    }

    /// What a list would cost at most. It is read to its end.
    ///
    /// # Errors
    ///
    /// When there is no such job or endpoint, or the mapping can't be used.
    pub fn preview(
        &self,
        account: AccountId,
        id: JobId,
        endpoint: &str,
        mapping: &Mapping,
    ) -> Result<Preview, JobError> {
        let record = self.shared.desk.lock().of(account, id)?.record.clone();
        let asked = self.shared.asked(endpoint)?;
        preview(self.shared.input(&record)?, asked.endpoint, mapping).map_err(|error| match error {
            PreviewError::Input(error) => error.into(),
            PreviewError::Mapping(error) => error.into(),
        })
    }

    /// Starts a job: it runs once a thread is free.
    ///
    /// # Errors
    ///
    /// When there is no such job, it was started before, or the order can't be carried out.
    pub fn start(&self, account: AccountId, id: JobId, order: Order) -> Result<(), JobError> {
        let rows = self.preview(account, id, &order.endpoint, &order.mapping)?.rows;
        let mut desk = self.shared.desk.lock();
        let entry = desk.of_mut(account, id)?;
        if entry.record.state != State::New {
            return Err(JobError::WrongState(entry.record.state.in_words()));
        }
        let mut record = entry.record.clone();
        (record.order, record.rows) = (Some(order), Some(rows));
        self.shared.put_in_line(&mut desk, record)
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
        let mut desk = self.shared.desk.lock();
        let mut record = desk.of_mut(account, id)?.record.clone();
        let can_go_on = match &record.state {
            State::Ended(end) => *end != End::Whole,
            State::Broken(_) => true,
            State::New | State::Waiting | State::Running => false,
        };
        match &mut record.order {
            Some(order) if can_go_on => (order.key, order.max_credits) = (key, max_credits),
            _ => return Err(JobError::WrongState(record.state.in_words())),
        }
        self.shared.put_in_line(&mut desk, record)
    }

    /// Stops a job. Rows that are on their way are waited for; what is written stays.
    ///
    /// # Errors
    ///
    /// When there is no such job, or it doesn't run and isn't to.
    pub fn stop(&self, account: AccountId, id: JobId) -> Result<(), JobError> {
        let mut desk = self.shared.desk.lock();
        let entry = desk.of_mut(account, id)?;
        if let Some(stop) = &entry.stop {
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
        desk.waiting.retain(|waiting| *waiting != id);
        Ok(())
    }

    /// What a job has written until now: all of it once it is whole. `None` before the first rows.
    ///
    /// # Errors
    ///
    /// When there is no such job, or its files can't be read.
    pub fn output(&self, account: AccountId, id: JobId) -> Result<Option<Written>, JobError> {
        let record = self.shared.desk.lock().of(account, id)?.record.clone();
        let (out, file_name) = (record.output(&self.shared.folder), record.output_name());
        loop {
            match File::open(&out) {
                Ok(file) => {
                    let rows = file.metadata().map(|data| file.take(data.len()))?;
                    return Ok(Some(Written { rows, file_name, is_whole: true }));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
            match part::rows_until_now(&out) {
                // It became whole a moment ago, and has its name now.
                Err(PartError::Failed { error, .. })
                    if error.kind() == io::ErrorKind::NotFound && out.exists() => {}
                rows => {
                    let rows = rows?.filter(|rows| rows.limit() > 0);
                    return Ok(rows.map(|rows| Written { rows, file_name, is_whole: false }));
                }
            }
        }
    }

    /// Deletes a job and all its files.
    ///
    /// # Errors
    ///
    /// When there is no such job, or it is running.
    pub fn delete(&self, account: AccountId, id: JobId) -> Result<(), JobError> {
        let mut desk = self.shared.desk.lock();
        let entry = desk.of_mut(account, id)?;
        if entry.stop.is_some() {
            return Err(JobError::WrongState(entry.record.state.in_words()));
        }
        record::remove(&self.shared.folder, id)?;
        desk.jobs.remove(&id);
        desk.waiting.retain(|waiting| *waiting != id);
        Ok(())
    }

    /// Deletes the jobs that were kept for long enough at `now`; how many.
    ///
    /// # Errors
    ///
    /// When files can't be deleted.
    pub fn sweep(&self, now: Timestamp) -> Result<usize, JobError> {
        let mut desk = self.shared.desk.lock();
        let before = now.as_second() - self.shared.settings.keep_seconds;
        let is_over = |entry: &&Entry| {
            let waits = matches!(entry.record.state, State::Waiting | State::Running);
            let since = entry.record.ended_at.unwrap_or(entry.record.created_at);
            !waits && since <= before
        };
        let over: Vec<JobId> =
            desk.jobs.values().filter(is_over).map(|entry| entry.record.id).collect();
        for id in &over {
            record::remove(&self.shared.folder, *id)?;
            desk.jobs.remove(id);
        }
        Ok(over.len())
    }

    /// Ends all work, waiting for rows on their way. Jobs that run go on when the folder is opened
    /// again.
    pub fn close(&self) {
        {
            let mut desk = self.shared.desk.lock();
            desk.is_closing = true;
            desk.jobs.values().filter_map(|entry| entry.stop.as_ref()).for_each(Stop::now);
        }
        self.shared.changed.notify_all();
        for thread in self.threads.lock().drain(..) {
            // A thread that failed has nothing left to wait for.
            let _ = thread.join();
        }
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn asked(&self, path: &str) -> Result<Asked, JobError> {
        let mut generations = self.generations.iter().copied();
        let found = generations.find_map(|generation| {
            let endpoint = generation.endpoint(path)?;
            Some(Asked { generation, endpoint })
        });
        found.ok_or_else(|| JobError::NoEndpoint(path.to_owned()))
    }

    fn input(&self, record: &Record) -> Result<Input, ReadError> {
        Input::open(Source::file(&record.list(&self.folder))?)
    }

    /// Puts a job in line, on disk first.
    fn put_in_line(&self, desk: &mut Desk, mut record: Record) -> Result<(), JobError> {
        (record.state, record.ended_at) = (State::Waiting, None);
        record.save(&self.folder)?;
        let id = record.id;
        if let Some(entry) = desk.jobs.get_mut(&id) {
            entry.record = record;
            desk.waiting.push_back(id);
            self.changed.notify_one();
        }
        Ok(())
    }
}

impl Desk {
    fn of(&self, account: AccountId, id: JobId) -> Result<&Entry, JobError> {
        let entry = self.jobs.get(&id).filter(|entry| entry.record.account == account);
        entry.ok_or(JobError::NotThere)
    }

    fn of_mut(&mut self, account: AccountId, id: JobId) -> Result<&mut Entry, JobError> {
        let entry = self.jobs.get_mut(&id).filter(|entry| entry.record.account == account);
        entry.ok_or(JobError::NotThere)
    }
}

impl Entry {
    fn job(&self) -> Job {
        Job::of(&self.record, self.counts)
    }
}
