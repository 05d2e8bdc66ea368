//! Holds back the bytes on connections between nodes and the database, or cuts the connections,
//! again and again. One more node connects to the database directly, so that the faults do not
//! affect it.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use enrich_testkit::postgres::{Cluster, ClusterOptions};
use enrich_testkit::tcp_proxy::{Cut, TcpProxy, Trigger};
use fastrand::Rng;

use crate::pg::call::now;
use crate::pg::trial::{Outcome, Trial, in_folder};
use crate::pg::{ROUNDS_PER_DATABASE, ROUNDS_PER_JUDGEMENT, Setting};
use crate::report::{Console, Summary};

/// Number of nodes behind the proxy.
const CUT_NODES: usize = 2;
/// The range of times, in milliseconds, for which the load runs before a fault, and again after the
/// nodes have recovered.
const LOAD_MILLIS: std::ops::Range<u64> = 50..300;
/// The range of times, in milliseconds, for which the proxy holds back bytes in most rounds.
const STOP_MILLIS: std::ops::Range<u64> = 50..1_500;
/// The range of long times, in milliseconds, for which the proxy holds back bytes in one of four
/// rounds on average. They are so long that a node gives up its connection.
const LONG_STOP_MILLIS: std::ops::Range<u64> = 2_100..3_500;
/// Time limit for a node to send a `COMMIT`.
const COMMIT_WITHIN: Duration = Duration::from_secs(10);
/// The bytes of the statement `COMMIT` in PostgreSQL's protocol.
const COMMIT: &[u8] = b"COMMIT\0";

/// What the proxy does to the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Holds back the bytes in both directions for a while.
    Stop,
    /// Holds back the bytes to the database for a while.
    StopToServer,
    /// Holds back the bytes to the nodes for a while.
    StopToClient,
    /// Cuts one connection at a `COMMIT`, or loses the reply to the `COMMIT`.
    AtCommit(Trigger),
    /// Closes all connections through the proxy.
    Cut(Cut),
}

const FAULTS: [Fault; 8] = [
    Fault::Stop,
    Fault::AtCommit(Trigger::CutBefore),
    Fault::StopToServer,
    Fault::AtCommit(Trigger::CutAfter),
    Fault::StopToClient,
    Fault::AtCommit(Trigger::LoseReply),
    Fault::Cut(Cut::Reset),
    Fault::Cut(Cut::Finish),
];

/// Runs `rounds` rounds, with one fault in each.
pub(crate) fn run(setting: &Setting, rounds: u64, console: &mut Console<'_>) -> Result<Summary> {
    let mut chance = Rng::with_seed(setting.seed);
    let mut outcome = Outcome::default();
    let mut done = 0;
    while done < rounds {
        let these = (rounds - done).min(ROUNDS_PER_DATABASE);
        in_folder(setting, |folder| {
            let cluster = Cluster::start(&ClusterOptions::default())?.context("PostgreSQL")?;
            let proxy = TcpProxy::start(cluster.address(), Duration::ZERO)?;
            let direct = cluster.url();
            let mut trial = Trial::begin(setting, &direct, folder, false)?;
            let by_proxy = cluster.database().url_at(&[proxy.address()]);
            for _ in 0..CUT_NODES {
                trial.start(&by_proxy)?;
            }
            trial.start(&direct)?;
            for number in done..done + these {
                let fault = FAULTS[(number % 8) as usize];
                cut(&mut trial, &proxy, fault, &mut chance, &mut outcome)
                    .with_context(|| format!("round {}: {fault:?}", number + 1))?;
                if (number + 1) % ROUNDS_PER_JUDGEMENT == 0 {
                    trial.judge().with_context(|| format!("after round {}", number + 1))?;
                }
            }
            trial.end(&mut outcome)
        })?;
        done += these;
        console.print(format_args!(
            "cut {done}/{rounds}: {} acknowledged, {} lost, {} doubled",
            outcome.tally.charged, outcome.tally.lost, outcome.tally.doubled,
        ))?;
    }
    let summary = Summary::of("cut connections").row("seed", setting.seed).row("cuts", rounds);
    Ok(outcome.add_to(summary))
}

/// Makes one fault under load, and waits until the nodes behind the proxy charge again.
fn cut(
    trial: &mut Trial,
    proxy: &TcpProxy,
    fault: Fault,
    chance: &mut Rng,
    outcome: &mut Outcome,
) -> Result<()> {
    trial.load()?;
    sleep(chance.u64(LOAD_MILLIS));
    let stop = match chance.u8(..4) {
        0 => chance.u64(LONG_STOP_MILLIS),
        _ => chance.u64(STOP_MILLIS),
    };
    let (mut began, told) = (now(), trial.fleet.count());
    match fault {
        Fault::Stop => proxy.pause_both(),
        Fault::StopToServer => proxy.pause_to_server(),
        Fault::StopToClient => proxy.pause_to_client(),
        Fault::Cut(how) => proxy.cut(how),
        Fault::AtCommit(trigger) => {
            began = at_commit(proxy, trigger)?;
        }
    }
    trial.note_fault(now());
    if matches!(fault, Fault::Stop | Fault::StopToServer | Fault::StopToClient) {
        sleep(stop);
        proxy.resume();
    }
    let resumed = trial.fleet.wait_for_charge(|node| node < CUT_NODES, began, told)?;
    outcome.outages.push(resumed - began);
    sleep(chance.u64(LOAD_MILLIS));
    trial.rest()
}

/// Makes the proxy cut a connection at a `COMMIT`, or lose the reply to the `COMMIT`. Waits until
/// the proxy has done so, and returns the time just afterwards.
fn at_commit(proxy: &TcpProxy, trigger: Trigger) -> Result<u64> {
    let (before, begun) = (proxy.triggered(), Instant::now());
    proxy.cut_when(COMMIT, trigger);
    while proxy.triggered() == before {
        anyhow::ensure!(begun.elapsed() < COMMIT_WITHIN, "no node sent a COMMIT");
        thread::sleep(Duration::from_micros(200));
    }
    Ok(now())
}

fn sleep(millis: u64) {
    thread::sleep(Duration::from_millis(millis));
}
