//! Tests that the contract suite (the tests that every store passes) cannot contain: with several
//! nodes, and with calls that are repeated after a lost reply.

use std::time::Duration;

use enrich_core::port::accounts::Accounts;
use enrich_core::{Account, AccountChange};
use enrich_testkit::contract::{after_noon, new_key, noon};
use enrich_testkit::tcp_proxy::{TcpProxy, Trigger};
use futures_util::future::join_all;
use pollster::block_on;

use super::*;
use crate::accounts::PostgresAccounts;
use crate::test_database::TestDatabase;

fn node(database: &TestDatabase) -> (PostgresAccounts, PostgresSignIns) {
    ports(database.node())
}

fn ports(node: Node) -> (PostgresAccounts, PostgresSignIns) {
    (PostgresAccounts::new(node.clone()), PostgresSignIns::new(node))
}

fn created(accounts: &PostgresAccounts) -> AccountId {
    let account = Account::new("Quill", noon());
    let id = account.id;
    block_on(accounts.create(account, new_key(id, ""))).unwrap();
    id
}

fn address(text: &str) -> EmailAddress {
    EmailAddress::parse(text).unwrap()
}

/// Creates an account whose owner signs in with this address.
fn owner(accounts: &PostgresAccounts, sign_ins: &PostgresSignIns, email: &str) -> AccountId {
    let account = created(accounts);
    let set = block_on(sign_ins.set_email(account, &address(email), noon())).unwrap();
    assert_eq!(set, EmailSet::Set);
    account
}

fn session(account: AccountId) -> Session {
    Session { account, started_at: noon(), seen_at: noon(), ends_at: after_noon(3600) }
}

#[test]
fn an_invitation_that_is_accepted_again_with_the_same_password_answers_as_done() {
    let Some(database) = TestDatabase::create() else { return };
    let (accounts, sign_ins) = node(&database);
    let account = owner(&accounts, &sign_ins, "ada@quill.example");
    let token = Token::generate().unwrap();
    assert!(block_on(sign_ins.invite(account, &token, after_noon(60))).unwrap());
    let accept = |password| {
        let password = PasswordHash::new(format!("$argon2id${password}"));
        block_on(sign_ins.accept(&token, password, noon())).unwrap()
    };
    assert_eq!(accept("one"), Some(account));
    assert_eq!(accept("one"), Some(account));
    assert_eq!(accept("two"), None);
    // A repeated `accept` does not end a session that began after the first `accept`.
    let token_of_session = Token::generate().unwrap();
    block_on(sign_ins.begin_session(&token_of_session, session(account))).unwrap();
    assert_eq!(accept("one"), Some(account));
    assert!(block_on(sign_ins.session(&token_of_session)).unwrap().is_some());
    assert_eq!(block_on(sign_ins.settle_ends(noon())).unwrap(), 1);
    assert_eq!(accept("one"), None);
}

#[test]
fn an_invitation_whose_reply_is_lost_is_accepted_once() {
    let Some(database) = TestDatabase::create() else { return };
    let proxy = TcpProxy::start(database.address(), Duration::ZERO).unwrap();
    let (accounts, sign_ins) = ports(database.node_at(proxy.address()));
    let account = owner(&accounts, &sign_ins, "ada@quill.example");
    for trigger in [Trigger::CutBefore, Trigger::CutAfter] {
        let token = Token::generate().unwrap();
        assert!(block_on(sign_ins.invite(account, &token, after_noon(60))).unwrap());
        proxy.cut_when(b"COMMIT\0", trigger);
        let password = PasswordHash::new(format!("$argon2id${trigger:?}"));
        let accepted = block_on(sign_ins.accept(&token, password.clone(), noon())).unwrap();
        assert_eq!(accepted, Some(account), "{trigger:?}");
        assert!(!proxy.disarm(), "{trigger:?}");
        let sign_in = block_on(sign_ins.sign_in(account)).unwrap().unwrap();
        assert_eq!(sign_in.password.unwrap().expose(), password.expose());
    }
}

#[test]
fn of_accounts_that_want_one_address_at_once_one_gets_it() {
    let Some(database) = TestDatabase::create() else { return };
    let nodes = [node(&database), node(&database), node(&database)];
    for round in 0..5 {
        let email = address(&format!("ada{round}@quill.example"));
        let owners: Vec<AccountId> = nodes.iter().map(|(accounts, _)| created(accounts)).collect();
        let setting = nodes.iter().zip(&owners);
        let setting = setting.map(|((_, one), owner)| one.set_email(*owner, &email, noon()));
        let set: Vec<_> = block_on(join_all(setting)).into_iter().map(Result::unwrap).collect();
        assert_eq!(set.iter().filter(|set| **set == EmailSet::Set).count(), 1, "{set:?}");
        assert_eq!(set.iter().filter(|set| **set == EmailSet::Taken).count(), 2, "{set:?}");
    }
}

#[test]
fn sessions_that_begin_on_several_nodes_at_once_are_no_more_than_the_limit() {
    let Some(database) = TestDatabase::create() else { return };
    let nodes = [node(&database), node(&database), node(&database)];
    let account = owner(&nodes[0].0, &nodes[0].1, "ada@quill.example");
    for round in 1..30 {
        let tokens = nodes.each_ref().map(|_| Token::generate().unwrap());
        let beginning = nodes.iter().zip(&tokens);
        let beginning =
            beginning.map(|((_, one), token)| one.begin_session(token, session(account)));
        assert!(block_on(join_all(beginning)).iter().all(Result::is_ok));
        let listed = block_on(nodes[0].1.sessions(account, None)).unwrap();
        assert_eq!(listed.len(), Session::MAX_PER_ACCOUNT.min(3 * round));
    }
}

#[test]
fn a_session_of_an_account_without_sign_in_does_not_begin() {
    let Some(database) = TestDatabase::create() else { return };
    let (accounts, sign_ins) = node(&database);
    let account = owner(&accounts, &sign_ins, "ada@quill.example");
    block_on(accounts.change(account, AccountChange::Close { at: noon() })).unwrap();
    let token = Token::generate().unwrap();
    assert!(block_on(sign_ins.begin_session(&token, session(account))).is_err());
    assert_eq!(block_on(sign_ins.session(&token)).unwrap(), None);
}
