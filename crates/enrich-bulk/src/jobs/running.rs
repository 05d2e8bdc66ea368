//! The threads that run jobs. A job looks up the rows of one uploaded list.

use std::mem::take;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::{AccountId, KeyId, Service, SuppressedValues};
use enrich_import::{Format, Halt, ReadError};
use enrich_text::Country;

use super::record::{Record, State};
use super::{JobError, JobId, JobRegistry, JobsState, lease};
use crate::caller::{Caller, MeteredCaller, Target};
use crate::part::{Opened, Output, Part, Purpose};
use crate::run::{Counts, End, Options, Progress, RunError, Work, run};
use crate::stop::Stop;

/// Interval at which a running job checks the account's storage limit and the free disk space, and
/// whether the job must yield to another account.
const LOOK_EACH: Duration = Duration::from_millis(100);

/// Provides callers for jobs. A job sends its rows through a [`Caller`].
#[async_trait]
pub trait Callers: Send + Sync {
    /// Returns the caller that sends rows to `target` with the account's key. The error is a
    /// message for the account.
    async fn caller(
        &self,
        target: Target,
        account: AccountId,
        key: KeyId,
    ) -> Result<Box<dyn Caller>, String>;

    /// Returns the country that is assumed for the account's phone numbers without a country
    /// calling code; `None` if no country is assumed.
    async fn country(&self, _account: AccountId) -> Result<Option<Country>, StoreError> {
        Ok(None)
    }

    /// Returns the suppressed values: the data that must be erased from lists, such as an email
    /// address. Returns `None` if there are none.
    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        Ok(None)
    }
}

/// The message to the account if its API key cannot be read from the store. The message does not
/// show the reason.
const UNREADABLE: &str = "the API key cannot be read; continue later";

/// Provides callers of the metered service. Each caller uses a key of the account.
pub struct MeteredCallers(pub Arc<Service>);

#[async_trait]
impl Callers for MeteredCallers {
    async fn caller(
        &self,
        target: Target,
        account: AccountId,
        key: KeyId,
    ) -> Result<Box<dyn Caller>, String> {
        let Self(service) = self;
        let now = service.clock.now();
        let known = service.accounts.key(key).await.map_err(|_| UNREADABLE)?;
        let is_usable = known.is_some_and(|key| key.account == account && key.is_accepted(now));
        let secret = match is_usable {
            true => service.accounts.reveal(key).await.map_err(|_| UNREADABLE)?,
            false => None,
        };
        let secret = secret.ok_or("the API key was revoked; continue with another")?;
        Ok(Box::new(MeteredCaller::new(Arc::clone(service), target, secret)))
    }

    async fn country(&self, account: AccountId) -> Result<Option<Country>, StoreError> {
        Ok(self.0.accounts.account(account).await?.and_then(|account| account.country))
    }

    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        self.0.directory.suppressed().await
    }
}

