//! Makes system calls of the server fail, and checks the answers afterwards. In the N-th run, the
//! N-th fsync or write of each of the server's threads fails.
//!
//! One client sends requests with idempotency keys, one after the other, so that each failure
//! affects few requests. These rules must hold:
//!
//! - After a 500, nothing was charged, and charging continues.
//! - After a 503, the outcome is unknown, and charging stops. Then the server is restarted, and
//!   every request with an unknown outcome is repeated with its idempotency key. Afterwards, each
//!   request must have been charged exactly once.
//! - If a system call failed and no answer reports an error, the failure must not concern a charge.
//!   For example, the system call belongs to a checkpoint, or to a thread that does not write the
//!   ledger.

mod failure_answers;
mod tracer;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use crate::broken::Broken;
use crate::report::{Console, Summary};
use crate::setting::{Setting, need_program};
use crate::tally::Tally;
use crate::trial::{Least, Ruling, Trial, enough};
use failure_answers::ask_until_it_fails;
use tracer::{File, Hit, attach, has_hit, hits, ledger_thread, tracer};

const POSITIONS_PER_FOLDER: u64 = 50;
const POSITIONS_PER_PROOF: u64 = 25;
/// Number of additional requests, as a margin. To reach the N-th system call, the client sends N
/// requests and this many more. N requests should be enough, because each request causes a commit,
/// which makes at least one write and one sync. After a failure in a checkpoint, the client also
/// sends this many requests.
const SPARE_CALLS: u64 = 10;
/// After every [`POSITIONS_PER_CHECKPOINT`] positions, one additional run makes a system call in a
/// checkpoint fail. Position N is the N-th system call of each thread. Few of these system calls
/// belong to a checkpoint, so without the additional runs, checkpoints would hardly be tested.
const POSITIONS_PER_CHECKPOINT: u64 = 10;
/// Maximum number of requests until a checkpoint runs. A checkpoint runs when the write-ahead log
/// has 4,096 pages. Each request adds several pages, so fewer requests than this are enough.
const MAX_CALLS_TO_CHECKPOINT: u64 = 4096;
/// Maximum position of the write that is made to fail in a checkpoint. Each checkpoint certainly
/// makes more writes.
const CHECKPOINT_WRITES: u64 = 40;

/// The system call that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailingCall {
    /// fsync and fdatasync, with EIO
    Fsync,
    /// pwrite64, with ENOSPC
    WriteFull,
    /// pwrite64, with EIO
    WriteBroken,
}

/// Counts of the failures by their effect, and of the failed system calls by their file or thread.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// The number of servers that did not start, because a system call failed. After each of them,
    /// another server is started, in which the system call fails only after the server has begun to
    /// listen ([`Counted::FromListening`]).
    refused_to_start: u64,
    /// The number of failures after which a request was answered with 503, and charging stopped.
    stopped: u64,
    /// The number of failures after which a request was answered with 500, and charging continued.
    rolled_back: u64,
    /// The number of failures after which no request failed.
    unnoticed: u64,
    /// The number of failed system calls.
    failed: u64,
    /// How many of the failed system calls were in the thread that writes the ledger.
    of_ledger_thread: u64,
    /// The number of failed system calls on `ledger.sqlite`.
    in_ledger: u64,
    /// The number of failed system calls on the write-ahead log of `ledger.sqlite`.
    in_log: u64,
    /// The number of failed syncs of the data folder itself. SQLite ignores such failures.
    on_folder: u64,
    /// The number of failed system calls in a checkpoint.
    in_checkpoint: u64,
    /// The number of servers in which a system call of a checkpoint was made to fail.
    checkpoints: u64,
    /// The number of runs in which nothing failed. The N-th system call of each thread should have
    /// failed, but no thread made so many system calls.
    not_reached: u64,
}

/// Which system calls of a thread are counted. The call whose number is [`Failure::position`]
/// fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// All system calls after the start of the process.
    FromStart,
    /// All system calls after the server has begun to listen. They are counted in a second try, if
    /// the run with [`Self::FromStart`] made one of the first system calls fail, and the server
    /// therefore did not start.
    FromListening,
    /// System calls on `ledger.sqlite`. Only checkpoints make such calls.
    InCheckpoint,
}

#[derive(Clone, Copy, Debug)]
struct Failure {
    failing: FailingCall,
    position: u64,
    counted: Counted,
}

