//! `enrich store`: the PostgreSQL database in which several nodes keep their accounts and their
//! ledger.

mod check;
mod copy;

use std::io::{self, BufRead, Write};

use clap::{Args, Subcommand};
use enrich_store::{discard_new_secrets, load_or_create_secrets};
use enrich_store_postgres as postgres;
use serde::Serialize;

use super::table::Pairs;
use super::{Common, Console, Failure, Shown, Verdict};
use check::Check;
use copy::Copy;

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Make the tables of a new database, or bring those of an older one up to date
    #[command(after_help = "\
Example:
  enrich store migrate --store postgres://enrich@db.example/enrich

Run it once as the owner of the database, before the first server and before a newer Enrich. A new
data folder gets its secret.key, which belongs to the database from then on: copy it to the folder
of each node, and keep a copy apart. JSON: {\"migrations\",\"new_secret_key\"}.

Exit status: 0 when the tables are up to date; 2 if the database cannot be changed, or belongs to
another secret.key.")]
    Migrate(Common),
    /// Check the database: tables, durability, clocks, the nodes that use it
    #[command(after_help = "\
Example:
  enrich store check --store postgres://enrich@db.example/enrich

Changes nothing; it may run while servers do. `enrich ledger verify` checks whether the ledger adds
up. JSON: {\"ok\",\"problems\",\"server\",\"schema\",\"mode\",\"lineage\",\"standbys\",\"clock_ahead_ms\",\"nodes\"},
nodes as {\"id\",\"name\",\"build\",\"seen_ms_ago\",\"alive\"}.

Exit status: 0 if all is well; 1 if anything is wrong: each problem says what to do; 2 if the
database cannot be reached.")]
    Check(Check),
    /// Move accounts, keys and ledger from a data folder to PostgreSQL, or back
    #[command(after_help = "\
Examples:
  enrich store copy --from ./enrich-data --to postgres://enrich@db.example/enrich
  enrich store copy --from postgres://enrich@db.example/enrich --to ./new-folder

Stop the servers first. The database is empty, and its tables are made if need be; the folder to copy
into has the database's secret.key and no ledger. Every value is carried over as it is. Both
sides are verified before the new one is used: the folder is then marked as moved and refused, the
database stays in mode `copying`, in which no node charges.
JSON: {\"accounts\",\"entries\",\"granted\",\"charged\"}.

Exit status: 0 when the copy is complete and verified; 2 when nothing was switched over.")]
    Copy(Copy),
    /// Accept that the database lacks what it had acknowledged
    #[command(after_help = "\
Example:
  enrich store accept-loss --yes --store postgres://enrich@db.example/enrich

After a restore of an older backup, or the promotion of a standby that had not everything, servers
that have seen newer rows stop charging. This lets them go on from what the database has: charges
that it lacks are given away, and grants that it lacks have to be made again.
JSON: {\"lineage\"}.

Without --yes the word accept has to be typed first.")]
    AcceptLoss(AcceptLoss),
}

#[derive(Debug, Args)]
pub(crate) struct AcceptLoss {
    /// Do not ask first
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    common: Common,
}

impl StoreCommand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        match self {
            Self::Migrate(common) => migrate(&common, console),
            Self::Check(check) => check.run(console),
            Self::Copy(copy) => copy.run(console),
            Self::AcceptLoss(accept) => accept.run(console),
        }
    }
}

#[derive(Serialize)]
struct Migrated {
    migrations: usize,
    new_secret_key: bool,
    #[serde(skip)]
    folder: String,
}

fn migrate(common: &Common, console: &mut Console<'_>) -> Result<Verdict, Failure> {
    let (url, folder) = (common.data.store_url()?, common.data.path());
    let (secrets, new_secret_key) = load_or_create_secrets(folder)?;
    let migrations = postgres::migrate(url.expose(), &secrets).inspect_err(|error| {
        // A new `secret.key` is discarded only if the database has other secrets. After any other
        // error, the database may already have recorded the new ones.
        let is_of_another = matches!(error, postgres::OpenError::Secret(_));
        if new_secret_key && is_of_another {
            discard_new_secrets(folder);
        }
    });
    let folder = folder.display().to_string();
    common.show(&Migrated { migrations: migrations?, new_secret_key, folder }, console)
}

impl Shown for Migrated {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.migrations {
            0 => writeln!(out, "the tables are up to date")?,
            1 => writeln!(out, "1 migration was made")?,
            many => writeln!(out, "{many} migrations were made")?,
        }
        if self.new_secret_key {
            writeln!(
                out,
                "{}/secret.key is new and belongs to this database: copy it to the folder of each \
                 node, and keep a copy apart",
                self.folder
            )?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Accepted {
    lineage: String,
}

impl AcceptLoss {
    fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let (url, secrets) = (self.common.data.store_url()?, self.common.data.secrets()?);
        if !self.yes && !is_confirmed(console)? {
            return Err(Failure::refused("the loss was not accepted: `accept` was not typed"));
        }
        let lineage = postgres::accept_loss(url.expose(), &secrets)?;
        self.common.show(&Accepted { lineage }, console)
    }
}

/// Asks the user to type a word. Returns whether the user has typed it correctly.
fn is_confirmed(console: &mut Console<'_>) -> Result<bool, Failure> {
    console.note(
        "charges that the database lacks are given away, and grants that it lacks are gone. Type \
         accept to go on, or use --yes:",
    );
    let mut typed = String::new();
    let read = io::stdin().lock().read_line(&mut typed);
    read.map_err(|error| Failure::impossible(&error))?;
    Ok(typed.trim() == "accept")
}

impl Shown for Accepted {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        Pairs::default().add("lineage", &self.lineage).write(out)?;
        writeln!(out, "servers go on from what the database has")
    }
}
