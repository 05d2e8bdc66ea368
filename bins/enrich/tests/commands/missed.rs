//! `enrich stats --misses`: the company names that nothing was found for.

use enrich_store::{CountMisses, Options, Store};
use serde_json::{Value, json};

use crate::desk::{Desk, call, server};

/// A folder where a server that counts so was asked for these.
fn asked(count_misses: CountMisses, names: &[&str]) -> Desk {
    let desk = Desk::with_records();
    let (_, key) = desk.account(100);
    let options = Options { count_misses, ..Options::default() };
    let store = Store::open_or_create(&desk.data(), options).unwrap();
    let service = server(&store);
    for name in names {
        assert_eq!(call(&service, &key, "cuf", "r", json!({"companyName": name})).status, 200);
    }
    desk
}

const NAMES: [&str; 6] = [
    "Zebrafinch Holdings",
    "Quill Ltd",
    "Zebrafinch Holdings",
    "Oxbow Lake AG",
    "someone@quill.example",
    "ZEBRAFINCH holdings",
];

#[test]
fn names_that_were_missed_are_counted_and_those_that_were_found_are_not() {
    let desk = asked(CountMisses::Texts, &NAMES);
    let told = desk.json(&["stats", "--misses"]);
    let told: Vec<(&str, u64)> = told
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), it["calls"].as_u64().unwrap()))
        .collect();
    assert_eq!(told, [("Zebrafinch Holdings", 3), ("Oxbow Lake AG", 1)]);
    let text = desk.run(&["stats", "--misses"]);
    assert!(text.out.contains("Zebrafinch Holdings       3  20"), "{text:?}");
}

#[test]
fn by_hashes_a_name_can_be_asked_for_and_is_not_on_the_disk() {
    let desk = asked(CountMisses::Hashed, &NAMES);
    let told = desk.json(&["stats", "--misses"]);
    assert_eq!((&told[0]["name"], &told[0]["calls"]), (&Value::Null, &3.into()));
    let missed = |name| desk.json(&["stats", "--missed", name])["calls"].clone();
    assert_eq!(missed("zebrafinch Holdings"), 3);
    assert_eq!(missed("Quill Ltd"), 0);
    for file in std::fs::read_dir(desk.data()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let bytes = String::from_utf8_lossy(&bytes).to_lowercase();
        assert!(!bytes.contains("zebrafinch"), "{}", path.display());
    }
}

#[test]
fn nothing_is_counted_unless_that_is_wanted() {
    let desk = asked(CountMisses::Off, &NAMES);
    assert_eq!(desk.json(&["stats", "--misses"]), json!([]));
    assert_eq!(desk.json(&["stats", "--missed", "Zebrafinch Holdings"])["calls"], 0);
}

#[test]
fn a_name_can_be_forgotten() {
    let desk = asked(CountMisses::Texts, &[NAMES[0], NAMES[3], "lamp.example"]);
    let done = desk.json(&["forget", "--kind", "missed", "Zebrafinch holdings"]);
    assert_eq!((&done["forgotten"], &done["values"]), (&1.into(), &1.into()));
    desk.json(&["forget", "lamp.example"]);
    let told = desk.json(&["stats", "--misses"]);
    assert_eq!((told.as_array().unwrap().len(), &told[0]["name"]), (1, &"Oxbow Lake AG".into()));
}
