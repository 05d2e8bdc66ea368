//! The threads that run jobs.

use std::sync::Arc;

use async_trait::async_trait;
use enrich_core::{AccountId, KeyId, Service};

use super::record::{Record, State};
use super::{Desk, JobError, JobId, Settings, Shared};
use crate::caller::{Asked, Caller, MeteredCaller};
use crate::part::{Opened, Output, Part, Purpose};
use crate::run::{Counts, End, Options, Progress, Work, run};
use crate::stop::Stop;
use enrich_import::Format;

/// Finds who is asked for a job.
#[async_trait]
pub trait Callers: Send + Sync {
    /// Who answers `asked` for the account's key; why nobody does, in words for the account.
    async fn caller(
        &self,
        asked: Asked,
        account: AccountId,
        key: KeyId,
    ) -> Result<Box<dyn Caller>, String>;
}

/// Asks the metered service, with the account's own key.
pub struct MeteredCallers(pub Arc<Service>);

#[async_trait]
impl Callers for MeteredCallers {
    async fn caller(
        &self,
        asked: Asked,
        account: AccountId,
        key: KeyId,
    ) -> Result<Box<dyn Caller>, String> {
        let Self(service) = self;
        let now = service.clock.now();
        let known = service.accounts.key(key).await.map_err(|error| error.to_string())?;
        let is_usable = known.is_some_and(|key| key.account == account && key.is_active(now));
        let secret = match is_usable {
            true => service.accounts.reveal(key).await.map_err(|error| error.to_string())?,
            false => None,
        };
        let secret = secret.ok_or("the API key was revoked; go on with another")?;
        Ok(Box::new(MeteredCaller::new(Arc::clone(service), asked, secret)))
    }
}

/// Runs jobs, one after the other, until the folder is closed.
pub(super) fn work(shared: &Shared) {
    while let Some((record, stop)) = next(shared) {
        let id = record.id;
        let ended = run_job(shared, record, &stop);
        let mut desk = shared.desk.lock();
        let is_closing = desk.is_closing;
        let Some(entry) = desk.jobs.get_mut(&id) else { continue };
        entry.stop = None;
        let state = match ended {
            Ok((counts, end)) => {
                entry.counts = counts;
                State::Ended(end)
            }
            Err(why) => State::Broken(why),
        };
        if is_closing && state == State::Ended(End::Stopped) {
            // On disk it stands as running, and goes on when the folder is opened again.
            continue;
        }
        entry.record.end(state, shared.clock.now());
        // What can't be saved stands as running on disk, and runs once more: every row keeps its
        // idempotency key.
        if let Err(error) = entry.record.save(&shared.folder) {
            entry.record.state = State::Broken(error.to_string());
        }
    }
}

/// Waits for a job that is to be run.
fn next(shared: &Shared) -> Option<(Record, Stop)> {
    let mut desk = shared.desk.lock();
    loop {
        if desk.is_closing {
            return None;
        }
        if let Some(begun) = begin(shared, &mut desk) {
            return Some(begun);
        }
        if desk.waiting.is_empty() {
            shared.changed.wait(&mut desk);
        }
    }
}

fn begin(shared: &Shared, desk: &mut Desk) -> Option<(Record, Stop)> {
    let id = desk.waiting.pop_front()?;
    let entry = desk.jobs.get_mut(&id)?;
    let stop = Stop::default();
    (entry.record.state, entry.stop) = (State::Running, Some(stop.clone()));
    match entry.record.save(&shared.folder) {
        Ok(()) => Some((entry.record.clone(), stop)),
        Err(error) => {
            (entry.record.state, entry.stop) = (State::Broken(error.to_string()), None);
            None
        }
    }
}

/// What came of a job's rows and how it ended; why it couldn't be carried on, in words for the
/// account.
fn run_job(shared: &Shared, record: Record, stop: &Stop) -> Result<(Counts, End), String> {
    let order = record.order.clone().ok_or("nothing was ordered")?;
    let asked = shared.asked(&order.endpoint).map_err(|error| error.to_string())?;
    let Settings { concurrency, .. } = shared.settings;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let caller = shared.callers.caller(asked, record.account, order.key).await?;
        let input = shared.input(&record).map_err(|error| error.to_string())?;
        let purpose = Purpose {
            endpoint: order.endpoint.clone(),
            mapping: order.mapping.clone(),
            asked: "this service".to_owned(),
        };
        let out = record.output(&shared.folder);
        let part = match Part::open_to_stay(&out, Format::Csv, &purpose) {
            Ok(Opened::ToDo(part)) => *part,
            Ok(Opened::Whole(counts)) => return Ok((counts, End::Whole)),
            Err(error) => return Err(in_words(&error.into())),
        };
        let endpoint = asked.endpoint;
        let output = Output::Part(part);
        let work = Work { input, caller: &*caller, endpoint, output };
        let max_credits = order.max_credits;
        let options = Options { concurrency, max_credits, ..Options::default() };
        let mut told = Told { shared, id: record.id };
        let outcome = run(work, options, stop, &mut told).await;
        let outcome = outcome.map_err(|error| error.to_string())?;
        Ok((outcome.counts, outcome.end))
    })
}

/// The reason without the paths of files, which are none of an account's business.
fn in_words(error: &JobError) -> String {
    match error {
        JobError::Files(_) => "the job's files cannot be read or written".to_owned(),
        error => error.to_string(),
    }
}

/// Keeps the counts of a job that runs.
struct Told<'a> {
    shared: &'a Shared,
    id: JobId,
}

impl Progress for Told<'_> {
    fn advance(&mut self, counts: &Counts, _read_bytes: u64) {
        if let Some(entry) = self.shared.desk.lock().jobs.get_mut(&self.id) {
            entry.counts = *counts;
        }
    }
}
