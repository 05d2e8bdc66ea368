//! Kills the server under load again and again, and restarts it on the same folder.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use enrich_testkit::serving::Serving;
use fastrand::Rng;

use crate::broken::Broken;
use crate::call_log::GrantCall;
use crate::report::{Console, Summary};
use crate::setting::Setting;
use crate::tally::Tally;
use crate::trial::{Least, Ruling, Trial, enough};
use crate::world::World;

/// Number of rounds after which a new data folder is used.
const ROUNDS_PER_FOLDER: u64 = 100;
/// Number of rounds after which the whole ledger is verified from its first row.
const ROUNDS_PER_PROOF: u64 = 25;
/// The range of times, in milliseconds, for which the load runs before a kill.
pub(crate) const LOAD_MILLIS: std::ops::Range<u64> = 20..300;
/// Credits that the command `enrich credits grant` grants while the load runs.
const GRANTED_CREDITS: i64 = 5;

/// Kills a server under load and restarts it, `rounds` times. Returns the summary.
pub(crate) fn run(setting: &Setting, rounds: u64, console: &mut Console<'_>) -> Result<Summary> {
    let mut chance = Rng::with_seed(setting.seed);
    let mut total = Tally::default();
    let mut done = 0;
    while done < rounds {
        let these = (rounds - done).min(ROUNDS_PER_FOLDER);
        let tally = setting.in_folder(|folder| {
            run_folder(setting, folder, done..done + these, &mut chance, console)
        })?;
        total.add(tally);
        done += these;
        console.print(format_args!(
            "kill {done}/{rounds}: {} acknowledged, {} in flight, {} of these charged",
            total.charged, total.in_flight, total.in_flight_charged
        ))?;
    }
    enough(&total, &Least { in_flight: 1, ..Least::of_load(rounds) })?;
    Ok(Summary::of("kill -9 under load")
        .row("seed", setting.seed)
        .row("kills", rounds)
        .tally(&total))
}

fn run_folder(
    setting: &Setting,
    folder: &Path,
    rounds: std::ops::Range<u64>,
    chance: &mut Rng,
    console: &mut Console<'_>,
) -> Result<Tally> {
    let mut trial = Trial::begin(setting, folder.join("data"), folder.join("server.log"))?;
    let mut server = trial.serve(&[])?;
    for round in rounds.clone() {
        trial.probe(server.address())?;
        load_and_kill(setting, &mut trial, server, chance)?;
        // The first process that opens the folder after a kill recovers the ledger. In even
        // rounds, this is the process of `enrich-torture`: `judge` opens the folder. In odd rounds,
        // it is the new server.
        if round % 2 == 0 {
            trial.judge(Ruling::default())?;
            server = trial.serve(&[])?;
        } else {
            server = trial.serve(&[])?;
            trial.judge(Ruling::default())?;
        }
        if (round + 1) % ROUNDS_PER_PROOF == 0 {
            trial.prove()?;
            let rows = trial.rows();
            console.print(format_args!("kill {}: {rows} rows verified", round + 1))?;
        }
    }
    trial.settle(server.address())?;
    server.stop()?;
    trial.judge(Ruling::default())?;
    trial.prove()?;
    Ok(trial.total)
}

fn load_and_kill(
    setting: &Setting,
    trial: &mut Trial<'_>,
    server: Serving,
    chance: &mut Rng,
) -> Result<()> {
    let wait = Duration::from_millis(chance.u64(LOAD_MILLIS));
    let note = chance.bool().then(|| trial.name("granted"));
    let address = server.address();
    let granted = trial.load(address, (setting.clients, Duration::ZERO), |world| {
        let granting = note.map(|note| grant(setting, world, note));
        thread::sleep(wait);
        server.kill()?;
        granting.transpose()?.map(Granting::ended).transpose()
    })??;
    granted.into_iter().for_each(|grant| trial.granted(grant));
    Ok(())
}

/// A running command `enrich credits grant`.
struct Granting {
    child: std::process::Child,
    call: GrantCall,
}

/// Starts `enrich credits grant` for the account with few credits.
fn grant(setting: &Setting, world: &World, note: String) -> Result<Granting> {
    let account = world.poor();
    let child = Command::new(&setting.enrich)
        .args(["credits", "grant", &world.payers[account].account.to_string()])
        .args([&GRANTED_CREDITS.to_string(), "--note", &note, "--data"])
        .arg(&world.data)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let call = GrantCall { note, account, credits: GRANTED_CREDITS, is_acknowledged: true };
    Ok(Granting { child, call })
}

impl Granting {
    /// Waits until the command has ended. Returns an error if the command has failed. The command
    /// must succeed even if the server is killed at the same time.
    fn ended(self) -> Result<GrantCall> {
        let output = self.child.wait_with_output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(Broken::because(format!("a grant failed: {}", said.trim())));
        }
        Ok(self.call)
    }
}
