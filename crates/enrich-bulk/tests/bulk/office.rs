//! A fixture for jobs: the folder of jobs, two accounts, and a caller that records charges.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use enrich_bulk::jobs::{Callers, Job, JobId, Order, Settings, State};
use enrich_bulk::{CallResult, Caller, Jobs, Mapping, RowFields, Target};
use enrich_core::port::error::StoreError;
use enrich_core::port::importer::Suppressed;
use enrich_core::{AccountId, Clock, KeyId, SuppressedValues, Timestamp};
use enrich_text::Country;
use enrich_wire::ApiVersion;

use crate::fixture::Books;

pub(crate) static API_VERSIONS: [&ApiVersion; 1] = [&enrich_wire_v1::API_VERSION];

pub(crate) struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_790_000_000).unwrap()
    }
}

/// The caller of the tests. All accounts use the same [`Books`], which records the calls.
struct SharedCalls(Arc<Books>);

#[async_trait]
impl Caller for SharedCalls {
    async fn call(&self, fields: &RowFields, idempotency: &str) -> CallResult {
        self.0.call(fields, idempotency).await
    }

    fn is_metered(&self) -> bool {
        true
    }
}

#[async_trait]
impl Callers for SharedCalls {
    async fn caller(
        &self,
        _asked: Target,
        _account: AccountId,
        _key: KeyId,
    ) -> Result<Box<dyn Caller>, String> {
        Ok(Box::new(Self(Arc::clone(&self.0))))
    }

    async fn country(&self, _account: AccountId) -> Result<Option<Country>, StoreError> {
        Ok(*self.0.country.lock())
    }

    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        let domains = self.0.forgotten.lock().clone();
        let forgotten = Forgotten { domains, books: Arc::clone(&self.0) };
        Ok((!forgotten.is_empty()).then(|| Arc::new(forgotten) as _))
    }
}

/// The suppressed domains, which must be erased from lists, each with the time when it was
/// suppressed.
struct Forgotten {
    domains: Vec<(String, Timestamp)>,
    books: Arc<Books>,
}

impl SuppressedValues for Forgotten {
    fn version(&self) -> u64 {
        self.domains.len() as u64
    }

    fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }

    fn holds(&self, value: &Suppressed) -> bool {
        self.holds_suppressed_since(value, Timestamp::MIN)
    }

    fn holds_suppressed_since(&self, value: &Suppressed, since: Timestamp) -> bool {
        if matches!(value, Suppressed::Domain(domain) if domain.as_str() == "stalled.example") {
            drop(self.books.stalled.lock());
        }
        let is_it =
            |domain: &str| self.domains.iter().any(|(known, at)| known == domain && *at >= since);
        match value {
            Suppressed::Domain(domain) => is_it(domain.as_str()),
            Suppressed::Email(_) | Suppressed::Phone(_) | Suppressed::PersonPage(_) => false,
        }
    }
}

pub(crate) struct Office {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) books: Arc<Books>,
    pub(crate) account: AccountId,
    pub(crate) other: AccountId,
}

impl Office {
    pub(crate) fn new() -> Self {
        let account = || AccountId::new(Noon.now());
        let folder = tempfile::tempdir().unwrap();
        Self { folder, books: Arc::default(), account: account(), other: account() }
    }

    pub(crate) fn open(&self) -> Jobs {
        self.open_with(one_at_a_time())
    }

    pub(crate) fn open_with(&self, settings: Settings) -> Jobs {
        Jobs::open(&self.jobs(), &API_VERSIONS, self.callers(), Arc::new(Noon), settings).unwrap()
    }

    pub(crate) fn callers(&self) -> Arc<dyn Callers> {
        Arc::new(SharedCalls(Arc::clone(&self.books)))
    }

    pub(crate) fn jobs(&self) -> PathBuf {
        self.folder.path().join("jobs")
    }

    /// Returns the names of the folders of the jobs, including unfinished uploads.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.jobs()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.len() == 32).collect();
        let arriving = std::fs::read_dir(self.jobs().join("arriving")).unwrap();
        names.extend(arriving.map(|entry| entry.unwrap().file_name().into_string().unwrap()));
        names
    }

    pub(crate) fn create(&self, jobs: &Jobs, list: &str) -> JobId {
        jobs.create(self.account, "../leads.CSV", &mut list.as_bytes()).unwrap().id
    }

    pub(crate) fn wait(&self, jobs: &Jobs, id: JobId, until: impl Fn(&Job) -> bool) -> Job {
        wait(jobs, self.account, id, until)
    }
}

pub(crate) fn wait(
    jobs: &Jobs,
    account: AccountId,
    id: JobId,
    until: impl Fn(&Job) -> bool,
) -> Job {
    let started = Instant::now();
    loop {
        let job = jobs.get(account, id).unwrap();
        if until(&job) {
            return job;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{job:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn one_at_a_time() -> Settings {
    Settings { running: 1, ..Settings::default() }
}

pub(crate) fn order(max_credits: Option<u64>) -> Order {
    let mapping = Mapping::parse(["companyName=Company"]).unwrap();
    Order {
        endpoint: "/v1/cuf".to_owned(),
        mapping,
        key: KeyId::new(Noon.now()),
        max_credits,
        candidates: 0,
    }
}

pub(crate) fn has_ended(job: &Job) -> bool {
    !matches!(job.state, State::New | State::Waiting | State::Running)
}

pub(crate) fn text(jobs: &Jobs, account: AccountId, id: JobId) -> (String, bool) {
    let mut written = jobs.output(account, id).unwrap().unwrap();
    let mut text = String::new();
    written.rows.read_to_string(&mut text).unwrap();
    (text, written.is_whole)
}
