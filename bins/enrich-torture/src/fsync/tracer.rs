//! Runs `strace`, which makes system calls fail, and parses the trace of `strace`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use enrich_testkit::serving::Serving;

/// Time limit for each of two waits: until strace is attached to the server, and until it has
/// written its last line.
const PATIENCE: Duration = Duration::from_secs(5);
/// The name of the thread that writes the ledger.
const LEDGER_THREAD: &str = "enrich-ledger";
/// This text in the trace marks a system call that strace made fail.
const INJECTED: &str = "(INJECTED)";

/// A system call that was made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) thread: u32,
    pub(super) file: File,
    /// Whether the call belongs to a checkpoint. A checkpoint copies committed pages from the
    /// write-ahead log to the database. If such a call fails, the log still contains these pages,
    /// so no charge is in doubt.
    pub(super) is_checkpoint: bool,
}

/// The file that a system call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum File {
    /// `ledger.sqlite`, which only checkpoints write to.
    Ledger,
    /// The write-ahead log of `ledger.sqlite`.
    Log,
    /// The data folder, which contains the ledger and its write-ahead log. SQLite syncs the folder
    /// after it has created a log. It ignores a failure of this sync, because some file systems
    /// cannot sync a folder.
    Folder,
    /// Another file.
    Other,
}

/// The state of a thread of the server, after the lines of the trace that were read so far.
#[derive(Default)]
struct Thread {
    /// The file of the thread's current system call, and whether this call belongs to a checkpoint;
    /// `None` if the thread makes no call.
    call: Option<(File, bool)>,
    /// Whether the thread has written to the write-ahead log since its last sync of this log.
    has_written: bool,
}

/// Returns the command of a tracer that writes to `trace`. `inject` selects the call that must
/// fail. Writes are always traced as well, because they show whether a sync belongs to a commit.
pub(super) fn tracer(trace: &Path, inject: &str) -> Command {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-q", "-y", "-s", "0", "-o"]).arg(trace);
    strace.args(["-e", "trace=fsync,fdatasync,pwrite64", "-e", inject]);
    strace
}

