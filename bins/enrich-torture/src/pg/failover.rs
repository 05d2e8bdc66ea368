//! Makes the primary fail under load again and again, and promotes its standby.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use enrich_testkit::postgres::{Cluster, ClusterOptions};
use fastrand::Rng;

use crate::broken::Broken;
use crate::pg::call::{Micros, now};
use crate::pg::replication::Replication;
use crate::pg::tally::Outages;
use crate::pg::trial::{Outcome, Trial, in_folder};
use crate::pg::{ROUNDS_PER_DATABASE, ROUNDS_PER_JUDGEMENT, Setting};
use crate::report::{Console, Summary};

/// Number of nodes on the database.
const NODES: usize = 2;
/// The range of times for which the load runs before the fault, in milliseconds.
const LOAD_MILLIS: std::ops::Range<u64> = 200..600;
/// The range of times, in milliseconds, for which the standby receives nothing before the fault.
/// This happens in about half of the rounds.
const LAG_MILLIS: std::ops::Range<u64> = 0..150;
/// The range of times, in milliseconds, from the fault until the standby is promoted.
const NOTICE_MILLIS: std::ops::Range<u64> = 0..300;
/// The time for which a primary is watched after its standby was promoted. In this time, the old
/// primary must not confirm any commit.
const WATCHED: Duration = Duration::from_millis(500);
/// The query that finds the connection whose commit waits for the standby. On this connection,
/// [`confirms_a_commit`] commits a `COMMENT ON` statement.
const WAITING: &str = "SELECT pid FROM pg_stat_activity
    WHERE query LIKE 'COMMENT ON %' AND wait_event = 'SyncRep'";
/// The statement that cuts the connection that [`WAITING`] finds.
const END_WAITING: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE query LIKE 'COMMENT ON %' AND wait_event = 'SyncRep'";
/// The PostgreSQL setting that names the synchronous standby.
const STANDBY_NAMES: &str = "synchronous_standby_names";

/// How the primary fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// All processes of the primary are killed.
    Kill,
    /// All processes of the primary are frozen (SIGSTOP), until they are killed at the end of the
    /// round.
    Freeze,
    /// All processes of the primary are frozen, and continue when the standby has been promoted.
    FreezeAndWake,
    /// The primary shuts down immediately, without a checkpoint.
    Stop,
}

const FAULTS: [Fault; 4] = [Fault::Kill, Fault::Freeze, Fault::FreezeAndWake, Fault::Stop];

/// How one failover is made: the kind of failure, and the behaviour of the standby.
#[derive(Clone, Copy, Debug)]
struct Round {
    fault: Fault,
    /// Whether the promoted standby needs a standby of its own: it then confirms a commit only when
    /// its new standby has the commit.
    needs_standby: bool,
    /// Whether the standby receives nothing for a short time before the fault.
    lags: bool,
}

/// Two PostgreSQL servers, and the nodes that use them.
struct Pair {
    trial: Trial,
    primary: Cluster,
    standby: Cluster,
    replication: Replication,
    /// The names of the two PostgreSQL servers; the first one is the name of the primary. The
    /// primary recognises its synchronous standby by the standby's name.
    names: [String; 2],
    is_synchronous: bool,
}

/// Makes primaries fail `rounds` times. If `is_synchronous` is false, the run is a control, which
/// must lose charges: a commit does not wait for the standby, so the promoted standby may lack
/// charges. If the judge finds no lost charge in a control, returns an error, because the judge
/// would not find a loss in other runs either.
pub(crate) fn run(
    setting: &Setting,
    rounds: u64,
    is_synchronous: bool,
    console: &mut Console<'_>,
) -> Result<Summary> {
    let mut chance = Rng::with_seed(setting.seed);
    let mut outcome = Outcome::default();
    let mut rebuilt = Outages::default();
    let mut by_fault = [(); FAULTS.len()].map(|()| Outages::default());
    let mut done = 0;
    while done < rounds {
        let these = (rounds - done).min(ROUNDS_PER_DATABASE);
        in_folder(setting, |folder| {
            let mut pair = Pair::start(setting, folder, is_synchronous)?;
            for number in done..done + these {
                let round = Round {
                    fault: FAULTS[(number % 4) as usize],
                    needs_standby: is_synchronous && number / 4 % 2 == 1,
                    lags: chance.bool(),
                };
                let failed = pair.fail(round, &mut chance);
                let outage = failed.with_context(|| format!("round {}: {round:?}", number + 1))?;
                if round.needs_standby {
                    rebuilt.push(outage);
                } else {
                    outcome.outages.push(outage);
                    by_fault[(number % 4) as usize].push(outage);
                }
                if (number + 1) % ROUNDS_PER_JUDGEMENT == 0 {
                    pair.trial.judge().with_context(|| format!("after round {}", number + 1))?;
                }
            }
            pair.trial.end(&mut outcome)
        })?;
        done += these;
        console.print(format_args!(
            "failover {done}/{rounds}: {} acknowledged, {} lost, {} doubled, outages {} ms",
            outcome.tally.charged,
            outcome.tally.lost,
            outcome.tally.doubled,
            outcome.outages.median_millis(),
        ))?;
    }
    ensure!(
        is_synchronous || outcome.tally.lost > 0,
        "the control lost no charge, so the others would not find a loss"
    );
    let name = if is_synchronous { "failover" } else { "failover, asynchronous control" };
    let summary = Summary::of(name).row("seed", setting.seed).row("failovers", rounds);
    let summary = outcome.add_to(summary);
    let medians = FAULTS.iter().zip(&by_fault);
    let medians: Vec<String> =
        medians.map(|(fault, outages)| format!("{fault:?} {}", outages.median_millis())).collect();
    Ok(summary
        .row("median outages by fault, ms", medians.join(", "))
        .row("median outage with a new standby, ms", rebuilt.median_millis())
        .row("longest outage with a new standby, ms", rebuilt.longest_millis()))
}

