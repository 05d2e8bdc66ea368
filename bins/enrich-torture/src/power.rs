//! Cuts the power of the file system under load, again and again.
//!
//! The file system is in an image, a file that is mounted as a disk. An ioctl shuts down this file
//! system. Everything that is not yet written to the image is lost. An answer that arrives after
//! the ioctl counts as not received.
//!
//! There are two controls: a ledger that rarely syncs, and a disk that reports syncs as done
//! without doing them. Both must lose charges, which proves that the torture finds lost charges.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;
use enrich_testkit::serving::Serving;
use fastrand::Rng;

use crate::broken::Broken;
use crate::kill::LOAD_MILLIS;
use crate::mount::{Cut, FileSystem, Mounted};
use crate::report::{Console, Summary};
use crate::setting::{Setting, need_program, need_root};
use crate::tally::Tally;
use crate::trial::{Least, Ruling, Trial, copy_folder, enough};

/// Number of rounds (power cuts) after which a new image is used. The image is a file that is
/// mounted as a disk.
const ROUNDS_PER_IMAGE: u64 = 50;
const ROUNDS_PER_PROOF: u64 = 10;

/// A variant of the torture that must lose charges. It proves that the torture finds lost charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Control {
    /// A ledger that syncs only at checkpoints (`synchronous=NORMAL`)
    Checkpoint,
    /// A disk that reports syncs as done without doing them (needs strace)
    NoFsync,
}

/// How many power cuts to make, on which file system, and with which control.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The number of power cuts.
    pub(crate) rounds: u64,
    pub(crate) file_system: FileSystem,
    /// The control to run, a variant that must lose charges; `None` for the torture itself.
    pub(crate) control: Option<Control>,
}

/// Makes the power cuts, and collects the results.
struct Cutter<'a> {
    setting: &'a Setting,
    plan: Plan,
    chance: Rng,
    /// How long each power cut took.
    took: Vec<Duration>,
}

/// Returns an error if this process does not run as root, or if a required program is missing.
pub(crate) fn check(file_system: FileSystem, control: Option<Control>) -> Result<()> {
    let what = "a power cut";
    need_root(what)?;
    let (program, package) = file_system.maker();
    need_program(program, package, what)?;
    need_program("xfs_io", "xfsprogs", what)?;
    match control {
        Some(Control::NoFsync) => need_program("strace", "strace", "a disk that lies"),
        Some(Control::Checkpoint) | None => Ok(()),
    }
}

/// Cuts the power `plan.rounds` times.
pub(crate) fn run(setting: &Setting, plan: Plan, console: &mut Console<'_>) -> Result<Summary> {
    check(plan.file_system, plan.control)?;
    let chance = Rng::with_seed(setting.seed);
    let mut cutter = Cutter { setting, plan, chance, took: Vec::new() };
    let mut total = Tally::default();
    let mut done = 0;
    while done < plan.rounds {
        let these = (plan.rounds - done).min(ROUNDS_PER_IMAGE);
        let ran = setting.in_folder(|folder| cutter.run_folder(folder, these));
        let tally = match ran {
            // In this control nothing is synced, so Enrich must break a promise: for example, a
            // charge is lost. The first broken promise, of any kind, ends the control with success.
            // Any other error is returned.
            Err(error) if plan.control == Some(Control::NoFsync) => {
                return control_summary(setting, plan, done, error);
            }
            ran => ran?,
        };
        total.add(tally);
        done += these;
        console.print(format_args!(
            "power {done}/{}: {} acknowledged, {} in flight or answered after the cut, {} of these \
             charged, {} lost",
            plan.rounds,
            total.charged,
            total.in_flight + total.late,
            total.in_flight_charged,
            total.lost
        ))?;
    }
    enough(&total, &Least { in_flight: 1, ..Least::of_load(plan.rounds) })?;
    if plan.control.is_some() && total.lost == 0 {
        let what = "the control lost nothing: this harness would not see a lost charge";
        return Err(Broken::because(what));
    }
    let took = median(&mut cutter.took).as_micros() as u64;
    Ok(summary(setting, plan)
        .row("power cuts", plan.rounds)
        .row("from word to end of the cut, median, microseconds", took)
        .tally(&total))
}

