//! Tests of `enrich check`.

use std::fs;

use crate::fixture::Fixture;

#[test]
fn sound_databases_are_counted() {
    let fixture = Fixture::with_records();
    fixture.account(5);
    let health = fixture.json(&["check"]);
    assert_eq!(health["ok"], true);
    for database in ["directory", "ledger"] {
        assert!(health[database]["schema_version"].as_u64().unwrap() > 0, "{health}");
        assert_eq!(health[database]["problems"].as_array().unwrap().len(), 0, "{health}");
    }
    assert_eq!(health["directory"]["counts"]["people"], 1);
    assert_eq!(health["ledger"]["counts"]["accounts"], 1);
    let text = fixture.run(&["check"]);
    assert_eq!(text.status, 0);
    assert!(
        text.out.contains("\n  companies           1\n") && text.out.ends_with("all is well\n"),
        "{text:?}"
    );
}

#[test]
fn a_damaged_page_is_a_problem_and_ends_with_one() {
    let fixture = Fixture::with_records();
    let path = fixture.data().join("directory.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let pages = bytes.len() / 4096;
    assert!(pages > 2);
    // Damages the header of every page of the database, except for the first page, which contains
    // the schema.
    for page in 1..pages {
        bytes[page * 4096 + 1..page * 4096 + 8].fill(0xff);
    }
    fs::write(&path, bytes).unwrap();
    let ran = fixture.run(&["check", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!(ran.json()["ok"], false);
    let text = fixture.run(&["check"]);
    assert_eq!(text.status, 1);
    assert!(text.out.contains("problem: "), "{text:?}");
    assert!(text.out.ends_with("not all is well\n"), "{text:?}");
}

#[test]
fn a_database_that_is_none_or_gone_is_a_problem_and_ends_with_one() {
    let fixture = Fixture::with_records();
    let path = fixture.data().join("ledger.sqlite");
    fs::write(
        &path,
        b"this is no database, and long enough to be read as the head of one: ".repeat(9),
    )
    .unwrap();
    let ran = fixture.run(&["check", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.json()["problems"][0].as_str().unwrap().contains("ledger.sqlite"), "{ran:?}");
    fixture.run(&["account", "list"]).refused(2, "ledger.sqlite");
    fs::remove_file(&path).unwrap();
    let ran = fixture.run(&["check"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out.contains("lacks ledger.sqlite"), "{ran:?}");
}

#[test]
fn an_id_that_two_companies_have_is_noted_and_no_problem() {
    let fixture = Fixture::new();
    fixture.file(
        "records.jsonl",
        concat!(
            r#"{"name":"Quill","domain":"quill.example","ids":{"x":"1"}}"#,
            "\n",
            // Both records have the same id, but nothing else in common. So they are two companies,
            // and the id is wrong for one of them.
            r#"{"name":"Ink","domain":"ink.example","ids":{"x":"1"}}"#,
            "\n",
        ),
    );
    assert_eq!(fixture.run(&["import", "records.jsonl"]).status, 0);
    let health = fixture.json(&["check"]);
    assert_eq!(health["ok"], true);
    let note = "2 companies have the id x:1: Quill, Ink";
    assert_eq!(health["directory"]["notes"], serde_json::json!([note]));
    assert_eq!(health["directory"]["counts"]["shared_ids"], 1);
    let text = fixture.run(&["check"]).out;
    assert!(text.contains(&format!("\nnote: {note}\nall is well\n")), "{text}");
}
