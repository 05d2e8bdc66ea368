//! Tests of `enrich compact`.

use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::fixture::{Fixture, QUILL, call, server};

const KILLS: u64 = 16;

/// Creates a folder with one company that stays, and with many companies of another source, which
/// can be removed.
fn with_two_sources() -> Fixture {
    let fixture = Fixture::new();
    let records: Vec<String> = (0..4000)
        .map(|number| {
            let name = format!("Lantern Works {number} of Harbour Street");
            let domain = format!("lantern-{number}.example");
            let emails = [format!("info@{domain}"), format!("jobs@{domain}")];
            json!({"name": name, "domains": [domain], "emails": emails}).to_string()
        })
        .collect();
    fixture.file("many.jsonl", records.join("\n"));
    fixture.file("stays.jsonl", QUILL);
    assert_eq!(fixture.run(&["import", "many.jsonl", "stays.jsonl"]).status, 0);
    fixture
}

#[test]
fn what_was_taken_out_is_given_back_to_the_disk() {
    let fixture = with_two_sources();
    let size = || fs::metadata(fixture.data().join("directory.sqlite")).unwrap().len();
    fixture.json(&["source", "remove", "many.jsonl"]);
    let before = size();
    assert!(before > 2_000_000, "{before}");
    let done = fixture.json(&["compact"]);
    let after = size();
    assert!(after < 300_000, "{after}");
    assert_eq!(done["before_bytes"], before);
    assert_eq!(done["after_bytes"], after);
    assert_eq!(done["freed_bytes"], before - after);
    assert_eq!(fixture.json(&["check"])["ok"], true);
    let found = fixture.run(&["lookup", "cuf", "companyName=Quill Ltd"]).json();
    assert_eq!(found["url"], "quill.example");
    let left = fs::read_dir(fixture.data()).unwrap().map(|file| file.unwrap().file_name());
    let strays: Vec<_> = left.filter(|name| name.to_string_lossy().contains("etilqs")).collect();
    assert!(strays.is_empty(), "{strays:?}");
    let text = fixture.run(&["compact"]);
    assert!(text.out.contains("\nfreed   0 bytes\n"), "{text:?}");
}

#[test]
fn look_ups_and_charges_go_on_while_the_directory_is_compacted() {
    let fixture = with_two_sources();
    let (_, key) = fixture.account(1_000_000);
    let store = fixture.store();
    store.directory.prepare().unwrap();
    let service = server(&store);
    let is_over = AtomicBool::new(false);
    let size = || fs::metadata(fixture.data().join("directory.sqlite")).unwrap().len();
    thread::scope(|scope| {
        let callers: Vec<_> = (0..2)
            .map(|caller| {
                let (service, key, is_over) = (&service, &key, &is_over);
                scope.spawn(move || {
                    let mut calls = 0_u64;
                    while !is_over.load(Ordering::SeqCst) || calls < 20 {
                        let asked = match (calls + caller) % 2 {
                            0 => json!({"companyName": "Quill Ltd"}),
                            _ => json!({"companyName": "Quil Ltd"}),
                        };
                        let answer = call(service, key, "cuf", "r", asked);
                        assert_eq!(answer.status, 200);
                        let body = String::from_utf8(answer.body.clone()).unwrap();
                        assert!(body.contains("quill.example") || (calls + caller) % 2 == 1);
                        calls += 1;
                    }
                })
            })
            .collect();
        fixture.json(&["compact"]);
        fixture.json(&["source", "remove", "many.jsonl"]);
        let before = size();
        fixture.json(&["compact"]);
        assert!(size() < before / 4, "{before} then {}", size());
        // After the compaction, the running service must still notice changes of the look-up data.
        fixture.json(&["import", "many.jsonl"]);
        is_over.store(true, Ordering::SeqCst);
        for caller in callers {
            caller.join().unwrap();
        }
    });
    let asked = json!({"companyName": "Lantern Works 17 of Harbour Street"});
    let answer = call(&service, &key, "cuf", "r", asked);
    assert!(String::from_utf8(answer.body).unwrap().contains("lantern-17.example"));
}

#[test]
fn a_compaction_that_is_killed_changes_nothing() {
    let fixture = with_two_sources();
    fixture.json(&["source", "remove", "many.jsonl"]);
    let mut early = 0;
    for round in 0..KILLS {
        let mut child = fixture.command(&["compact"]).stdout(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(round * round * 800));
        early += u64::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(fixture.json(&["check"])["ok"], true);
        assert_eq!(fixture.json(&["check"])["directory"]["counts"]["companies"], 1);
        let found = fixture.run(&["lookup", "cuf", "companyName=Quill Ltd"]).json();
        assert_eq!(found["url"], "quill.example");
    }
    assert!(early > 0, "none was killed before its end");
    fixture.json(&["compact"]);
    let size = fs::metadata(fixture.data().join("directory.sqlite")).unwrap().len();
    assert!(size < 300_000, "{size}");
}
