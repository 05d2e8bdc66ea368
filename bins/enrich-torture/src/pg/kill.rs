//! Kills one of the nodes under load again and again.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use enrich_testkit::postgres::{Cluster, ClusterOptions};
use fastrand::Rng;

use crate::pg::call::now;
use crate::pg::trial::{Outcome, Trial, in_folder};
use crate::pg::{ROUNDS_PER_DATABASE, ROUNDS_PER_JUDGEMENT, Setting};
use crate::report::{Console, Summary};

/// Number of nodes on the database.
const NODES: usize = 3;
/// The range of times for which the load runs before a kill, in milliseconds.
const LOAD_MILLIS: std::ops::Range<u64> = 20..400;

/// Kills nodes `rounds` times.
pub(crate) fn run(setting: &Setting, rounds: u64, console: &mut Console<'_>) -> Result<Summary> {
    let mut chance = Rng::with_seed(setting.seed);
    let mut outcome = Outcome::default();
    let mut done = 0;
    while done < rounds {
        let these = (rounds - done).min(ROUNDS_PER_DATABASE);
        in_folder(setting, |folder| {
            let cluster = Cluster::start(&ClusterOptions::default())?.context("PostgreSQL")?;
            let url = cluster.url();
            let mut trial = Trial::begin(setting, &url, folder, false)?;
            for _ in 0..NODES {
                trial.start(&url)?;
            }
            for number in done..done + these {
                trial.load()?;
                thread::sleep(Duration::from_millis(chance.u64(LOAD_MILLIS)));
                let (began, told) = (now(), trial.fleet.count());
                let new = trial.fleet.replace(chance.usize(..NODES))?;
                trial.note_fault(began);
                let resumed = trial.fleet.wait_for_charge(|node| node != new, began, told)?;
                outcome.outages.push(resumed - began);
                trial.rest()?;
                trial.fleet.wait_for_charge(|node| node == new, began, told)?;
                if (number + 1) % ROUNDS_PER_JUDGEMENT == 0 {
                    trial.judge().with_context(|| format!("after round {}", number + 1))?;
                }
            }
            trial.end(&mut outcome)
        })?;
        done += these;
        console.print(format_args!(
            "node {done}/{rounds}: {} acknowledged, {} lost, {} doubled, {} told to nobody",
            outcome.tally.charged, outcome.tally.lost, outcome.tally.doubled, outcome.tally.untold,
        ))?;
    }
    let summary = Summary::of("kill -9 of a node").row("seed", setting.seed).row("kills", rounds);
    Ok(outcome.add_to(summary))
}
