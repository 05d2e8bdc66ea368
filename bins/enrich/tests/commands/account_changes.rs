//! Tests of `enrich account rename`, `set`, `suspend`, `resume` and `close`, of `enrich credits
//! history`, and of accounts that are given by name.

use std::num::NonZeroU64;
use std::thread;
use std::time::Duration;

use enrich_wire::CallOutcome;
use serde_json::{Value, json};

use crate::fixture::{Fixture, call, recorded_call, server, text};

/// A running server must apply a change of an account within this time.
const A_SECOND: Duration = Duration::from_secs(1);

fn create(fixture: &Fixture, name: &str, options: &[&str]) -> (String, String) {
    let made = fixture.json(&[&["account", "create", name, "--credits", "10"], options].concat());
    (text(&made["account"]), text(&made["key"]))
}

#[test]
fn an_account_is_named_by_its_id_or_by_a_name_that_only_it_has() {
    let fixture = Fixture::new();
    let (quill, _) = create(&fixture, "Quill Ltd", &[]);
    for words in [
        &["account", "show", "Quill Ltd"][..],
        &["credits", "show", "Quill Ltd"],
        &["credits", "grant", "Quill Ltd", "5"],
        &["account", "sign-out", "Quill Ltd"],
        &["key", "issue", "Quill Ltd"],
    ] {
        assert_eq!(fixture.json(words)["account"], quill.as_str(), "{words:?}");
    }
    assert_eq!(fixture.json(&["key", "list", "Quill Ltd"]).as_array().unwrap().len(), 2);
    assert!(fixture.run(&["ledger", "export", "Quill Ltd"]).out.contains(&quill));

    let (other, _) = create(&fixture, "Quill Ltd", &[]);
    let ambiguous = fixture.run(&["credits", "show", "Quill Ltd"]);
    ambiguous.refused(1, "2 accounts are named Quill Ltd; use the id of one");
    assert!(ambiguous.err.contains(&quill) && ambiguous.err.contains(&other), "{ambiguous:?}");
    assert_eq!(fixture.json(&["credits", "show", &quill])["account"], quill.as_str());

    fixture.json(&["account", "close", &other, "--yes"]);
    assert_eq!(fixture.json(&["credits", "show", "Quill Ltd"])["account"], quill.as_str());
    fixture.json(&["account", "rename", "Quill Ltd", "Quill Group"]);
    assert_eq!(fixture.json(&["account", "show", "Quill Group"])["account"], quill.as_str());
}

#[test]
fn a_suspended_accounts_keys_are_refused_by_a_running_server_until_it_is_resumed() {
    let fixture = Fixture::with_records();
    let (account, key) = create(&fixture, "Quill Ltd", &[]);
    let (_, other) = create(&fixture, "Inkwell", &[]);
    let store = fixture.store();
    let service = server(&store);
    let ask = |key: &str| call(&service, key, "cuf", "r", json!({"companyName": "Quill"})).status;
    assert_eq!([ask(&key), ask(&other)], [200, 200]);

    let reason = ["--reason", "invoice 1042 is overdue"];
    let shown = fixture.json(&[&["account", "suspend", "Quill Ltd"], &reason[..]].concat());
    assert_eq!((&shown["status"], &shown["reason"]), (&json!("suspended"), &json!(reason[1])));
    assert_eq!(shown["keys"][0]["active"], false);
    thread::sleep(A_SECOND);
    assert_eq!([ask(&key), ask(&other)], [401, 200]);
    let again = text(&fixture.json(&["key", "issue", &account])["key"]);
    assert_eq!(ask(&again), 401, "a new key is no way around it");
    assert!(fixture.run(&["account", "list"]).out.contains("suspended"));

    let shown = fixture.json(&["account", "resume", "Quill Ltd"]);
    assert_eq!((&shown["status"], &shown["reason"]), (&json!("active"), &Value::Null));
    thread::sleep(A_SECOND);
    assert_eq!([ask(&key), ask(&again)], [200, 200]);
}

