//! Lets the N-th fsync, or the N-th write, of the server's threads fail, for each N once.
//!
//! One client asks one keyed question after the other, so that each failure belongs to few of
//! them. What it is told has to be true: 500 took nothing and charging goes on; 503 says that
//! nobody knows and charging stops. After a restart every question is asked again with its key and
//! must be charged once in total.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use enrich_testkit::serving::Serving;

use crate::book::{Call, End};
use crate::broken::Broken;
use crate::connection::Connection;
use crate::report::{Console, Summary};
use crate::setting::{Setting, need_program};
use crate::tally::Tally;
use crate::trial::{Ruling, Trial, enough};
use crate::world::status_of;

const POSITIONS_PER_FOLDER: u64 = 50;
const POSITIONS_PER_PROOF: u64 = 25;
/// So many more questions than positions are asked: what a commit syncs is at least one file.
const SPARE_CALLS: u64 = 10;
/// More threads than a server has that write.
const MAX_THREADS: u32 = 32;
/// How long the tracer may take to write its last line.
const TRACER_PATIENCE: Duration = Duration::from_secs(5);

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fails {
    /// fsync and fdatasync, with EIO
    Fsync,
    /// pwrite64, with ENOSPC
    WriteFull,
    /// pwrite64, with EIO
    WriteBroken,
}

/// What the failures at all positions led to.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// Refused to start, and started the next time.
    refused_to_start: u64,
    /// A request was told 503 and charging stopped.
    stopped: u64,
    /// A request was told 500 and charging went on.
    rolled_back: u64,
    /// Nobody was told anything but what is right.
    unnoticed: u64,
    /// System calls that failed.
    injected: u64,
    /// Positions that were never reached.
    not_reached: u64,
}

/// From when on system calls are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// From the start of the process.
    FromStart,
    /// From when it listens: positions that a process does not survive at its start.
    FromListening,
}

/// What the failure at one position led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Led {
    RefusedToStart,
    Stopped,
    RolledBack,
    Unnoticed,
}

impl Fails {
    fn injection(self, position: u64) -> [String; 2] {
        let (calls, error) = match self {
            Self::Fsync => ("fsync,fdatasync", "EIO"),
            Self::WriteFull => ("pwrite64", "ENOSPC"),
            Self::WriteBroken => ("pwrite64", "EIO"),
        };
        [format!("trace={calls}"), format!("inject={calls}:error={error}:when={position}")]
    }

    fn named(self) -> &'static str {
        match self {
            Self::Fsync => "failing fsync (EIO)",
            Self::WriteFull => "failing write (ENOSPC)",
            Self::WriteBroken => "failing write (EIO)",
        }
    }
}

/// Fails when something is missing that this torture needs.
pub(crate) fn check() -> Result<()> {
    need_program("strace", "strace", "a failing fsync")
}

/// Lets each position fail once, from the first on.
pub(crate) fn run(
    setting: &Setting,
    (fails, first, positions): (Fails, u64, u64),
    console: &mut Console<'_>,
) -> Result<Summary> {
    check()?;
    let (mut found, mut total) = (Found::default(), Tally::default());
    let end = first + positions;
    let mut next = first;
    while next < end {
        let until = (next + POSITIONS_PER_FOLDER).min(end);
        total.add(
            setting.in_folder(|folder| live(setting, folder, fails, next..until, &mut found))?,
        );
        next = until;
        console.say(format_args!(
            "{} up to position {}: {} stopped, {} rolled back, {} unnoticed, {} refused to start",
            fails.named(),
            until - 1,
            found.stopped,
            found.rolled_back,
            found.unnoticed,
            found.refused_to_start
        ))?;
    }
    if found.not_reached > 0 {
        bail!("{} positions were never reached, so nothing failed there", found.not_reached);
    }
    enough(0, &total, false)?;
    Ok(Summary::of(format!("{}, each position once", fails.named()))
        .row("seed", setting.seed)
        .row("positions", positions)
        .row("system calls that failed", found.injected)
        .row("refused to start, then started", found.refused_to_start)
        .row("503, charging stopped", found.stopped)
        .row("500, charging went on", found.rolled_back)
        .row("nobody had to be told", found.unnoticed)
        .tally(&total))
}