/// Returns the summary of a control: a torture in which Enrich must break a promise, for example
/// lose a charge. `error` is the error that ended the control. If it is not a broken promise
/// ([`Broken`]), returns `error`.
fn control_summary(
    setting: &Setting,
    plan: Plan,
    done: u64,
    error: anyhow::Error,
) -> Result<Summary> {
    if error.downcast_ref::<Broken>().is_none() {
        return Err(error);
    }
    let found = error.root_cause().to_string();
    let first = found.lines().next().unwrap_or_default().to_owned();
    Ok(summary(setting, plan).row("rounds without a find", done).row("found as it must", first))
}

fn summary(setting: &Setting, plan: Plan) -> Summary {
    let name = match plan.control {
        None => "power cut under load",
        Some(Control::Checkpoint) => "power cut, control: a ledger synced at checkpoints alone",
        Some(Control::NoFsync) => "power cut, control: a disk that does not sync",
    };
    Summary::of(format!("{name} ({})", plan.file_system.name())).row("seed", setting.seed)
}

impl Cutter<'_> {
    fn run_folder(&mut self, folder: &Path, rounds: u64) -> Result<Tally> {
        let mut disk = Mounted::image(folder, self.plan.file_system)?;
        let ran = self.live_on(folder, &mut disk, rounds);
        if ran.is_err() {
            // The data folder is copied out of the image, so that it can be examined without
            // mounting the image.
            copy_folder(&disk.at().join("data"), &folder.join("data"))?;
        }
        ran
    }

    fn live_on(&mut self, folder: &Path, disk: &mut Mounted, rounds: u64) -> Result<Tally> {
        let control = self.plan.control;
        let data = disk.at().join("data");
        let mut trial = Trial::begin(self.setting, data, folder.join("server.log"))?;
        // Unmounting writes everything to the disk. So the first power cut cannot lose what was
        // written before the load.
        disk.remount()?;
        let mut server = serve(&trial, control)?;
        for round in 0..rounds {
            trial.probe(server.address())?;
            let cut = self.load_and_cut(&mut trial, server, disk)?;
            self.took.push(cut.took);
            disk.remount()?;
            let ruling = Ruling { cut: Some(cut.began), may_lose: control.is_some(), excused: &[] };
            if round % 2 == 0 {
                trial.judge(ruling)?;
                server = serve(&trial, control)?;
            } else {
                server = serve(&trial, control)?;
                trial.judge(ruling)?;
            }
            if (round + 1) % ROUNDS_PER_PROOF == 0 {
                trial.prove()?;
            }
        }
        trial.settle(server.address())?;
        server.stop()?;
        trial.judge(Ruling::default())?;
        trial.prove()?;
        Ok(trial.total)
    }

    /// Lets clients send requests to the server, cuts the power at a random moment, and kills the
    /// server.
    fn load_and_cut(
        &mut self,
        trial: &mut Trial<'_>,
        server: Serving,
        disk: &Mounted,
    ) -> Result<Cut> {
        let wait = Duration::from_millis(self.chance.u64(LOAD_MILLIS));
        let address = server.address();
        let switch = disk.switch()?;
        trial.load(address, (self.setting.clients, Duration::ZERO), |_| {
            thread::sleep(wait);
            let cut = switch.cut()?;
            server.kill()?;
            Ok(cut)
        })?
    }
}

fn serve(trial: &Trial<'_>, control: Option<Control>) -> Result<Serving> {
    match control {
        None => trial.serve(&[]),
        Some(Control::Checkpoint) => trial.serve(&["--ledger-durability", "checkpoint"]),
        Some(Control::NoFsync) => {
            let mut strace = Command::new("strace");
            // With `-D`, strace runs in a process of its own, and the started process becomes the
            // server. strace ends when the server ends.
            strace.args(["-D", "-f", "-q", "--seccomp-bpf", "-o", "/dev/null"]);
            strace.args(["-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:retval=0"]);
            trial.serve_inside(strace)
        }
    }
}

/// Returns the median of the durations; zero if there are no durations.
fn median(durations: &mut [Duration]) -> Duration {
    durations.sort_unstable();
    durations.get(durations.len() / 2).copied().unwrap_or_default()
}
