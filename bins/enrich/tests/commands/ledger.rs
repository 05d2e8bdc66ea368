//! Tests of `enrich ledger`.

use std::fs;

use enrich_core::port::ledger::{Grant, Granted, Ledger};
use enrich_core::{AccountId, ChargeId, Clock};
use enrich_store::SystemClock;
use futures_util::future::join_all;
use serde_json::json;

use crate::fixture::{Fixture, call, server};

#[test]
fn a_ledger_that_adds_up_says_so_in_credits_and_rows() {
    let fixture = Fixture::with_records();
    let (_, key) = fixture.account(10);
    fixture.account(0);
    {
        let store = fixture.store();
        let service = server(&store);
        for _ in 0..2 {
            let asked = json!({"companyName": "Quill Ltd"});
            assert_eq!(call(&service, &key, "company_enrichment", "r", asked).status, 200);
        }
    }
    let proof = fixture.json(&["ledger", "verify"]);
    let expected = json!({
        "ok": true, "accounts": 2, "granted": 10, "charged": 6, "charges": 2, "faults": []
    });
    assert_eq!(proof, expected);
    let text = fixture.run(&["ledger", "verify"]);
    assert_eq!(text.status, 0);
    assert!(text.out.ends_with("everything adds up\n"), "{text:?}");
}

#[test]
fn a_row_that_was_changed_is_found_and_ends_with_one() {
    let fixture = Fixture::new();
    let (account, _) = fixture.account(0);
    fixture.json(&["credits", "grant", &account, "5", "--note", "invoice 1042"]);
    let path = fixture.data().join("ledger.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let note = b"invoice 1042";
    let places: Vec<usize> = bytes
        .windows(note.len())
        .enumerate()
        .filter(|(_, part)| part == note)
        .map(|(at, _)| at)
        .collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at] = b'I';
    }
    fs::write(&path, bytes).unwrap();

    let ran = fixture.run(&["ledger", "verify", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let proof = ran.json();
    assert_eq!(proof["ok"], false);
    assert!(proof["faults"][0].as_str().unwrap().contains(&account), "{proof}");
    let text = fixture.run(&["ledger", "verify"]);
    assert_eq!(text.status, 1);
    assert!(text.out.contains("\nfault: ") && text.out.contains("does not add up"), "{text:?}");
}

#[test]
fn every_row_is_exported_with_all_that_is_known_of_it() {
    let fixture = Fixture::with_records();
    let (account, key) = fixture.account(10);
    let key_id = fixture.first_key_id(&account);
    fixture.json(&["credits", "grant", &account, "-1", "--note", "=1+1, or \"so\""]);
    {
        let store = fixture.store();
        let asked = json!({"companyDomain": "quill.example"});
        assert_eq!(call(&server(&store), &key, "dte", "@SUM(A1)", asked).status, 200);
    }
    let export = fixture.run(&["ledger", "export", &account]);
    assert_eq!((export.status, export.err.as_str()), (0, ""));
    let mut csv = csv::Reader::from_reader(export.out.as_bytes());
    let columns = csv.headers().unwrap().clone();
    let rows: Vec<_> = csv.records().map(Result::unwrap).collect();
    let cell = |row: usize, column: &str| {
        let at = columns.iter().position(|name| name == column).unwrap();
        rows[row][at].to_owned()
    };
    assert_eq!(rows.len(), 3);
    assert_eq!((cell(0, "kind"), cell(0, "credits")), ("grant".into(), "10".into()));
    assert_eq!((cell(1, "credits"), cell(1, "note")), ("-1".into(), "'=1+1, or \"so\"".into()));
    for (column, expected) in [
        ("account", account.as_str()),
        ("sequence", "3"),
        ("kind", "charge"),
        ("credits", "-1"),
        ("balance", "8"),
        ("endpoint", "/v1/dte"),
        ("items", "1"),
        ("rule", "1 per 5 items"),
        ("key_id", &key_id),
        ("request_id", "'@SUM(A1)"),
        ("corrects", ""),
        ("note", ""),
    ] {
        assert_eq!(cell(2, column), expected, "{column}");
    }
    assert!(cell(2, "generation").parse::<u64>().unwrap() > 0);
    assert!(cell(2, "time").parse::<jiff::Timestamp>().is_ok());
    assert!(cell(2, "id").parse::<ChargeId>().is_ok());
}

#[test]
fn an_account_of_many_rows_is_exported_to_its_last() {
    const GRANTS: usize = 2001;
    let fixture = Fixture::new();
    let (account, _) = fixture.account(0);
    let owner: AccountId = account.parse().unwrap();
    {
        let store = fixture.store();
        let grants = (0..GRANTS).map(|_| {
            let at = SystemClock.now();
            let (id, note) = (ChargeId::new(at), String::new());
            store.ledger.grant(Grant { id, account: owner, credits: 1, note, corrects: None, at })
        });
        for granted in pollster::block_on(join_all(grants)) {
            assert!(matches!(granted.unwrap(), Granted::Written { .. }));
        }
    }
    let export = fixture.run(&["ledger", "export", &account]).out;
    assert_eq!(export.lines().count(), GRANTS + 1);
    let sequences: Vec<usize> = export
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap().parse().unwrap())
        .collect();
    assert!(sequences.into_iter().eq(1..=GRANTS));
}
