//! A fixture with a temporary folder, in which the tests run the command `enrich`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use enrich_core::{ApiKey, RequestId, Service};
use enrich_store::Store;
use enrich_wire::{CallRecord, Request, Response};
use serde_json::Value;
use tempfile::TempDir;

/// A company with all attributes that the tests use.
pub(crate) const QUILL: &str = r#"{"type":"company","name":"Quill Ltd","country":"GB","domains":["quill.example"],"linkedin":"linkedin.com/company/quill-example","emails":["info@quill.example"],"phones":["+44 20 7946 0123"]}"#;
/// A person who works at [`QUILL`].
pub(crate) const ADA: &str = r#"{"type":"person","first_name":"Ada","last_name":"Penn","company_domain":"quill.example","linkedin":"linkedin.com/in/ada-penn-example","emails":["ada@quill.example"]}"#;

pub(crate) struct Fixture(TempDir);

/// The output and exit status of a command that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Creates a folder into which the company [`QUILL`] and the person [`ADA`] were imported.
    pub(crate) fn with_records() -> Self {
        let fixture = Self::new();
        fixture.file("records.jsonl", format!("{QUILL}\n{ADA}\n"));
        assert_eq!(fixture.run(&["import", "records.jsonl"]).status, 0);
        fixture
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the path of the default data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("enrich-data")
    }

    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), text).unwrap();
    }

    /// Returns the command, ready to be started in this folder.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_enrich"));
        command.args(words).current_dir(self.path());
        for name in ["DATA", "STORE", "MIN_CONFIDENCE", "PUBLIC_URL", "CONFIG"] {
            command.env_remove(format!("ENRICH_{name}"));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.command(words).output().unwrap().into()
    }

    pub(crate) fn run_with_input(&self, words: &[&str], input: &str) -> Ran {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().unwrap();
        feed(&mut child, input);
        child.wait_with_output().unwrap().into()
    }

    /// Runs a command that must succeed; returns its JSON.
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let ran = self.run(&[words, &["--json"]].concat());
        assert_eq!(ran.status, 0, "{words:?}: {ran:?}");
        ran.json()
    }

    /// Creates an account; returns its id and its key.
    pub(crate) fn account(&self, credits: u64) -> (String, String) {
        let credits = credits.to_string();
        let made = self.json(&["account", "create", "Ledger & Sons", "--credits", &credits]);
        (text(&made["account"]), text(&made["key"]))
    }

    /// Opens the store as a running server does.
    pub(crate) fn store(&self) -> Store {
        Store::open_or_create(self.data()).unwrap()
    }

    pub(crate) fn first_key_id(&self, account: &str) -> String {
        text(&self.json(&["key", "list", account])[0]["key_id"])
    }
}

/// Writes `input` to a started command's standard input, and closes it.
pub(crate) fn feed(child: &mut Child, input: &str) {
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

pub(crate) fn server(store: &Store) -> Service {
    store.service()
}

/// Sends a call to `/v1/<name>` with a JSON body that includes the key.
pub(crate) fn call(
    service: &Service,
    key: &str,
    name: &str,
    request_id: &str,
    body: Value,
) -> Response {
    recorded_call(service, key, name, request_id, body).0
}

pub(crate) fn recorded_call(
    service: &Service,
    key: &str,
    name: &str,
    request_id: &str,
    mut body: Value,
) -> (Response, CallRecord) {
    assert!(ApiKey::parse(key).is_ok());
    body["apiKey"] = key.into();
    let body = body.to_string();
    let revision = &enrich_wire_v1::API_VERSION;
    let endpoint = revision.endpoint(&format!("/v1/{name}")).unwrap();
    let request_id = RequestId::accept(request_id).unwrap();
    let request = Request { body: body.as_bytes(), ..Request::default() };
    pollster::block_on(enrich_wire::respond(service, revision, endpoint, &request_id, request))
}

impl Ran {
    /// Returns the only line on standard output, read as JSON.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.matches('\n').count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap()
    }

    /// Asserts that the command ended with `status`, printed nothing to standard output, and
    /// explained the error.
    #[track_caller]
    pub(crate) fn refused(&self, status: i32, said: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
        assert!(self.err.starts_with("error: ") && self.err.contains(said), "{self:?}");
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
