//! Tests of `enrich stats --misses`, which lists the company names that were not found.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;

use enrich_store::{CountMisses, Options, Store};
use serde_json::{Value, json};

use crate::fixture::{Fixture, call, server};

/// Creates a data folder, and looks up `names` through a service that uses this folder.
/// `count_misses` says how the service counts names that are not found.
fn asked(count_misses: CountMisses, names: &[&str]) -> Fixture {
    let fixture = Fixture::with_records();
    let (_, key) = fixture.account(100);
    let options = Options { count_misses, ..Options::default() };
    let store = Store::open_or_create_with(fixture.data(), &options).unwrap();
    let service = server(&store);
    for name in names {
        assert_eq!(call(&service, &key, "cuf", "r", json!({"companyName": name})).status, 200);
    }
    fixture
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
    let fixture = asked(CountMisses::Texts, &NAMES);
    let told = fixture.json(&["stats", "--misses"]);
    let told: Vec<(&str, u64)> = told
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), it["calls"].as_u64().unwrap()))
        .collect();
    assert_eq!(told, [("Zebrafinch Holdings", 3), ("Oxbow Lake AG", 1)]);
    let text = fixture.run(&["stats", "--misses"]);
    assert!(text.out.contains("Zebrafinch Holdings       3  20"), "{text:?}");
}

#[test]
fn by_hashes_a_name_can_be_asked_for_and_is_not_on_the_disk() {
    let fixture = asked(CountMisses::Hashed, &NAMES);
    let told = fixture.json(&["stats", "--misses"]);
    assert_eq!((&told[0]["name"], &told[0]["calls"]), (&Value::Null, &3.into()));
    let missed = |name| fixture.json(&["stats", "--missed", name])["calls"].clone();
    assert_eq!(missed("zebrafinch Holdings"), 3);
    assert_eq!(missed("Quill Ltd"), 0);
    for file in std::fs::read_dir(fixture.data()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let bytes = String::from_utf8_lossy(&bytes).to_lowercase();
        assert!(!bytes.contains("zebrafinch"), "{}", path.display());
    }
}

#[test]
fn nothing_is_counted_unless_that_is_wanted() {
    let fixture = asked(CountMisses::Off, &NAMES);
    assert_eq!(fixture.json(&["stats", "--misses"]), json!([]));
    assert_eq!(fixture.json(&["stats", "--missed", "Zebrafinch Holdings"])["calls"], 0);
}

#[test]
fn a_name_can_be_forgotten() {
    let fixture = asked(CountMisses::Texts, &[NAMES[0], NAMES[3], "lamp.example"]);
    let done = fixture.json(&["forget", "--kind", "missed", "Zebrafinch holdings"]);
    assert_eq!((&done["forgotten"], &done["values"]), (&1.into(), &1.into()));
    fixture.json(&["forget", "lamp.example"]);
    let told = fixture.json(&["stats", "--misses"]);
    assert_eq!((told.as_array().unwrap().len(), &told[0]["name"]), (1, &"Oxbow Lake AG".into()));
}

#[test]
fn a_server_counts_them_if_its_setting_says_so_and_its_log_names_none() {
    let fixture = Fixture::with_records();
    let (_, key) = fixture.account(100);
    let serve = ["serve", "--listen", "127.0.0.1:0", "--count-misses", "texts", "--log-requests"];
    let mut child = fixture.command(&serve).spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let address = line.trim().rsplit('/').next().unwrap();
    let body = json!({"apiKey": key, "companyName": "Zebrafinch Holdings"}).to_string();
    let head = format!("POST /v1/cuf HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let log = String::from_utf8(ended.stderr).unwrap();
    assert!(log.contains("stopped") && !log.contains("Zebrafinch"), "{log}");
    let told = fixture.json(&["stats", "--misses"]);
    assert_eq!((&told[0]["name"], &told[0]["calls"]), (&"Zebrafinch Holdings".into(), &1.into()));
}
