//! Tests of uploaded lists in an installation with several nodes (server processes). Every node
//! shows all lists. If a node is lost, another node continues its lists. No row is paid twice.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use enrich_bulk::jobs::{JobError, JobId, Refusal, Settings, State};
use enrich_bulk::{End, Jobs};
use enrich_core::port::jobs::{JobLease, JobPhase, JobRecords};
use enrich_core::{Clock, KeyId, Timestamp};
use enrich_testkit::fake_ports::{JobConnection, MemoryJobs};
use pollster::block_on;

use crate::fixture::numbered;
use crate::office::{API_VERSIONS, Noon, Office, has_ended, one_at_a_time, order, text, wait};

/// What all nodes of a test share: the job records, and the folder with the files of the lists,
/// which `office` provides.
struct Nodes {
    office: Office,
    records: Arc<MemoryJobs>,
}

struct Node {
    jobs: Jobs,
    connection: Arc<JobConnection<Arc<MemoryJobs>>>,
}

impl Nodes {
    fn new() -> Self {
        Self { office: Office::new(), records: Arc::default() }
    }

    fn start(&self) -> Node {
        self.start_with(one_at_a_time())
    }

    fn start_with(&self, settings: Settings) -> Node {
        let connection = Arc::new(JobConnection::new(Arc::clone(&self.records)));
        let records = Arc::clone(&connection) as Arc<dyn JobRecords>;
        let (callers, clock) = (self.office.callers(), Arc::new(Noon));
        let folder = self.office.jobs();
        let jobs = Jobs::open_shared(&folder, records, &API_VERSIONS, callers, clock, settings);
        Node { jobs: jobs.unwrap(), connection }
    }

    /// Asserts that the job ends with one line of output for each of the `rows` rows of its list,
    /// and that no row was paid twice.
    fn assert_whole(&self, jobs: &Jobs, id: JobId, rows: usize) {
        let job = self.office.wait(jobs, id, has_ended);
        assert_eq!(job.state, State::Ended(End::Whole), "{job:?}");
        assert_eq!(job.counts.rows, rows as u64);
        assert_eq!(job.counts.credits, self.office.books.total(), "a row was paid twice");
        self.assert_output(jobs, id, rows);
    }

    fn assert_output(&self, jobs: &Jobs, id: JobId, rows: usize) {
        let (text, is_whole) = text(jobs, self.office.account, id);
        let ids = text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned());
        assert_eq!(ids.collect::<Vec<_>>(), (0..rows).map(|id| id.to_string()).collect::<Vec<_>>());
        assert!(is_whole);
    }

    /// Returns the names of a job's folders. Each time a process takes the job, a new turn begins,
    /// and the process makes a folder for it.
    fn turns(&self, id: JobId) -> Vec<String> {
        let entries = fs::read_dir(self.office.jobs().join(id.to_string())).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Returns the text of all files of a job.
    fn on_disk(&self, id: JobId) -> String {
        let folder = self.office.jobs().join(id.to_string());
        let files = self.turns(id).into_iter().flat_map(|turn| {
            fs::read_dir(folder.join(turn)).unwrap().map(|entry| entry.unwrap().path())
        });
        files.map(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned()).collect()
    }
}

#[test]
fn a_list_is_seen_and_changed_on_every_node() {
    let nodes = Nodes::new();
    let (office, a, b) = (&nodes.office, nodes.start(), nodes.start());
    let account = office.account;
    let id = office.create(&a.jobs, &numbered(3_000));
    assert_eq!(b.jobs.of_account(account), [a.jobs.get(account, id).unwrap()]);
    assert_eq!(b.jobs.of_account(office.other), []);
    assert_eq!(b.jobs.get(office.other, id), None);
    assert_eq!(b.jobs.sample(account, id, 1).unwrap().rows, [["0", "Quill 0"]]);
    b.jobs.start(account, id, order(None)).unwrap();
    let again = a.jobs.start(account, id, order(None)).unwrap_err();
    assert!(matches!(again, JobError::WrongState(_)), "{again}");

    for node in [&a, &b] {
        office.wait(&node.jobs, id, |job| job.state == State::Running && job.counts.rows > 0);
        assert!(node.jobs.delete(account, id).is_err(), "it is running");
    }
    // The job may run on node `a` or on node `b`. In both cases, node `b` can stop it.
    b.jobs.stop(account, id).unwrap();
    let stopped = office.wait(&a.jobs, id, has_ended);
    assert_eq!(stopped.state, State::Ended(End::Stopped));
    for node in [&a, &b] {
        let (written, is_whole) = text(&node.jobs, account, id);
        assert_eq!((written.lines().count() as u64, is_whole), (stopped.counts.rows + 1, false));
    }
    a.jobs.go_on(account, id, KeyId::new(Noon.now()), None).unwrap();
    nodes.assert_whole(&b.jobs, id, 3_000);
    nodes.assert_whole(&a.jobs, id, 3_000);
    assert_eq!(nodes.turns(id).len(), 1, "the folders of earlier turns are left");
    assert_eq!(
        office.books.calls.load(Ordering::SeqCst),
        3_000,
        "an orderly stop asks nothing again"
    );

    a.jobs.delete(account, id).unwrap();
    assert_eq!(b.jobs.get(account, id), None);
    assert_eq!(office.names(), [""; 0]);
}