/// Attaches strace to all threads of a running server. When the server ends, strace ends too.
pub(super) fn attach(mut strace: Command, server: &Serving) -> Result<()> {
    let process = server.process_id().to_string();
    let quiet = strace.args(["-p", &process]).stdin(Stdio::null()).stderr(Stdio::null());
    let mut tracer = quiet.spawn().context("strace cannot be started")?;
    thread::spawn(move || tracer.wait());
    let begin = Instant::now();
    let tasks = Path::new("/proc").join(process).join("task");
    loop {
        let mut is_held = true;
        for task in fs::read_dir(&tasks)? {
            let status = fs::read_to_string(task?.path().join("status"))?;
            is_held &= !status.contains("TracerPid:\t0\n");
        }
        if is_held {
            return Ok(());
        }
        if begin.elapsed() > PATIENCE {
            bail!("strace could not attach to the server; is it allowed to trace?");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

pub(super) fn ledger_thread(server: &Serving) -> Result<u32> {
    let tasks = Path::new("/proc").join(server.process_id().to_string()).join("task");
    let mut found = Vec::new();
    for task in fs::read_dir(&tasks)? {
        let task = task?;
        // If the thread has ended in the meantime, its name cannot be read. It is skipped, because
        // it cannot be the thread that writes the ledger.
        let name = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        if name.trim_end() == LEDGER_THREAD {
            found.push(task.file_name().to_string_lossy().parse()?);
        }
    }
    ensure!(found.len() == 1, "the server has {} threads named {LEDGER_THREAD}", found.len());
    Ok(found[0])
}

/// Whether strace has already made a system call fail.
pub(super) fn has_hit(trace: &Path) -> bool {
    fs::read_to_string(trace).is_ok_and(|text| text.contains(INJECTED))
}

/// Returns the system calls that were made to fail. Call this after the traced server has ended.
pub(super) fn hits(trace: &Path, folder: &Path) -> Result<Vec<Hit>> {
    let folder = folder.canonicalize()?;
    let begin = Instant::now();
    loop {
        let text = fs::read_to_string(trace).unwrap_or_default();
        // The last line of a complete trace reports the end of the server's last thread.
        let last = text.lines().last().unwrap_or_default();
        if last.contains("+++ killed by") || last.contains("+++ exited with") {
            return read(&text, &folder);
        }
        if begin.elapsed() > PATIENCE {
            bail!("strace did not come to an end; is it allowed to trace?");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

impl Hit {
    /// Whether this failure makes it unknown whether a charge was stored. If it does, the request
    /// that caused the charge must get an error.
    pub(super) fn is_in_doubt(&self) -> bool {
        !self.is_checkpoint && self.file != File::Folder
    }
}

/// Parses a trace. Each line begins with the id of a thread. If a line of another thread comes
/// between the beginning and the end of a system call, the call has two lines. The second line
/// (`<... pwrite64 resumed>`) does not repeat the file.
fn read(text: &str, folder: &Path) -> Result<Vec<Hit>> {
    let mut threads: HashMap<u32, Thread> = HashMap::new();
    let mut hits = Vec::new();
    for line in text.lines() {
        let unclear = || format!("a line of the trace that cannot be read: {line}");
        let (thread, said) = line.split_once(' ').with_context(unclear)?;
        let thread: u32 = thread.parse().with_context(unclear)?;
        let said = said.trim_start();
        let of_thread = threads.entry(thread).or_default();
        if !said.starts_with("<... ") {
            of_thread.call = of_thread.enters(said, folder);
        }
        if said.ends_with(INJECTED) {
            let (file, is_checkpoint) = of_thread.call.with_context(unclear)?;
            hits.push(Hit { thread, file, is_checkpoint });
        }
    }
    Ok(hits)
}

impl Thread {
    /// Parses a line of the trace at which a system call begins. Returns the file of the call, and
    /// whether the call belongs to a checkpoint. Returns `None` for any other line.
    fn enters(&mut self, said: &str, folder: &Path) -> Option<(File, bool)> {
        let (call, arguments) = said.split_once('(')?;
        let path = arguments.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
        let (path, _) = path.unwrap_or_default();
        let file = match Path::new(path).strip_prefix(folder).ok().and_then(Path::to_str) {
            Some("ledger.sqlite") => File::Ledger,
            Some("ledger.sqlite-wal") => File::Log,
            Some("") => File::Folder,
            _ => File::Other,
        };
        let is_checkpoint = match (call, file) {
            (_, File::Ledger) => true,
            ("pwrite64", File::Log) => {
                self.has_written = true;
                false
            }
            // A commit writes to the write-ahead log and then syncs it. A checkpoint begins with a
            // sync of this log, to store earlier commits. So a sync without a write before it
            // belongs to a checkpoint.
            ("fsync" | "fdatasync", File::Log) => !std::mem::take(&mut self.has_written),
            _ => false,
        };
        Some((file, is_checkpoint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(thread: u32, file: File, is_checkpoint: bool) -> Hit {
        Hit { thread, file, is_checkpoint }
    }

    #[test]
    fn a_commit_and_a_checkpoint_are_told_apart() {
        let eio = "= -1 EIO (Input/output error) (INJECTED)";
        let commit = format!(
            "7     pwrite64(9</d/ledger.sqlite-wal>, \"\"..., 4096, 56) = 4096\n\
             7     fdatasync(9</d/ledger.sqlite-wal>) {eio}\n\
             7     +++ killed by SIGKILL +++\n"
        );
        let read = |text| read(text, Path::new("/d")).unwrap();
        assert_eq!(read(&commit), [hit(7, File::Log, false)]);
        let checkpoint = format!(
            "7     pwrite64(9</d/ledger.sqlite-wal>, \"\"..., 4096, 56) = 4096\n\
             7     fdatasync(9</d/ledger.sqlite-wal>) = 0\n\
             7     fdatasync(9</d/ledger.sqlite-wal>) {eio}\n\
             7     fdatasync(8</d/ledger.sqlite>) {eio}\n"
        );
        let expected = [hit(7, File::Log, true), hit(7, File::Ledger, true)];
        assert_eq!(read(&checkpoint), expected);
        let new_log = format!("7     fsync(11</d>) {eio}\n");
        assert_eq!(read(&new_log), [hit(7, File::Folder, false)]);
    }

    #[test]
    fn a_call_in_two_lines_is_its_threads() {
        let text = "7     pwrite64(9</d/ledger.sqlite-wal>, \"\"..., 24, 0 <unfinished ...>\n\
                    8     fsync(4</d/ledger.sqlite>) = 0\n\
                    7     <... pwrite64 resumed>) = -1 ENOSPC (No space left on device) (INJECTED)\n";
        assert_eq!(read(text, Path::new("/d")).unwrap(), [hit(7, File::Log, false)]);
        assert!(read("no thread in here", Path::new("/d")).is_err());
    }
}
