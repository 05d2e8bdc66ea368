//! `enrich restore`: makes a data folder from a backup.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use enrich_core::Clock;
use enrich_store::{SystemClock, restore};
use indicatif::HumanDuration;
use serde::Serialize;

use super::backup::Contents;
use super::table::Pairs;
use super::{Common, Console, Failure, Shown, Verdict, named};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich restore /var/backups/enrich/2026-11-22 --data enrich-restored

Copies a backup of `enrich backup` to the data folder, which must not exist or must be empty; first
move the whole old folder away. Every file is compared with what the backup recorded of it, and the
ledger is verified, before the folder can be opened. If a restore was not finished, all commands
refuse the folder until the restore is run again. All changes after the backup are lost: charges and
grants, accounts and keys, imports and forgotten values; keys that were revoked after the backup
work again. JSON:
{\"data\",\"age_seconds\"} and what `enrich backup` prints.

Exit status: 0 when it is done; 1 if the backup is incomplete, damaged or was changed; 2 if the data
folder is in use, not empty or cannot be written.")]
pub(crate) struct Restore {
    /// Folder with the backup
    backup: PathBuf,
    #[command(flatten)]
    common: Common,
}

#[derive(Serialize)]
struct RestoredFolder {
    data: String,
    age_seconds: i64,
    #[serde(flatten)]
    contents: Contents,
}

impl Restore {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let folder = self.common.data.whole_path(
            "a backup is restored to a folder with its ledger; with --store, restore the database \
             with its own tools (pg_restore, pgBackRest), and bring back secret.key",
        )?;
        let report = restore(&self.backup, folder)?;
        let made_at = report.made_at;
        // If the clock was set back after the backup was made, the age of the backup would be
        // negative. Then 0 is shown.
        let age_seconds = SystemClock.now().as_second().saturating_sub(made_at.as_second()).max(0);
        let data = self.common.data.path().display().to_string();
        let restored = RestoredFolder { data, age_seconds, contents: report.into() };
        let verdict = self.common.show(&restored, console)?;
        console.note(&format!(
            "this is the state of {}, {} ago. What was done since then is gone: charges, grants, \
             new accounts and keys, passwords, imports. Keys that were revoked since then work \
             again and what was forgotten is answered again: repeat both before the server starts.",
            named::to_the_second(made_at),
            HumanDuration(Duration::from_secs(age_seconds.unsigned_abs())),
        ));
        Ok(verdict)
    }
}

impl Shown for RestoredFolder {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.contents.add_to(Pairs::default().add("restored", &self.data)).write(out)
    }
}