/// How the server behaved after a system call had failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureEffect {
    RefusedToStart,
    Stopped,
    RolledBack,
    Unnoticed,
}

impl FailingCall {
    fn injection(self, position: u64) -> String {
        let (calls, error) = match self {
            Self::Fsync => ("fsync,fdatasync", "EIO"),
            Self::WriteFull => ("pwrite64", "ENOSPC"),
            Self::WriteBroken => ("pwrite64", "EIO"),
        };
        format!("inject={calls}:error={error}:when={position}")
    }

    fn named(self) -> &'static str {
        match self {
            Self::Fsync => "failing fsync (EIO)",
            Self::WriteFull => "failing write (ENOSPC)",
            Self::WriteBroken => "failing write (EIO)",
        }
    }
}

/// Returns an error if `strace` is not installed.
pub(crate) fn check() -> Result<()> {
    need_program("strace", "strace", "a failing fsync")
}

/// Runs the torture at `positions` positions, beginning with `first`. At position N, a server is
/// started in which the N-th system call of each thread fails. After every
/// `POSITIONS_PER_CHECKPOINT` positions, one more server is started, in which a call in a
/// checkpoint fails.
pub(crate) fn run(
    setting: &Setting,
    (failing, first, positions): (FailingCall, u64, u64),
    console: &mut Console<'_>,
) -> Result<Summary> {
    check()?;
    let (mut counts, mut total) = (Counts::default(), Tally::default());
    let end = first + positions;
    let mut next = first;
    while next < end {
        let until = (next + POSITIONS_PER_FOLDER).min(end);
        total.add(
            setting.in_folder(|folder| {
                run_folder(setting, folder, failing, next..until, &mut counts)
            })?,
        );
        next = until;
        console.print(format_args!(
            "{} up to position {}: {} stopped, {} rolled back, {} unnoticed, {} refused to start",
            failing.named(),
            until - 1,
            counts.stopped,
            counts.rolled_back,
            counts.unnoticed,
            counts.refused_to_start
        ))?;
    }
    counts.are_enough(failing, positions, &total)?;
    Ok(Summary::of(format!("{}, each position once", failing.named()))
        .row("seed", setting.seed)
        .row("positions", positions)
        .row("failures in a checkpoint besides", counts.checkpoints)
        .row("system calls that failed", counts.failed)
        .row("of the ledger's thread", counts.of_ledger_thread)
        .row("on ledger.sqlite", counts.in_ledger)
        .row("on its log", counts.in_log)
        .row("on the folder of a new log", counts.on_folder)
        .row("in a checkpoint", counts.in_checkpoint)
        .row("refused to start, then started", counts.refused_to_start)
        .row("503, charging stopped", counts.stopped)
        .row("500, charging went on", counts.rolled_back)
        .row("nobody had to be told", counts.unnoticed)
        .tally(&total))
}

impl Counts {
    /// Counts the failed calls of a traced server. `ledger_thread` is the thread that writes the
    /// ledger.
    fn add(&mut self, hits: &[Hit], ledger_thread: Option<u32>) {
        let count = |of: &dyn Fn(&Hit) -> bool| hits.iter().filter(|hit| of(hit)).count() as u64;
        self.failed += count(&|_| true);
        self.of_ledger_thread += count(&|hit| Some(hit.thread) == ledger_thread);
        self.in_ledger += count(&|hit| hit.file == File::Ledger);
        self.in_log += count(&|hit| hit.file == File::Log);
        self.on_folder += count(&|hit| hit.file == File::Folder);
        self.in_checkpoint += count(&|hit| hit.is_checkpoint);
    }

    /// Returns an error if too few of the injected failures have made a request fail. Then the run
    /// would prove nothing.
    fn are_enough(&self, failing: FailingCall, positions: u64, total: &Tally) -> Result<()> {
        if self.not_reached > 0 {
            bail!("{} positions were never reached, so nothing failed there", self.not_reached);
        }
        // At least three quarters of the failures must make a request fail. The others may be
        // failures in a checkpoint, or in a thread for which no request waits. Such failures make
        // no request fail.
        let least = positions * 3 / 4;
        let noticed = self.stopped + self.rolled_back;
        ensure!(noticed >= least, "only {noticed} failures were noticed, {least} are expected");
        let passes = positions / POSITIONS_PER_CHECKPOINT;
        ensure!(
            self.checkpoints >= passes && self.in_ledger >= passes,
            "only {} failures on ledger.sqlite, {passes} are expected",
            self.in_ledger
        );
        // If only an fsync failed, the commit was already written to the write-ahead log. It is not
        // lost, because the machine continues to run, and only the server's process is killed. So
        // after the restart, the repeated request gets the stored response. At least one such
        // response is required.
        let replayed = u64::from(failing == FailingCall::Fsync && positions >= 10);
        let least = Least { charged: positions, failed: least, replayed, ..Least::default() };
        enough(total, &least)
    }
}

