//! Tests of the PostgreSQL clusters that `enrich-testkit` starts. They are skipped if PostgreSQL is
//! not installed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "a test that is killed says first what it has started")]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use enrich_testkit::postgres::{
    Cluster, ClusterOptions, Durability, PgBouncer, skip_without_postgres,
};
use enrich_testkit::tcp_proxy::{Cut, TcpProxy, Trigger};

/// Time limit for each wait in these tests. A wait that takes longer is a failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns options with which commits don't wait for the disk. This is faster, and the tests that
/// use these options don't simulate a power failure.
fn fast() -> ClusterOptions {
    ClusterOptions { durability: Durability::Fast, ..ClusterOptions::default() }
}

#[test]
fn each_test_has_a_database_of_its_own() {
    let Some(cluster) = Cluster::for_tests() else { return };
    let (one, other) = (cluster.fresh_database().unwrap(), cluster.fresh_database().unwrap());
    assert_ne!(one.name(), other.name());
    assert!(one.url().starts_with("postgres://enrich:"), "{}", one.url());
    assert!(one.url().ends_with(&format!("@{}/{}", cluster.address(), one.name())));
    let owner =
        format!("SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = '{}'", one.name());
    assert_eq!(cluster.psql(&owner).unwrap(), "enrich");
}

#[test]
fn a_cluster_is_durable_and_reachable_at_one_address_only() {
    let Some(cluster) = Cluster::for_tests() else { return };
    let show = |name: &str| cluster.psql(&format!("SHOW {name}")).unwrap();
    assert_eq!(show("fsync"), "on");
    assert_eq!(show("synchronous_commit"), "on");
    assert_eq!(show("listen_addresses"), "127.0.0.1");
    assert_eq!(show("unix_socket_directories"), "");
    assert_eq!(show("max_connections"), "200");
}

#[test]
fn settings_are_those_of_the_options_and_change_later() {
    let options =
        ClusterOptions { settings: vec![("work_mem".to_owned(), "5MB".to_owned())], ..fast() };
    let Some(mut cluster) = Cluster::start(&options).unwrap() else { return };
    assert_eq!(cluster.psql("SHOW fsync").unwrap(), "off");
    assert_eq!(cluster.psql("SHOW work_mem").unwrap(), "5MB");
    cluster.set("work_mem", "7000kB").unwrap();
    assert_eq!(cluster.psql("SHOW work_mem").unwrap(), "7000kB");
    let refused = cluster.set("work_mem", "much").unwrap_err();
    assert!(refused.to_string().starts_with("work_mem = 'much'"), "{refused}");
}

#[test]
fn a_password_is_needed_and_is_not_in_the_log() {
    let Some(cluster) = Cluster::for_tests() else { return };
    let url = cluster.url();
    let (_, rest) = url.split_once("enrich:").unwrap();
    let (password, _) = rest.split_once('@').unwrap();
    assert_eq!(password.len(), 32);
    cluster.psql("SELECT 1").unwrap();
    assert!(!cluster.log().unwrap().contains(password));
    let hba = "SELECT count(*) FROM pg_hba_file_rules WHERE auth_method <> 'scram-sha-256'";
    assert_eq!(cluster.psql(hba).unwrap(), "0");
}

fn pair() -> Option<(Cluster, Cluster)> {
    let (primary, standby) = Cluster::start_pair(&fast()).unwrap()?;
    primary.psql("CREATE TABLE number (value int)").unwrap();
    Some((primary, standby))
}

fn insert(cluster: &Cluster, value: i32) {
    cluster.psql(&format!("INSERT INTO number VALUES ({value})")).unwrap();
}

fn numbers(cluster: &Cluster) -> String {
    cluster.psql("SELECT string_agg(value::text, ' ' ORDER BY value) FROM number").unwrap()
}

#[test]
fn a_standby_takes_over_and_the_old_primary_follows_it() {
    let Some((mut old, new)) = pair() else { return };
    let states = "SELECT application_name, sync_state FROM pg_stat_replication";
    assert_eq!(old.psql(states).unwrap(), "node_2|sync");
    assert!(new.is_standby().unwrap());
    insert(&old, 1);
    old.kill().unwrap();
    assert!(!old.is_running());
    assert!(old.psql("SELECT 1").is_err());
    new.promote().unwrap();
    assert!(!new.is_standby().unwrap());
    assert_eq!(numbers(&new), "1");
    old.rebuild_standby_of(&new).unwrap();
    new.wait_until_synchronous().unwrap();
    assert_eq!(new.psql(states).unwrap(), "node_1|sync");
    insert(&new, 2);
    assert_eq!(numbers(&new), "1 2");
    assert!(old.is_standby().unwrap());
}

