//! Tests of the SQLite store's directory (the look-up data): promises that other stores need not
//! make, so that the contract suite (the tests that every store must pass) does not test them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed unwrap is a failed test")]

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use enrich_core::port::directory::Directory;
use enrich_core::port::importer::{Atomic, ImportOptions, Importer, Suppressed};
use enrich_core::{CompanyRecord, CompanyRef, PersonRecord, Projection, Question, Record};
use enrich_store::Store;
use enrich_testkit::contract::noon;
use enrich_testkit::loading::load_from;
use enrich_testkit::records::{
    company, country, domain, email, emails, hashed, person, person_page, phone, phones, sites,
};
use pollster::block_on;
use tempfile::TempDir;

fn store(folder: &TempDir) -> Store {
    Store::open_or_create(folder.path()).unwrap()
}

fn load(store: &Store, records: Vec<Record>) {
    block_on(async {
        let mut session = store.importer.begin(load_from("a")).await.unwrap();
        session.import_batch(records).await.unwrap();
        session.finish().await.unwrap();
    });
}

fn quill() -> CompanyRecord {
    CompanyRecord {
        sites: sites(&["quill.example"]),
        emails: emails(&["forgotten.office@quill.example"]),
        ..company("Quill")
    }
}

fn is_found(store: &Store, text: &str) -> bool {
    let question = Question::Company(CompanyRef::Domain(domain(text)));
    block_on(store.directory.find(&question, Projection::Profile)).unwrap().is_some()
}

/// Whether the database of the directory (the look-up data) or its write-ahead log contains a text.
fn is_in_files(folder: &Path, text: &str) -> bool {
    ["directory.sqlite-wal", "directory.sqlite"].into_iter().any(|name| {
        let bytes = match fs::read(folder.join(name)) {
            Ok(bytes) => bytes,
            // The write-ahead log is missing if the connection that closed last has moved the log's
            // content into the database. The database is searched next, so no text is missed.
            Err(error) if error.kind() == ErrorKind::NotFound => return false,
            Err(error) => panic!("{error}"),
        };
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[test]
fn what_is_forgotten_is_nowhere_in_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let ada = PersonRecord {
        country: Some(country("GB")),
        page: Some(person_page("forgotten-ada")),
        emails: emails(&["forgotten.ada@quill.example"]),
        phones: phones(&["+447700900123"]),
        ..person("Forgetta", "Byte")
    };
    let bob = PersonRecord { phones: phones(&["+447700900321"]), ..person("Bob", "Bit") };
    load(&store, vec![hashed(quill()), hashed(ada), hashed(bob)]);
    let texts = [
        "forgotten.office@quill.example",
        "forgotten.ada@quill.example",
        "+447700900123",
        "forgotten-ada",
        "Forgetta",
        "forgetta",
        "+447700900321",
    ];
    for text in texts {
        assert!(is_in_files(folder.path(), text), "{text}");
    }
    for what in [
        Suppressed::Email(email("forgotten.office@quill.example")),
        Suppressed::PersonPage(person_page("forgotten-ada")),
        Suppressed::Phone(phone("+447700900321")),
    ] {
        block_on(store.importer.forget(std::slice::from_ref(&what), noon())).unwrap();
    }
    for text in texts {
        assert!(!is_in_files(folder.path(), text), "{text}");
    }
}

#[test]
fn a_forgotten_value_has_left_no_copy_where_its_row_was() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let address = |at: usize| format!("post@quill{at}.example");
    let numbered = |at: usize, more: &[&str]| {
        let own = address(at);
        hashed(CompanyRecord {
            sites: sites(&[&own["post@".len()..]]),
            emails: emails(&[more, &[own.as_str()]].concat()),
            ..company(&format!("Quill {at}"))
        })
    };
    // The second load rewrites all stored companies, and makes an index so large that its pages are
    // split. Both can leave old copies of values in the file.
    load(&store, (0..1000).map(|at| numbered(at, &[])).collect());
    load(&store, (0..1000).map(|at| numbered(at, &["a@x.example", "z@x.example"])).collect());
    for at in (0..1000).step_by(20) {
        let address = address(at);
        let what = [Suppressed::Email(email(&address))];
        block_on(store.importer.forget(&what, noon())).unwrap();
        assert!(!is_in_files(folder.path(), &address), "{address}");
    }
}

#[test]
fn a_value_is_forgotten_while_another_process_reads_an_older_state() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    load(&store, vec![hashed(quill())]);
    let reader = rusqlite::Connection::open(folder.path().join("directory.sqlite")).unwrap();
    let reading = reader.unchecked_transaction().unwrap();
    let count = || reading.query_row("SELECT count(*) FROM subject", [], |row| row.get(0));
    let before: i64 = count().unwrap();
    // The read transaction `reading` stays open until the end of this test. So `forget` can succeed
    // only if it does not wait for this transaction.
    let what = [Suppressed::Domain(domain("quill.example"))];
    block_on(store.importer.forget(&what, noon())).unwrap();
    assert!(!is_found(&store, "quill.example"));
    let inkwell = CompanyRecord { sites: sites(&["inkwell.example"]), ..company("Inkwell") };
    load(&store, vec![hashed(inkwell)]);
    assert!(is_found(&store, "inkwell.example"));
    assert_eq!(count(), Ok(before));
}

#[test]
fn look_ups_wait_for_no_load() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    load(&store, vec![hashed(quill())]);
    block_on(async {
        let whole = ImportOptions { atomic: Atomic::Whole, ..load_from("b") };
        let mut session = store.importer.begin(whole).await.unwrap();
        let inkwell = CompanyRecord { sites: sites(&["inkwell.example"]), ..company("Inkwell") };
        session.import_batch(vec![hashed(inkwell)]).await.unwrap();
        assert!(is_found(&store, "quill.example"));
        assert!(!is_found(&store, "inkwell.example"));
        session.finish().await.unwrap();
    });
    assert!(is_found(&store, "inkwell.example"));
}

#[test]
fn a_value_can_be_forgotten_while_a_load_is_running() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    block_on(async {
        let mut session = store.importer.begin(load_from("a")).await.unwrap();
        session.import_batch(vec![hashed(quill())]).await.unwrap();
        // The load (the running import) has an open transaction and waits for more records. If none
        // arrive for a short time, it commits the transaction, so that `forget` can write.
        let what = Suppressed::Domain(domain("quill.example"));
        let removed = store.importer.forget(std::slice::from_ref(&what), noon()).await.unwrap();
        assert_eq!(removed.values, 2);
        let again = CompanyRecord { phones: phones(&["+447700900321"]), ..quill() };
        let taken = session.import_batch(vec![hashed(again)]).await.unwrap();
        assert_eq!(taken[0].suppressed_values, 2);
        session.finish().await.unwrap();
    });
    assert!(!is_found(&store, "quill.example"));
}

#[test]
fn two_stores_of_one_folder_see_each_others_changes() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (store(&folder), store(&folder));
    assert!(!is_found(&other, "quill.example"));
    load(&one, vec![hashed(quill())]);
    assert!(is_found(&other, "quill.example"));
    let what = Suppressed::Domain(domain("quill.example"));
    block_on(one.importer.forget(std::slice::from_ref(&what), noon())).unwrap();
    assert!(!is_found(&other, "quill.example"));
}