impl Pair {
    fn start(setting: &Setting, folder: &Path, is_synchronous: bool) -> Result<Self> {
        let options = ClusterOptions::default();
        let (primary, standby) = match is_synchronous {
            true => Cluster::start_pair(&options)?.context("PostgreSQL")?,
            false => {
                let primary = Cluster::start(&options)?.context("PostgreSQL")?;
                let standby = primary.start_standby("second")?;
                (primary, standby)
            }
        };
        let url = primary.database().url_at(&[primary.address(), standby.address()]);
        let mut trial = Trial::begin(setting, &url, folder, !is_synchronous)?;
        for _ in 0..NODES {
            trial.start(&url)?;
        }
        let names = [name_of(&primary)?, name_of(&standby)?];
        let replication = Replication::start(&primary, &standby)?;
        Ok(Self { trial, primary, standby, replication, names, is_synchronous })
    }

    /// Makes the primary fail, promotes the standby, and makes the old primary the standby of the
    /// new primary. Returns the time from the fault to the next successful charge.
    fn fail(&mut self, round: Round, chance: &mut Rng) -> Result<Micros> {
        let names = if round.needs_standby { &self.names[0] } else { "" };
        self.standby.set(STANDBY_NAMES, names).context("setting the standby's standby")?;
        self.trial.load()?;
        sleep(chance.u64(LOAD_MILLIS));
        if round.lags {
            self.replication.hold();
            sleep(chance.u64(LAG_MILLIS));
        }
        let (began, told) = (now(), self.trial.fleet.count());
        match round.fault {
            Fault::Kill => self.primary.kill()?,
            Fault::Stop => self.primary.stop_immediate()?,
            Fault::Freeze | Fault::FreezeAndWake => self.primary.freeze()?,
        }
        let down = now();
        self.trial.note_fault(down);
        if round.lags {
            self.replication.cut();
        }
        sleep(chance.u64(NOTICE_MILLIS));
        self.standby.promote().context("promoting the standby")?;
        if !self.is_synchronous {
            self.accept_loss()?;
        }
        let resumed = |pair: &Self| pair.trial.fleet.wait_for_charge(|_| true, down, told);
        let at_once = if round.needs_standby { None } else { Some(resumed(self)?) };
        if round.fault == Fault::FreezeAndWake {
            self.wake()?;
        }
        sleep(chance.u64(LOAD_MILLIS));
        if !round.needs_standby {
            self.trial.rest()?;
        }
        self.primary.rebuild_standby_of(&self.standby).context("rebuilding the old primary")?;
        if self.is_synchronous {
            self.standby.require_standby(&self.names[0]).context("requiring the standby")?;
        }
        let resumed = match at_once {
            Some(resumed) => resumed,
            None => {
                let resumed = resumed(self)?;
                sleep(chance.u64(LOAD_MILLIS));
                self.trial.rest()?;
                resumed
            }
        };
        std::mem::swap(&mut self.primary, &mut self.standby);
        self.replication = Replication::start(&self.primary, &self.standby)?;
        if self.is_synchronous {
            self.primary.wait_until_synchronous()?;
        }
        self.names.reverse();
        Ok(resumed - began)
    }

    /// Lets the frozen old primary run again. Its synchronous standby was promoted, so the old
    /// primary must not confirm any commit.
    fn wake(&self) -> Result<()> {
        self.primary.thaw()?;
        if self.is_synchronous && confirms_a_commit(&self.primary)? {
            return Err(Broken::because("a primary that was replaced confirmed a commit"));
        }
        Ok(())
    }

    /// Accepts the loss of data, as `enrich store accept-loss` does: gives the database a new
    /// lineage, the UUID of its history. With the old lineage, the nodes would refuse to charge
    /// when they see that the promoted standby lacks rows. Unlike the command, this function does
    /// not correct the usage counters.
    fn accept_loss(&self) -> Result<()> {
        self.standby.psql("UPDATE state SET lineage = gen_random_uuid()")?;
        Ok(())
    }
}

/// Returns the name that another PostgreSQL server uses to require this server as its standby. The
/// name is in quotes, because `first` is a keyword in `synchronous_standby_names`.
fn name_of(server: &Cluster) -> Result<String> {
    Ok(format!("\"{}\"", server.psql("SHOW cluster_name")?))
}

/// Whether a PostgreSQL server confirms a commit within the time [`WATCHED`]. If the commit still
/// waits for the standby after this time, ends the commit's connection.
fn confirms_a_commit(server: &Cluster) -> Result<bool> {
    thread::scope(|scope| {
        let commit = scope.spawn(|| server.psql("COMMENT ON DATABASE enrich IS 'checked'"));
        let mut waits = String::new();
        while waits.is_empty() && !commit.is_finished() {
            waits = server.psql(WAITING)?;
        }
        thread::sleep(WATCHED);
        let is_confirmed = commit.is_finished();
        while !commit.is_finished() {
            server.psql(END_WAITING)?;
        }
        let ended = commit.join().map_err(|_| anyhow!("a thread panicked"))?;
        Ok(is_confirmed && ended.is_ok())
    })
}

fn sleep(millis: u64) {
    thread::sleep(Duration::from_millis(millis));
}
