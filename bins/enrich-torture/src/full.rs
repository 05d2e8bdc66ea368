//! Fills the disk under load and frees it, again and again.
//!
//! The expected results are:
//!
//! - While the disk is full, charges fail with 500 and change no balance. Free calls are answered,
//!   and `/readyz` answers 200.
//! - When the disk has space again, charges succeed without a restart.
//! - If a charge fails with 503 instead of 500, `/readyz` answers 503 too. Then charges are allowed
//!   to fail until the server is restarted.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use enrich_testkit::serving::Serving;

use crate::broken::Broken;
use crate::call_log::{Answer, Call, End};
use crate::load::ask_once;
use crate::mount::Mounted;
use crate::report::{Console, Summary};
use crate::setting::{Setting, need_root};
use crate::tally::Tally;
use crate::trial::{Least, Ruling, Trial, copy_folder, enough};
use crate::world::{World, status_of};
use enrich_testkit::http::Connection;

/// Number of rounds after which a new tmpfs (a file system in memory) is used. The ledger grows in
/// every round, so one tmpfs would become too small for all rounds.
const ROUNDS_PER_DISK: u64 = 5;
/// Time limit for each of two waits: until charges fail on the full disk, and until they succeed
/// again on the freed disk.
const PATIENCE: Duration = Duration::from_secs(10);
/// Number of clients. It is small, so that the ledger itself does not fill the disk.
const CLIENTS: usize = 4;
const PAUSE: Duration = Duration::from_millis(2);
/// The time for which clients are served normally before the disk is filled.
const CALM_TIME: Duration = Duration::from_millis(100);
const QUESTIONS_WHILE_FULL: usize = 20;
const PROBE_PAUSE: Duration = Duration::from_millis(5);

/// The counts of a whole torture. In each of its rounds, the disk is filled and freed once.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// The number of rounds in which charges resumed without a restart of the server.
    resumed: u64,
    /// The number of rounds in which charges resumed only after a restart of the server.
    restarted: u64,
    /// The longest time from freeing the disk until charges resumed, in all rounds.
    slowest: Duration,
    /// The number of requests with a free answer that were answered while the disk was full.
    free_while_full: u64,
    /// The number of charges that were refused while the disk was full.
    refused_while_full: u64,
}

/// The results of filling and freeing the disk once.
struct Filled {
    /// The time from freeing the disk until a charge succeeded; `None` if no charge succeeded
    /// within [`PATIENCE`].
    resumed_after: Option<Duration>,
    free_while_full: u64,
    refused_while_full: u64,
    calls: Vec<Call>,
}

/// Returns an error if this process does not run as root. Only root may mount file systems.
pub(crate) fn check() -> Result<()> {
    need_root("a full disk")
}

/// Fills and frees a disk `rounds` times.
pub(crate) fn run(
    setting: &Setting,
    (rounds, size_mib): (u64, u64),
    console: &mut Console<'_>,
) -> Result<Summary> {
    check()?;
    let (mut counts, mut total) = (Counts::default(), Tally::default());
    let mut done = 0;
    while done < rounds {
        let these = (rounds - done).min(ROUNDS_PER_DISK);
        total.add(setting.in_folder(|folder| {
            run_folder(setting, folder, size_mib, done..done + these, &mut counts)
        })?);
        done += these;
        console.print(format_args!(
            "full {done}/{rounds}: {} charges refused, {} free answers meanwhile, charges resumed \
             {} times, after at most {:?}",
            counts.refused_while_full, counts.free_while_full, counts.resumed, counts.slowest
        ))?;
    }
    // At least half of the charges on a full disk must have been refused. Some charges succeed,
    // because a checkpoint frees some space.
    let refused = rounds * QUESTIONS_WHILE_FULL as u64 / 2;
    enough(&total, &Least { failed: refused, ..Least::of_load(rounds) })?;
    Ok(Summary::of(format!("full disk (tmpfs of {size_mib} MiB)"))
        .row("seed", setting.seed)
        .row("filled and freed", rounds)
        .row("charges resumed by themselves", counts.resumed)
        .row("charges resumed after a restart", counts.restarted)
        .row("slowest to resume, milliseconds", counts.slowest.as_millis() as u64)
        .row("charges refused while full", counts.refused_while_full)
        .row("free answers while full", counts.free_while_full)
        .tally(&total))
}

fn run_folder(
    setting: &Setting,
    folder: &Path,
    size_mib: u64,
    rounds: std::ops::Range<u64>,
    counts: &mut Counts,
) -> Result<Tally> {
    let disk = Mounted::tmpfs(folder, size_mib)?;
    let ran = live_on(setting, folder, &disk, rounds, counts);
    if ran.is_err() {
        // The data folder is copied, because its content is lost when the tmpfs is unmounted.
        copy_folder(&disk.at().join("data"), &folder.join("data"))?;
    }
    ran
}

