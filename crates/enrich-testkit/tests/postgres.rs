//! The clusters that tests start. Left out where PostgreSQL is not installed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::{Duration, Instant};

use enrich_testkit::postgres::{Cluster, ClusterOptions, Durability};

#[test]
fn each_test_has_a_database_of_its_own() {
    let Some(cluster) = Cluster::shared() else { return };
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
    let Some(cluster) = Cluster::shared() else { return };
    let show = |name: &str| cluster.psql(&format!("SHOW {name}")).unwrap();
    assert_eq!(show("fsync"), "on");
    assert_eq!(show("synchronous_commit"), "on");
    assert_eq!(show("listen_addresses"), "127.0.0.1");
    assert_eq!(show("unix_socket_directories"), "");
    assert_eq!(show("max_connections"), "200");
}

#[test]
fn settings_are_those_of_the_options_and_change_later() {
    let options = ClusterOptions {
        durability: Durability::Fast,
        settings: vec![("work_mem".to_owned(), "5MB".to_owned())],
        ..ClusterOptions::default()
    };
    let start = Instant::now();
    let Some(mut cluster) = Cluster::start(&options).unwrap() else { return };
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(cluster.psql("SHOW fsync").unwrap(), "off");
    assert_eq!(cluster.psql("SHOW work_mem").unwrap(), "5MB");
    cluster.set("work_mem", "7000kB").unwrap();
    assert_eq!(cluster.psql("SHOW work_mem").unwrap(), "7000kB");
}

#[test]
fn a_password_is_needed_and_is_not_in_the_log() {
    let Some(cluster) = Cluster::shared() else { return };
    let url = cluster.url();
    let (_, rest) = url.split_once("enrich:").unwrap();
    let (password, _) = rest.split_once('@').unwrap();
    assert_eq!(password.len(), 32);
    cluster.psql("SELECT 1").unwrap();
    assert!(!cluster.log().unwrap().contains(password));
    let hba = "SELECT count(*) FROM pg_hba_file_rules WHERE auth_method <> 'scram-sha-256'";
    assert_eq!(cluster.psql(hba).unwrap(), "0");
}

/// A primary and its synchronous standby.
fn pair() -> Option<(Cluster, Cluster)> {
    let (primary, standby) = Cluster::start_pair(&ClusterOptions::default()).unwrap()?;
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
    assert_eq!(old.psql(states).unwrap(), "second|sync");
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
    assert_eq!(new.psql(states).unwrap(), "first|sync");
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
    // Nobody confirms what it writes now.
    let write = "SET statement_timeout = '300ms'; SET lock_timeout = '300ms'; \
         SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    assert_eq!(old.psql(write).unwrap(), "0");
}

#[test]
fn a_killed_and_a_stopped_server_come_back_with_their_data() {
    let Some(mut cluster) = Cluster::start(&ClusterOptions::default()).unwrap() else { return };
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
