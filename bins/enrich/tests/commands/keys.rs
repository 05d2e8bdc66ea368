//! Tests of `enrich key`.

use std::thread;
use std::time::Duration;

use enrich_core::port::accounts::{Accounts, KeyStored};
use enrich_core::{Clock, KeyLimit, NewKey};
use enrich_store::SystemClock;
use serde_json::{Value, json};

use crate::fixture::{Fixture, call, server, text};

const NO_KEY: &str = "019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70";

#[test]
fn a_key_is_printed_where_it_is_issued_shown_or_rotated_and_nowhere_else() {
    let fixture = Fixture::new();
    let (account, first) = fixture.account(0);
    let issued = fixture.json(&["key", "issue", &account, "--label", "web shop"]);
    let (id, key) = (text(&issued["key_id"]), text(&issued["key"]));
    assert_eq!(fixture.json(&["key", "show", &id])["key"], key.as_str());
    assert!(fixture.run(&["key", "show", &id]).out.contains(&key));
    let rotated = fixture.json(&["key", "rotate", &id, "--keep", "24h"]);
    let successor = text(&rotated["key"]);
    assert_ne!(successor, key);

    for words in [
        &["key", "list", &account][..],
        &["account", "show", &account],
        &["account", "list"],
        &["key", "set", &id, "--rate-limit", "5"],
        &["key", "revoke", &id],
        &["ledger", "export", &account],
        &["check"],
    ] {
        let ran = fixture.run(words);
        assert_eq!(ran.status, 0, "{words:?}: {ran:?}");
        for key in [&first, &key, &successor] {
            assert!(![&ran.out, &ran.err].iter().any(|said| said.contains(key)), "{words:?}");
        }
    }
    for words in [&["key", "list", &account][..], &["account", "show", &account]] {
        let said = fixture.json(words).to_string();
        assert!([&first, &key, &successor].iter().all(|key| !said.contains(key.as_str())));
        assert!(said.contains(&key[..13]), "the prefix tells which key it is: {said}");
    }
}

#[test]
fn a_successor_has_the_label_and_limits_of_the_key_it_replaces() {
    let fixture = Fixture::with_records();
    let (account, _) = fixture.account(10);
    let limits = ["--rate-limit", "600", "--rate-window", "30"];
    let issue = [&["key", "issue", &account, "--label", "web shop"][..], &limits].concat();
    let old = fixture.json(&issue);
    let rotated = fixture.json(&["key", "rotate", &text(&old["key_id"]), "--keep", "15m"]);
    assert_eq!(rotated["label"], "web shop");
    assert_eq!((&rotated["rate_limit"], &rotated["rate_window"]), (&600.into(), &30.into()));
    assert_eq!(rotated["replaces"]["key_id"], old["key_id"]);
    assert_eq!(rotated["expires_at"], json!(null));

    let store = fixture.store();
    let ask = |issued: &Value| {
        let asked = json!({"companyName": "Quill"});
        call(&server(&store), &text(&issued["key"]), "cuf", "r", asked).status
    };
    assert_eq!(ask(&old), 200);
    assert_eq!(ask(&rotated), 200);
    let again = fixture.json(&["key", "rotate", &text(&rotated["key_id"])]);
    assert_eq!(ask(&again), 200);
    // The last rotation ended the key `rotated`. A server refuses an ended key within a second,
    // even if the key was used just before.
    thread::sleep(Duration::from_secs(1));
    assert_eq!(ask(&rotated), 401);
    let ended = fixture.run(&["key", "rotate", &text(&rotated["key_id"])]);
    ended.refused(1, "has already ended; issue a new one");
}

#[test]
fn a_key_is_replaced_however_many_the_account_has_used_up() {
    let fixture = Fixture::new();
    let (account, _) = fixture.account(0);
    let (id, now) = (account.parse().unwrap(), SystemClock.now());
    let store = fixture.store();
    for _ in 1..KeyLimit::PER_ACCOUNT.all {
        let ended = NewKey::generate(id, "", now).unwrap();
        let ended = NewKey { expires_at: Some(now), ..ended };
        let stored = pollster::block_on(store.accounts.add_key(ended, KeyLimit::PER_ACCOUNT));
        assert_eq!(stored.unwrap(), KeyStored::Stored);
    }
    let one_more = NewKey::generate(id, "", SystemClock.now()).unwrap();
    let stored = pollster::block_on(store.accounts.add_key(one_more, KeyLimit::PER_ACCOUNT));
    assert_eq!(stored.unwrap(), KeyStored::TooMany);
    let rotated = fixture.json(&["key", "rotate", &fixture.first_key_id(&account)]);
    let issued = fixture.json(&["key", "issue", &account]);
    assert_ne!(rotated["key"], issued["key"]);
}

#[test]
fn a_revoked_key_stays_revoked() {
    let fixture = Fixture::with_records();
    let (account, key) = fixture.account(1);
    let id = fixture.first_key_id(&account);
    let revoked = fixture.json(&["key", "revoke", &id]);
    assert_eq!(revoked["active"], false);
    assert_eq!(fixture.json(&["key", "revoke", &id])["expires_at"], revoked["expires_at"]);
    let store = fixture.store();
    let answer = call(&server(&store), &key, "cuf", "r", json!({"companyName": "Quill"}));
    assert_eq!(answer.status, 401);
    assert!(fixture.run(&["key", "list", &account]).out.contains("ended 20"));
}

#[test]
fn a_limit_of_its_own_is_set_and_taken_away_one_number_at_a_time() {
    let fixture = Fixture::new();
    let (account, _) = fixture.account(0);
    let id = fixture.first_key_id(&account);
    let set = |words: &[&str]| {
        let key = fixture.json(&[&["key", "set", &id], words].concat());
        (key["rate_limit"].as_u64(), key["rate_window"].as_u64())
    };
    assert_eq!(set(&["--rate-limit", "600"]), (Some(600), None));
    assert_eq!(set(&["--rate-window", "10"]), (Some(600), Some(10)));
    assert!(fixture.run(&["key", "list", &account]).out.contains("600 in 10 s"));
    assert_eq!(set(&["--rate-limit", "default"]), (None, Some(10)));
    fixture.run(&["key", "set", &id, "--rate-limit", "0"]).refused(2, "at least 1, or `default`");
    fixture.run(&["key", "set", &id]).refused(2, "--rate-limit");
}

#[test]
fn a_key_that_is_not_there_is_told_clearly() {
    let fixture = Fixture::new();
    fixture.account(0);
    for words in [
        &["key", "show", NO_KEY][..],
        &["key", "revoke", NO_KEY],
        &["key", "rotate", NO_KEY],
        &["key", "set", NO_KEY, "--rate-limit", "5"],
    ] {
        fixture.run(words).refused(1, &format!("there is no key {NO_KEY}; `enrich key list"));
    }
}

#[test]
fn a_key_typed_where_an_id_belongs_is_not_repeated() {
    let fixture = Fixture::new();
    let (_, key) = fixture.account(0);
    for words in [["key", "show", &key], ["account", "show", &key], ["key", &key, "x"]] {
        let ran = fixture.run(&words);
        assert_eq!(ran.status, 2);
        assert!(!ran.err.contains(&key[..16]) && ran.err.contains("enr_live_…"), "{ran:?}");
    }
}
