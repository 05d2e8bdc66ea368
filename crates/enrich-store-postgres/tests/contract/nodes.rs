//! Tests with several nodes on one database. `main.rs` defines a test for each public function.

use std::thread;
use std::time::{Duration, Instant};

use enrich_core::port::accounts::{Accounts as _, KeyStored};
use enrich_core::port::ledger::{Charge, Charged, Grant, Ledger as _};
use enrich_core::{
    Account, AccountId, BodyTemplate, Credits, IdempotencyKey, IdempotencyRecord, KeyLimit, NewKey,
    StoredResponse, Timestamp,
};
use enrich_store_postgres::Store;
use enrich_testkit::contract::{new_charge, new_key, noon};
use futures_util::future::join_all;
use pollster::block_on;

use super::{Postgres, Route};

/// Three nodes, and an account with a key and credits.
pub(super) struct Cluster {
    nodes: Vec<Store>,
    account: AccountId,
    key: NewKey,
    pub(super) postgres: Postgres,
}

impl Cluster {
    /// Opens three nodes on a new database, to which they connect by `route`. Returns `None` if
    /// PostgreSQL is not installed, or if the route needs pgbouncer and this is not installed.
    pub(super) fn with(route: Route, credits: i64) -> Option<Self> {
        Some(Self::over(Postgres::by(route)?, credits))
    }

    /// Opens three nodes on this database.
    pub(super) fn over(postgres: Postgres, credits: i64) -> Self {
        let nodes: Vec<Store> = (0..3).map(|_| postgres.store()).collect();
        let account = AccountId::new(noon());
        let key = new_key(account, "first");
        block_on(async {
            let new = Account { id: account, ..Account::new("Northwind", noon()) };
            nodes[0].accounts.create(new, key.clone()).await.unwrap();
            nodes[1].ledger.grant(Grant::new(account, credits, noon())).await.unwrap();
        });
        Self { nodes, account, key, postgres }
    }

    pub(super) fn charge(&self) -> Charge {
        new_charge(self.account, self.key.id)
    }

    fn keyed(&self, key: &str) -> Charge {
        let idempotency = IdempotencyRecord {
            key: IdempotencyKey::parse(key).unwrap(),
            request_bytes: b"quill.example".to_vec(),
            body: BodyTemplate::new(b"{}".to_vec(), None),
        };
        Charge { idempotency: Some(idempotency), ..self.charge() }
    }

    /// Sends `each` charges to every node, all at the same time. Returns the number of charges
    /// that were taken.
    fn race(&self, each: usize, charge: impl Fn(usize) -> Charge + Sync) -> usize {
        let ask = |node: &Store| {
            let charges = (0..each).map(|number| node.ledger.charge(charge(number)));
            let charged = block_on(join_all(charges));
            let is_taken = |charged: &&_| matches!(charged, Ok(Charged::Taken { .. }));
            assert!(charged.iter().all(Result::is_ok), "{charged:?}");
            charged.iter().filter(is_taken).count()
        };
        thread::scope(|scope| {
            let asked: Vec<_> = self.nodes.iter().map(|node| scope.spawn(|| ask(node))).collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).sum()
        })
    }

    pub(super) fn assert_sound(&self, balance: u64) {
        for node in &self.nodes {
            let left = block_on(node.ledger.balance(self.account)).unwrap();
            assert_eq!(left, Some(Credits(balance)));
        }
        let found = block_on(self.nodes[2].ledger.verify()).unwrap();
        assert_eq!(found.faults, [] as [String; 0]);
    }
}

pub(super) fn the_last_credits_asked_of_three_nodes_are_given_to_the_credit(route: Route) {
    let Some(cluster) = Cluster::with(route, 1_000) else { return };
    assert_eq!(cluster.race(700, |_| cluster.charge()), 1_000);
    cluster.assert_sound(0);
}

pub(super) fn a_key_used_on_three_nodes_at_once_is_charged_once(route: Route) {
    let Some(cluster) = Cluster::with(route, 1_000) else { return };
    let taken = cluster.race(100, |number| cluster.keyed(&format!("k{}", number % 50)));
    assert_eq!(taken, 50);
    cluster.assert_sound(950);
    let key = IdempotencyKey::parse("k7").unwrap();
    for node in &cluster.nodes {
        let stored = node.ledger.stored_response(cluster.account, &key, b"quill.example", noon());
        let stored = block_on(stored).unwrap();
        assert!(matches!(stored, Some(StoredResponse::Answer { items: 1, .. })), "{stored:?}");
    }
}

pub(super) fn grants_and_charges_of_three_nodes_add_up(route: Route) {
    let Some(cluster) = Cluster::with(route, 1_000) else { return };
    thread::scope(|scope| {
        for node in &cluster.nodes {
            scope.spawn(|| {
                let grants = (0..100).map(|_| Grant::new(cluster.account, 5, noon()));
                let granted = block_on(join_all(grants.map(|grant| node.ledger.grant(grant))));
                assert!(granted.iter().all(Result::is_ok), "{granted:?}");
            });
        }
        assert_eq!(cluster.race(200, |_| cluster.charge()), 600);
    });
    cluster.assert_sound(1_000 + 1_500 - 600);
}

pub(super) fn a_new_key_is_accepted_at_once_and_a_revoked_one_for_a_second_at_most(route: Route) {
    let Some(cluster) = Cluster::with(route, 0) else { return };
    let [one, other, _] = &cluster.nodes[..] else { unreachable!("three nodes") };
    let find = |node: &Store, key: &NewKey| block_on(node.accounts.find_key(&key.key)).unwrap();
    let second = new_key(cluster.account, "second");
    assert_eq!(find(other, &second), None);
    let stored = block_on(one.accounts.add_key(second.clone(), KeyLimit::PER_ACCOUNT)).unwrap();
    assert_eq!(stored, KeyStored::Stored);
    // The node `other` has cached that the API key `second` does not exist. It finds the key after
    // its next poll of the database.
    let accepted = Instant::now();
    while find(other, &second).is_none() {
        assert!(accepted.elapsed() < Duration::from_secs(2), "it is still unknown");
        thread::sleep(Duration::from_millis(10));
    }
    assert!(find(other, &second).unwrap().is_accepted(noon()));
    let now: Timestamp = noon();
    assert!(block_on(one.accounts.expire_key(second.id, now, now)).unwrap());
    assert!(!find(one, &second).unwrap().is_accepted(now), "at once where it was revoked");
    let revoked = Instant::now();
    while find(other, &second).unwrap().is_accepted(now) {
        assert!(revoked.elapsed() < Duration::from_secs(2), "it is still accepted");
        thread::sleep(Duration::from_millis(10));
    }
}