#[test]
fn a_closed_account_is_closed_for_good_and_its_balance_stays() {
    let fixture = Fixture::with_records();
    let (account, key) = create(&fixture, "Quill Ltd", &["--email", "ada@quill.example"]);
    let store = fixture.store();
    let service = server(&store);
    let ask = || call(&service, &key, "cuf", "r", json!({"companyName": "Quill"})).status;
    assert_eq!(ask(), 200);

    let unsure = fixture.run_with_input(&["account", "close", "Quill Ltd"], "Quill\n");
    assert_eq!((unsure.status, unsure.out.as_str()), (1, ""), "{unsure:?}");
    assert!(unsure.err.contains("closing is final"), "{unsure:?}");
    assert_eq!(fixture.json(&["account", "show", &account])["status"], "active");

    let sure = fixture.run_with_input(&["account", "close", "Quill Ltd"], "Quill Ltd\n");
    assert_eq!(sure.status, 0, "{sure:?}");
    thread::sleep(A_SECOND);
    assert_eq!(ask(), 401);
    let shown = fixture.json(&["account", "show", &account]);
    assert_eq!((&shown["status"], &shown["balance"]), (&json!("closed"), &json!(9)));
    assert_eq!(shown["email"], Value::Null);
    for words in [
        &["account", "resume", &account][..],
        &["account", "suspend", &account],
        &["account", "rename", &account, "Quill"],
        &["account", "close", &account, "--yes"],
        &["account", "invite", &account, "--email", "ada@quill.example"],
        &["key", "issue", &account],
        &["credits", "grant", &account, "5"],
    ] {
        fixture.run(words).refused(1, "is closed for good");
    }
    // After an account is closed, another account may have its email address.
    create(&fixture, "Quill Ltd", &["--email", "ada@quill.example"]);
    assert_eq!(fixture.json(&["ledger", "verify"])["ok"], true);
}

#[test]
fn a_key_ends_when_it_was_issued_to_end() {
    let fixture = Fixture::new();
    create(&fixture, "Quill Ltd", &[]);
    let issue = |when: &str| fixture.json(&["key", "create", "Quill Ltd", "--expires", when]);
    assert_eq!(issue("2999-01-31")["expires_at"], "2999-01-31T00:00:00Z");
    assert_eq!(issue("2999-01-31T12:00:00+01:00")["expires_at"], "2999-01-31T11:00:00Z");
    let for_a_while = issue("90d");
    assert!(for_a_while["active"] == true && for_a_while["expires_at"].is_string());
    let past = fixture.run(&["key", "issue", "Quill Ltd", "--expires", "2020-01-01"]);
    past.refused(1, "is not in the future");
    fixture.run(&["key", "issue", "Quill Ltd", "--expires", "soon"]).refused(2, "a date like");
}

#[test]
fn the_history_lists_the_newest_rows_last() {
    let fixture = Fixture::with_records();
    let (_, key) = create(&fixture, "Quill Ltd", &[]);
    let store = fixture.store();
    let asked = json!({"companyName": "Quill"});
    assert_eq!(call(&server(&store), &key, "cuf", "r", asked).status, 200);
    fixture.json(&["credits", "grant", "Quill Ltd", "5", "--note", "invoice 1042"]);

    let all = fixture.json(&["credits", "history", "Quill Ltd"]);
    let rows: Vec<_> = all.as_array().unwrap().iter().collect();
    let of = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(of("kind"), ["grant", "charge", "grant"]);
    assert_eq!(of("credits"), [10, -1, 5]);
    assert_eq!(of("balance"), [10, 9, 14]);
    assert_eq!(of("endpoint"), [Value::Null, json!("/v1/cuf"), Value::Null]);
    assert_eq!(of("note"), ["first credits", "", "invoice 1042"]);
    let last = fixture.json(&["credits", "history", "Quill Ltd", "--limit", "2"]);
    assert_eq!(last.as_array().unwrap()[..], all.as_array().unwrap()[1..]);

    let table = fixture.run(&["credits", "history", "Quill Ltd"]).out;
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("TIME") && lines.len() == 4, "{table}");
    assert!(lines[3].contains("+5") && lines[3].ends_with("invoice 1042"), "{table}");
}

