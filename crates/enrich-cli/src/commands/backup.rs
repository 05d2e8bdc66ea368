//! `enrich backup`: a checked copy of a data folder that is in use.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use enrich_core::Timestamp;
use enrich_store::{BackupError, BackupReport, SystemClock, back_up};
use serde::Serialize;

use super::advice::explained;
use super::table::Pairs;
use super::{Common, Console, Failure, Shown, Verdict, named};
use crate::served::LISTS;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich backup /var/backups/enrich/2026-11-22

Copies the ledger, the directory, the lists of the account page and `secret.key`, while a server
runs and charges. The copy is the state at one moment; later charges are not in it. The copy is
written to DIR.unfinished beside DIR, checked (integrity, every row of the ledger), and then renamed
to DIR. The disk needs space for the whole folder. The copy contains all secrets: protect it like
the data folder. `enrich restore` makes a data folder from it. JSON:
{\"backup\",\"made_at\",\"bytes\",\"directory_bytes\",\"ledger_bytes\",\"list_files\",\"list_bytes\",
\"accounts\",\"ledger_rows\",\"granted\",\"charged\",\"last_row_at\"}.

Exit status: 0 when the backup is complete; 1 if the data folder is damaged, so that no backup was
made; 2 if the backup cannot be written.")]
pub(crate) struct Backup {
    /// Folder for the copy; it must not exist, or must be empty
    #[arg(value_name = "DIR")]
    into: PathBuf,
    #[command(flatten)]
    common: Common,
}

#[derive(Serialize)]
struct MadeBackup {
    backup: String,
    #[serde(flatten)]
    contents: Contents,
}

/// The contents of a backup. Both `enrich backup` and `enrich restore` print them.
#[derive(Serialize)]
pub(super) struct Contents {
    made_at: Timestamp,
    bytes: u64,
    directory_bytes: u64,
    ledger_bytes: u64,
    list_files: u64,
    list_bytes: u64,
    accounts: u64,
    ledger_rows: u64,
    granted: i64,
    charged: u64,
    last_row_at: Option<Timestamp>,
}

impl Backup {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let mut shown = 0;
        let mut progress = |done: u64, all: u64| {
            let percent = (done * 100).checked_div(all).unwrap_or(100);
            if console.is_watched && percent >= shown + 10 {
                shown = percent;
                console.note(&format!("{percent} % of the databases are copied"));
            }
        };
        let clock = SystemClock;
        let folder = self.common.data.whole_path(
            "a backup is of a folder with its ledger; with --store, back up the database with its \
             own tools (pg_dump, pgBackRest), and keep copies of secret.key and of imported files",
        )?;
        let report = back_up(folder, &self.into, &[LISTS], &clock, &mut progress)?;
        let backup = self.into.display().to_string();
        self.common.show(&MadeBackup { backup, contents: report.into() }, console)
    }
}

impl From<BackupReport> for Contents {
    fn from(report: BackupReport) -> Self {
        let BackupReport { made_at, directory_bytes, ledger_bytes, other_files, .. } = report;
        Self {
            made_at,
            bytes: directory_bytes + ledger_bytes + report.other_bytes,
            directory_bytes,
            ledger_bytes,
            list_files: other_files,
            list_bytes: report.other_bytes,
            accounts: report.ledger.accounts,
            ledger_rows: report.ledger.entries,
            granted: report.ledger.granted,
            charged: report.ledger.charged,
            last_row_at: report.last_entry_at,
        }
    }
}

impl Contents {
    pub(super) fn add_to(&self, pairs: Pairs) -> Pairs {
        let rows = match (self.ledger_rows, self.last_row_at) {
            (1, Some(last)) => format!("1 row, of {}", named::to_the_second(last)),
            (rows, Some(last)) => {
                format!("{rows} rows, the last of {}", named::to_the_second(last))
            }
            (_, None) => "no rows".to_owned(),
        };
        pairs
            .add("state of", named::to_the_second(self.made_at))
            .add("directory", named::size(self.directory_bytes))
            .add("ledger", format!("{}, {rows}", named::size(self.ledger_bytes)))
            .add("granted", named::credits(self.granted))
            .add("charged", named::credits(self.charged))
            .add("lists", format!("{}, {} files", named::size(self.list_bytes), self.list_files))
    }
}

impl Shown for MadeBackup {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.contents.add_to(Pairs::default().add("backup", &self.backup)).write(out)?;
        writeln!(out, "checked: both databases are sound and the ledger adds up")
    }
}

impl From<BackupError> for Failure {
    fn from(error: BackupError) -> Self {
        match error {
            BackupError::Open(error) => error.into(),
            BackupError::Unsound { .. }
            | BackupError::NoBackup { .. }
            | BackupError::Altered { .. } => Self::refused(explained(&error)),
            error => Self::impossible(&error),
        }
    }
}
