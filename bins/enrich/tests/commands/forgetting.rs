//! Tests of `enrich forget` and `enrich source`.

use serde_json::json;

use crate::fixture::{ADA, Fixture, QUILL, Ran};

/// Runs `enrich lookup` with `words`; returns the value of a field of its answer.
fn answer(fixture: &Fixture, words: &[&str], field: &str) -> serde_json::Value {
    let ran = fixture.run(&[&["lookup"], words].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.json()[field].clone()
}

fn says_nothing_of(ran: &Ran, value: &str) {
    assert!(!ran.out.contains(value) && !ran.err.contains(value), "{ran:?}");
}

#[test]
fn a_forgotten_person_is_not_answered_and_does_not_come_back() {
    let fixture = Fixture::with_records();
    let ask = ["lti", "linkedin=linkedin.com/in/ada-penn-example"];
    assert_ne!(answer(&fixture, &ask, "confidence_level"), 0);
    let ran = fixture.run(&["forget", "https://www.linkedin.com/in/ada-penn-example", "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    says_nothing_of(&ran, "ada-penn");
    let forgotten = ran.json();
    assert_eq!((&forgotten["forgotten"], &forgotten["subjects"]), (&1.into(), &1.into()));
    assert!(forgotten["values"].as_u64().unwrap() > 0);

    assert_eq!(answer(&fixture, &ask, "confidence_level"), 0);
    let again = fixture.run(&["import", "records.jsonl", "--json"]);
    assert_eq!((&again.json()["rejected"], &again.json()["added"]), (&1.into(), &0.into()));
    assert!(again.err.contains("line 2: the record is suppressed"), "{again:?}");
    assert_eq!(answer(&fixture, &ask, "confidence_level"), 0);
    assert_eq!(answer(&fixture, &["cuf", "companyName=Quill"], "url"), "quill.example");
}

#[test]
fn every_kind_of_value_is_forgotten_by_its_look() {
    let fixture = Fixture::with_records();
    let by_phone = ["ntp", "companyName=Quill"];
    let by_email = ["nte", "companyName=Quill"];
    assert_eq!(answer(&fixture, &by_phone, "phones"), json!(["+442079460123"]));
    let ran = fixture.run(&["forget", "info@quill.example", "+44 20 7946 0123"]);
    assert_eq!(ran.status, 0);
    assert!(ran.out.starts_with("forgotten         2\n"), "{ran:?}");
    says_nothing_of(&ran, "info@");
    assert_eq!(answer(&fixture, &by_phone, "phones"), json!([]));
    assert_eq!(answer(&fixture, &by_email, "emails"), json!([]));
    assert_eq!(fixture.run(&["forget", "quill.example", "--kind", "domain"]).status, 0);
    assert_eq!(answer(&fixture, &["cuf", "companyName=Quill"], "url"), "");
}

#[test]
fn a_list_of_values_is_read_from_standard_input() {
    let fixture = Fixture::with_records();
    let list = "ada@quill.example\n\ninfo@quill.example\n";
    let ran = fixture.run_with_input(&["forget", "-", "--json"], list);
    assert_eq!((ran.status, &ran.json()["forgotten"]), (0, &2.into()), "{ran:?}");
}

#[test]
fn a_value_that_cannot_be_read_stops_all_of_them_and_is_not_repeated() {
    let fixture = Fixture::with_records();
    for bad in ["secretive", "secretive@", "+secretive", "linkedin.com/company/secretive"] {
        let ran = fixture.run(&["forget", "info@quill.example", bad]);
        ran.refused(2, "value 2 of 2 cannot be used, and nothing was forgotten: ");
        says_nothing_of(&ran, "secretive");
    }
    let forced = fixture.run(&["forget", "quill.example", "--kind", "email"]);
    forced.refused(2, "this has no `@`");
    let emails = answer(&fixture, &["nte", "companyName=Quill"], "emails");
    assert_eq!(emails, json!(["info@quill.example"]));
}

#[test]
fn a_mail_host_of_many_people_is_not_forgotten_by_accident() {
    let fixture = Fixture::with_records();
    fixture.run(&["forget", "gmail.com"]).refused(2, "`--kind domain` forgets all of them");
}

#[test]
fn a_source_is_listed_and_taken_out_again() {
    let fixture = Fixture::new();
    fixture.file("companies.jsonl", QUILL);
    fixture.file("people.jsonl", ADA);
    assert_eq!(fixture.run(&["import", "companies.jsonl", "people.jsonl"]).status, 0);
    let sources = fixture.json(&["source", "list"]);
    assert_eq!(
        (&sources[0]["source"], &sources[0]["records"]),
        (&"companies.jsonl".into(), &1.into())
    );
    assert!(fixture.run(&["source", "list"]).out.contains("\npeople.jsonl "));

    let removed = fixture.json(&["source", "remove", "people.jsonl"]);
    assert_eq!((&removed["source"], &removed["subjects"]), (&"people.jsonl".into(), &1.into()));
    assert!(removed["values"].as_u64().unwrap() > 0);
    let ada =
        answer(&fixture, &["lti", "linkedin=linkedin.com/in/ada-penn-example"], "confidence_level");
    assert_eq!(ada, 0);
    assert_eq!(answer(&fixture, &["cuf", "companyName=Quill"], "url"), "quill.example");
    assert_eq!(fixture.json(&["source", "list"]).as_array().unwrap().len(), 1);
    fixture
        .run(&["source", "remove", "people.jsonl"])
        .refused(1, "there is no source `people.jsonl`");
    assert_eq!(fixture.json(&["import", "people.jsonl"])["added"], 1);
}