fn live(
    setting: &Setting,
    folder: &Path,
    fails: Fails,
    positions: std::ops::Range<u64>,
    found: &mut Found,
) -> Result<Tally> {
    let mut trial = Trial::begin(setting, folder.join("data"), folder.join("server.log"))?;
    let trace = folder.join("trace");
    for position in positions {
        let named = || format!("{} at position {position}", fails.named());
        let pass = |trial: &mut Trial<'_>, counted| {
            at_position(trial, fails, position, counted, &trace).with_context(named)
        };
        let (mut led, mut injected) = pass(&mut trial, Counted::FromStart)?;
        if led == Led::RefusedToStart {
            found.refused_to_start += u64::from(injected > 0);
            found.injected += injected;
            (led, injected) = pass(&mut trial, Counted::FromListening)?;
        }
        found.injected += injected;
        match led {
            _ if injected == 0 => found.not_reached += 1,
            Led::Stopped => found.stopped += 1,
            Led::RolledBack => found.rolled_back += 1,
            Led::Unnoticed => found.unnoticed += 1,
            Led::RefusedToStart => return Err(Broken::because("it does not start untouched")),
        }
        if position % POSITIONS_PER_PROOF == 0 {
            trial.prove()?;
        }
    }
    trial.prove()?;
    Ok(trial.total)
}

/// One position: the server fails there, is ended, and starts again without failing.
fn at_position(
    trial: &mut Trial<'_>,
    fails: Fails,
    position: u64,
    counted: Counted,
    trace: &Path,
) -> Result<(Led, u64)> {
    let said_before = trial.log_length();
    // What the position before has left would be taken for this one's.
    if trace.exists() {
        fs::remove_file(trace)?;
    }
    let mut strace = Command::new("strace");
    strace.args(["-f", "-q", "-o"]).arg(trace);
    for expression in fails.injection(position) {
        strace.args(["-e", &expression]);
    }
    let serving = match counted {
        // `-D`: the server is the process that was started, and the tracer goes with it.
        Counted::FromStart => trial.serve_inside({
            strace.args(["-D", "--seccomp-bpf"]);
            strace
        }),
        Counted::FromListening => {
            let server = trial.serve(&[])?;
            attach(strace, &server)?;
            Ok(server)
        }
    };
    let led = match serving {
        Ok(server) => {
            let led = ask_until_it_fails(trial, &server, fails, position + SPARE_CALLS)?;
            server.kill()?;
            led
        }
        Err(_) => {
            let said = trial.log_since(said_before)?;
            if !said.contains("error") {
                let what = format!("it does not start and does not say why: {said:?}");
                return Err(Broken::because(what));
            }
            Led::RefusedToStart
        }
    };
    let injected = injected(trace)?;
    let server = trial.serve(&[])?;
    trial.probe(server.address())?;
    // Nothing was judged yet, so nothing is noted as unsettled: that comes with the judgement.
    trial.judge(Ruling { excused: &[500, 503], ..Ruling::default() })?;
    trial.settle(server.address())?;
    server.stop()?;
    trial.judge(Ruling::default())?;
    Ok((led, injected))
}

