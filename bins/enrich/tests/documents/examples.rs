//! Tests of the examples in documents. The commands in a page's `console` blocks run in order in
//! a temporary folder, and must print what the page shows. Ids, keys, times, sizes and durations
//! may differ from those on the page. If a page shows an id in an output and in a later command,
//! the test runs this command with the id that was really printed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use enrich_core::RequestId;
use enrich_store::Store;
use enrich_wire::Request;
use tempfile::TempDir;

use crate::document_page::{DocumentPage, pages};

/// The units of values that differ from run to run.
const UNITS: [&str; 10] =
    ["bytes", "kB", "MB", "GB", "seconds", "second", "minutes", "minute", "hours", "hour"];
/// The folder for backups in the commands of the documents. The tests replace it by a temporary
/// folder.
const BACKUPS: &str = "/var/backups/enrich";
/// The length of an id such as `01a1fda8-b255-7b5a-831c-1bcf8352e75d`.
const ID_LENGTH: usize = 36;

const COMPANIES: &str = r#"{"type":"company","id":"c-2","name":"Millpond Ltd","country":"GB","domains":["millpond.example"],"emails":["post@millpond.example"]}"#;
const PERSON: &str = "Ben,Fernwright,Miller,,millpond.example,GB,,ben@millpond.example,\n";
const BAD: &str = r#"{"type":"company","name":"Harrow Tiles Ltd","country":"GB","domains":["harrow-tiles.example"],"phones":["+44 20 7946 012 345 67"]}
{"type":"company","country":"US"}
{"type":"company","name":"Oxbow Lake AG","country":"CH","linkedin":"linkedin.com/company/oxbow-lake-example","domians":"oxbow-lake.example","emails":["info.oxbow-lake.example"]}
{type: company}
"#;

const NORTHMOOR: &str = r#"{"type":"company","name":"Northmoor Lanterns Ltd","country":"GB","domains":["northmoor-lanterns.example"]}"#;

/// A temporary folder in which the commands of a documentation page run.
struct Fixture {
    folder: TempDir,
    /// For each id in an output on the page: the id that the command printed in this test.
    ids: BTreeMap<String, String>,
    /// Replaces an id in a command on the page if `ids` does not contain the id.
    default_id: String,
}

fn document_page(path: &str) -> DocumentPage {
    pages().into_iter().find(|page| page.path == Path::new(path)).unwrap()
}

