//! The program `enrich`: runs its commands, and starts it as a server process.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use serde_json::Value;

/// A server process on a free port of the loopback address. It is killed when this value is
/// dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts `enrich serve` and waits for the line that has its address.
    pub(crate) fn start(data: &Path, log: &Path, options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_enrich"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(appended(log))
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        // Reads and drops the rest of the output, so that the server never blocks on a full pipe.
        thread::spawn(move || io::copy(&mut output, &mut io::sink()));
        let address = line
            .trim()
            .strip_prefix("enrich listening on http://")
            .and_then(|address| address.parse().ok());
        let Some(address) = address else {
            let log = std::fs::read_to_string(log).unwrap_or_default();
            panic!("the server's first line was {line:?}; its log: {log}");
        };
        Self { child, address }
    }

    /// Kills the process with SIGKILL, so that it cannot finish anything. Waits for its end.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the process to stop, and waits for its end.
    pub(crate) fn stop(mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command on a data folder, and waits for its end.
pub(crate) fn command(data: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_enrich"))
        .args(arguments)
        .arg("--data")
        .arg(data)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs a command that must succeed; returns its JSON output.
pub(crate) fn json_of(data: &Path, arguments: &[&str]) -> Value {
    let output = command(data, &[arguments, &["--json"]].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "enrich {arguments:?} failed: {said} {complaint}");
    match serde_json::from_str(&said) {
        Ok(value) => value,
        Err(error) => panic!("enrich {arguments:?} printed no JSON ({error}): {said:?}"),
    }
}

/// Returns the text of a field in a command's output.
pub(crate) fn text(said: &Value, field: &str) -> String {
    said[field].as_str().unwrap_or_else(|| panic!("no `{field}` in {said}")).to_owned()
}

/// Imports the look-up fixtures, companies before their people, into a data folder.
pub(crate) fn import_fixtures(data: &Path) -> Value {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/directory");
    let files: Vec<String> = ["companies.jsonl", "examples.jsonl", "domains.jsonl"]
        .iter()
        .map(|name| folder.join(name).to_str().unwrap().to_owned())
        .collect();
    json_of(data, &["import", &files[0], &files[1], &files[2]])
}

fn appended(log: &Path) -> File {
    OpenOptions::new().create(true).append(true).open(log).unwrap()
}