#[test]
fn a_node_that_stops_hands_its_list_over_at_once() {
    let nodes = Nodes::new();
    let a = nodes.start();
    let id = nodes.office.create(&a.jobs, &numbered(2_000));
    a.jobs.start(nodes.office.account, id, order(None)).unwrap();
    nodes.office.wait(&a.jobs, id, |job| job.counts.rows > 0);
    drop(a);
    let rows = block_on(nodes.records.of_account(nodes.office.account)).unwrap();
    assert_eq!(rows[0].lease, JobLease::Free, "another node must wait until the lease ends");
    let b = nodes.start();
    nodes.assert_whole(&b.jobs, id, 2_000);
    assert_eq!(nodes.office.books.calls.load(Ordering::SeqCst), 2_000);
}

#[test]
fn another_node_continues_the_list_of_a_node_that_died() {
    let nodes = Nodes::new();
    let a = nodes.start();
    let id = nodes.office.create(&a.jobs, &numbered(3_000));
    a.jobs.start(nodes.office.account, id, order(None)).unwrap();
    nodes.office.wait(&a.jobs, id, |job| job.counts.rows > 300);
    // Node `a` cannot reach the job records when it ends, so it cannot give back its lease of the
    // job.
    a.connection.cut_off(true);
    drop(a);
    let b = nodes.start();
    std::thread::sleep(Duration::from_millis(1_500));
    let job = b.jobs.get(nodes.office.account, id).unwrap();
    assert_eq!(job.state, State::Running, "its lease has not ended");
    nodes.records.expire_leases();
    nodes.assert_whole(&b.jobs, id, 3_000);
}

#[test]
fn a_node_that_is_cut_off_and_goes_on_spoils_nothing() {
    let nodes = Nodes::new();
    let a = nodes.start();
    let id = nodes.office.create(&a.jobs, &numbered(4_000));
    a.jobs.start(nodes.office.account, id, order(None)).unwrap();
    nodes.office.wait(&a.jobs, id, |job| job.counts.rows > 100);
    // Node `a` cannot reach the job records. So it does not notice that its lease of the job has
    // expired, and continues to write rows.
    a.connection.cut_off(true);
    nodes.records.expire_leases();
    let b = nodes.start();
    nodes.assert_whole(&b.jobs, id, 4_000);
    let before = nodes.on_disk(id);
    a.connection.cut_off(false);
    let seen = nodes.office.wait(&a.jobs, id, has_ended);
    assert_eq!(seen.state, State::Ended(End::Whole));
    drop(a);
    assert_eq!(nodes.on_disk(id), before, "a late write changed the files");
    nodes.assert_whole(&b.jobs, id, 4_000);
    assert_eq!(nodes.turns(id).len(), 1);
}

#[test]
fn accounts_take_turns_over_all_nodes() {
    let nodes = Nodes::new();
    let settings = Settings { turn: Duration::from_millis(300), ..one_at_a_time() };
    let (office, a) = (&nodes.office, nodes.start_with(settings));
    let long = office.create(&a.jobs, &numbered(4_000));
    a.jobs.start(office.account, long, order(None)).unwrap();
    office.wait(&a.jobs, long, |job| job.counts.rows > 0);
    let own = a.jobs.create(office.other, "own.csv", &mut numbered(20).as_bytes()).unwrap().id;
    a.jobs.start(office.other, own, order(None)).unwrap();
    let short = wait(&a.jobs, office.other, own, has_ended);
    let long_job = office.wait(&a.jobs, long, has_ended);
    assert_eq!(long_job.state, State::Ended(End::Whole));
    assert_eq!(short.counts.credits + long_job.counts.credits, office.books.total());
    nodes.assert_output(&a.jobs, long, 4_000);
}

