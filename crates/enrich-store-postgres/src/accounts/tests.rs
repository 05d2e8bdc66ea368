//! Tests with several nodes, and with calls that are repeated after a lost reply. The contract
//! suite (the tests that every store passes) cannot contain these tests.

use std::thread;
use std::time::Duration;

use enrich_testkit::contract::{new_key, noon};
use enrich_testkit::tcp_proxy::{TcpProxy, Trigger};
use futures_util::future::join_all;
use pollster::block_on;

use super::*;
use crate::test_database::TestDatabase;

const LIMIT: KeyLimit = KeyLimit::PER_ACCOUNT;
/// A little more than one second: a node sees another node's change within a second.
const SECOND: Duration = Duration::from_millis(1_100);

fn accounts(database: &TestDatabase) -> PostgresAccounts {
    PostgresAccounts::new(database.node())
}

fn created(accounts: &PostgresAccounts) -> (Account, NewKey) {
    let account = Account::new("Northwind", noon());
    let key = new_key(account.id, "first");
    block_on(accounts.create(account.clone(), key.clone())).unwrap();
    (account, key)
}

fn found(accounts: &PostgresAccounts, key: &NewKey) -> Option<Arc<KeyInfo>> {
    block_on(accounts.find_key(&key.key)).unwrap()
}

#[test]
fn a_change_of_one_node_is_seen_by_another_within_a_second() {
    let Some(database) = TestDatabase::create() else { return };
    let (one, other) = (accounts(&database), accounts(&database));
    let (account, first) = created(&one);
    let later = new_key(account.id, "later");
    assert!(found(&other, &first).is_some_and(|key| key.is_accepted(noon())));
    assert_eq!(found(&other, &later), None);
    assert_eq!(block_on(one.add_key(later.clone(), LIMIT)).unwrap(), KeyStored::Stored);
    block_on(one.expire_key(first.id, noon(), noon())).unwrap();
    assert!(found(&one, &later).is_some());
    thread::sleep(SECOND);
    assert!(found(&other, &later).is_some());
    assert!(!found(&other, &first).unwrap().is_accepted(noon()));
    let reason = String::new();
    block_on(one.change(account.id, AccountChange::Suspend { reason })).unwrap();
    thread::sleep(SECOND);
    assert!(!found(&other, &later).unwrap().is_accepted(noon()));
}

#[test]
fn a_new_key_is_found_by_another_node_at_once() {
    let Some(database) = TestDatabase::create() else { return };
    let (one, other) = (accounts(&database), accounts(&database));
    for _ in 0..20 {
        let (_, key) = created(&one);
        assert!(found(&other, &key).is_some());
    }
}

#[test]
fn a_call_that_is_made_again_answers_as_done() {
    let Some(database) = TestDatabase::create() else { return };
    let accounts = accounts(&database);
    let (account, first) = created(&accounts);
    block_on(accounts.create(account.clone(), first.clone())).unwrap();
    let other_key = new_key(account.id, "");
    assert!(block_on(accounts.create(account.clone(), other_key)).is_err());

    let limit = KeyLimit { active: 2, all: 3 };
    let second = new_key(account.id, "second");
    for _ in 0..2 {
        let stored = block_on(accounts.add_key(second.clone(), limit)).unwrap();
        assert_eq!(stored, KeyStored::Stored);
    }
    let third = new_key(account.id, "third");
    for _ in 0..2 {
        let rotated = accounts.rotate_key(second.id, noon(), third.clone(), limit);
        assert_eq!(block_on(rotated).unwrap(), KeyStored::Stored);
    }
    assert_eq!(block_on(accounts.keys(account.id)).unwrap().len(), 3);
    // This key has the same id as a stored key, but another secret text. So the call is not a
    // repetition of the earlier call, and is refused.
    let impostor = NewKey { key: new_key(account.id, "").key, ..third };
    let wide = KeyLimit { active: 9, all: 9 };
    assert!(block_on(accounts.add_key(impostor, wide)).is_err());
}

#[test]
fn a_change_whose_reply_is_lost_is_made_once() {
    let Some(database) = TestDatabase::create() else { return };
    let proxy = TcpProxy::start(database.address(), Duration::ZERO).unwrap();
    let accounts = PostgresAccounts::new(database.node_at(proxy.address()));
    let (account, _) = created(&accounts);
    let limit = KeyLimit { active: 4, all: 4 };
    for trigger in [Trigger::CutBefore, Trigger::CutAfter, Trigger::LoseReply] {
        proxy.cut_when(b"COMMIT\0", trigger);
        let stored = block_on(accounts.add_key(new_key(account.id, ""), limit)).unwrap();
        assert_eq!(stored, KeyStored::Stored, "{trigger:?}");
        assert!(!proxy.disarm(), "{trigger:?}");
    }
    assert_eq!(block_on(accounts.keys(account.id)).unwrap().len(), 4);
    assert_eq!(database.number("SELECT key_changes FROM state"), 4);
}

#[test]
fn nodes_that_add_keys_at_once_keep_to_the_limit() {
    let Some(database) = TestDatabase::create() else { return };
    let nodes = [accounts(&database), accounts(&database), accounts(&database)];
    let (account, _) = created(&nodes[0]);
    let limit = KeyLimit { active: 10, all: 20 };
    let adding = (0..30).map(|n| nodes[n % 3].add_key(new_key(account.id, ""), limit));
    let stored = block_on(join_all(adding)).into_iter().map(Result::unwrap);
    assert_eq!(stored.filter(|stored| *stored == KeyStored::Stored).count(), 9);
}

