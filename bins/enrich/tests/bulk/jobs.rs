//! Tests of jobs (look-ups of whole lists). These jobs call the metered service in their own
//! process, without HTTP, as the jobs of the account page do.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use enrich_bulk::jobs::{Job, MeteredCallers, Order, Settings, State};
use enrich_bulk::{End, Jobs, Mapping};
use enrich_core::port::accounts::Accounts;
use enrich_core::port::ledger::{Grant, Ledger};
use enrich_core::{Account, AccountId, Clock, KeyId, NewKey};
use enrich_store::{Store, SystemClock};
use enrich_wire::ApiVersion;

use crate::fixture::numbered;
use crate::server::import_fixtures;

static API_VERSIONS: [&ApiVersion; 2] =
    [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];

/// Simulates a server process: its store and its jobs. Dropping this value and calling `start`
/// again simulates a restart.
struct Process {
    store: Store,
    jobs: Jobs,
}

impl Process {
    fn start(folder: &Path) -> Self {
        let store = Store::open(folder.join("data")).unwrap();
        let service = Arc::new(store.service());
        let (callers, clock) = (Arc::new(MeteredCallers(service)), Arc::new(SystemClock));
        let settings = Settings::default();
        let jobs = Jobs::open(&folder.join("jobs"), &API_VERSIONS, callers, clock, settings);
        Self { store, jobs: jobs.unwrap() }
    }

    fn wait(&self, job: &Job, account: AccountId, until: impl Fn(&Job) -> bool) -> Job {
        let started = Instant::now();
        loop {
            let job = self.jobs.get(account, job.id).unwrap();
            if until(&job) {
                return job;
            }
            assert!(started.elapsed() < Duration::from_secs(60), "{job:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn balance(&self, account: AccountId) -> u64 {
        pollster::block_on(self.store.ledger.balance(account)).unwrap().unwrap().0
    }
}

fn has_ended(job: &Job) -> bool {
    matches!(job.state, State::Ended(_) | State::Broken(_))
}

/// Creates an account with a key and a thousand credits.
fn account(store: &Store) -> (AccountId, KeyId) {
    let now = SystemClock.now();
    let account = Account::new("Lister", now);
    let id = account.id;
    let key = NewKey::generate(id, "page", now).unwrap();
    let key_id = key.id;
    pollster::block_on(async {
        store.accounts.create(account, key).await.unwrap();
        store.ledger.grant(Grant::new(id, 1_000, now)).await.unwrap();
    });
    (id, key_id)
}

#[test]
fn a_job_of_an_account_is_charged_like_its_calls_over_any_restart() {
    let folder = tempfile::tempdir().unwrap();
    import_fixtures(&folder.path().join("data"));
    let mut process = Process::start(folder.path());
    let (account, key) = account(&process.store);
    let list = numbered(600);
    let job = process.jobs.create(account, "leads.csv", &mut &list[..]).unwrap();
    let mapping = Mapping::parse(["companyName=Company"]).unwrap();
    let order = Order {
        endpoint: "/v1/cuf".to_owned(),
        mapping,
        key,
        max_credits: Some(1_000),
        candidates: 0,
    };
    process.jobs.start(account, job.id, order).unwrap();
    for rows in [100, 300] {
        process.wait(&job, account, |job| has_ended(job) || job.counts.rows >= rows);
        drop(process);
        process = Process::start(folder.path());
    }
    let job = process.wait(&job, account, has_ended);
    assert_eq!(job.state, State::Ended(End::Whole));
    assert_eq!((job.counts.rows, job.counts.found, job.counts.credits), (600, 420, 420));
    assert_eq!(process.balance(account), 1_000 - 420);
    let mut text = String::new();
    let mut written = process.jobs.output(account, job.id).unwrap().unwrap();
    written.rows.read_to_string(&mut text).unwrap();
    assert_eq!((written.is_whole, text.lines().count()), (true, 601));
    assert_eq!(text.lines().filter(|line| line.ends_with(",found,,1")).count(), 420);
}

#[test]
fn a_revoked_key_and_another_account_s_answer_nothing() {
    let folder = tempfile::tempdir().unwrap();
    import_fixtures(&folder.path().join("data"));
    let process = Process::start(folder.path());
    let (own, own_key) = account(&process.store);
    let (_, other_key) = account(&process.store);
    let expired = process.store.accounts.expire_key(own_key, SystemClock.now(), SystemClock.now());
    assert!(pollster::block_on(expired).unwrap());
    for key in [own_key, other_key] {
        let list = numbered(5);
        let job = process.jobs.create(own, "leads.csv", &mut &list[..]).unwrap();
        let mapping = Mapping::parse(["companyName=Company"]).unwrap();
        let endpoint = "/v1/cuf".to_owned();
        let order = Order { endpoint, mapping, key, max_credits: None, candidates: 0 };
        process.jobs.start(own, job.id, order).unwrap();
        let job = process.wait(&job, own, has_ended);
        let why = "the API key was revoked; continue with another".to_owned();
        assert_eq!((job.state, job.counts.rows), (State::Broken(why), 0));
    }
}