/// Creates a folder with a company and a person. Each of them has several email addresses, and the
/// person has a mobile number.
fn desk_with_lists() -> Fixture {
    let fixture = Fixture::new();
    let company = json!({
        "type": "company", "name": "Quill Ltd", "domains": ["quill.example"],
        "emails": ["a@quill.example", "b@quill.example", "c@quill.example"],
        "phones": ["+44 20 7946 0123", "+44 20 7946 0124"],
    });
    let person = json!({
        "type": "person", "first_name": "Ada", "last_name": "Penn",
        "company_domain": "quill.example", "linkedin": "linkedin.com/in/ada-penn-example",
        "emails": ["ada@quill.example", "penn@quill.example"], "phones": ["+44 7700 900123"],
    });
    fixture.file("records.jsonl", format!("{company}\n{person}\n"));
    assert_eq!(fixture.run(&["import", "records.jsonl"]).status, 0);
    fixture
}

#[test]
fn a_national_number_is_read_with_the_accounts_country() {
    let fixture = desk_with_lists();
    let (_, british) = create(&fixture, "Quill Ltd", &["--country", "gb"]);
    let (_, none) = create(&fixture, "Inkwell", &[]);
    let store = fixture.store();
    let service = server(&store);
    let ask = |key: &str, number: &str| {
        let asked = json!({"phoneNumber": number});
        let (response, record) = recorded_call(&service, key, "mti", "r", asked);
        (response.status, matches!(record.outcome, CallOutcome::Found { .. }))
    };
    assert_eq!(ask(&british, "07700 900123"), (200, true));
    assert_eq!(ask(&british, "+44 7700 900123"), (200, true));
    assert_eq!(ask(&none, "07700 900123"), (422, false));
    assert_eq!(fixture.json(&["account", "set", "Inkwell", "--country", "GB"])["country"], "GB");
    thread::sleep(A_SECOND);
    assert_eq!(ask(&none, "07700 900123"), (200, true));
    fixture.json(&["account", "set", "Inkwell", "--country", "none"]);
    thread::sleep(A_SECOND);
    assert_eq!(ask(&none, "07700 900123"), (422, false));

    let lookup = ["lookup", "mti", "phoneNumber=07700 900123"];
    assert_eq!(fixture.run(&lookup).status, 1);
    let with_country = fixture.run(&[&lookup[..], &["--country", "GB"]].concat());
    assert_eq!(with_country.json()["firstName"], "Ada");
}

#[test]
fn the_lists_of_enrichment_answers_are_as_long_as_the_operator_allows() {
    let fixture = desk_with_lists();
    let (_, key) = create(&fixture, "Quill Ltd", &[]);
    let store = fixture.store();
    let mut service = server(&store);
    let counts = |service: &_, path: &str, asked: Value| {
        let (response, record) = recorded_call(service, &key, path, "r", asked);
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        let count = |name: &str| body[name].as_array().unwrap().len();
        (record.outcome.used().0, count("emails"), count("phones"))
    };
    let company = || json!({"companyName": "Quill Ltd"});
    let person = || json!({"linkedin": "linkedin.com/in/ada-penn-example"});
    assert_eq!(counts(&service, "company_enrichment", company()), (3, 3, 2));
    assert_eq!(counts(&service, "cone", person()), (3, 2, 1));
    service.max_enrichment_items = NonZeroU64::new(1);
    assert_eq!(counts(&service, "company_enrichment", company()), (3, 1, 1));
    let lookup = ["lookup", "company_enrichment", "companyName=Quill Ltd"];
    let bounded = fixture.run(&[&lookup[..], &["--max-enrichment-items", "2"]].concat()).json();
    assert_eq!(bounded["emails"].as_array().unwrap().len(), 2);

    fixture.file("list.csv", "name\nQuill Ltd\n");
    let bulk = ["bulk", "company_enrichment", "--in", "list.csv", "--map", "companyName=name"];
    let bounds = ["--max-enrichment-items", "2", "--out", "out.csv"];
    assert_eq!(fixture.run(&[&bulk[..], &bounds].concat()).status, 0);
    let out = std::fs::read_to_string(fixture.path().join("out.csv")).unwrap();
    assert!(out.contains("b@quill.example") && !out.contains("c@quill.example"), "{out}");
}
