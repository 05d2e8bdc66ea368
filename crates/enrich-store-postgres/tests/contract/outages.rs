//! Checks that charging resumes after an outage of the database, without any action of an operator.

use std::time::{Duration, Instant};

use enrich_core::port::ledger::{ChargeError, Charged, Ledger as _};
use enrich_store_postgres::{Options, Store};
use enrich_testkit::postgres::{Cluster as Servers, ClusterOptions};
use enrich_testkit::tcp_proxy::{Cut, TcpProxy};
use futures_util::future::join_all;
use pollster::block_on;

use super::nodes::Cluster;
use super::{Postgres, Route};

/// Time limit for charging to resume.
const RESUMED_WITHIN: Duration = Duration::from_secs(30);

/// Sends charges until one succeeds.
pub(super) fn wait_for_charge(cluster: &Cluster, store: &Store) {
    let begun = Instant::now();
    loop {
        let charged = block_on(store.ledger.charge(cluster.charge()));
        if matches!(charged, Ok(Charged::Taken { .. })) {
            return;
        }
        let is_refused = matches!(charged, Err(ChargeError::Overloaded | ChargeError::Stopped));
        assert!(is_refused, "{charged:?}");
        assert!(begun.elapsed() < RESUMED_WITHIN, "charging does not resume");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn open(postgres: &Postgres, proxies: &[&TcpProxy]) -> Store {
    let addresses: Vec<_> = proxies.iter().map(|proxy| proxy.address()).collect();
    let options = Options { accepts_one_copy: true, ..Options::default() };
    Store::open(&postgres.database.url_at(&addresses), &postgres.secrets, options).unwrap()
}

#[test]
fn charging_resumes_after_an_outage_in_which_it_was_refused() {
    let Some(cluster) = Cluster::with(Route::Direct, 1_000) else { return };
    let server = enrich_testkit::postgres::Cluster::for_tests().unwrap();
    let proxy = TcpProxy::start(server.address(), Duration::ZERO).unwrap();
    let store = open(&cluster.postgres, &[&proxy]);
    wait_for_charge(&cluster, &store);
    proxy.refuse_new(true);
    proxy.cut(Cut::Reset);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        // When the proxy began to refuse new connections, one may already have been half open. If
        // it has opened since then, it is cut here.
        proxy.cut(Cut::Reset);
        // In the first second, the store may not have noticed yet that a connection was cut. The
        // outcome of a charge on such a connection may stay unknown, so any result is accepted.
        let is_made_before = begun.elapsed() < Duration::from_secs(1);
        let charged = block_on(store.ledger.charge(cluster.charge()));
        let is_refused = matches!(charged, Err(ChargeError::Overloaded | ChargeError::Stopped));
        assert!(is_refused || is_made_before, "{charged:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!store.ledger.is_charging());
    proxy.refuse_new(false);
    wait_for_charge(&cluster, &store);
    assert!(store.ledger.is_charging());
}

#[test]
fn a_host_that_hangs_does_not_keep_the_others_waiting() {
    let Some(cluster) = Cluster::with(Route::Direct, 1_000) else { return };
    let server = enrich_testkit::postgres::Cluster::for_tests().unwrap();
    let proxies = [(); 2].map(|()| TcpProxy::start(server.address(), Duration::ZERO).unwrap());
    let store = open(&cluster.postgres, &[&proxies[0], &proxies[1]]);
    for hanging in [0, 1] {
        proxies[hanging].pause_both();
        // The account's charges are decided by a lane: a task with its own connection. If the lane
        // is connected through this proxy, its connection now hangs.
        let charges = (0..20).map(|_| store.ledger.charge(cluster.charge()));
        let charged = block_on(join_all(charges));
        let is_known = |charged: &_| {
            matches!(
                charged,
                Ok(Charged::Taken { .. }) | Err(ChargeError::Overloaded | ChargeError::Stopped)
            )
        };
        assert!(charged.iter().all(is_known), "{charged:?}");
        wait_for_charge(&cluster, &store);
        proxies[hanging].resume();
    }
}

#[test]
fn a_primary_without_its_standby_does_not_count_as_charging() {
    let pair = Servers::start_pair(&ClusterOptions::default()).unwrap();
    let Some((primary, mut standby)) = pair else { return };
    let database = primary.fresh_database().unwrap();
    let cluster = Cluster::over(Postgres::in_database(database, vec![primary.address()]), 1_000);
    let store = cluster.postgres.store();
    wait_for_charge(&cluster, &store);
    standby.kill().unwrap();
    // Without its standby, the primary does not confirm the commit of the charge.
    let charged = block_on(store.ledger.charge(cluster.charge()));
    assert!(matches!(charged, Err(ChargeError::Unknown(_))), "{charged:?}");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        assert!(!store.ledger.is_charging(), "nothing confirms a commit");
        let refused = block_on(store.ledger.charge(cluster.charge()));
        assert!(matches!(refused, Err(ChargeError::Stopped)), "{refused:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    standby.restart().unwrap();
    wait_for_charge(&cluster, &store);
    assert!(store.ledger.is_charging());
    let found = block_on(store.ledger.verify()).unwrap();
    assert_eq!(found.faults, [] as [String; 0]);
}
