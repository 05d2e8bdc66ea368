//! Tests of `enrich lookup`.

use serde_json::json;

use crate::fixture::{Fixture, call, server};

#[test]
fn a_look_up_prints_the_bytes_the_endpoint_answers_with() {
    let fixture = Fixture::with_records();
    // The account has 1 credit, so the endpoint's answer has the balance 0 after the charge. The
    // command always prints the balance 0. So both bodies must be equal.
    let (_, key) = fixture.account(1);
    let looked_up = fixture.run(&["lookup", "/v1/cuf", "companyName=Quill"]);
    assert_eq!((looked_up.status, looked_up.err.as_str()), (0, ""));
    let store = fixture.store();
    let answer = call(&server(&store), &key, "cuf", "r", json!({"companyName": "Quill"}));
    assert_eq!(answer.status, 200);
    assert_eq!(looked_up.out.trim_end().as_bytes(), answer.body);
    assert!(looked_up.out.contains("\"url\":\"quill.example\",\"credit_count\":0"));
    assert_eq!(fixture.run(&["lookup", "cuf", "companyName=Quill", "--json"]).out, looked_up.out);
}

#[test]
fn a_look_up_charges_nobody() {
    let fixture = Fixture::with_records();
    let (account, _) = fixture.account(5);
    assert_eq!(
        fixture.run(&["lookup", "cone", "linkedin=linkedin.com/in/ada-penn-example"]).status,
        0
    );
    assert_eq!(fixture.json(&["credits", "show", &account])["balance"], 5);
    assert_eq!(fixture.json(&["ledger", "verify"])["charges"], 0);
}

#[test]
fn a_look_up_of_version_two_answers_in_its_envelope() {
    let fixture = Fixture::with_records();
    let ran = fixture.run(&["lookup", "domain_to_name", "domain=https://www.quill.example/"]);
    assert_eq!(ran.status, 0);
    let expected = json!({
        "status": 1, "code": 1000, "errors": {},
        "data": {"exists": true, "company_name": "Quill Ltd", "remaining_credits": 0}
    });
    assert_eq!(ran.json(), expected);
}

#[test]
fn nothing_found_is_an_answer() {
    let fixture = Fixture::with_records();
    let ran = fixture.run(&["lookup", "cuf", "companyName=Nobody & Sons"]);
    assert_eq!(ran.status, 0);
    let expected = json!({
        "query": "Nobody & Sons", "url": "", "credit_count": 0, "confidence_level": 0
    });
    assert_eq!(ran.json(), expected);
}

#[test]
fn fields_that_cannot_be_used_are_refused_as_the_endpoint_refuses_them() {
    let fixture = Fixture::with_records();
    let (_, key) = fixture.account(5);
    let store = fixture.store();
    let ran = fixture.run(&["lookup", "dte", "companyDomain=localhost", "limit=0"]);
    assert_eq!((ran.status, ran.err.as_str()), (1, ""));
    let asked = json!({"companyDomain": "localhost", "limit": "0"});
    let answer = call(&server(&store), &key, "dte", "r", asked);
    assert_eq!(answer.status, 422);
    assert_eq!(ran.out.trim_end().as_bytes(), answer.body);
    assert_eq!(ran.json()["fields"].as_object().unwrap().len(), 2);
}

#[test]
fn what_is_no_request_is_a_wrong_command_line() {
    let fixture = Fixture::with_records();
    for words in [
        &["lookup", "/v1/none", "a=b"][..],
        &["lookup", "cuf", "companyName"],
        &["lookup", "cuf", "=Quill"],
        &["lookup", "cuf", "companyName=a", "companyName=b"],
    ] {
        fixture.run(words).refused(2, "");
    }
}

#[test]
fn a_unit_without_a_stated_parent_shows_the_company_at_its_domain() {
    let fixture = Fixture::new();
    let quill = r#"{"name":"Quill","domains":["quill.example"]}"#;
    let films = r#"{"name":"Quill Films","ids":{"x":"1"},"domains":["films.quill.example"]}"#;
    fixture.file("companies.jsonl", format!("{films}\n{quill}\n"));
    fixture.file("other.jsonl", r#"{"name":"Quill Films","ids":{"x":"1"},"parent":"Ink"}"#);
    assert_eq!(fixture.run(&["import", "companies.jsonl"]).status, 0);
    let parent =
        || fixture.json(&["lookup", "company", "--id", "x:1"])["company"]["parent"].clone();
    let derived = json!({
        "given": "quill.example", "name": "Quill", "domain": "quill.example", "derived": true
    });
    assert_eq!(parent(), derived);
    let told = fixture.run(&["lookup", "company", "--id", "x:1"]).out;
    assert!(told.contains("Quill (quill.example), derived from names and domains"), "{told}");
    // The file `other.jsonl` gives the parent `Ink`. A parent that a source gives has priority over
    // a parent that Enrich derives from names and domains.
    assert_eq!(fixture.run(&["import", "other.jsonl"]).status, 0);
    assert_eq!(parent()["given"], "Ink");
    assert_eq!(fixture.run(&["source", "remove", "other.jsonl"]).status, 0);
    assert_eq!(parent(), derived);
    fixture.file("again.jsonl", quill);
    assert_eq!(fixture.run(&["source", "remove", "companies.jsonl"]).status, 0);
    assert_eq!(fixture.run(&["import", "again.jsonl"]).status, 0);
    assert_eq!(
        fixture.json(&["lookup", "company", "--name", "Quill"])["company"]["parent"],
        json!(null)
    );
}

#[test]
fn a_company_is_shown_by_its_id_with_all_ids_and_its_parent() {
    let fixture = Fixture::new();
    let films = r#"{"name":"Quill Films","ids":{"wikidata":"Q42","cik":"17"},"parent":"x:1"}"#;
    let quill = r#"{"name":"Quill","domain":"quill.example","ids":{"x":"1"}}"#;
    fixture.file("records.jsonl", format!("{films}\n{quill}\n"));
    assert_eq!(fixture.run(&["import", "records.jsonl"]).status, 0);
    let found = fixture.json(&["lookup", "company", "--id", "wikidata:q42"]);
    assert_eq!(found["company"]["ids"], json!({"cik": ["17"], "wikidata": ["Q42"]}));
    let parent = json!({
        "given": "x:1", "name": "Quill", "domain": "quill.example", "derived": false
    });
    assert_eq!(found["company"]["parent"], parent);
    let text = fixture.run(&["lookup", "company", "--id", "cik:017"]);
    assert!(text.out.contains("wikidata id  Q42\n"), "{text:?}");
    let nothing = fixture.json(&["lookup", "company", "--id", "cik:18"]);
    assert_eq!(nothing, json!({"company": null}));
    for wrong in [&["lookup", "company"][..], &["lookup", "cuf", "--id", "x:1"]] {
        fixture.run(wrong).refused(2, "--id SCHEME:ID");
    }
    let explained = fixture.run(&["lookup", "cuf", "companyName=Quill", "--explain"]);
    assert!(explained.out.contains("Its ids: x:1\n"), "{explained:?}");
}
