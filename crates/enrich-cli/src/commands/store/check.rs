//! `enrich store check`: shows the state of the database, and the problems that it has.

use std::io::{self, Write};

use clap::Args;
use enrich_core::Clock;
use enrich_store::SystemClock;
use enrich_store_postgres::{NodeReport, StoreReport, inspect};
use serde::Serialize;

use super::super::table::{Pairs, write_table};
use super::super::{Common, Console, Failure, Shown, Verdict};

/// A note that is shown if servers use the database. Whether a server can charge is not stored in
/// the database. So the note tells the user to ask the server.
const NOT_SEEN: &str = "whether a server charges is not in the database; its /readyz says it, and \
                        why if it doesn't";

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Do not report a missing synchronous standby as a problem
    #[arg(long, env = "ENRICH_ONE_COPY", hide_env_values = true, num_args = 0..=1,
          default_missing_value = "true", default_value_t = false, require_equals = true,
          value_name = "true|false", hide_default_value = true, action = clap::ArgAction::Set)]
    one_copy: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Serialize)]
struct Health {
    ok: bool,
    problems: Vec<String>,
    /// Notes for the user about what this check cannot find out, such as whether a server charges.
    notes: Vec<&'static str>,
    server: String,
    schema: Option<i32>,
    mode: String,
    lineage: String,
    /// The number of connected standby servers for which a commit can wait; `None` if the database
    /// does not report it.
    standbys: Option<u64>,
    clock_ahead_ms: i64,
    nodes: Vec<NodeRecord>,
    #[serde(skip)]
    known_schema: i32,
}

#[derive(Serialize)]
struct NodeRecord {
    id: String,
    name: String,
    build: String,
    seen_ms_ago: i64,
    alive: bool,
}

impl Check {
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let (url, secrets) = (self.common.data.store_url()?, self.common.data.secrets()?);
        let one_copy = self.one_copy || self.common.data.settings()?.one_copy;
        let report = inspect(url.expose(), &secrets, one_copy, || SystemClock.now())?;
        let health = Health::from(report);
        self.common.show(&health, console)?;
        Ok(Verdict::from(health.ok))
    }
}

impl From<StoreReport> for Health {
    fn from(report: StoreReport) -> Self {
        Self {
            ok: report.problems.is_empty(),
            problems: report.problems,
            notes: if report.nodes.iter().any(|node| node.is_alive) {
                vec![NOT_SEEN]
            } else {
                vec![]
            },
            server: report.server,
            schema: report.schema,
            mode: report.mode,
            lineage: report.lineage,
            standbys: report.standbys,
            clock_ahead_ms: report.skew_millis,
            nodes: report.nodes.into_iter().map(NodeRecord::from).collect(),
            known_schema: report.known_schema,
        }
    }
}

impl From<NodeReport> for NodeRecord {
    fn from(node: NodeReport) -> Self {
        let NodeReport { id, name, build, seen_millis_ago, is_alive } = node;
        Self { id, name, build, seen_ms_ago: seen_millis_ago, alive: is_alive }
    }
}

impl Shown for Health {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let schema = self.schema.map_or_else(|| "none".to_owned(), |number| number.to_string());
        let mut pairs = Pairs::default()
            .add("server", &self.server)
            .add("schema", format!("{schema}, of {}", self.known_schema));
        if !self.mode.is_empty() {
            pairs = pairs
                .add("mode", &self.mode)
                .add("lineage", &self.lineage)
                .add("clock", format!("{} ms ahead of the database's", self.clock_ahead_ms));
        }
        if let Some(standbys) = self.standbys {
            pairs = pairs.add("standbys", standbys);
        }
        pairs.write(out)?;
        if !self.nodes.is_empty() {
            writeln!(out)?;
            let rows = self.nodes.iter().map(|node| {
                let seen = format!("{} s", node.seen_ms_ago / 1000);
                let state = if node.alive { "alive" } else { "gone" };
                vec![node.id.clone(), state.to_owned(), seen, node.build.clone(), node.name.clone()]
            });
            write_table(&["NODE", "STATE", ">SEEN BEFORE", "VERSION", "NAME"], rows, out)?;
            writeln!(out)?;
        }
        for note in &self.notes {
            writeln!(out, "note: {note}")?;
        }
        for problem in &self.problems {
            writeln!(out, "problem: {problem}")?;
        }
        if self.ok {
            writeln!(out, "all is well with the database")
        } else {
            writeln!(out, "not all is well with the database")
        }
    }
}
