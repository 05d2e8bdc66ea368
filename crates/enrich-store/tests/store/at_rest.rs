//! Tests of the encrypted and hashed values in the databases. A copy of the databases without
//! `secret.key` reveals no API key, no idempotency key, and no look-up request or answer.

use std::fs;

use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::importer::{Effect, Importer as _};
use enrich_core::port::ledger::{Charged, Ledger as _};
use enrich_core::{Origin, PersonRecord, StoredResponse};
use enrich_testkit::loading::load_from;
use enrich_testkit::records::{hashed, person, trusted};
use pollster::block_on;

use crate::customer::{Customer, open};

/// Returns the names and contents of all files in the folder except `secret.key`.
fn bytes_at_rest(customer: &Customer) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(customer.folder.path()).unwrap();
    files
        .map(|file| file.unwrap())
        .filter(|file| file.file_name() != "secret.key")
        .map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()))
        .collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Imports a person without a LinkedIn page, email address or phone number. At a second import,
/// only the stored hashes of the record show that it is the same person.
fn load_ada(customer: &Customer) -> Effect {
    let origin = Origin { id: Some("crm-4711".into()), ..trusted(100) };
    let ada = hashed(PersonRecord { origin, ..person("Ada", "Byte") });
    let mut session = block_on(customer.store.importer.begin(load_from("crm"))).unwrap();
    let taken = block_on(session.import_batch(vec![ada])).unwrap();
    block_on(session.finish()).unwrap();
    taken[0].effect
}

#[test]
fn keys_questions_and_answers_do_not_lie_about() {
    let customer = Customer::with(5);
    customer.take(customer.keyed("order-4711"));
    let files = bytes_at_rest(&customer);
    let ledger: Vec<_> = files.iter().filter(|(name, _)| name.starts_with("ledger")).collect();
    assert!(ledger.iter().any(|(_, bytes)| holds(bytes, "Northwind")), "the search finds texts");
    let (hint, rest) = customer.secret.expose().split_at(customer.secret.hint().len());
    assert!(ledger.iter().any(|(_, bytes)| holds(bytes, hint)), "the hint is there");
    for (name, bytes) in &files {
        for text in [rest, "order-4711", "ada@people.example"] {
            assert!(!holds(bytes, text), "{name} holds {text}");
        }
    }
}

#[test]
fn what_is_remembered_of_records_differs_from_folder_to_folder() {
    let hashes = || {
        let customer = Customer::with(1);
        assert_eq!(load_ada(&customer), Effect::Added);
        let file = rusqlite::Connection::open(customer.folder.path().join("directory.sqlite"));
        let file = file.unwrap();
        let mut statement = file.prepare("SELECT hash FROM record").unwrap();
        let hashes = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        hashes.map(Result::unwrap).collect::<Vec<_>>()
    };
    let (one, other) = (hashes(), hashes());
    assert_eq!((one.len(), other.len()), (2, 2), "the record and its id");
    assert!(one.iter().all(|hash| !other.contains(hash)), "who has a list of ids can test none");
}

#[test]
fn a_sealed_key_does_not_open_in_another_row() {
    let customer = Customer::with(1);
    let file = customer.file();
    let other = uuid::Uuid::from_bytes([7; 16]);
    file.execute(
        "INSERT INTO api_key SELECT ?1, account, label, hint, randomblob(32), sealed, secret,
             requests, window_seconds, created_at, expires_at, last_used_at, ended FROM api_key",
        [other.as_bytes()],
    )
    .unwrap();
    let moved = block_on(customer.store.accounts.reveal(enrich_core::KeyId(other)));
    assert!(moved.is_err());
    let own = block_on(customer.store.accounts.reveal(customer.key)).unwrap().unwrap();
    assert_eq!(own.expose(), customer.secret.expose());
}

#[test]
fn what_older_secrets_made_still_serves() {
    let mut customer = Customer::with(5);
    customer.take(customer.keyed("order-4711"));
    assert_eq!(load_ada(&customer), Effect::Added);
    let path = customer.folder.path().join("secret.key");
    let second = "2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";
    fs::write(&path, [fs::read(&path).unwrap(), second.into()].concat()).unwrap();
    customer.store = open(customer.folder.path());
    let found = block_on(customer.store.accounts.find_key(&customer.secret)).unwrap();
    assert_eq!(found.unwrap().id, customer.key);
    assert!(block_on(customer.store.accounts.reveal(customer.key)).unwrap().is_some());
    let repeat = block_on(customer.store.ledger.charge(customer.keyed("order-4711"))).unwrap();
    assert!(matches!(repeat, Charged::Replayed(StoredResponse::Answer { .. })), "{repeat:?}");
    customer.take(customer.charge());
    assert_eq!(customer.faults(), [] as [&str; 0], "a chain goes on under the next secret");
    let made_with: Vec<u32> = customer
        .file()
        .prepare("SELECT secret FROM entry ORDER BY sequence")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(made_with, [1, 1, 2]);
    assert_eq!(load_ada(&customer), Effect::Unchanged, "a record is recognised as well");
}