fn run_folder(
    setting: &Setting,
    folder: &Path,
    failing: FailingCall,
    positions: std::ops::Range<u64>,
    counts: &mut Counts,
) -> Result<Tally> {
    let mut trial = Trial::begin(setting, folder.join("data"), folder.join("server.log"))?;
    let trace = folder.join("trace");
    for position in positions {
        let mut failure = Failure { failing, position, counted: Counted::FromStart };
        let mut effect = failure.run(&mut trial, &trace, counts)?;
        if effect == Some(FailureEffect::RefusedToStart) {
            counts.refused_to_start += 1;
            failure.counted = Counted::FromListening;
            effect = failure.run(&mut trial, &trace, counts)?;
        }
        match effect {
            None => counts.not_reached += 1,
            Some(FailureEffect::Stopped) => counts.stopped += 1,
            Some(FailureEffect::RolledBack) => counts.rolled_back += 1,
            Some(FailureEffect::Unnoticed) => counts.unnoticed += 1,
            Some(FailureEffect::RefusedToStart) => {
                return Err(Broken::because("it does not start untouched"));
            }
        }
        if position % POSITIONS_PER_CHECKPOINT == 0 {
            let position = match failing {
                FailingCall::Fsync => 1,
                FailingCall::WriteFull | FailingCall::WriteBroken => {
                    1 + position % CHECKPOINT_WRITES
                }
            };
            let failure = Failure { failing, position, counted: Counted::InCheckpoint };
            match failure.run(&mut trial, &trace, counts)? {
                None => counts.not_reached += 1,
                Some(_) => counts.checkpoints += 1,
            }
        }
    }
    trial.prove()?;
    Ok(trial.total)
}

impl Failure {
    /// Starts a server in which the system call at this position fails, sends requests, and kills
    /// the server. Then starts a server without a failure. Returns the effect of the failure;
    /// `None` if no call failed.
    fn run(
        self,
        trial: &mut Trial<'_>,
        trace: &Path,
        counts: &mut Counts,
    ) -> Result<Option<FailureEffect>> {
        let Self { failing, position, counted } = self;
        let place = || format!("{} at position {position}, {counted:?}", failing.named());
        let (effect, thread) = self.observe(trial, trace).with_context(place)?;
        let hits = hits(trace, &trial.world.data).with_context(place)?;
        counts.add(&hits, thread);
        judge(effect, &hits, thread).and_then(|()| self.recover(trial)).with_context(place)?;
        Ok((!hits.is_empty()).then_some(effect))
    }

    /// Starts a server in which a system call fails, and sends requests to it. Returns the effect
    /// of the failure. Also returns the id of the thread that writes the ledger, or `None` if the
    /// server did not start.
    fn observe(self, trial: &mut Trial<'_>, trace: &Path) -> Result<(FailureEffect, Option<u32>)> {
        let said_before = trial.log_length();
        // The trace of an earlier server must not be mistaken for the trace of this server.
        if trace.exists() {
            fs::remove_file(trace)?;
        }
        let mut strace = tracer(trace, &self.failing.injection(self.position));
        let serving = match self.counted {
            // With `-D`, strace runs in a process of its own, and the started process becomes the
            // server. strace ends when the server ends.
            Counted::FromStart => trial.serve_inside({
                strace.args(["-D", "--seccomp-bpf"]);
                strace
            }),
            Counted::FromListening | Counted::InCheckpoint => {
                if self.counted == Counted::InCheckpoint {
                    strace.arg("-P").arg(trial.world.data.join("ledger.sqlite"));
                }
                let server = trial.serve(&[])?;
                attach(strace, &server)?;
                Ok(server)
            }
        };
        let Ok(server) = serving else {
            let said = trial.log_since(said_before)?;
            if !said.contains("error") {
                let what = format!("it does not start and does not say why: {said:?}");
                return Err(Broken::because(what));
            }
            return Ok((FailureEffect::RefusedToStart, None));
        };
        let thread = ledger_thread(&server)?;
        let effect = match self.counted {
            Counted::FromStart | Counted::FromListening => {
                let calls = self.position + SPARE_CALLS;
                ask_until_it_fails(trial, &server, self.failing, |asked| asked < calls)?
            }
            Counted::InCheckpoint => {
                // A failure in a checkpoint may leave all answers successful. So the trace is read
                // to find out whether the failure has happened. Then further requests check that
                // charging continues.
                let mut end = MAX_CALLS_TO_CHECKPOINT;
                ask_until_it_fails(trial, &server, self.failing, |asked| {
                    if end == MAX_CALLS_TO_CHECKPOINT && has_hit(trace) {
                        end = asked + SPARE_CALLS;
                    }
                    asked < end
                })?
            }
        };
        server.kill()?;
        Ok((effect, Some(thread)))
    }