#[test]
fn a_frozen_primary_answers_nothing_and_goes_on_when_it_is_thawed() {
    let Some((old, new)) = pair() else { return };
    insert(&old, 1);
    old.freeze().unwrap();
    assert!(old.is_running());
    assert!(old.psql("SELECT 1").is_err(), "a frozen server answered");
    new.promote().unwrap();
    assert_eq!(numbers(&new), "1");
    old.thaw().unwrap();
    old.wait_until_accepting().unwrap();
    assert!(!old.is_standby().unwrap());
    // A promoted standby no longer receives the old primary's write-ahead log. So the old primary
    // has no standby that can confirm its commits.
    let standbys = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    assert_eq!(old.psql(standbys).unwrap(), "0");
}

#[test]
fn a_freeze_holds_what_is_forked_meanwhile() {
    let Some(cluster) = Cluster::start(&fast()).unwrap() else { return };
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            // Each call opens a connection, so the server forks a new process for it.
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let _ = cluster.psql("SELECT 1");
                }
            });
        }
        for _ in 0..10 {
            cluster.freeze().unwrap();
            let processes = processes_in(&cluster.folder().join("data"));
            thread::sleep(Duration::from_millis(20));
            assert_eq!(processes_in(&cluster.folder().join("data")).len(), processes.len());
            assert!(processes.iter().all(|process| state(process).contains(['T', 'Z'])));
            cluster.thaw().unwrap();
            cluster.wait_until_accepting().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_killed_and_a_stopped_server_come_back_with_their_data() {
    let Some(mut cluster) = Cluster::start(&fast()).unwrap() else { return };
    let address = cluster.address();
    cluster.psql("CREATE TABLE number (value int)").unwrap();
    let ends = [Cluster::kill, Cluster::stop_immediate, Cluster::stop, |frozen: &mut Cluster| {
        frozen.freeze()?;
        frozen.kill()
    }];
    for (value, end) in (0..).zip(ends) {
        insert(&cluster, value);
        end(&mut cluster).unwrap();
        assert!(!cluster.is_running());
        cluster.restart().unwrap();
    }
    assert_eq!(numbers(&cluster), "0 1 2 3");
    assert_eq!(cluster.address(), address);
}

#[test]
fn a_commit_is_cut_off_before_it_and_after_it() {
    let Some(cluster) = Cluster::start(&fast()).unwrap() else { return };
    cluster.psql("CREATE TABLE number (value int); GRANT ALL ON number TO enrich").unwrap();
    let proxy = TcpProxy::start(cluster.address(), Duration::from_millis(1)).unwrap();
    let cases = [(1, Trigger::CutBefore, ""), (2, Trigger::CutAfter, "2")];
    for (value, trigger, expected) in cases {
        proxy.cut_when(b"COMMIT\0", trigger);
        let statements = format!("BEGIN; INSERT INTO number VALUES ({value})");
        let result = in_two_messages(&cluster, &proxy, &statements);
        assert!(result.contains("server closed the connection"), "{result}");
        assert_eq!(proxy.triggered(), u64::try_from(value).unwrap());
        wait_until_nobody_is_connected(&cluster);
        assert_eq!(numbers(&cluster), expected);
    }
}

#[test]
fn a_lost_reply_leaves_a_client_waiting_for_a_commit_that_was_done() {
    let Some(cluster) = Cluster::start(&fast()).unwrap() else { return };
    cluster.psql("CREATE TABLE number (value int)").unwrap();
    let proxy = TcpProxy::start(cluster.address(), Duration::from_millis(1)).unwrap();
    proxy.cut_when(b"COMMIT\0", Trigger::LoseReply);
    thread::scope(|scope| {
        let transaction = "BEGIN; INSERT INTO number VALUES (1); COMMIT";
        let client = scope.spawn(|| cluster.psql_at(proxy.address(), transaction));
        let start = Instant::now();
        while numbers(&cluster) != "1" {
            assert!(start.elapsed() < PATIENCE);
        }
        assert!(!client.is_finished());
        proxy.cut(Cut::Reset);
        assert!(client.join().unwrap().is_err());
    });
}

/// Sends statements and then `COMMIT` through the proxy, as two messages. One of them must fail.
/// Returns the error messages of `psql`.
fn in_two_messages(cluster: &Cluster, proxy: &TcpProxy, statements: &str) -> String {
    let url = cluster.database().url_at(&[proxy.address()]);
    // `psql` sends each `-c` as a separate message. So the server gets the statements even if the
    // proxy cuts the connection before `COMMIT`.
    let output = Command::new("psql")
        .args(["-X", "-q", "-d", &url, "-c", statements, "-c", "COMMIT"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

fn wait_until_nobody_is_connected(cluster: &Cluster) {
    let others = "SELECT count(*) FROM pg_stat_activity \
         WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    let start = Instant::now();
    while cluster.psql(others).unwrap() != "0" {
        assert!(start.elapsed() < PATIENCE);
    }
}

#[test]
fn pgbouncer_leads_to_every_database_and_shares_connections() {
    let Some(cluster) = Cluster::for_tests() else { return };
    let Some(bouncer) = PgBouncer::start(cluster, cluster.address()).unwrap() else { return };
    assert_eq!(cluster.psql_at(bouncer.address(), "SELECT 1").unwrap(), "1");
    let database = cluster.fresh_database().unwrap();
    let url = database.url_at(&[bouncer.address()]);
    let run = |statements: &[&str]| {
        let each = statements.iter().flat_map(|statement| ["-c", statement]);
        let output = Command::new("psql")
            .args(["-X", "-A", "-t", "-q", "-d", &url])
            .args(each)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(&["SELECT current_database()"]).trim(), database.name());
    // A prepared statement still exists for the next client, because both clients use the same
    // connection to the server.
    run(&["PREPARE shared AS SELECT 7"]);
    assert_eq!(run(&["EXECUTE shared"]).trim(), "7");
    assert!(!bouncer.log().unwrap().contains("FATAL"), "{}", bouncer.log().unwrap());
}

/// The environment variable that tells this program to start servers and to wait until it is
/// killed. The test below sets it when it starts this program a second time.
const KILLED: &str = "ENRICH_TESTKIT_IS_KILLED";

#[test]
fn nothing_is_left_of_a_test_that_is_killed() {
    if env::var_os(KILLED).is_some() {
        return be_killed();
    }
    if skip_without_postgres() {
        return;
    }
    let mut test = Command::new(env::current_exe().unwrap())
        .args(["--exact", "nothing_is_left_of_a_test_that_is_killed", "--nocapture"])
        .env(KILLED, "")
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(test.stdout.take().unwrap());
    let folders: Vec<PathBuf> = output
        .lines()
        .map(Result::unwrap)
        .skip_while(|line| !line.starts_with("started"))
        .take_while(|line| line != "ready")
        .filter_map(|line| line.strip_prefix("started ").map(PathBuf::from))
        .collect();
    let processes: Vec<PathBuf> = folders.iter().flat_map(|folder| processes_in(folder)).collect();
    // The started servers are a frozen primary, its standby, and pgbouncer. Each server has a guard
    // process (`guarded_process.rs`), and each PostgreSQL server has at least three children.
    assert!(processes.len() > 10, "{processes:?}");
    // The signal goes to the whole process group, like the signal of a test runner after a
    // time-out.
    let group = format!("-{}", test.id());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
    test.wait().unwrap();
    let start = Instant::now();
    let is_there = |folder: &PathBuf| folder.exists();
    while processes.iter().any(|process| is_running(process)) || folders.iter().any(is_there) {
        assert!(start.elapsed() < PATIENCE, "{processes:?} {folders:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Starts servers, freezes the primary, prints the servers' folders, and waits to be killed.
fn be_killed() {
    let Some((primary, standby)) = pair() else { return };
    let bouncer = PgBouncer::start(&primary, primary.address()).unwrap();
    primary.freeze().unwrap();
    println!();
    println!("started {}", primary.folder().display());
    println!("started {}", standby.folder().display());
    if let Some(bouncer) = &bouncer {
        println!("started {}", bouncer.folder().display());
    }
    println!("ready");
    thread::sleep(PATIENCE);
}

/// Returns the processes whose working folder is in `folder`, as paths in `/proc`.
fn processes_in(folder: &Path) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let is_in = |process: &PathBuf| {
        fs::read_link(process.join("cwd")).is_ok_and(|place| place.starts_with(folder))
    };
    processes.filter(is_in).collect()
}

fn is_running(process: &Path) -> bool {
    let state = state(process);
    !state.is_empty() && !state.contains('Z')
}

/// Returns the state of a process, such as `T (stopped)`; empty if the process does not exist.
fn state(process: &Path) -> String {
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.unwrap_or_default().trim().to_owned()
}
