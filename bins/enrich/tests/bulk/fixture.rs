//! A fixture with a data folder, a server, an account with a key, and lists to look up.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::server::{Server, import_fixtures, json_of, text};

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    server: Option<Server>,
    account: String,
    key: String,
}

/// The output and exit status of a command that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let status = output.status.code().unwrap();
        Self { status, out: text(output.stdout), err: text(output.stderr) }
    }

    /// Returns the JSON on standard output.
    pub(crate) fn said(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

impl Fixture {
    /// Starts a server, and creates an account with these credits.
    pub(crate) fn new(credits: &str) -> Self {
        let mut fixture = Self::without_server();
        let said = json_of(&fixture.data(), &["account", "create", "Lister", "--credits", credits]);
        (fixture.account, fixture.key) = (text(&said, "account"), text(&said, "key"));
        let log = fixture.path("server.log");
        fixture.server = Some(Server::start(&fixture.data(), &log, &[]));
        fixture
    }

    pub(crate) fn without_server() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Self { folder, server: None, account: String::new(), key: String::new() };
        import_fixtures(&fixture.data());
        fixture
    }

    fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn server(&self) -> SocketAddr {
        self.server.as_ref().unwrap().address
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server())
    }

    /// Writes `list` to `list.csv`, and starts `enrich bulk cuf` with `out.csv` as its output.
    pub(crate) fn begin(&self, list: &[u8], arguments: &[&str]) -> Child {
        fs::write(self.path("list.csv"), list).unwrap();
        let mut command = self.command();
        command.args(["bulk", "cuf", "--json", "--in"]).arg(self.path("list.csv"));
        command.arg("--out").arg(self.path("out.csv")).args(arguments);
        command.stdin(Stdio::null()).spawn().unwrap()
    }

    /// Looks up `list` with `enrich bulk cuf`, as `begin` does, and waits for the command's end.
    pub(crate) fn bulk(&self, list: &[u8], arguments: &[&str]) -> Ran {
        Ran::of(self.begin(list, arguments).wait_with_output().unwrap())
    }

    /// Runs `enrich bulk` with these arguments and this standard input.
    pub(crate) fn ran(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command();
        command.arg("bulk").args(arguments).arg("--data").arg(self.data());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        // A command that refuses its arguments doesn't read its input, so writing may fail.
        let _ = child.stdin.take().unwrap().write_all(input);
        Ran::of(child.wait_with_output().unwrap())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_enrich"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).env_remove("ENRICH_KEY");
        // The command must not write values of a list to the system's temporary folder. So `TMPDIR`
        // names a folder that does not exist: a write would fail there.
        command.env("TMPDIR", self.path("no-folder-for-temporary-files"));
        if !self.key.is_empty() {
            command.env("ENRICH_KEY", &self.key);
        }
        command
    }

    pub(crate) fn grant(&self, credits: &str) {
        json_of(&self.data(), &["credits", "grant", &self.account, credits]);
    }

    /// Verifies the ledger; returns the charged credits.
    pub(crate) fn charged(&self) -> u64 {
        let said = json_of(&self.data(), &["ledger", "verify"]);
        assert_eq!(said["ok"], Value::Bool(true), "{said}");
        said["charged"].as_u64().unwrap()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Returns the number of rows written so far, as the file `out.csv.job` states it; 0 if the
    /// file doesn't exist yet.
    pub(crate) fn rows_until_now(&self) -> u64 {
        let Ok(job) = fs::read(self.path("out.csv.job")) else { return 0 };
        let job: Value = serde_json::from_slice(&job).unwrap();
        job["counts"]["rows"].as_u64().unwrap()
    }

    /// Checks that every row of a [`numbered`] list is in the output once, in order and with the
    /// right status, and that the charges add up to those of the found rows.
    pub(crate) fn check_rows(&self, name: &str, rows: usize) {
        let text = self.read(name);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let mut found = 0;
        let mut credits = 0;
        let mut ids = Vec::new();
        for record in reader.records() {
            let record = record.unwrap();
            ids.push(record[0].parse::<usize>().unwrap());
            let (company, status) = (&record[1], &record[4]);
            let expected = match company {
                "" => "invalid",
                "Nobody Hereabouts" => "not_found",
                _ => "found",
            };
            assert_eq!(status, expected, "{record:?}");
            found += u64::from(status == "found");
            credits += record[6].parse::<u64>().unwrap();
        }
        assert_eq!(ids, (0..rows).collect::<Vec<_>>());
        assert_eq!((credits, self.charged()), (found, found));
    }
}

/// Returns a list of `rows` rows. Of every ten rows, seven name a known company, two name an
/// unknown company, and one has an empty name, which is invalid.
pub(crate) fn numbered(rows: usize) -> Vec<u8> {
    let mut list = "id,Company\n".to_owned();
    for row in 0..rows {
        let company = match row % 10 {
            3 | 7 => "Nobody Hereabouts",
            5 => "",
            _ => "Telefónica",
        };
        list.push_str(&format!("{row},{company}\n"));
    }
    list.into_bytes()
}

/// Waits until a started command prints the cost of its list on standard error. The command sends
/// the first row only after that.
pub(crate) fn wait_for_a_word(running: &mut Child) {
    let mut byte = [0];
    let err = running.stderr.as_mut().unwrap();
    while err.read(&mut byte).unwrap() > 0 && byte != *b"\n" {}
}

pub(crate) fn rows_of(text: &str) -> Vec<Value> {
    text.lines().map(row_of).collect()
}

pub(crate) fn row_of(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

pub(crate) fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}