/// Lets strace hold all threads of a server that runs. It ends with the server.
fn attach(mut strace: Command, server: &Serving) -> Result<()> {
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
        if begin.elapsed() > TRACER_PATIENCE {
            bail!("strace could not attach to the server; is it allowed to trace?");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Asks keyed questions until one is not answered well, and looks closely at that moment.
fn ask_until_it_fails(
    trial: &mut Trial<'_>,
    server: &Serving,
    fails: Fails,
    calls: u64,
) -> Result<Led> {
    let mut connection = Connection::to(server.address());
    for number in 0..calls {
        let call = ask_new(trial, &mut connection, number);
        let led = match status(&call)? {
            200 => continue,
            500 => went_on(trial, server, &mut connection, &call)?,
            503 => stopped(trial, server, &mut connection, &call)?,
            status => {
                return Err(Broken::because(format!("a failure was answered {status}: {call:?}")));
            }
        };
        if led == Led::Stopped && fails == Fails::WriteFull {
            return Err(Broken::because("a full disk is no reason to stop charging"));
        }
        return Ok(led);
    }
    Ok(Led::Unnoticed)
}

/// After a 500 the same question is charged, and so is the next. Each thread counts its system
/// calls by itself, so another one may fail meanwhile, which is held to the same.
fn went_on(
    trial: &mut Trial<'_>,
    server: &Serving,
    connection: &mut Connection,
    failed: &Call,
) -> Result<Led> {
    for question in [Some(failed.clone()), None] {
        let mut failures = 0;
        loop {
            let call = match &question {
                Some(Call { account, question, repeat_key, .. }) => {
                    trial.ask(connection, *account, *question, repeat_key.clone())
                }
                None => ask_new(trial, connection, 0),
            };
            match status(&call)? {
                200 => break,
                500 if failures < MAX_THREADS => failures += 1,
                503 => return stopped(trial, server, connection, &call),
                status => {
                    let what = format!("after a 500 the next answer is {status}: {call:?}");
                    return Err(Broken::because(what));
                }
            }
        }
    }
    let statuses =
        [status_of(server.address(), "/readyz")?, status_of(server.address(), "/healthz")?];
    if statuses != [200; 2] {
        return Err(Broken::because(format!("after a 500 /readyz and /healthz say {statuses:?}")));
    }
    Ok(Led::RolledBack)
}

/// After a 503 nothing is charged, not the same question either, and `/readyz` says so.
fn stopped(
    trial: &mut Trial<'_>,
    server: &Serving,
    connection: &mut Connection,
    failed: &Call,
) -> Result<Led> {
    let repeat = trial.ask(connection, failed.account, failed.question, failed.repeat_key.clone());
    let next = ask_new(trial, connection, 0);
    let statuses = [
        status(&repeat)?,
        status(&next)?,
        status_of(server.address(), "/readyz")?,
        status_of(server.address(), "/healthz")?,
    ];
    if statuses != [503, 503, 503, 200] {
        return Err(Broken::because(format!(
            "after a 503 the repeat, another question, /readyz and /healthz say {statuses:?}"
        )));
    }
    Ok(Led::Stopped)
}

/// A question with a key of its own.
fn ask_new(trial: &mut Trial<'_>, connection: &mut Connection, number: u64) -> Call {
    let question = number as usize % trial.world.questions.len();
    let key = trial.name("position");
    trial.ask(connection, 0, question, Some(key.into()))
}

fn status(call: &Call) -> Result<u16> {
    match &call.end {
        End::Answered(answer) => Ok(answer.status),
        End::Silence => Err(Broken::because(format!("a failure left no answer: {call:?}"))),
    }
}

/// How many system calls were made to fail.
fn injected(trace: &Path) -> Result<u64> {
    let begin = Instant::now();
    loop {
        let text = fs::read_to_string(trace).unwrap_or_default();
        // Its last line tells how the server's last thread ended.
        let last = text.lines().last().unwrap_or_default();
        if last.contains("+++ killed by") || last.contains("+++ exited with") {
            return Ok(text.matches("(INJECTED)").count() as u64);
        }
        if begin.elapsed() > TRACER_PATIENCE {
            bail!("strace did not come to an end; is it allowed to trace?");
        }
        thread::sleep(Duration::from_millis(2));
    }
}
