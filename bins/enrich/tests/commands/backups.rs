//! Tests of `enrich backup` and `enrich restore`.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::{Fixture, call, server};

const KILLS: u64 = 24;

fn look_up_url(fixture: &Fixture, data: &str) -> Value {
    let ran = fixture.run(&["lookup", "cuf", "companyName=Quill Ltd", "--data", data]);
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.json()["url"].clone()
}

/// Returns the credits charged so far, according to `ledger verify`.
fn charged(fixture: &Fixture, data: &str) -> u64 {
    let proof = fixture.json(&["ledger", "verify", "--data", data]);
    assert_eq!(proof["ok"], true);
    proof["charged"].as_u64().unwrap()
}

#[test]
fn a_backup_taken_while_calls_are_charged_adds_up_and_holds_all_that_was_charged_before() {
    let fixture = Fixture::with_records();
    let (_, key) = fixture.account(1_000_000);
    fs::create_dir_all(fixture.data().join("bulk/0a")).unwrap();
    fs::write(fixture.data().join("bulk/0a/job.json"), "{}").unwrap();
    fs::write(fixture.data().join("bulk/in-use.lock"), "").unwrap();
    let store = fixture.store();
    let service = server(&store);
    let (is_over, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let caller = scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                let asked = json!({"companyName": "Quill Ltd"});
                assert_eq!(call(&service, &key, "cuf", "r", asked).status, 200);
                acknowledged.fetch_add(1, Ordering::SeqCst);
            }
        });
        while acknowledged.load(Ordering::SeqCst) < 5 {
            thread::yield_now();
        }
        for round in ["one", "two", "three"] {
            let before = acknowledged.load(Ordering::SeqCst);
            let made = fixture.json(&["backup", round]);
            let after = acknowledged.load(Ordering::SeqCst);
            let copied = made["charged"].as_u64().unwrap();
            assert!(before <= copied && copied <= after + 1, "{before} {copied} {after}");
            assert_eq!((&made["list_files"], &made["granted"]), (&1.into(), &1_000_000.into()));
            let data = format!("from-{round}");
            let restored = fixture.json(&["restore", round, "--data", &data]);
            assert_eq!(restored["charged"], made["charged"]);
            assert_eq!(charged(&fixture, &data), copied);
            assert_eq!(look_up_url(&fixture, &data), "quill.example");
            let list = fixture.path().join(&data).join("bulk/0a/job.json");
            assert_eq!(fs::read_to_string(list).unwrap(), "{}");
        }
        is_over.store(true, Ordering::SeqCst);
        caller.join().unwrap();
    });
}