impl Fixture {
    /// Creates a folder with the example files of the page about the import format. A second
    /// company and a second person are added to these files.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let reference = document_page("docs/reference/import-format.md");
        let examples = reference.blocks();
        let example = |at: usize| examples[at].lines.join("\n");
        let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
        write("companies.jsonl", format!("{}\n{COMPANIES}\n", example(0)));
        write("people.csv", format!("{}\n{PERSON}", example(1)));
        write("domains.csv", format!("{}\n", example(2)));
        write("bad.jsonl", BAD.to_owned());
        Self { folder, ids: BTreeMap::new(), default_id: String::new() }
    }

    fn backups(&self) -> PathBuf {
        self.folder.path().join("backups")
    }

    /// Runs a line in the shell; returns its output, standard error included.
    fn run(&self, line: &str) -> String {
        let binaries = Path::new(env!("CARGO_BIN_EXE_enrich")).parent().unwrap();
        let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{{ {line}; }} 2>&1")]).current_dir(self.folder.path());
        for name in ["DATA", "STORE", "MIN_CONFIDENCE", "PUBLIC_URL", "CONFIG"] {
            command.env_remove(format!("ENRICH_{name}"));
        }
        let output = command.env("PATH", path).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Replaces the ids and paths in a command of the documentation by the ids and paths of this
    /// test's folder.
    fn command(&self, line: &str) -> String {
        let mut line = line.replace(BACKUPS, self.backups().to_str().unwrap());
        for id in ids(&line) {
            line = line.replace(&id, self.ids.get(&id).unwrap_or(&self.default_id));
        }
        line
    }

    /// Makes three calls with the key. Each call costs one credit. Sets `default_id` to the id of
    /// the first charge.
    fn call(&mut self, account: &str, key: &str) {
        let store = Store::open(self.folder.path().join("enrich-data"));
        let store = store.unwrap();
        let service = store.service();
        let calls = [
            ("/v1/cuf", "companyName", "order-77"),
            ("/v1/cuf", "companyName", "order-77"),
            ("/v1/dte", "companyDomain", "order-78"),
        ];
        for (path, field, request_id) in calls {
            let asked = if field == "companyName" { "Quillmark" } else { "quillmark.example" };
            let body = serde_json::json!({ "apiKey": key, field: asked }).to_string();
            let version = &enrich_wire_v1::API_VERSION;
            let endpoint = version.endpoint(path).unwrap();
            let request = Request { body: body.as_bytes(), ..Request::default() };
            let request_id = RequestId::accept(request_id).unwrap();
            let answer = enrich_wire::respond(&service, version, endpoint, &request_id, request);
            assert_eq!(pollster::block_on(answer).0.status, 200);
        }
        drop(service);
        drop(store);
        let rows = self.run(&format!("enrich ledger export {account}"));
        let charge = rows.lines().find(|line| line.contains(",charge,")).unwrap();
        self.default_id.clone_from(&ids(charge)[1]);
    }

    /// Creates the account that the documents show, with six entries in its ledger.
    fn six_rows(&mut self) {
        self.run("enrich import companies.jsonl people.csv domains.csv");
        let made = self.run("enrich account create 'Quill Ltd' --credits 1000");
        let (account, key) = (ids(&made)[0].clone(), key(&made));
        self.call(&account, &key);
        let charge = self.default_id.clone();
        self.run(&format!("enrich credits grant {account} 500 --note 'invoice 1042'"));
        self.run(&format!("enrich credits adjust {account} {charge} 1 --note 'charged twice'"));
        self.default_id = account;
    }

    /// Checks the examples of a page. `before` is called before each command, and may prepare the
    /// folder.
    fn holds(&mut self, path: &str, before: impl Fn(&mut Self, &str)) {
        for block in document_page(path).blocks() {
            if block.language != "console" {
                continue;
            }
            let text = format!("\n{}", block.lines.join("\n"));
            for example in text.split("\n$ ").skip(1) {
                let (line, shown) = example.split_once('\n').unwrap_or((example, ""));
                before(self, line);
                let printed = self.run(&self.command(line));
                let printed = printed.replace(self.backups().to_str().unwrap(), BACKUPS);
                assert_eq!(
                    normal(shown),
                    normal(&printed),
                    "{path}: {line}\nshown:\n{shown}\nprinted:\n{printed}"
                );
                self.ids.extend(ids(shown).into_iter().zip(ids(&printed)));
            }
        }
    }
}

/// Returns the ids in a text, in their order.
fn ids(text: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
    let words = text.split(|letter| !is_part(letter));
    words.filter(|word| is_id(word)).map(str::to_owned).collect()
}

fn is_id(word: &str) -> bool {
    let groups: Vec<usize> = word.split('-').map(str::len).collect();
    word.len() == ID_LENGTH && groups == [8, 4, 4, 4, 12]
}

fn key(text: &str) -> String {
    let key = text.split_whitespace().find(|word| word.starts_with("enr_live_"));
    key.unwrap().to_owned()
}

/// Returns whether a word is a date like `2026-11-21`, or begins with a date and a time.
fn is_time(word: &str) -> bool {
    let date = word.get(..10).unwrap_or_default();
    date.len() == 10
        && date.char_indices().all(|(at, letter)| match at {
            4 | 7 => letter == '-',
            _ => letter.is_ascii_digit(),
        })
}

/// Returns a word, or a placeholder if the word is a value that differs from run to run.
fn normal_word(word: &str) -> &str {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    match word {
        _ if is_id(word) => "ID",
        _ if is_time(word) => "TIME",
        _ if word.starts_with("enr_live_") => "KEY",
        _ if word.contains("/account/invitation/") => "LINK",
        _ if word.contains('.') && is_number(word) => "NUMBER",
        _ => word,
    }
}