/// The main function of a thread that runs jobs, one after the other, until shutdown.
pub(super) fn work(shared: &JobsState) {
    while let Some((record, stop)) = next(shared) {
        let id = record.id;
        let mut watch = Watch::new(shared, &record, &stop);
        let opened = shared.open_turn(id);
        let ended = match opened.and_then(|()| shared.scrub_before_run(id)) {
            Ok(record) => run_job(shared, record, &mut watch),
            Err(error) => Err(in_words(&error)),
        };
        let held_back = watch.held_back.take();
        let mut registry = shared.registry.lock();
        let is_closing = registry.is_closing;
        let Some(entry) = registry.jobs.get_mut(&id) else { continue };
        let bytes = entry.record.held_bytes(&shared.folder);
        (entry.stop, entry.rate_limited_until) = (None, None);
        entry.bytes = bytes.unwrap_or(entry.bytes);
        let (is_stopped, yields) = (take(&mut entry.is_stopped), take(&mut entry.is_yielding));
        let state = match (ended, held_back) {
            (Ok((counts, end)), why) => {
                entry.counts = counts;
                match why {
                    Some(why) if end == End::Stopped && !is_stopped => State::Broken(why),
                    _ => State::Ended(end),
                }
            }
            (Err(why), _) => State::Broken(why),
        };
        if shared.records.is_some() {
            let has_place = is_closing || yields;
            shared.end_turn(&mut registry, id, state, has_place && !is_stopped);
            continue;
        }
        if is_closing && state == State::Ended(End::Stopped) {
            // The job's record on disk still has the state "running". So the job continues when a
            // process opens the folder of jobs the next time, for example after a restart.
            continue;
        }
        let mut record = entry.record.clone();
        let saved = if yields && !is_stopped && state == State::Ended(End::Stopped) {
            shared.put_in_line(&mut registry, record)
        } else {
            record.end(state, shared.clock.now());
            entry.record = record;
            entry.record.save(&shared.folder).map_err(JobError::from)
        };
        // If the job's record cannot be saved, the record on disk still has the state "running". So
        // the job runs once more when a process opens the folder of jobs the next time, for example
        // after a restart. Its rows then have the same idempotency keys, so no row is charged
        // twice.
        if let (Err(error), Some(entry)) = (saved, registry.jobs.get_mut(&id)) {
            entry.record.state = State::Broken(in_words(&error));
        }
    }
}

/// Waits for the next job to run. Returns its record and stop signal; `None` at shutdown.
fn next(shared: &JobsState) -> Option<(Record, Stop)> {
    if let Some(records) = &shared.records {
        return shared.take_shared(records);
    }
    let mut registry = shared.registry.lock();
    loop {
        if registry.is_closing {
            return None;
        }
        if let Some(begun) = begin(shared, &mut registry) {
            return Some(begun);
        }
        if registry.waiting.is_empty() {
            shared.changed.wait(&mut registry);
        }
    }
}

fn begin(shared: &JobsState, registry: &mut JobRegistry) -> Option<(Record, Stop)> {
    let id = registry.take_next()?;
    let entry = registry.jobs.get_mut(&id)?;
    let stop = Stop::default();
    (entry.record.state, entry.stop) = (State::Running, Some(stop.clone()));
    match entry.record.save(&shared.folder) {
        Ok(()) => Some((entry.record.clone(), stop)),
        Err(error) => {
            let why = in_words(&error.into());
            (entry.record.state, entry.stop) = (State::Broken(why), None);
            None
        }
    }
}

/// Runs a job. Returns its counts and how it ended. The error is a message for the account.
fn run_job(
    shared: &JobsState,
    record: Record,
    watch: &mut Watch<'_>,
) -> Result<(Counts, End), String> {
    let order = record.order.clone().ok_or("nothing was ordered")?;
    let target = shared.target(&order.endpoint).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|_| "the server is overloaded; continue later")?;
    runtime.block_on(async {
        let stop = watch.stop;
        watch.look();
        let caller = shared.callers.caller(target, record.account, order.key).await?;
        let purpose = Purpose {
            endpoint: order.endpoint.clone(),
            mapping: order.mapping.clone(),
            caller: "this service".to_owned(),
            candidates: order.candidates,
            ..Purpose::default()
        };
        let out = record.output(&shared.folder);
        let lease = shared.registry.lock().jobs.get(&record.id).and_then(|job| job.lease.clone());
        // If several processes share a job, all of them use the same idempotency keys for its rows,
        // so that no row is paid twice.
        let prefix = lease.as_ref().map(|_| record.id.to_string());
        let part = match Part::open_of_job(&out, Format::Csv, &purpose, prefix) {
            Ok(Opened::ToDo(part)) => part,
            Ok(Opened::Whole(counts)) => return Ok((counts, End::Whole)),
            Err(error) => return Err(in_words(&error.into())),
        };
        let output = Output::Part(match &lease {
            Some(lease) => Box::new(part.guarded(lease::guard(lease))),
            None => part,
        });
        let input = match shared.input(&shared.folder, &record, stop) {
            Err(ReadError::Halted(Halt::Stopped)) => return Ok((output.counts(), End::Stopped)),
            input => input.map_err(|error| in_words(&error.into()))?,
        };
        let work = Work { input, caller: &*caller, endpoint: target.endpoint, output };
        let (concurrency, max_credits) = (shared.settings.concurrency, order.max_credits);
        let options = Options { concurrency, max_credits, ..Options::default() };
        let outcome = run(work, options, stop, watch).await;
        let outcome = outcome.map_err(|error| in_words(&JobError::of_run(error)))?;
        Ok((outcome.counts, outcome.end))
    })
}