#[test]
#[cfg(unix)]
fn a_backup_and_what_is_restored_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::with_records();
    fixture.json(&["backup", "copy"]);
    fixture.json(&["restore", "copy", "--data", "again"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for folder in ["copy", "again"] {
        let folder = fixture.path().join(folder);
        assert_eq!(mode(&folder), 0o700);
        for file in fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
    let copied = fs::read_dir(fixture.path().join("copy")).unwrap();
    let mut names: Vec<_> =
        copied.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["backup.json", "directory.sqlite", "ledger.sqlite", "secret.key"]);
}

#[test]
fn a_restored_folder_is_told_with_its_age_and_what_comes_back_with_it() {
    let fixture = Fixture::with_records();
    let (account, key) = fixture.account(5);
    fixture.json(&["backup", "copy"]);
    let key_id = fixture.first_key_id(&account);
    fixture.json(&["key", "revoke", &key_id]);
    let ran = fixture.run(&["restore", "copy", "--data", "again"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.err.contains("Keys that were revoked since then work again"), "{ran:?}");
    assert!(ran.err.contains(" second") && ran.err.contains(" ago"), "{ran:?}");
    let shown = fixture.json(&["key", "show", &key_id, "--data", "again"]);
    assert_eq!(shown["key"], key);
}

#[test]
fn a_backup_is_written_only_where_nothing_is() {
    let fixture = Fixture::with_records();
    fs::create_dir(fixture.path().join("full")).unwrap();
    fixture.file("full/note.txt", "mine");
    fixture.run(&["backup", "full"]).refused(2, "full is not empty");
    fixture.run(&["backup", "enrich-data/inside"]).refused(2, "lies in the data folder");
    fixture.run(&["backup", "nowhere/copy"]).refused(2, "nowhere cannot be read or written");
    fixture.run(&["backup", "copy", "--data", "gone"]).refused(2, "there is no data folder");
    assert_eq!(fs::read_to_string(fixture.path().join("full/note.txt")).unwrap(), "mine");
    assert!(!fixture.path().join("copy").exists());
    fs::create_dir(fixture.path().join("empty")).unwrap();
    fixture.json(&["backup", "empty"]);
}

#[test]
fn a_folder_that_does_not_add_up_gives_no_backup() {
    let fixture = Fixture::with_records();
    let (account, _) = fixture.account(0);
    fixture.json(&["credits", "grant", &account, "5", "--note", "invoice 1042"]);
    let path = fixture.data().join("ledger.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let note = b"invoice 1042";
    let at = bytes.windows(note.len()).position(|part| part == note).unwrap();
    bytes[at] = b'I';
    fs::write(&path, bytes).unwrap();
    fixture.run(&["backup", "copy"]).refused(1, "is not as it was written");
    assert!(!fixture.path().join("copy").exists());
    assert!(!fixture.path().join("copy.unfinished").exists());
}

#[test]
fn a_backup_that_was_changed_or_is_incomplete_is_not_restored() {
    let fixture = Fixture::with_records();
    fixture.json(&["backup", "copy"]);
    let copy = fixture.path().join("copy");
    let path = copy.join("directory.sqlite");
    let sound = fs::read(&path).unwrap();
    let name = b"Quill Ltd";
    let at = sound.windows(name.len()).position(|part| part == name).unwrap();
    let mut bytes = sound.clone();
    bytes[at] = b'K';
    fs::write(&path, bytes).unwrap();
    let ran = fixture.run(&["restore", "copy", "--data", "again"]);
    ran.refused(1, "directory.sqlite of the backup is not as it was written");
    fs::write(&path, sound).unwrap();
    let manifest = fs::read(copy.join("backup.json")).unwrap();
    fs::remove_file(copy.join("backup.json")).unwrap();
    let ran = fixture.run(&["restore", "copy", "--data", "again"]);
    ran.refused(1, "copy is no complete backup");
    assert!(!fixture.path().join("again").exists());
    fs::write(copy.join("backup.json"), manifest).unwrap();
    fixture.json(&["restore", "copy", "--data", "again"]);
}

#[test]
fn a_backup_is_restored_only_where_nothing_is_and_nobody_works() {
    let fixture = Fixture::with_records();
    fixture.json(&["backup", "copy"]);
    let store = fixture.store();
    fixture.run(&["restore", "copy"]).refused(2, "enrich-data is in use");
    drop(store);
    fixture.run(&["restore", "copy"]).refused(2, "enrich-data is not empty");
    fs::create_dir(fixture.path().join("other")).unwrap();
    fixture.file("other/note.txt", "mine");
    fixture.run(&["restore", "copy", "--data", "other"]).refused(2, "other is not empty");
    assert_eq!(fs::read_dir(fixture.path().join("other")).unwrap().count(), 1);
    fs::create_dir(fixture.path().join("empty")).unwrap();
    fixture.json(&["restore", "copy", "--data", "empty"]);
}

/// Starts a command and kills it after this time. Returns whether it was killed before its end.
fn killed_after(fixture: &Fixture, words: &[&str], micros: u64) -> bool {
    let mut child = fixture.command(words).stdout(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_micros(micros));
    let is_early = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    is_early
}

/// Creates a folder with so many records that a backup of it takes a while.
fn with_many_records() -> Fixture {
    let fixture = Fixture::new();
    let records: Vec<String> = (0..3000)
        .map(|number| {
            let name = format!("Lantern Works {number}");
            json!({"name": name, "domains": [format!("lantern-{number}.example")]}).to_string()
        })
        .collect();
    fixture.file("records.jsonl", records.join("\n"));
    assert_eq!(fixture.run(&["import", "records.jsonl"]).status, 0);
    fixture.account(7);
    fixture
}

#[test]
fn a_backup_that_is_killed_is_complete_or_not_there() {
    let fixture = with_many_records();
    let (mut early, mut complete) = (0, 0);
    for round in 0..KILLS {
        early += u64::from(killed_after(&fixture, &["backup", "copy"], round * round * 800));
        if !fixture.path().join("copy").exists() {
            fixture
                .run(&["restore", "copy", "--data", "again"])
                .refused(1, "is no complete backup");
            continue;
        }
        complete += 1;
        fixture.json(&["restore", "copy", "--data", "again"]);
        assert_eq!(
            fixture.json(&["check", "--data", "again"])["directory"]["counts"]["companies"],
            3000
        );
        for folder in ["copy", "again"] {
            fs::remove_dir_all(fixture.path().join(folder)).unwrap();
        }
    }
    assert!(early > 0, "none was killed before its end");
    println!("{early} were killed early, {complete} were complete");
    // A killed backup may have left an unfinished copy, which must not prevent the next backup.
    fixture.json(&["backup", "copy"]);
    assert!(!fixture.path().join("copy.unfinished").exists());
}

#[test]
fn a_restore_that_is_killed_leaves_no_folder_that_opens_and_can_be_run_again() {
    let fixture = with_many_records();
    fixture.json(&["backup", "copy"]);
    let again = fixture.path().join("again");
    let mut early = 0;
    for round in 0..KILLS {
        let restore = ["restore", "copy", "--data", "again"];
        early += u64::from(killed_after(&fixture, &restore, round * round * 800));
        let listed = fixture.run(&["account", "list", "--data", "again", "--json"]);
        if listed.status == 0 {
            assert_eq!(listed.json()[0]["balance"], 7, "{listed:?}");
            assert_eq!(fixture.json(&["check", "--data", "again"])["ok"], true);
        } else {
            let is_refused = listed.err.contains("there is no data folder")
                || listed.err.contains("is not finished");
            assert!(listed.status == 2 && is_refused, "{listed:?}");
            // An import also refuses a folder with an unfinished restore. It doesn't create a new
            // store there.
            let served = fixture.run(&["import", "records.jsonl", "--data", "again"]);
            if again.join("restore.unfinished").exists() {
                served.refused(2, "is not finished");
                fixture.json(&restore);
                assert_eq!(charged(&fixture, "again"), 0);
            }
        }
        let _ = fs::remove_dir_all(&again);
    }
    assert!(early > 0, "none was killed before its end");
}