/// Splits a text into lines with single blanks, and replaces values that differ from run to run.
fn normal(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let words = line.split_whitespace().flat_map(|word| {
            let bare = word.trim_end_matches([',', ':', ';']);
            // A row of CSV is split into its cells, so that each cell is compared.
            let is_row = bare.contains(',') && !bare.contains('"');
            let cells: Vec<&str> = if is_row { bare.split(',').collect() } else { vec![bare] };
            cells.into_iter().map(normal_word).collect::<Vec<_>>()
        });
        let mut normal: Vec<&str> = Vec::new();
        for word in words {
            let last = normal.last().copied().unwrap_or_default();
            let is_amount = last == "NUMBER" || last.parse::<f64>().is_ok();
            if is_amount && UNITS.contains(&word) {
                *normal.last_mut().unwrap() = "AMOUNT";
            } else {
                normal.push(word);
            }
        }
        normal.join(" ")
    };
    let lines = text.lines().map(line).filter(|line| !line.is_empty());
    lines.collect()
}

#[test]
fn loading_data_prints_what_the_guide_shows() {
    Fixture::new().holds("docs/guide/load-data.md", |_, _| {});
}

#[test]
fn forgetting_prints_what_the_guide_shows() {
    let mut fixture = Fixture::new();
    fixture.run("enrich import companies.jsonl people.csv domains.csv");
    fixture.holds("docs/guide/forget.md", |_, _| {});
}

#[test]
fn accounts_keys_and_credits_print_what_the_guide_shows() {
    let mut fixture = Fixture::new();
    fixture.run("enrich import companies.jsonl people.csv domains.csv");
    fixture.holds("docs/guide/accounts.md", |fixture, line| {
        if line.contains("--note \"invoice 1042\"") {
            let account = fixture.command(line).split_whitespace().nth(3).unwrap().to_owned();
            let keys = fixture.run(&format!("enrich key list {account}"));
            let key_id = ids(&keys)[0].clone();
            let key = key(&fixture.run(&format!("enrich key show {key_id}")));
            fixture.call(&account, &key);
        }
    });
}

#[test]
fn the_ledger_prints_what_the_reference_shows() {
    let mut fixture = Fixture::new();
    fixture.six_rows();
    fixture.holds("docs/reference/ledger.md", |_, _| {});
}

#[test]
fn an_explanation_prints_what_the_reference_shows() {
    let mut fixture = Fixture::new();
    fs::write(fixture.folder.path().join("northmoor.jsonl"), NORTHMOOR).unwrap();
    fixture.run("enrich import northmoor.jsonl");
    fixture.holds("docs/reference/confidence.md", |_, _| {});
}

#[test]
fn backups_print_what_the_guide_shows() {
    let mut fixture = Fixture::new();
    fixture.six_rows();
    fs::create_dir(fixture.backups()).unwrap();
    fixture.holds("docs/guide/backup.md", |_, _| {});
}

#[test]
fn companies_that_are_there_twice_print_what_the_guide_shows() {
    let mut fixture = Fixture::new();
    let list = r#"{"name":"Quill","domains":["quill.example"],"ids":{"cik":"17"}}
{"name":"Pens Ltd","country":"CH"}"#;
    let directory = r#"{"id":"Q42","name":"Quill","domains":["quill.example"],"ids":{"cik":"18"}}
{"id":"Q43","name":"Pens","country":"GB","domains":["pens.example"]}"#;
    for (name, text) in [("list.jsonl", list), ("directory.jsonl", directory)] {
        fs::write(fixture.folder.path().join(name), text).unwrap();
        fixture.run(&format!("enrich import {name}"));
    }
    fixture.holds("docs/guide/duplicates.md", |_, _| {});
}

/// If a page gets examples and no test runs them, this test fails.
#[test]
fn every_page_with_examples_is_run() {
    let run = [
        "accounts.md",
        "backup.md",
        "confidence.md",
        "duplicates.md",
        "forget.md",
        "ledger.md",
        "load-data.md",
    ];
    for page in pages() {
        let has_examples = page.blocks().iter().any(|block| block.language == "console");
        let name = page.path.file_name().unwrap().to_str().unwrap();
        assert_eq!(has_examples, run.contains(&name), "{}", page.path.display());
    }
}
