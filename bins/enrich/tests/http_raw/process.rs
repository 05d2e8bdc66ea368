//! Starts the program `enrich` as a server process.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A server process, which is killed when this value is dropped.
pub(crate) struct Process {
    child: Child,
    out: BufReader<ChildStdout>,
    /// The server's address, from the first line of its output.
    pub(crate) address: SocketAddr,
}

/// Returns a command that runs the program with `arguments`, and without settings in environment
/// variables.
pub(crate) fn enrich(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_enrich"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ENRICH_") {
            command.env_remove(name);
        }
    }
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Process {
    /// Starts the process and waits for the first line of its output.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.strip_prefix("enrich listening on http://").and_then(|address| {
            address.strip_suffix('\n').and_then(|address| address.parse().ok())
        });
        let Some(address) = address else {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("it began with {line:?} and said {said}");
        };
        Self { child, out, address }
    }

    /// Returns the process's next line on standard output.
    pub(crate) fn next_line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Waits for the process's end; returns its status and its log. Fails if this takes longer
    /// than `within`.
    pub(crate) fn ended(mut self, within: Duration) -> (ExitStatus, String) {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(started.elapsed() < within, "it still runs after {within:?}");
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (status, said)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
