//! Measures only the ledger in PostgreSQL: charges per second, compared with a bare insert of the
//! same rows.
//!
//! The measurement starts its own PostgreSQL servers. The database, the nodes and the load share
//! this machine. A proxy between the nodes and the database delays the bytes, as a network does.

mod bare;
mod load;
mod report;
mod setting;

use std::io::Write;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use enrich_store_postgres::{LaneCounts, PathCounts, Store};

use crate::pg::bare::BareInsert;
use crate::pg::load::{Load, run_together};
use crate::pg::report::{Figure, write_report};
use crate::pg::setting::{HeldSnapshot, Setting};

/// Measure charges to a ledger in PostgreSQL, without HTTP
///
/// Needs PostgreSQL's programs on this machine (`apt-get install postgresql`). Each case is
/// measured in every round, so that a short disturbance of the machine affects all cases.
#[derive(Debug, Args)]
pub(crate) struct Pg {
    /// The cases to measure
    #[arg(long, value_delimiter = ',', default_values_t = Case::ALL)]
    cases: Vec<Case>,
    /// Round-trip delay between each server and the database, in milliseconds
    #[arg(long, default_value_t = 2, value_name = "MS")]
    delay: u64,
    /// Seconds for which each case is measured in each round
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Number of rounds over all cases
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Also write the figures to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A case that is measured: a kind of load, and the database that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Case {
    /// 1,000 accounts on one node, 400 charges at a time
    Accounts400,
    /// 1,000 accounts on one node, 2,000 charges at a time
    Accounts2000,
    /// 1,000 accounts on two nodes, 400 charges at a time
    Nodes400,
    /// One account on one node, 100 charges at a time
    One100,
    /// One account on four nodes, 400 charges at a time
    OneOnFour400,
    /// Like accounts400, each charge with an idempotency key
    Keyed400,
    /// Like accounts400, while another PostgreSQL session keeps a snapshot open
    Held400,
    /// Like accounts400, with a synchronous standby
    Standby400,
    /// The same rows as accounts400, inserted without reading the accounts: the yardstick
    Bare400,
}

impl Case {
    const ALL: [Self; 9] = [
        Self::Bare400,
        Self::Accounts400,
        Self::Accounts2000,
        Self::Nodes400,
        Self::One100,
        Self::OneOnFour400,
        Self::Keyed400,
        Self::Held400,
        Self::Standby400,
    ];

    fn load(self) -> Load {
        let base = Load { nodes: 1, accounts: 1_000, in_flight: 400, is_keyed: false };
        match self {
            Self::Accounts400 | Self::Held400 | Self::Standby400 | Self::Bare400 => base,
            Self::Accounts2000 => Load { in_flight: 2_000, ..base },
            Self::Nodes400 => Load { nodes: 2, ..base },
            Self::One100 => Load { accounts: 1, in_flight: 100, ..base },
            Self::OneOnFour400 => Load { nodes: 4, accounts: 1, ..base },
            Self::Keyed400 => Load { is_keyed: true, ..base },
        }
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

impl Pg {
    pub(crate) fn run(self, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
        let delay = Duration::from_millis(self.delay);
        let plain = Setting::start(delay, false)?;
        let standby = if self.cases.contains(&Case::Standby400) {
            Some(Setting::start(delay, true)?)
        } else {
            None
        };
        let mut figures: Vec<Figure> = self.cases.iter().map(|case| Figure::new(*case)).collect();
        for round in 1..=self.rounds {
            for figure in &mut figures {
                let setting = match (figure.case, &standby) {
                    (Case::Standby400, Some(standby)) => standby,
                    _ => &plain,
                };
                let (pace, groups) = self.measure(figure.case, setting)?;
                writeln!(err, "round {round}: {} {pace:.0}/s{groups}", figure.case)?;
                figure.add(pace);
            }
        }
        let found = plain.verify().context("the ledger could not be verified")?;
        if !found.is_empty() {
            bail!("the ledger does not add up: {found:?}");
        }
        write_report(out, &figures, self.json.as_deref())
    }

    /// Measures one case (a kind of load). Returns the number of charges (or inserted rows) per
    /// second, and a text about the groups in which the ledger wrote the charges.
    fn measure(&self, case: Case, setting: &Setting) -> Result<(f64, String)> {
        let seconds = Duration::from_secs(self.seconds);
        if case == Case::Bare400 {
            return Ok((BareInsert::new(setting)?.run(seconds)?, String::new()));
        }
        let _held = (case == Case::Held400).then(|| HeldSnapshot::take(setting)).transpose()?;
        let load = case.load();
        let nodes = setting.nodes(load.nodes)?;
        let customers = setting.customers(load.accounts)?;
        // This first run is not measured. It opens the connections. It also makes the nodes read
        // the last ledger row of each account, which they then remember for the measured run.
        run_together(&nodes, &customers, load, Duration::from_millis(500))?;
        thread::sleep(Duration::from_millis(100));
        let before = counts(&nodes);
        let pace = run_together(&nodes, &customers, load, seconds)?;
        Ok((pace, groups_in_words(&before, &counts(&nodes))))
    }
}

/// Returns the counters of each node's ledger. They show how the ledger has grouped charges since
/// the node was opened.
fn counts(nodes: &[Store]) -> Vec<LaneCounts> {
    nodes.iter().map(|node| node.ledger.lane_counts()).collect()
}

/// Describes how the nodes grouped their charges during a measurement. `before` and `after` are the
/// counters of each node before and after the measurement. A node writes a group of charges in one
/// of three ways: `compared`, `read` and `locked` (see [`LaneCounts`]). For each way, the text has
/// the number of groups of all nodes, the mean number of charges in a group, and the mean time of a
/// group. The last number in the text is the number of conflicts.
fn groups_in_words(before: &[LaneCounts], after: &[LaneCounts]) -> String {
    let conflicts = |nodes: &[LaneCounts]| nodes.iter().map(|node| node.conflicts).sum::<u64>();
    let path = |name: &str, of: fn(&LaneCounts) -> PathCounts| {
        let sum = |number: fn(PathCounts) -> f64| -> f64 {
            let sum_of = |nodes: &[LaneCounts]| nodes.iter().map(of).map(number).sum::<f64>();
            sum_of(after) - sum_of(before)
        };
        let groups = sum(|path| path.groups as f64);
        let size = sum(|path| path.jobs as f64) / groups.max(1.0);
        let millis = 1000.0 * sum(|path| path.took.as_secs_f64()) / groups.max(1.0);
        format!(", {groups:.0} groups {name} with {size:.0} charges in {millis:.1} ms")
    };
    let compared = path("compared", |counts| counts.compared);
    let read = path("read", |counts| counts.read);
    let locked = path("locked", |counts| counts.locked);
    let conflicts = conflicts(after) - conflicts(before);
    format!("{compared}{read}{locked}, {conflicts} conflicts")
}
