//! The load generator, wrk: its script, its files, its output.
//!
//! The script stores every request as two strings, the parts before and after an API key. For each
//! request, the script only joins the two parts of a random request and a random API key. The
//! script doesn't check answers, because a check would use more processor time than the request
//! itself.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

/// Number of threads of the load generator if it sends to one server. For several servers, it has
/// one thread for each server.
const THREADS: usize = 2;

/// Time limit for an answer. An answer that arrives later counts as an error.
const TIMEOUT: &str = "10s";

/// The part of the Lua script that all kinds of requests need. It reads the files with servers, API
/// keys and requests. At the end, it prints one line with the results. Every thread sends to one
/// server, and selects requests in its own random order. Two runs with the same seed have the same
/// orders.
const LISTS: &str = r#"
local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

local threads = 0
local servers = {}
function setup(thread)
  if threads == 0 then
    for host, port in read(SERVERS):gmatch("([^ ]+) (%d+)\n") do
      servers[#servers + 1] = wrk.lookup(host, port)[1]
    end
  end
  thread.addr = servers[threads % #servers + 1]
  threads = threads + 1
  thread:set("number", threads)
end

local random = math.random
local before, behind, keys, sent, name = {}, {}, {}, 0, ""

function init(args)
  math.randomseed(tonumber(args[1]) * 64 + number)
  name = args[2] .. "-" .. number .. "-"
  for one, other in read(CALLS):gmatch("([^%z]*)%z([^%z]*)%z") do
    before[#before + 1] = one
    behind[#behind + 1] = other
  end
  for key in read(KEYS):gmatch("([^%z]*)%z") do
    keys[#keys + 1] = key
  end
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"micros":%d,"failed":{"connect":%d,"read":%d,"write":%d,' ..
    '"status":%d,"timeout":%d},"p50":%d,"p99":%d,"p99_9":%d}\n',
    summary.requests, summary.duration, errors.connect, errors.read, errors.write,
    errors.status, errors.timeout, latency:percentile(50), latency:percentile(99),
    latency:percentile(99.9)))
end
"#;

/// The part of the Lua script that returns the next request: a random request with a random key.
const PLAIN: &str = r#"
function request()
  local at = random(#before)
  return before[at] .. keys[random(#keys)] .. behind[at]
end
"#;

/// The part of the Lua script that returns the next request: a random request with a random API
/// key, and a unique `Idempotency-Key`.
const FRESH: &str = r#"
function request()
  local at = random(#before)
  sent = sent + 1
  return FIRST .. name .. sent .. before[at] .. keys[random(#keys)] .. behind[at]
end
"#;

/// A request in two parts: before and after the API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Halves {
    pub(crate) before: String,
    pub(crate) behind: String,
}

pub(crate) struct Requests {
    pub(crate) calls: Vec<Halves>,
    pub(crate) keys: Vec<String>,
    /// The text after which the load generator inserts a new `Idempotency-Key`; `None` if requests
    /// get no such key.
    pub(crate) fresh_after: Option<String>,
}

pub(crate) struct Wrk {
    program: PathBuf,
    script: PathBuf,
    servers: PathBuf,
    calls: PathBuf,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct WrkSummary {
    /// The number of complete answers that the load generator has received.
    pub(crate) requests: u64,
    micros: u64,
    failed: Failed,
    /// The median latency, in microseconds.
    pub(crate) p50: u64,
    pub(crate) p99: u64,
    pub(crate) p99_9: u64,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
struct Failed {
    connect: u64,
    read: u64,
    write: u64,
    status: u64,
    timeout: u64,
}

/// Checks that the load generator can be run.
pub(crate) fn find(program: &Path) -> anyhow::Result<()> {
    match Command::new(program).arg("--version").output() {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
            "`{}` is not there: install wrk (`apt-get install wrk`), or name it with --wrk",
            program.display()
        ),
        Err(error) => Err(error).with_context(|| program.display().to_string()),
    }
}

impl Wrk {
    /// Prepares the load generator: writes its script, and the files that the script reads, into
    /// `folder`. The folder must exist.
    pub(crate) fn new(program: &Path, folder: &Path, requests: &Requests) -> anyhow::Result<Self> {
        let (calls, keys) = (folder.join("calls"), folder.join("keys"));
        let servers = folder.join("servers");
        let script = folder.join("script.lua");
        fs::write(&keys, ended(requests.keys.iter())?)?;
        let quoted = |path: &Path| -> anyhow::Result<String> {
            // The path is written into the Lua script as a string in the notation of Rust (`{:?}`).
            // For ASCII texts, Lua has the same escapes.
            let text = path.to_str().filter(|text| text.is_ascii());
            let text = text.with_context(|| format!("{} is not ASCII", path.display()))?;
            Ok(format!("{text:?}"))
        };
        let mut text = format!("local CALLS, KEYS = {}, {}\n", quoted(&calls)?, quoted(&keys)?);
        text += &format!("local SERVERS = {}\n", quoted(&servers)?);
        text += LISTS;
        match &requests.fresh_after {
            None => text += PLAIN,
            Some(first) => text += &format!("local FIRST = {first:?}\n{FRESH}"),
        }
        fs::write(&script, text)?;
        let wrk = Self { program: program.to_owned(), script, servers, calls };
        wrk.replace_calls(&requests.calls)?;
        Ok(wrk)
    }

    /// Replaces the calls. The next run of the load generator sends the new calls.
    pub(crate) fn replace_calls(&self, calls: &[Halves]) -> anyhow::Result<()> {
        let parts = calls.iter().flat_map(|call| [&call.before, &call.behind]);
        fs::write(&self.calls, ended(parts)?).with_context(|| self.calls.display().to_string())
    }

    /// Puts load on the servers at `addresses`, each over an equal share of the connections.
    /// `order` is the seed of the random order of the requests, and `name` is part of the
    /// idempotency keys.
    pub(crate) fn run(
        &self,
        addresses: &[SocketAddr],
        (connections, seconds): (usize, u64),
        order: u64,
        name: &str,
    ) -> anyhow::Result<WrkSummary> {
        let address = addresses.first().context("there is no server to load")?;
        ensure!(addresses.len() <= connections, "there are more servers than connections");
        let lines = addresses.iter().map(|at| format!("{} {}\n", at.ip(), at.port()));
        fs::write(&self.servers, lines.collect::<String>())?;
        // If there are several servers, one thread sends to each server.
        let threads = match addresses.len() {
            1 => THREADS.min(connections),
            servers => servers,
        };
        let output = Command::new(&self.program)
            .args(["--threads", &threads.to_string()])
            .args(["--connections", &connections.to_string()])
            .args(["--duration", &format!("{seconds}s"), "--timeout", TIMEOUT])
            .args(["--latency", "--script"])
            .arg(&self.script)
            .args([&format!("http://{address}/"), "--", &order.to_string(), name])
            .stdin(Stdio::null())
            .output()
            .with_context(|| self.program.display().to_string())?;
        let (text, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            bail!("wrk ended with {}: {text}{errors}", output.status);
        }
        WrkSummary::read(&text).with_context(|| format!("wrk said: {text}{errors}"))
    }
}

/// Joins the texts, with a zero byte after each text.
fn ended<'a>(texts: impl Iterator<Item = &'a String>) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for text in texts {
        ensure!(!text.contains('\0'), "a request holds a zero byte");
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
    }
    Ok(bytes)
}

impl WrkSummary {
    /// Parses the line that the script prints, from the output of the load generator.
    fn read(text: &str) -> anyhow::Result<Self> {
        let line = text.lines().find(|line| line.starts_with('{'));
        Ok(serde_json::from_str(line.context("the script's line is missing")?)?)
    }

    pub(crate) fn requests_a_second(&self) -> f64 {
        self.requests as f64 * 1e6 / self.micros.max(1) as f64
    }

    /// Checks that every request was answered within the time limit, with a status below 400.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let none = Failed { connect: 0, read: 0, write: 0, status: 0, timeout: 0 };
        ensure!(self.failed == none, "not every request was answered: {:?}", self.failed);
        ensure!(self.requests > 0, "no request was answered");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Running 2s test @ http://127.0.0.1:1/\n  Latency  {stdev}\n\
        {\"requests\":2000,\"micros\":2000000,\"failed\":{\"connect\":0,\"read\":0,\"write\":0,\
        \"status\":0,\"timeout\":0},\"p50\":100,\"p99\":900,\"p99_9\":1500}\n";

    #[test]
    fn the_line_is_found_among_what_wrk_says_itself() {
        let summary = WrkSummary::read(TEXT).unwrap();
        assert_eq!((summary.p50, summary.p99, summary.p99_9), (100, 900, 1500));
        assert!((summary.requests_a_second() - 1000.0).abs() < 1e-9);
        summary.check().unwrap();
    }

    #[test]
    fn one_request_that_failed_is_one_too_many() {
        for kind in ["connect", "read", "write", "status", "timeout"] {
            let text = TEXT.replace(&format!("\"{kind}\":0"), &format!("\"{kind}\":1"));
            let error = WrkSummary::read(&text).unwrap().check().unwrap_err().to_string();
            assert!(error.contains(&format!("{kind}: 1")), "{error}");
        }
        assert!(WrkSummary::read(&TEXT.replace("2000,", "0,")).unwrap().check().is_err());
    }

    #[test]
    fn a_missing_line_is_an_error() {
        assert!(WrkSummary::read("unable to connect to 127.0.0.1:1 Connection refused").is_err());
    }

    #[test]
    fn a_program_that_is_not_there_is_told_how_to_get() {
        let error = find(Path::new("/nowhere/wrk")).unwrap_err().to_string();
        assert!(error.contains("apt-get install wrk"), "{error}");
    }

    #[test]
    fn a_text_with_the_byte_that_ends_texts_is_refused() {
        assert_eq!(ended(["a".to_owned(), String::new()].iter()).unwrap(), b"a\0\0");
        assert!(ended(["a\0b".to_owned()].iter()).is_err());
    }
}
