//! `enrich directory`: snapshots (published copies) of the directory (the look-up data), for the
//! nodes that share a PostgreSQL database.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use enrich_core::Clock;
use enrich_core::port::snapshots::{Snapshot, SnapshotNumber, Snapshots};
use enrich_snapshot::{PublishFrom, SnapshotError, publish};
use enrich_store::{Options, SystemClock, lower_priority};
use enrich_store_postgres::{CommandPorts, PostgresSnapshots};
use pollster::block_on;
use serde::Serialize;

use super::table::{Pairs, Row};
use super::{Common, Console, Failure, Shown, Verdict, named};

/// Maximum number of snapshots that are listed.
const LISTED: u32 = 100;

#[derive(Debug, Subcommand)]
pub(crate) enum DirectoryCommand {
    /// Publish a snapshot of the directory to a folder, and make all servers answer from it
    #[command(after_help = "\
Example:
  enrich directory publish /srv/snapshots --store postgres://enrich@db.example/enrich

Run it on the machine that imports, even while an import or a server runs there. Servers that were
started with `enrich serve --directory-from` copy and check the snapshot, and then answer from it
without an interruption. While it runs, this command needs as much disk space as the directory. The
folder keeps every snapshot: remove the files of snapshots that you will not use again.
JSON: {\"number\",\"generation\",\"bytes\",\"location\"}.

Exit status: 0 when it is published; 2 if a file or the store cannot be read or written, or the
directory has another secret.key than the store.")]
    Publish(Publish),
    /// Make all servers answer from another snapshot
    #[command(after_help = "\
Example:
  enrich directory use 41 --store postgres://enrich@db.example/enrich

Servers keep the newest two snapshots; they change to one of these within a second.
JSON: {\"number\"}.

Exit status: 0 when it is done; 1 if there is no such snapshot.")]
    Use(Use),
    /// List the snapshots, the newest first
    #[command(after_help = "\
Example:
  enrich directory list --store postgres://enrich@db.example/enrich

`nodes` is the number of servers that answer from the snapshot now. JSON: an array of
{\"number\",\"in_use\",\"nodes\",\"generation\",\"bytes\",\"schema\",\"at\",\"location\"}.")]
    List(Common),
}

#[derive(Debug, Args)]
pub(crate) struct Publish {
    /// Folder that all servers can read, such as a network share
    #[arg(value_name = "LOCATION")]
    location: PathBuf,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Use {
    /// Number of the snapshot
    #[arg(value_name = "NUMBER")]
    number: u64,
    #[command(flatten)]
    common: Common,
}

#[derive(Serialize)]
struct Published {
    number: u64,
    generation: u64,
    bytes: u64,
    location: String,
}

#[derive(Serialize)]
struct Used {
    number: u64,
}

#[derive(Serialize)]
struct Listed {
    number: u64,
    in_use: bool,
    nodes: u64,
    generation: u64,
    bytes: u64,
    schema: u32,
    at: String,
    location: String,
}

impl DirectoryCommand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        match self {
            Self::Publish(publish) => publish.run(console),
            Self::Use(used) => used.run(console),
            Self::List(common) => list(&common, console),
        }
    }
}

/// Opens the list of snapshots, which is in the PostgreSQL database. Returns an error if no
/// PostgreSQL database is configured.
fn snapshots(common: &Common) -> Result<Arc<PostgresSnapshots>, Failure> {
    let url = common.data.store_url()?;
    Ok(CommandPorts::open(url.expose(), &common.data.secrets()?)?.snapshots)
}

impl Publish {
    fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let snapshots = snapshots(&self.common)?;
        // Opens the directory (the look-up data), to check the data folder. Until `_directory` is
        // dropped, it also marks the folder as in use.
        let _directory = self.common.data.open_directory(&Options::default())?;
        let from = PublishFrom {
            data: self.common.data.path().to_owned(),
            location: absolute(&self.location)?,
            at: SystemClock.now(),
        };
        // Publishing must not slow down a server on this machine.
        lower_priority();
        let snapshot = publish(&*snapshots, &from)?;
        self.common.show(&Published::from(snapshot), console)
    }
}

/// Returns the absolute path of the location, which must exist.
fn absolute(location: &Path) -> Result<PathBuf, Failure> {
    location.canonicalize().map_err(|error| Failure::of_file(location, &error))
}

impl Use {
    fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let number = SnapshotNumber(self.number);
        match block_on(snapshots(&self.common)?.answer_from(number))? {
            true => self.common.show(&Used { number: number.0 }, console),
            false => Err(Failure::refused(SnapshotError::NotListed(number).to_string())),
        }
    }
}

fn list(common: &Common, console: &mut Console<'_>) -> Result<Verdict, Failure> {
    let snapshots = snapshots(common)?;
    let in_use = snapshots.state().in_use;
    let live = block_on(snapshots.live())?;
    let listed = |snapshot: Snapshot| {
        let nodes = live.iter().find(|(number, _)| *number == snapshot.number);
        Listed {
            number: snapshot.number.0,
            in_use: in_use == Some(snapshot.number),
            nodes: nodes.map_or(0, |(_, nodes)| *nodes),
            generation: snapshot.revision.0,
            bytes: snapshot.bytes,
            schema: snapshot.schema,
            at: snapshot.at.to_string(),
            location: snapshot.location,
        }
    };
    let all = block_on(snapshots.newest(LISTED))?;
    common.show(&all.into_iter().map(listed).collect::<Vec<_>>(), console)
}

impl From<Snapshot> for Published {
    fn from(snapshot: Snapshot) -> Self {
        Self {
            number: snapshot.number.0,
            generation: snapshot.revision.0,
            bytes: snapshot.bytes,
            location: snapshot.location,
        }
    }
}

impl Shown for Published {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        Pairs::default()
            .add("snapshot", self.number)
            .add("generation", self.generation)
            .add("size", named::size(self.bytes))
            .add("location", &self.location)
            .write(out)
    }
}

impl Shown for Used {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "nodes change to snapshot {}", self.number)
    }
}

impl Row for Listed {
    const TITLES: &'static [&'static str] =
        &[">snapshot", "in use", ">nodes", ">generation", ">size", "published", "location"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.number.to_string(),
            if self.in_use { "yes".to_owned() } else { String::new() },
            self.nodes.to_string(),
            self.generation.to_string(),
            named::size(self.bytes),
            self.at.clone(),
            self.location.clone(),
        ]
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Open(error) => error.into(),
            error => Self::impossible(&error),
        }
    }
}