fn live_on(
    setting: &Setting,
    folder: &Path,
    disk: &Mounted,
    rounds: std::ops::Range<u64>,
    counts: &mut Counts,
) -> Result<Tally> {
    let data = disk.at().join("data");
    let mut trial = Trial::begin(setting, data, folder.join("server.log"))?;
    let filler = disk.at().join("filler");
    let mut server = trial.serve(&[])?;
    for round in rounds {
        trial.probe(server.address())?;
        let name = trial.name("full");
        let address = server.address();
        let filled = trial.load(address, (CLIENTS, PAUSE), |world| {
            fill_and_free(world, &server, &filler, &name)
        })?;
        let filled = filled.with_context(|| format!("round {}", round + 1))?;
        trial.add_calls(filled.calls);
        counts.free_while_full += filled.free_while_full;
        counts.refused_while_full += filled.refused_while_full;
        match filled.resumed_after {
            Some(time) => {
                counts.resumed += 1;
                counts.slowest = counts.slowest.max(time);
            }
            None => {
                counts.restarted += 1;
                server.stop()?;
                server = trial.serve(&[])?;
                trial.probe(server.address())?;
            }
        }
        // While the disk is full, the judge allows both failures: 500, after which charging
        // continues, and 503, after which charging stops until a restart.
        trial.judge(Ruling { excused: &[500, 503], ..Ruling::default() })?;
    }
    trial.settle(server.address())?;
    server.stop()?;
    trial.judge(Ruling::default())?;
    trial.prove()?;
    Ok(trial.total)
}

/// Fills the disk until charges fail, and sends requests while the disk is full. Then frees the
/// disk, and waits until charges succeed again.
fn fill_and_free(world: &World, server: &Serving, filler: &PathBuf, name: &str) -> Result<Filled> {
    let mut prober =
        Prober { world, connection: Connection::to(server.address()), name, calls: Vec::new() };
    thread::sleep(CALM_TIME);
    let begin = Instant::now();
    loop {
        fill(filler)?;
        match prober.ask(prober.charged())? {
            200 if begin.elapsed() < PATIENCE => {}
            500 | 503 => break,
            status => {
                let what = format!("on a full disk a charge is answered {status}");
                return Err(Broken::because(what));
            }
        }
    }
    let (mut free_while_full, mut refused_while_full) = (0, 0);
    for _ in 0..QUESTIONS_WHILE_FULL {
        fill(filler)?;
        let pages = [status_of(server.address(), "/healthz")?, prober.ask(prober.free())?];
        if pages != [200, 200] {
            let what = format!("while the disk is full /healthz and a free answer are {pages:?}");
            return Err(Broken::because(what));
        }
        free_while_full += 1;
        let charge = prober.ask(prober.charged())?;
        let ready = status_of(server.address(), "/readyz")?;
        match (charge, ready) {
            // Each pair has the HTTP statuses of a charge and of `/readyz`. A charge may succeed
            // (200) on a full disk, because a checkpoint has freed some space.
            (200 | 500, 200) => refused_while_full += u64::from(charge == 500),
            (503, 503) => refused_while_full += 1,
            told => {
                let what = format!("while the disk is full a charge and /readyz are {told:?}");
                return Err(Broken::because(what));
            }
        }
    }
    fs::remove_file(filler)?;
    let resumed_after = prober.resumes()?;
    let calls = prober.calls;
    Ok(Filled { resumed_after, free_while_full, refused_while_full, calls })
}

/// A client that sends one request at a time and records each call.
struct Prober<'a> {
    world: &'a World,
    connection: Connection,
    name: &'a str,
    calls: Vec<Call>,
}

impl Prober<'_> {
    /// Returns the index in `World::questions` of a request whose answer costs credits; 0 if there
    /// is none.
    fn charged(&self) -> usize {
        self.find_by_price(|price| price > 0)
    }

    /// Returns the index in `World::questions` of a request whose answer is free; 0 if there is
    /// none.
    fn free(&self) -> usize {
        self.find_by_price(|price| price == 0)
    }

    fn find_by_price(&self, wanted: fn(u64) -> bool) -> usize {
        let mut prices = self.world.questions.iter().map(|question| question.price);
        prices.position(wanted).unwrap_or_default()
    }

    fn ask(&mut self, question: usize) -> Result<u16> {
        let request_id = format!("{}-{}", self.name, self.calls.len());
        let call = ask_once(self.world, &mut self.connection, request_id, 0, question, None);
        let End::Answered(Answer { status, .. }) = call.end else {
            return Err(Broken::because(format!("a full disk left no answer: {call:?}")));
        };
        self.calls.push(call);
        Ok(status)
    }

    /// Returns the time until charges succeed again; `None` if they do not succeed within
    /// `PATIENCE`.
    fn resumes(&mut self) -> Result<Option<Duration>> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if self.ask(self.charged())? == 200 {
                return Ok(Some(begin.elapsed()));
            }
            thread::sleep(PROBE_PAUSE);
        }
        Ok(None)
    }
}

/// Writes to the file `filler` until the disk is full.
fn fill(filler: &PathBuf) -> Result<()> {
    let mut file = File::options().create(true).append(true).open(filler)?;
    let mut size = 256 * 1024;
    let bytes = vec![0; size];
    while size > 0 {
        match file.write(&bytes[..size]) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::StorageFull => size /= 2,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
