//! Tests of lost connections between pgbouncer and PostgreSQL: each charge is taken exactly once.

use std::time::Duration;

use enrich_core::port::ledger::{Charged, Ledger as _};
use enrich_testkit::postgres::{Cluster as Servers, PgBouncer};
use enrich_testkit::tcp_proxy::{Cut, TcpProxy, Trigger};
use futures_util::future::join_all;
use pollster::block_on;

use super::Postgres;
use super::nodes::Cluster;
use super::outages::wait_for_charge;

/// The number of charges that are sent at the same time.
const GROUP: usize = 20;
const CREDITS: i64 = 1_000;

#[test]
fn charges_whose_reply_is_lost_behind_pgbouncer_are_taken_once() {
    let Some(servers) = Servers::for_tests() else { return };
    let proxy = TcpProxy::start(servers.address(), Duration::ZERO).unwrap();
    let Some(bouncer) = PgBouncer::start(servers, proxy.address()).unwrap() else { return };
    let database = servers.fresh_database().unwrap();
    let cluster = Cluster::over(Postgres::in_database(database, vec![bouncer.address()]), CREDITS);
    let store = cluster.postgres.store();
    wait_for_charge(&cluster, &store);
    let mut taken = 1;
    for trigger in [Trigger::CutBefore, Trigger::CutAfter, Trigger::LoseReply] {
        proxy.cut_when(b"COMMIT\0", trigger);
        let charges = (0..GROUP).map(|_| store.ledger.charge(cluster.charge()));
        let charged = block_on(join_all(charges));
        let is_taken = |charged: &_| matches!(charged, Ok(Charged::Taken { .. }));
        assert!(charged.iter().all(is_taken), "{trigger:?}: {charged:?}");
        taken += GROUP;
    }
    assert!(!proxy.disarm() && proxy.triggered() == 3, "{}", proxy.triggered());
    proxy.cut(Cut::Reset);
    wait_for_charge(&cluster, &store);
    cluster.assert_sound(u64::try_from(CREDITS).unwrap() - u64::try_from(taken + 1).unwrap());
}