#[test]
fn every_change_of_what_a_key_says_is_counted_and_no_other() {
    let Some(database) = TestDatabase::create() else { return };
    let accounts = accounts(&database);
    let changes = || database.number("SELECT key_changes FROM state");
    let counted = |made: &dyn Fn()| {
        let before = changes();
        made();
        changes() - before
    };
    let (account, key) = created(&accounts);
    assert_eq!(changes(), 1, "the account's first key");
    let change = |change: AccountChange| {
        counted(&|| drop(block_on(accounts.change(account.id, change.clone())).unwrap()))
    };
    let gb = Some(Country::from_code("GB").unwrap());
    assert_eq!(change(AccountChange::Rename("Southwind".into())), 0);
    assert_eq!(change(AccountChange::SetCountry(gb)), 1);
    assert_eq!(change(AccountChange::SetCountry(gb)), 0, "nothing was changed");
    assert_eq!(change(AccountChange::Suspend { reason: "a".into() }), 1);
    assert_eq!(change(AccountChange::Suspend { reason: "b".into() }), 1);
    assert_eq!(change(AccountChange::Resume), 1);
    assert_eq!(counted(&|| assert!(block_on(accounts.set_label(key.id, "x")).unwrap())), 1);
    let rate = RateOverride { requests: Some(7), window_seconds: None };
    assert_eq!(counted(&|| assert!(block_on(accounts.set_rate(key.id, rate)).unwrap())), 1);
    let unknown = KeyId::new(noon());
    assert_eq!(counted(&|| assert!(!block_on(accounts.set_rate(unknown, rate)).unwrap())), 0);
    let second = new_key(account.id, "second");
    let rotated = || {
        let rotated = accounts.rotate_key(key.id, Timestamp::MAX, second.clone(), LIMIT);
        assert_eq!(block_on(rotated).unwrap(), KeyStored::Stored);
    };
    assert_eq!(counted(&rotated), 1);
    let expire = || assert!(block_on(accounts.expire_key(key.id, noon(), Timestamp::MIN)).unwrap());
    assert_eq!(counted(&expire), 1);
    assert_eq!(counted(&|| assert_eq!(block_on(accounts.settle_ends(noon())).unwrap(), 1)), 1);
    assert_eq!(counted(&|| assert_eq!(block_on(accounts.settle_ends(noon())).unwrap(), 0)), 0);
    assert_eq!(change(AccountChange::Close { at: noon() }), 1);
}

#[test]
fn many_callers_with_keys_that_are_not_cached_are_all_answered() {
    let Some(database) = TestDatabase::create() else { return };
    let accounts = accounts(&database);
    let (account, key) = created(&accounts);
    let wrong: Vec<NewKey> = (0..700).map(|_| new_key(account.id, "")).collect();
    let finding = wrong.iter().chain([&key; 300]).map(|key| accounts.find_key(&key.key));
    let found = block_on(join_all(finding)).into_iter().map(Result::unwrap);
    assert_eq!(found.flatten().filter(|found| found.id == key.id).count(), 300);
}

#[test]
fn an_unreadable_key_fails_alone() {
    let Some(database) = TestDatabase::create() else { return };
    let accounts = accounts(&database);
    let ((bad, of_bad), (_, good)) = (created(&accounts), created(&accounts));
    database.execute(&format!("UPDATE account SET country = '??' WHERE id = '{}'", bad.id));
    accounts.recent.clear();
    let both = [&of_bad, &good].map(|key| accounts.find_key(&key.key));
    let results = block_on(join_all(both));
    assert!(matches!(&results[0], Err(StoreError::Failed(_))), "{:?}", results[0]);
    assert!(results[1].as_ref().unwrap().is_some());
}

#[test]
fn a_cached_key_is_not_believed_while_the_database_is_away() {
    let Some(database) = TestDatabase::create() else { return };
    let accounts = accounts(&database);
    let (_, key) = created(&accounts);
    assert!(found(&accounts, &key).is_some());
    database.close();
    thread::sleep(SECOND);
    let refused = block_on(accounts.find_key(&key.key));
    let Err(StoreError::Unavailable(source)) = refused else { panic!("{refused:?}") };
    let cause = &*source as &(dyn std::error::Error + 'static);
    let causes: Vec<_> = std::iter::successors(Some(cause), |error| error.source())
        .map(ToString::to_string)
        .collect();
    assert!(causes.iter().any(|text| text.contains("the database")), "{causes:?}");
}

#[test]
fn accounts_are_listed_over_many_pages() {
    let Some(database) = TestDatabase::create() else { return };
    let accounts = accounts(&database);
    database.execute(
        "INSERT INTO account (id, name, created_at, status, status_reason)
         SELECT gen_random_uuid(), 'Northwind', (n * 7919) % 800, 'active', ''
         FROM generate_series(1, 2500) n",
    );
    let listed = block_on(accounts.accounts()).unwrap();
    assert_eq!(listed.len(), 2_500);
    assert!(listed.is_sorted_by_key(|account| (account.created_at, account.id)));
}
