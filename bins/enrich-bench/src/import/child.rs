//! Runs `enrich import`, and reads from Linux's `/proc` which resources the process uses.

use std::fs::{self, File};
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde::Serialize;
use serde_json::Value;

use crate::process::{Process, kib_of};

/// Interval at which the resources of the process are read.
const INTERVAL: Duration = Duration::from_millis(20);

/// The resources that a process has used.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Usage {
    pub(super) seconds: f64,
    /// The processor time of all threads together, in seconds.
    pub(super) processor_seconds: f64,
    pub(super) written_bytes: u64,
    /// The highest private memory of the process, in bytes.
    pub(super) private_bytes: u64,
    /// The progress of the process. For each commit that was noticed: the time in seconds since the
    /// start, and the number of companies in the look-up data afterwards.
    pub(super) commits: Vec<(f64, u64)>,
}

/// Runs a command. Returns the resources that the process has used, and the JSON that it prints.
/// While the process runs, calls `companies` several times a second. `companies` returns the number
/// of companies in the look-up data; `None` if it is unknown at this moment.
pub(super) fn watch(
    mut command: Command,
    log: File,
    mut companies: impl FnMut() -> Option<u64>,
) -> anyhow::Result<(Usage, Value)> {
    let began = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    let mut child = command.spawn().context("`enrich import` cannot be run")?;
    let mut output = child.stdout.take().context("no standard output")?;
    let (mut private_bytes, mut commits) = (0, Vec::new());
    let mut note_commit = || {
        let now = companies().filter(|now| commits.last().is_none_or(|(_, last)| now != last));
        commits.extend(now.map(|now| (began.elapsed().as_secs_f64(), now)));
    };
    while !has_ended(child.id())? {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        private_bytes = private_bytes.max(kib_of(&status, "RssAnon").unwrap_or(0) * 1024);
        note_commit();
        thread::sleep(INTERVAL);
    }
    note_commit();
    let seconds = began.elapsed().as_secs_f64();
    // The process has ended, but its files in `/proc` exist until this program waits for it.
    let figures = fs::read_to_string(format!("/proc/{}/io", child.id()))?;
    let written_bytes = written(&figures).context("/proc/PID/io has no write_bytes")?;
    let processor_seconds = processor_seconds(child.id())?;
    let status = child.wait()?;
    let mut text = String::new();
    output.read_to_string(&mut text)?;
    ensure!(status.success(), "`enrich import` ended with {status}");
    Ok((
        Usage { seconds, processor_seconds, written_bytes, private_bytes, commits },
        serde_json::from_str(&text)?,
    ))
}

/// Whether a child process has ended. The child stays in the process table, so that its files in
/// `/proc` still exist.
fn has_ended(id: u32) -> anyhow::Result<bool> {
    wait_for_end(id, WaitIdOptions::NOHANG)
}

/// Waits until a child process has ended, and returns its processor time in seconds. The child
/// stays in the process table until `Child::wait` is called.
pub(super) fn processor_seconds(id: u32) -> anyhow::Result<f64> {
    wait_for_end(id, WaitIdOptions::empty())?;
    Ok(Process::with_id(id)?.processor_micros()? as f64 / 1e6)
}

fn wait_for_end(id: u32, options: WaitIdOptions) -> anyhow::Result<bool> {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw).context("a process without id")?;
    let options = options | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(id), options)?.is_some())
}

/// Returns `write_bytes` of the text of `/proc/PID/io`.
fn written(figures: &str) -> Option<u64> {
    let mut lines = figures.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(name, _)| *name == "write_bytes")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_bytes_are_read_by_their_name() {
        let figures = "rchar: 5\nwchar: 7\nread_bytes: 1\nwrite_bytes: 4096\n";
        assert_eq!(written(figures), Some(4096));
    }

    #[test]
    fn a_process_is_watched_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new("echo");
        command.arg("[1, 2]");
        let (usage, printed) = watch(command, log, || Some(3)).unwrap();
        assert_eq!(printed, serde_json::json!([1, 2]));
        assert!(matches!(usage.commits[..], [(_, 3)]), "{usage:?}");
        assert!((0.0..1.0).contains(&usage.processor_seconds), "{usage:?}");
    }
}