#[test]
fn forgotten_values_leave_the_lists_of_all_nodes() {
    let nodes = Nodes::new();
    let (office, a, b) = (&nodes.office, nodes.start(), nodes.start());
    let list = "Company,site\nQuill 0,\nInkwell,https://www.inkwell.example/\nQuill 1,\n";
    let done = office.create(&a.jobs, list);
    a.jobs.start(office.account, done, order(None)).unwrap();
    office.wait(&a.jobs, done, has_ended);
    let waiting = office.create(&a.jobs, list);
    office.books.forgotten.lock().push(("inkwell.example".to_owned(), Noon.now()));
    let (rows, is_whole) = text(&b.jobs, office.account, done);
    assert!(is_whole && !rows.contains("inkwell") && rows.lines().count() == 3, "{rows}");
    assert_eq!(b.jobs.scrub().unwrap(), 1);
    assert_eq!(a.jobs.scrub().unwrap(), 0);
    for id in [done, waiting] {
        assert!(!nodes.on_disk(id).contains("inkwell"), "{}", nodes.on_disk(id));
        assert_eq!(a.jobs.get(office.account, id).unwrap().removed_rows, 1);
        assert_eq!(nodes.turns(id).len(), 1);
    }
}

#[test]
fn lists_expire_and_a_removal_that_was_interrupted_is_finished() {
    let nodes = Nodes::new();
    let (office, a, b) = (&nodes.office, nodes.start(), nodes.start());
    let [first, second] = [(); 2].map(|()| office.create(&a.jobs, &numbered(3)));
    let later = |seconds| Timestamp::from_second(Noon.now().as_second() + seconds).unwrap();
    let week = Settings::default().keep_seconds;
    assert_eq!(b.jobs.sweep(later(week - 1)).unwrap(), 0);
    let number = u128::from_str_radix(&first.to_string(), 16).unwrap();
    assert!(block_on(nodes.records.hold(number, 1, JobPhase::Removing)).unwrap());
    assert_eq!(a.jobs.get(office.account, first), None);
    nodes.records.expire_leases();
    assert_eq!(b.jobs.sweep(later(week)).unwrap(), 1);
    assert_eq!(a.jobs.get(office.account, second), None);
    assert_eq!(office.names(), [""; 0]);
    assert_eq!(block_on(nodes.records.rows_after(0, 9)).unwrap(), []);
}

#[test]
fn work_on_files_that_was_interrupted_locks_a_list_until_the_lease_ends() {
    let nodes = Nodes::new();
    let (office, a) = (&nodes.office, nodes.start());
    let id = office.create(&a.jobs, &numbered(30));
    let number = u128::from_str_radix(&id.to_string(), 16).unwrap();
    assert!(block_on(nodes.records.hold(number, 1, JobPhase::Idle)).unwrap());
    let refused = a.jobs.start(office.account, id, order(None)).unwrap_err();
    assert!(matches!(refused, JobError::Refused(Refusal::Changed)), "{refused}");
    nodes.records.expire_leases();
    a.jobs.start(office.account, id, order(None)).unwrap();
    nodes.assert_whole(&a.jobs, id, 30);
}

#[test]
fn a_process_tells_the_others_which_lists_it_keeps() {
    let nodes = Nodes::new();
    let (office, folder) = (&nodes.office, tempfile::tempdir().unwrap());
    let open = |folder: &Path| {
        let (callers, clock) = (office.callers(), Arc::new(Noon));
        let jobs = Jobs::open(folder, &API_VERSIONS, callers, clock, one_at_a_time()).unwrap();
        jobs.announce_to(nodes.records.clone()).unwrap();
        jobs
    };
    let (a, b, shared) = (open(&office.jobs()), open(folder.path()), nodes.start());
    shared.jobs.announce_to(nodes.records.clone()).unwrap();
    let account = office.account;
    let id = office.create(&a, &numbered(3));
    let names = |jobs: &Jobs, account| -> Vec<String> {
        let lists = jobs.elsewhere(account).unwrap();
        lists.into_iter().map(|list| list.file_name).collect()
    };
    let name = a.get(account, id).unwrap().file_name;
    until(|| [&b, &shared.jobs].iter().all(|jobs| names(jobs, account) == [name.as_str()]));
    assert!(names(&a, account).is_empty(), "it is its own");
    assert!(names(&b, office.other).is_empty(), "it is of another account");
    a.delete(account, id).unwrap();
    until(|| names(&b, account).is_empty());
}

fn until(holds: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30), "it does not come true");
        std::thread::sleep(Duration::from_millis(10));
    }
}
