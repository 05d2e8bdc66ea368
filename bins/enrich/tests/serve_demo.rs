//! Tests of `enrich demo` as a process. The commands that it prints can be pasted into a shell, and
//! its data is removed when the process ends.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

#[path = "http_raw/process.rs"]
mod process;

use std::time::Duration;

use enrich_testkit::http::{Client, Reply};
use process::{Process, enrich};

/// Reads the rest of the greeting, after its first line. The last line that is returned says how to
/// stop the demo.
fn greeting(process: &mut Process) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let line = process.next_line();
        let is_last = line.contains("Ctrl-C");
        lines.push(line);
        if is_last {
            return lines;
        }
    }
}

/// Splits a line into words as a shell does.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.trim().chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    assert!(!is_quoted, "a quotation has no end: {line}");
    words
}

/// Sends the request that a `curl` command describes.
fn sent(process: &Process, line: &str) -> Reply {
    let words = words(line);
    let root = format!("http://{}", process.address);
    let path = words[1].strip_prefix(&root).unwrap();
    let mut headers = "Content-Type: application/x-www-form-urlencoded\r\n".to_owned();
    let mut data = Vec::new();
    for pair in words[2..].chunks(2) {
        match pair[0].as_str() {
            "-H" => headers += &format!("{}\r\n", pair[1]),
            "-d" => data.push(pair[1].as_str()),
            other => panic!("{other} in {line}"),
        }
    }
    Client::to(process.address).request("POST", path, &headers, &data.join("&"))
}

#[test]
fn what_it_prints_can_be_pasted_and_finds_something() {
    let mut process = Process::start(&mut enrich(&["demo", "--listen", "127.0.0.1:0"]));
    let lines = greeting(&mut process);
    let calls: Vec<&String> = lines.iter().filter(|line| line.starts_with("  curl ")).collect();
    assert_eq!(calls.len(), 3, "{lines:?}");
    let answers: Vec<Reply> = calls.iter().map(|line| sent(&process, line)).collect();
    for answer in &answers {
        assert_eq!(
            (answer.status, answer.header("X-Credits-Used")),
            (200, Some("1")),
            "{answer:?}"
        );
    }
    assert_eq!(answers[0].json()["url"], "telefonica.com");
    assert_eq!(answers[1].json()["data"]["domain"], "nestle.ch");
    assert_eq!(answers[2].header("X-Credits-Remaining"), Some("997"));

    process.signal("INT");
    let (status, said) = process.ended(Duration::from_secs(10));
    assert_eq!(status.code(), Some(0), "{said}");
}

#[test]
fn its_data_is_gone_with_it() {
    let temporary = tempfile::tempdir().unwrap();
    let held = || temporary.path().read_dir().unwrap().count();
    let mut command = enrich(&["demo", "--listen", "127.0.0.1:0"]);
    let mut process = Process::start(command.env("TMPDIR", temporary.path()));
    assert!(greeting(&mut process).last().unwrap().contains("enrich-demo-"));
    assert_eq!(held(), 1);
    process.signal("TERM");
    let (status, said) = process.ended(Duration::from_secs(10));
    assert_eq!(status.code(), Some(0), "{said}");
    assert_eq!(held(), 0);
}

#[test]
fn a_taken_address_is_said_to_be_taken() {
    // The first process is killed at the test's end, so it cannot remove its folder. The folder is
    // in `temporary`, which the test removes.
    let temporary = tempfile::tempdir().unwrap();
    let mut command = enrich(&["demo", "--listen", "127.0.0.1:0"]);
    let first = Process::start(command.env("TMPDIR", temporary.path()));
    let taken = first.address.to_string();
    let output = enrich(&["demo", "--listen", &taken]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(&taken) && said.contains("--listen 127.0.0.1:0"), "{said}");
}

#[test]
fn it_serves_the_records_of_given_files() {
    let folder = tempfile::tempdir().unwrap();
    let leads = folder.path().join("leads.csv");
    std::fs::write(&leads, "Company;Website\nInkwell Annex;www.inkwell.example\n").unwrap();
    let leads = leads.to_str().unwrap();
    let mut process =
        Process::start(&mut enrich(&["demo", "--listen", "127.0.0.1:0", "--with", leads]));
    let lines = greeting(&mut process);
    assert!(lines.contains(&"added      1".to_owned()), "{lines:?}");
    let calls: Vec<&String> = lines.iter().filter(|line| line.starts_with("  curl ")).collect();
    assert_eq!(calls.len(), 2, "{lines:?}");
    let found = sent(&process, &calls[0].replace("NAME", "Inkwell Annex"));
    assert_eq!(found.json()["url"], "inkwell.example", "{found:?}");
    let found = sent(&process, &calls[1].replace("DOMAIN", "inkwell.example"));
    assert_eq!(found.json()["data"]["company_name"], "Inkwell Annex", "{found:?}");
    let sample = sent(&process, &calls[0].replace("NAME", "Telefónica"));
    assert_eq!(sample.header("X-Credits-Used"), Some("0"), "{sample:?}");
    process.signal("INT");
    let (status, said) = process.ended(Duration::from_secs(10));
    assert_eq!(status.code(), Some(0), "{said}");

    let missing = enrich(&["demo", "--listen", "127.0.0.1:0", "--with", "missing.csv"]).output();
    let missing = missing.unwrap();
    assert_eq!(missing.status.code(), Some(2));
    let said = String::from_utf8_lossy(&missing.stderr);
    assert!(said.contains("missing.csv: the input can't be opened"), "{said}");
}