    /// Starts a server without failures, and repeats every call whose outcome is unknown, until the
    /// outcome is known.
    ///
    /// The write-ahead log must grow from run to run, until it is large enough for a checkpoint.
    /// But SQLite empties the log when the last process closes the ledger. This process opens the
    /// ledger to judge the calls, so it closes the ledger while the server still has it open. Then
    /// the server is killed, so that it does not close the ledger.
    fn recover(self, trial: &mut Trial<'_>) -> Result<()> {
        let server = trial.serve(&[])?;
        trial.probe(server.address())?;
        // First judges all calls so far, and allows the statuses 500 and 503. This also records
        // which calls have an unknown outcome. Then repeats these calls. Judges the repeats, and
        // allows no errors.
        trial.judge(Ruling { excused: &[500, 503], ..Ruling::default() })?;
        trial.settle(server.address())?;
        trial.judge(Ruling::default())?;
        if self.position.is_multiple_of(POSITIONS_PER_PROOF) {
            trial.prove()?;
        }
        Ok(server.kill()?)
    }
}

/// Returns an error if a commit failed in the thread that writes the ledger, but no request got an
/// error.
fn judge(effect: FailureEffect, hits: &[Hit], ledger_thread: Option<u32>) -> Result<()> {
    let is_in_doubt = |hit: &&Hit| Some(hit.thread) == ledger_thread && hit.is_in_doubt();
    match hits.iter().find(is_in_doubt) {
        Some(hit) if effect == FailureEffect::Unnoticed => {
            let what = format!("the ledger's thread failed and nobody was told: {hit:?}");
            Err(Broken::because(what))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_the_ledgers_thread_has_to_be_told_unless_in_a_checkpoint() {
        let commit = Hit { thread: 7, file: File::Log, is_checkpoint: false };
        let checkpoint = Hit { is_checkpoint: true, ..commit };
        let folder = Hit { file: File::Folder, ..commit };
        let elsewhere = Hit { thread: 8, ..commit };
        assert!(judge(FailureEffect::Unnoticed, &[checkpoint, folder, elsewhere], Some(7)).is_ok());
        assert!(judge(FailureEffect::Stopped, &[commit], Some(7)).is_ok());
        let broken = judge(FailureEffect::Unnoticed, &[elsewhere, commit], Some(7)).unwrap_err();
        assert!(broken.downcast_ref::<Broken>().is_some());
    }

    #[test]
    fn a_run_in_which_nobody_noticed_anything_proves_nothing() {
        let total = Tally { charged: 100, failed: 100, ..Tally::default() };
        let counts = Counts { stopped: 5, rolled_back: 1, unnoticed: 2, ..Counts::default() };
        assert!(counts.are_enough(FailingCall::Fsync, 8, &total).is_ok());
        let counts = Counts { stopped: 5, rolled_back: 0, unnoticed: 3, ..Counts::default() };
        assert!(counts.are_enough(FailingCall::Fsync, 8, &total).is_err());
        let counts = Counts { stopped: 8, not_reached: 1, ..Counts::default() };
        assert!(counts.are_enough(FailingCall::Fsync, 8, &total).is_err());
        let counts = Counts { stopped: 10, checkpoints: 1, in_ledger: 0, ..Counts::default() };
        assert!(counts.are_enough(FailingCall::WriteFull, 10, &total).is_err());
    }
}
