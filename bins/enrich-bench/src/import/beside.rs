//! Measures look-ups while `enrich import` loads a file into the same data folder. Each look-up is
//! charged.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use anyhow::{Context, ensure};
use serde::Serialize;

use crate::folder::{FolderSpec, World};
use crate::generated::Generated;
use crate::part::median;
use crate::prepare::make_accounts;
use crate::program::{Data, Program};
use crate::workload::Workload;
use crate::wrk::{self, Requests, Wrk};

/// Number of connections that send look-ups.
const CONNECTIONS: usize = 64;
/// Seconds of the warm-up.
const WARM_SECONDS: u64 = 10;
/// Seconds of each measurement.
const SECONDS: u64 = 3;
/// Number of measurements before the file is loaded.
const ROUNDS: u64 = 7;
/// Minimum number of measurements while the file is loaded. With fewer, the program stops with an
/// error.
const MIN: usize = 3;

/// The speed of a server's look-ups: `alone` before the import of a file, `beside` during the
/// import. Each look-up found a company and was charged.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LookUps {
    pub(super) alone: Pace,
    pub(super) beside: Pace,
    /// The number of measurements while the file was loaded.
    rounds: usize,
}

/// The rate and the latency of look-ups, each as the median of several measurements.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Pace {
    pub(super) requests_per_second: f64,
    pub(super) p99_micros: f64,
}

/// The data folder that is measured, and the file that is loaded during the look-ups.
pub(super) struct Case<'a> {
    pub(super) program: &'a Program,
    pub(super) wrk: &'a Path,
    pub(super) data: PathBuf,
    pub(super) companies: u64,
    pub(super) file: &'a Path,
}

impl LookUps {
    /// Returns the rate of look-ups while a file is loaded, as a ratio to the rate before.
    pub(super) fn ratio(&self) -> f64 {
        self.beside.requests_per_second / self.alone.requests_per_second
    }
}

impl Case<'_> {
    /// Runs the measurements, with temporary files in `folder`. Returns an error if a look-up was
    /// refused or not answered, or if the ledger does not add up.
    pub(super) fn measure(&self, folder: &Path) -> anyhow::Result<LookUps> {
        let data = Data::folder(&self.data);
        let load = self.look_ups(&folder.join("look-ups"))?;
        let serving = self.program.serve(&data, &[], File::create(folder.join("service.log"))?)?;
        let address = serving.address();
        let run = |seconds, round| one(&load, address, seconds, round);
        run(WARM_SECONDS, 0)?;
        let alone = (1..=ROUNDS).map(|round| run(SECONDS, round)).collect::<Result<Vec<_>, _>>()?;
        let mut beside = Vec::new();
        let mut child = self.start_load(File::create(folder.join("beside.log"))?)?;
        loop {
            let pace = run(SECONDS, ROUNDS + 1 + beside.len() as u64)?;
            // A measurement is used only if the import was still running at the measurement's end.
            if child.try_wait()?.is_some() {
                break;
            }
            beside.push(pace);
        }
        let status = child.wait()?;
        ensure!(status.success(), "`enrich import` beside the look-ups ended with {status}");
        ensure!(beside.len() >= MIN, "the load was too short; take more companies");
        serving.stop()?;
        self.program.prove(&data)?;
        let rounds = beside.len();
        Ok(LookUps { alone: Pace::of(&alone)?, beside: Pace::of(&beside)?, rounds })
    }

    /// Creates accounts in the data folder, and the load generator that sends look-ups.
    fn look_ups(&self, folder: &Path) -> anyhow::Result<Wrk> {
        wrk::find(self.wrk)?;
        let spec = FolderSpec { companies: self.companies, charges: 0 };
        let keys = make_accounts(&self.data)?;
        let world = World { spec, generated: Generated::new(self.companies), keys };
        let calls = Workload::Found.redraw(&world, 1)?.context("there are no calls")?;
        fs::create_dir(folder).with_context(|| folder.display().to_string())?;
        Wrk::new(self.wrk, folder, &Requests { calls, keys: world.keys.many, fresh_after: None })
    }

    fn start_load(&self, log: File) -> anyhow::Result<Child> {
        let mut command = self.program.command(["import"]);
        command.arg(self.file).arg("--data").arg(&self.data);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        command.spawn().context("`enrich import` cannot be run")
    }
}

impl Pace {
    fn of(all: &[Self]) -> anyhow::Result<Self> {
        let of = |figure: fn(&Self) -> f64| {
            median(all.iter().map(figure).collect()).context("nothing was measured")
        };
        Ok(Self {
            requests_per_second: of(|pace| pace.requests_per_second)?,
            p99_micros: of(|pace| pace.p99_micros)?,
        })
    }
}

fn one(load: &Wrk, address: SocketAddr, seconds: u64, round: u64) -> anyhow::Result<Pace> {
    let summary = load.run(&[address], (CONNECTIONS, seconds), round, "look-ups")?;
    summary.check()?;
    Ok(Pace { requests_per_second: summary.requests_a_second(), p99_micros: summary.p99 as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_that_of_the_medians() {
        let pace = |rate| Pace { requests_per_second: rate, p99_micros: 1.0 };
        let of = |rates: [f64; 3]| Pace::of(&rates.map(pace)).unwrap();
        let look_ups =
            LookUps { alone: of([9.0, 1.0, 10.0]), beside: of([2.0, 6.3, 9.0]), rounds: 3 };
        assert!((look_ups.ratio() - 0.7).abs() < 1e-9);
    }
}
