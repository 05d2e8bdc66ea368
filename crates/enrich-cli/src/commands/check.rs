//! `enrich check`: checks both databases, the directory (look-up data) and the ledger (credits).

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use enrich_core::Clock;
use enrich_snapshot::{SNAPSHOTS, SnapshotSettings, check as check_snapshot};
use enrich_store::{
    CheckReport, DatabaseReport, DirectoryStore, OpenError, Options, Secrets, Store, SystemClock,
    read_through, sqlite_version,
};
use enrich_store_postgres::{CommandPorts, inspect};
use serde::{Serialize, Serializer};

use super::advice::explained;
use super::table::Pairs;
use super::{Common, Console, Failure, Shown, Verdict};
use crate::settings::StoreUrl;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich check

Reads both databases from end to end: schema versions, integrity, and the number of rows of each
kind. In the folder of a server that answers from snapshots, compares the snapshot in use with the
published one instead. `enrich ledger verify` checks the sums of the ledger. It repairs nothing, and
may run while a server runs. JSON: {\"ok\",\"problems\",\"sqlite\",\"directory\",\"ledger\"}, both
databases as {\"schema_version\",\"problems\",\"notes\",\"counts\"}, and \"snapshot\" with the number
of a snapshot that is sound. A note names an id that two companies have:
they may be the same company.

Exit status: 0 if there is no problem; 1 if there are problems, which are listed; 2 if there is no
data folder.")]
pub(crate) struct Check {
    #[command(flatten)]
    common: Common,
}

#[derive(Serialize)]
struct Health {
    ok: bool,
    /// Problems of the check itself, for example that a database cannot be opened. Problems in the
    /// content of the look-up data are in `directory`, and those of the ledger in `ledger`. If the
    /// accounts are in PostgreSQL, the problems of PostgreSQL and of the snapshot (a published copy
    /// of the look-up data) are here too.
    problems: Vec<String>,
    sqlite: Option<&'static str>,
    directory: Option<Database>,
    ledger: Option<Database>,
    /// The number of the snapshot (a published copy of the look-up data) from which the node
    /// answers. `None` if the node does not use snapshots, or if the snapshot's file is damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<u64>,
}

#[derive(Serialize)]
struct Database {
    schema_version: i64,
    problems: Vec<String>,
    notes: Vec<String>,
    #[serde(serialize_with = "as_object")]
    counts: Vec<(&'static str, u64)>,
}

impl Check {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        // The files are read from start to end, so that the operating system has them in its cache.
        // This makes the check faster. An error is ignored here, because the check itself reports
        // it.
        let _ = read_through(self.common.data.path());
        let health = match self.common.data.store()? {
            Some(url) => match self.snapshot_location()? {
                Some(location) => self.of_snapshots(&url, location)?,
                None => Health::of_node(self.common.data.path(), &url)?,
            },
            None => Health::of_folder(self.common.data.path())?,
        };
        self.common.show(&health, console)?;
        Ok(Verdict::from(health.ok))
    }
}

impl Check {
    /// Returns where snapshots (copies of the look-up data) are published, if the node answers from
    /// snapshots; otherwise `None`. A node answers from snapshots if both are true:
    ///
    /// - Its data folder has no directory (look-up data) of its own.
    /// - Its settings name a location of snapshots, or its data folder contains snapshots.
    ///
    /// If the settings name no location, the returned path is empty. This is enough, because the
    /// check never reads the location.
    fn snapshot_location(&self) -> Result<Option<PathBuf>, Failure> {
        let folder = self.common.data.path();
        if folder.join("directory.sqlite").exists() {
            return Ok(None);
        }
        let location = self.common.data.settings()?.directory_from;
        let has_snapshots = folder.join(SNAPSHOTS).is_dir();
        Ok(location.or_else(|| has_snapshots.then(PathBuf::new)))
    }

    /// Checks the PostgreSQL database of a node, and the snapshot (a published copy of the look-up
    /// data) from which the node answers.
    fn of_snapshots(&self, url: &StoreUrl, location: PathBuf) -> Result<Health, Failure> {
        let data = self.common.data.path().to_owned();
        let secrets = self.common.data.secrets()?;
        let mut problems = store_problems(url, &secrets);
        let checked = CommandPorts::open(url.expose(), &secrets).map(|ports| {
            let options = Options::default();
            let settings = SnapshotSettings { data, location, secrets, options };
            check_snapshot(&*ports.snapshots, &settings)
        });
        let mut snapshot = None;
        match checked {
            Ok(Ok(number)) => snapshot = Some(number.0),
            Ok(Err(error)) => problems.push(explained(&error)),
            // If the database cannot be opened, `store_problems` has usually reported this error
            // already. So the error is added only if there is no other problem.
            Err(error) if problems.is_empty() => problems.push(explained(&error)),
            Err(_) => {}
        }
        Ok(Health {
            ok: problems.is_empty(),
            problems,
            sqlite: Some(sqlite_version()),
            directory: None,
            ledger: None,
            snapshot,
        })
    }
}

/// Returns the problems of the PostgreSQL database. A missing synchronous standby does not count as
/// a problem here, because the operator may decide that one copy of the database is enough (see
/// `enrich store check --one-copy`).
fn store_problems(url: &StoreUrl, secrets: &Secrets) -> Vec<String> {
    match inspect(url.expose(), secrets, true, || SystemClock.now()) {
        Ok(report) => report.problems,
        Err(error) => vec![explained(&error)],
    }
}

impl Health {
    /// Checks both databases of a data folder, the directory and the ledger.
    fn of_folder(folder: &Path) -> Result<Self, Failure> {
        match Store::open(folder) {
            Ok(store) => match store.check() {
                Ok(report) => Ok(Self::from(report)),
                Err(error) => Ok(Self::unreadable(explained(&error))),
            },
            Err(missing @ OpenError::Missing { .. }) => Err(missing.into()),
            Err(error) => Ok(Self::unreadable(explained(&error))),
        }
    }

    /// Checks the directory (the look-up data) in the folder of a node, and the node's PostgreSQL
    /// database.
    fn of_node(folder: &Path, url: &StoreUrl) -> Result<Self, Failure> {
        let store = match DirectoryStore::open(folder) {
            Ok(store) => store,
            Err(missing @ OpenError::Missing { .. }) => return Err(Failure::of_node(missing)),
            Err(error) => return Ok(Self::unreadable(explained(&error))),
        };
        let report = match store.check() {
            Ok(report) => report,
            Err(error) => return Ok(Self::unreadable(explained(&error))),
        };
        let problems = store_problems(url, store.secrets());
        Ok(Self {
            ok: report.problems.is_empty() && problems.is_empty(),
            problems,
            sqlite: Some(sqlite_version()),
            directory: Some(report.into()),
            ledger: None,
            snapshot: None,
        })
    }

    fn unreadable(problem: String) -> Self {
        Self {
            ok: false,
            problems: vec![problem],
            sqlite: None,
            directory: None,
            ledger: None,
            snapshot: None,
        }
    }
}

impl From<CheckReport> for Health {
    fn from(report: CheckReport) -> Self {
        let CheckReport { sqlite, directory, ledger } = report;
        Self {
            ok: directory.problems.is_empty() && ledger.problems.is_empty(),
            problems: Vec::new(),
            sqlite: Some(sqlite),
            directory: Some(directory.into()),
            ledger: Some(ledger.into()),
            snapshot: None,
        }
    }
}

impl From<DatabaseReport> for Database {
    fn from(report: DatabaseReport) -> Self {
        let DatabaseReport { schema_version, problems, notes, counts } = report;
        Self { schema_version, problems, notes, counts }
    }
}

fn as_object<S: Serializer>(
    counts: &[(&'static str, u64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().map(|(name, count)| (name.replace(' ', "_"), count)))
}

impl Shown for Health {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let databases = [("directory", &self.directory), ("ledger", &self.ledger)];
        let mut pairs = Pairs::default();
        for (name, database) in databases {
            let Some(database) = database else { continue };
            pairs = pairs.add(name, format!("schema {}", database.schema_version));
            for (what, count) in &database.counts {
                pairs = pairs.add(&format!("  {what}"), count);
            }
        }
        if let Some(number) = self.snapshot {
            pairs = pairs.add("snapshot", number);
        }
        pairs.write(out)?;
        for note in
            databases.iter().filter_map(|(_, database)| database.as_ref()).flat_map(|it| &it.notes)
        {
            writeln!(out, "note: {note}")?;
        }
        let mut problems: Vec<String> = self.problems.clone();
        for (name, database) in databases {
            let found = database.iter().flat_map(|database| &database.problems);
            problems.extend(found.map(|problem| format!("{name}: {problem}")));
        }
        for problem in &problems {
            writeln!(out, "problem: {problem}")?;
        }
        if self.ok { writeln!(out, "all is well") } else { writeln!(out, "not all is well") }
    }
}
