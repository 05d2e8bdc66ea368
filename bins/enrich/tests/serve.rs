//! Tests of `enrich serve` as a process: its output, its settings and its shutdown.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

#[path = "http_raw/process.rs"]
mod process;

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use enrich_core::port::accounts::Accounts;
use enrich_core::port::importer::{Atomic, ImportOptions, NewSubjects};
use enrich_core::port::ledger::{Grant, Ledger};
use enrich_core::port::usage::{Usage, UseOutcome};
use enrich_core::{
    Account, AccountId, ApiKey, ChargeId, Clock, KeyId, NewKey, RateOverride, SourceName,
};
use enrich_import::{Source, import};
use enrich_store::{Store, SystemClock};
use enrich_testkit::http::{Client, request};
use process::{Process, enrich};
use tempfile::TempDir;

/// The process must end within this time.
const END: Duration = Duration::from_secs(10);

fn serve(data: &TempDir, more: &[&str]) -> Command {
    let data = data.path().join("data");
    let mut arguments = vec!["serve", "--data", data.to_str().unwrap()];
    arguments.extend(["--listen", "127.0.0.1:0"]);
    arguments.extend(more);
    enrich(&arguments)
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Imports the invented companies into a data folder and creates an account with 10 credits there;
/// returns the account's id and its key.
fn fill(data: &TempDir) -> (AccountId, String) {
    let store = Store::open_or_create(data.path().join("data")).unwrap();
    let now = SystemClock.now();
    let examples =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/directory/examples.jsonl");
    let options = ImportOptions {
        source: SourceName::new("examples").unwrap(),
        file: None,
        terms: None,
        at: now,
        atomic: Atomic::Whole,
        new_subjects: NewSubjects::Add,
    };
    let source = Source::file(&examples).unwrap();
    pollster::block_on(import(source, store.importer.as_ref(), options, None, &mut ())).unwrap();
    let account = Account { id: AccountId::new(now), ..Account::new("Quill", now) };
    let id = account.id;
    let key = ApiKey::generate().unwrap();
    let text = key.expose().to_owned();
    let first_key = NewKey {
        id: KeyId::new(now),
        account: id,
        label: String::new(),
        key,
        rate: RateOverride::default(),
        created_at: now,
        expires_at: None,
    };
    pollster::block_on(store.accounts.create(account, first_key)).unwrap();
    let grant = Grant {
        id: ChargeId::new(now),
        account: id,
        credits: 10,
        note: String::new(),
        corrects: None,
        at: now,
    };
    pollster::block_on(store.ledger.grant(grant)).unwrap();
    (id, text)
}

fn asked_by(key: &str) -> String {
    format!(r#"{{"apiKey":"{key}","companyDomain":"quillmark.example"}}"#)
}

#[test]
fn the_first_line_names_an_address_that_answers() {
    let data = folder();
    let process = Process::start(&mut serve(&data, &[]));
    assert_ne!(process.address.port(), 0);
    let answer = Client::to(process.address).request("GET", "/readyz", "", "");
    assert_eq!(answer.status, 200, "{answer:?}");
    process.signal("TERM");
    let (status, said) = process.ended(END);
    assert_eq!(status.code(), Some(0), "{said}");
}

#[test]
fn what_was_charged_and_counted_is_there_after_the_end() {
    let data = folder();
    let (account, key) = fill(&data);
    let process = Process::start(&mut serve(&data, &["--log-requests", "--log-format", "json"]));
    let mut client = Client::to(process.address);
    let answer = client.request("POST", "/v1/dte", "X-Request-Id: one\r\n", &asked_by(&key));
    assert_eq!(answer.json()["credit_count"], 9, "{answer:?}");
    process.signal("INT");
    let (status, said) = process.ended(END);
    assert_eq!(status.code(), Some(0), "{said}");
    for secret in [key.as_str(), "quillmark", "@"] {
        assert!(!said.contains(secret), "{secret} is in the log:\n{said}");
    }
    assert!(said.contains(r#""request_id":"one""#), "{said}");

    let store = Store::open(data.path().join("data")).unwrap();
    let balance = pollster::block_on(store.ledger.balance(account)).unwrap();
    assert_eq!(balance.map(|credits| credits.0), Some(9));
    let today = SystemClock.now().as_second().div_euclid(24 * 60 * 60);
    let counted = pollster::block_on(store.usage.days(account, today - 1, today)).unwrap();
    let counted: Vec<_> = counted.iter().map(|day| (&*day.endpoint, day.outcome)).collect();
    assert_eq!(counted, [("/v1/dte", UseOutcome::Found)]);
}

#[test]
fn idle_connections_do_not_hold_up_the_end() {
    let data = folder();
    let process = Process::start(&mut serve(&data, &[]));
    let mut idle: Vec<Client> = (0..20).map(|_| Client::to(process.address)).collect();
    for client in idle.iter_mut().take(10) {
        assert_eq!(client.request("GET", "/healthz", "", "").status, 200);
    }
    process.signal("TERM");
    // At its end, the server waits up to 5 seconds for requests that are being answered. Here all
    // connections are idle, and the server does not wait for them. So it ends in less than 5
    // seconds.
    let (status, said) = process.ended(Duration::from_secs(4));
    assert_eq!(status.code(), Some(0), "{said}");
    for mut client in idle {
        assert_eq!(client.rest(), "");
    }
}

#[test]
fn a_request_in_flight_is_answered_and_no_further_connection_accepted() {
    let data = folder();
    let (_, key) = fill(&data);
    let more = ["--admin-listen", "127.0.0.1:0"];
    let mut process = Process::start(&mut serve(&data, &more));
    let admin = process.next_line();
    let admin = admin.strip_prefix("enrich admin pages on http://").unwrap().parse().unwrap();
    let asked = request("POST", "/v1/dte", "", &asked_by(&key));
    let (first, rest) = asked.split_at(asked.len() - 5);
    let mut client = Client::to(process.address);
    client.send(first);
    std::thread::sleep(Duration::from_millis(300));
    process.signal("TERM");
    std::thread::sleep(Duration::from_millis(500));
    assert!(TcpStream::connect(process.address).is_err(), "it still accepts");
    let readiness = Client::to(admin).request("GET", "/readyz", "", "");
    assert_eq!((readiness.status, &readiness.json()["shutting_down"]), (503, &true.into()));
    let answer = client.send(rest).next_answer();
    assert_eq!((answer.status, answer.header("Connection")), (200, Some("close")), "{answer:?}");
    assert_eq!(client.rest(), "");
    assert_eq!(process.ended(END).0.code(), Some(0));
}

#[test]
fn callers_who_are_stuck_do_not_hold_up_the_end() {
    let data = folder();
    let process = Process::start(&mut serve(&data, &["--body-timeout", "600"]));
    let asked = request("POST", "/v1/dte", "", "{}");
    let mut in_body = Client::to(process.address);
    in_body.send(&asked[..asked.len() - 1]);
    let mut in_head = Client::to(process.address);
    in_head.request("GET", "/healthz", "", "");
    in_head.send("POST /v1/dte HTTP/1.1\r\n");
    std::thread::sleep(Duration::from_millis(300));
    process.signal("TERM");
    let (status, said) = process.ended(END);
    assert_eq!(status.code(), Some(0), "{said}");
}

#[test]
fn the_pages_have_an_address_of_their_own_when_one_is_named() {
    let data = folder();
    let mut process = Process::start(&mut serve(&data, &["--admin-listen", "127.0.0.1:0"]));
    let admin = process.next_line();
    let admin = admin.strip_prefix("enrich admin pages on http://").unwrap().parse().unwrap();
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(Client::to(admin).request("GET", path, "", "").status, 200, "{path}");
        assert_eq!(Client::to(process.address).request("GET", path, "", "").status, 404, "{path}");
    }
    assert_eq!(Client::to(admin).request("POST", "/v1/cuf", "", "{}").status, 404);
    assert_eq!(Client::to(process.address).request("POST", "/v1/cuf", "", "{}").status, 401);
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let data = folder();
    let (_, key) = fill(&data);
    let file = data.path().join("enrich.toml");
    fs::write(&file, "rate_limit = 7\nrate_window = 77\nrate_policy = \"reject\"\n").unwrap();
    let file = file.to_str().unwrap();
    let mut command = serve(&data, &["--config", file, "--rate-limit", "2"]);
    command.env("ENRICH_RATE_LIMIT", "3").env("ENRICH_RATE_WINDOW", "3600");
    let process = Process::start(&mut command);
    let mut client = Client::to(process.address);
    let statuses = [0; 3].map(|_| {
        let answer = client.request("POST", "/v1/dte", "", &asked_by(&key));
        assert_eq!(answer.header("RateLimit-Policy"), Some("\"default\";q=2;w=3600"));
        (answer.status, answer.header("X-Credits-Used").map(str::to_owned))
    });
    let used = |credits: &str| Some(credits.to_owned());
    assert_eq!(statuses, [(200, used("1")), (200, used("1")), (429, used("0"))]);
}

#[test]
fn the_least_confidence_decides_what_is_found_by_name() {
    let data = folder();
    let (_, key) = fill(&data);
    let file = data.path().join("enrich.toml");
    fs::write(&file, "min_confidence = 1\n").unwrap();
    let from_file = ["--config", file.to_str().unwrap()];
    let found = |command: &mut Command| {
        let process = Process::start(command);
        let mut client = Client::to(process.address);
        // The first name is misspelt. The second name is similar to a company's name, but probably
        // doesn't mean this company.
        ["Nortmoor Lantrens", "Brass Lantern"].map(|name| {
            let asked = format!(r#"{{"apiKey":"{key}","companyName":"{name}"}}"#);
            let answer = client.request("POST", "/v1/cuf", "", &asked);
            let used = answer.header("X-Credits-Used").map(str::to_owned);
            let is_found = answer.json()["url"] == "northmoor-lanterns.example";
            assert_eq!(used.as_deref(), Some(if is_found { "1" } else { "0" }), "{answer:?}");
            is_found
        })
    };
    assert_eq!(found(&mut serve(&data, &[])), [true, false]);
    assert_eq!(found(&mut serve(&data, &from_file)), [true, true]);
    let variable = |more: &[&str]| {
        let mut command = serve(&data, more);
        command.env("ENRICH_MIN_CONFIDENCE", "100");
        command
    };
    assert_eq!(found(&mut variable(&from_file)), [false, false]);
    assert_eq!(found(&mut variable(&["--min-confidence", "1"])), [true, true]);
}

#[test]
fn wrong_settings_are_refused_before_anything_is_touched() {
    let data = folder();
    let file = data.path().join("enrich.toml");
    fs::write(&file, "listne = \"127.0.0.1:0\"\n").unwrap();
    let file = file.to_str().unwrap();
    let wrong: [(&[&str], &str); 6] = [
        (&["--config", file], "listne"),
        (&["--config", "/nowhere/enrich.toml"], "/nowhere/enrich.toml"),
        (&["--rate-policy", "block"], "--rate-policy"),
        (&["--rate-limit", "0"], "--rate-limit"),
        (&["--admin-listen", "localhost"], "--admin-listen"),
        (&["--min-confidence", "0"], "--min-confidence"),
    ];
    for (flags, named) in wrong {
        let output = serve(&data, flags).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?} {said}");
        assert!(said.contains(named), "{flags:?} {said}");
        assert_eq!(output.stdout, b"");
    }
    assert!(!data.path().join("data").exists());
}

#[test]
fn an_address_that_is_taken_is_named_and_no_data_touched() {
    let data = folder();
    let process = Process::start(&mut serve(&data, &[]));
    let taken = process.address.to_string();
    let other = folder();
    let folder = other.path().join("data");
    let output = enrich(&["serve", "--data", folder.to_str().unwrap()])
        .env("ENRICH_LISTEN", &taken)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(&taken) && said.contains("--listen 127.0.0.1:0"), "{said}");
    assert!(!folder.exists());
}
