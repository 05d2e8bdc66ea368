//! `enrich restore`: makes a data folder from a backup.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use enrich_core::{Clock, Timestamp};
use enrich_store::{SystemClock, restore};
use serde::Serialize;

use super::backup::Contents;
use super::table::write_pairs;
use super::{Console, DataFolder, Failure, Format, Shown, Verdict, named};

const SECONDS_PER_MINUTE: i64 = 60;
const MINUTES_PER_HOUR: i64 = 60;
const HOURS_PER_DAY: i64 = 24;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich restore /var/backups/enrich/2026-11-22 --data enrich-restored

Copies what `enrich backup` wrote into the data folder, which must not be there or be empty; move
the old one away as a whole. Every file is compared with what the backup wrote, and the ledger is
added up, before the folder can be opened. An unfinished restore is refused by all commands
until it is run again. What was done after the backup is gone: charges and grants, accounts and
keys, imports and what was forgotten; keys revoked since then work again. JSON:
{\"data\",\"age_seconds\"} and what `enrich backup` prints.

Exit status: 0 when it is done; 1 if the backup is incomplete, damaged or was changed; 2 if the data
folder is in use, not empty or cannot be written.")]
pub(crate) struct Restore {
    /// Folder of the backup
    backup: PathBuf,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
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
        let report = restore(&self.backup, self.data.path())?;
        let made_at = report.made_at;
        let age_seconds = age_seconds(made_at, SystemClock.now());
        let data = self.data.path().display().to_string();
        console
            .show(&RestoredFolder { data, age_seconds, contents: report.into() }, self.format)?;
        console.note(&format!(
            "this is the state of {}, {} ago. What was done since then is gone: charges, grants, \
             new accounts and keys, passwords, imports. Keys that were revoked since then work \
             again and what was forgotten is answered again: repeat both before the server starts.",
            named::to_the_second(made_at),
            in_words(age_seconds),
        ));
        Ok(Verdict::Yes)
    }
}

/// The age in seconds; 0 if the clock was set back since.
fn age_seconds(made_at: Timestamp, now: Timestamp) -> i64 {
    now.as_second().saturating_sub(made_at.as_second()).max(0)
}

/// Writes a duration in the largest unit with a count of at least two, or else in seconds.
fn in_words(seconds: i64) -> String {
    let minutes = seconds / SECONDS_PER_MINUTE;
    let hours = minutes / MINUTES_PER_HOUR;
    let days = hours / HOURS_PER_DAY;
    match () {
        () if days >= 2 => format!("{days} days"),
        () if hours >= 2 => format!("{hours} hours"),
        () if minutes >= 2 => format!("{minutes} minutes"),
        () if seconds == 1 => "1 second".to_owned(),
        () => format!("{seconds} seconds"),
    }
}

impl Shown for RestoredFolder {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut pairs = vec![("restored", self.data.clone())];
        pairs.extend(self.contents.pairs());
        write_pairs(&pairs, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        for (seconds, words) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (119, "119 seconds"),
            (120, "2 minutes"),
            (7_199, "119 minutes"),
            (7_200, "2 hours"),
            (172_800, "2 days"),
        ] {
            assert_eq!(in_words(seconds), words);
        }
    }
}