/// Returns an error message for the account. It contains no file paths, which accounts must not
/// see.
fn in_words(error: &JobError) -> String {
    match error {
        JobError::Files(_) | JobError::Folder(_) | JobError::Records(_) => {
            "the list's files cannot be read or written; tell the service's operator".to_owned()
        }
        error => error.to_string(),
    }
}

impl JobsState {
    /// Ends the work of this process on a shared job. The job gets `state`, with one exception: if
    /// the run was stopped early and `gave_up_place` is true, the job returns to the queue.
    ///
    /// `gave_up_place` is true if this process has stopped the run: another account waits, the
    /// job's files must be rewritten, or the process shuts down. It is false if the account has
    /// stopped the job.
    fn end_turn(&self, registry: &mut JobRegistry, id: JobId, state: State, gave_up_place: bool) {
        let Some(entry) = registry.jobs.get_mut(&id) else { return };
        let mut record = entry.record.clone();
        if gave_up_place && state == State::Ended(End::Stopped) {
            record.state = State::Waiting;
        } else {
            record.end(state, self.clock.now());
        }
        self.release(entry, record);
        self.changed.notify_all();
    }
}

impl JobError {
    fn of_run(error: RunError) -> Self {
        match error {
            RunError::Input(error) => error.into(),
            RunError::Mapping(error) => error.into(),
            RunError::Part(error) => error.into(),
            RunError::Stream(error) => error.into(),
            RunError::OtherInput(_) => Self::OtherList,
        }
    }
}

/// Receives the progress of a running job. Updates the job's counts. Stops the job when the account
/// or the disk has no more space, and when the job must yield to another account.
struct Watch<'a> {
    shared: &'a JobsState,
    id: JobId,
    account: AccountId,
    stop: &'a Stop,
    began: Instant,
    looked: Option<Instant>,
    /// The message to the account if the job was stopped because the account or the disk has no
    /// more space; `None` otherwise.
    held_back: Option<String>,
}

impl<'a> Watch<'a> {
    fn new(shared: &'a JobsState, record: &Record, stop: &'a Stop) -> Self {
        let (id, account, began) = (record.id, record.account, Instant::now());
        Self { shared, id, account, stop, began, looked: None, held_back: None }
    }

    /// Checks the limits, unless they were checked less than `LOOK_EACH` ago.
    fn look(&mut self) {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK_EACH) || self.stop.is_set() {
            return;
        }
        self.looked = Some(Instant::now());
        if let Err(error) = self.shared.check_job_quota(self.account, self.id) {
            self.held_back = Some(in_words(&error));
            self.stop.now();
            return;
        }
        let settings = &self.shared.settings;
        if self.shared.registry.lock().must_yield(self.id, self.began.elapsed(), settings) {
            self.stop.now();
        }
    }
}

impl Progress for Watch<'_> {
    fn advance(&mut self, counts: &Counts, _read_bytes: u64) {
        if let Some(entry) = self.shared.registry.lock().jobs.get_mut(&self.id) {
            entry.counts = *counts;
        }
        self.look();
    }

    fn wait(&mut self, rate_limited_for: Option<Duration>) {
        let now = self.shared.clock.now();
        let until = rate_limited_for.and_then(|left| now.checked_add(left).ok());
        if let Some(entry) = self.shared.registry.lock().jobs.get_mut(&self.id) {
            entry.rate_limited_until = until;
        }
        self.look();
    }
}
