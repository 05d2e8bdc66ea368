//! `enrich store`: the PostgreSQL database in which several nodes (servers) keep their accounts and
//! their ledger.

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
    /// Create the tables of a new database, or update the tables of an older version
    #[command(after_help = "\
Example:
  enrich store migrate --store postgres://enrich@db.example/enrich

Run it as the owner of the database, before the first server starts and before each update of
Enrich. If the data folder is new, this creates its secret.key, which from then on belongs to the
database: copy it to the data folder of each server, and keep a copy in another place.
JSON: {\"migrations\",\"new_secret_key\"}.

Exit status: 0 when the tables are up to date; 2 if the database cannot be changed, or belongs to
another secret.key.")]
    Migrate(Common),
    /// Check the database: tables, durability, clocks, and the servers that use it
    #[command(after_help = "\
Example:
  enrich store check --store postgres://enrich@db.example/enrich

Changes nothing; it may run while servers run. `enrich ledger verify` checks the sums of the
ledger. It cannot see whether a server charges: that is at /readyz of each server.
JSON: {\"ok\",\"problems\",\"notes\",\"server\",\"schema\",\"mode\",\"lineage\",\"standbys\",\"clock_ahead_ms\",\"nodes\"},
nodes as {\"id\",\"name\",\"build\",\"seen_ms_ago\",\"alive\"}.

Exit status: 0 if there is no problem; 1 if there are problems, each listed with what to do; 2 if
the database cannot be reached.")]
    Check(Check),
    /// Move accounts, keys and ledger from a data folder to PostgreSQL, or back
    #[command(after_help = "\
Examples:
  enrich store copy --from ./enrich-data --to postgres://enrich@db.example/enrich
  enrich store copy --from postgres://enrich@db.example/enrich --to ./new-folder

Stop the servers first. A database that is the target must be empty; its tables are created if they
are missing. A folder that is the target must have the database's secret.key and no ledger. All
values are copied unchanged. Source and target are verified before the target can be used. The
source cannot be used afterwards: a folder is marked as moved, and commands refuse it; a database
stays in mode `copying`, in which no server charges.
JSON: {\"accounts\",\"entries\",\"granted\",\"charged\"}.

Exit status: 0 when the copy is complete and verified; 2 if it failed and the source is still in
use.")]
    Copy(Copy),
    /// Accept that the database has lost acknowledged charges or grants
    #[command(after_help = "\
Example:
  enrich store accept-loss --yes --store postgres://enrich@db.example/enrich

After an older backup was restored, or a standby that lacked rows was promoted, the servers that
have seen newer rows stop charging. This command lets them charge again, from the rows that the
database has. Lost charges are not made up for, and lost grants have to be made again.
JSON: {\"lineage\"}.

Without --yes, it asks you to type the word accept.")]
    AcceptLoss(AcceptLoss),
}

#[derive(Debug, Args)]
pub(crate) struct AcceptLoss {
    /// Do not ask for confirmation
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
        // If the database already has other secrets, the new `secret.key` is useless and is
        // deleted. After any other error it is kept, because the database may already have recorded
        // the new secrets.
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

/// Asks the user to type the word `accept`. Returns whether the user has typed it correctly.
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
