//! `enrich stats`: counts what the data folder contains, and how it is used.

mod misses;
mod report;

use clap::Args;
use enrich_core::{Clock, SECONDS_PER_DAY, Timestamp, day_of};
use enrich_store::SystemClock;

use super::{Common, Console, Failure, Verdict};
use report::Report;

/// Maximum number of accounts that the report lists.
const MAX_ACCOUNTS: usize = 1000;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich stats
  enrich stats --days 7 --json
  enrich stats --misses
  enrich stats --missed \"Quill Ltd\"

Counts the companies, people and domains, how many of them have each attribute, by country and by
source, the names that several companies bear, and the companies that look alike but are not one
(`enrich duplicates` lists them); the calls and their outcomes, by endpoint,
account and day (UTC); and the size of the databases. It may run while a server runs; calls of the
last five seconds may be missing. A million companies take some seconds. `hit_rate` is found /
(found + not found), without repeats and refusals. If the server runs with --count-misses, --misses
shows the 100 company names that were most often not found in 30 days, and --missed shows the count
of one name. The JSON is described in docs/guide/statistics.md.

Exit status: 0 when it is done; 2 if there is no data folder, or it cannot be read.")]
pub(crate) struct Stats {
    /// Number of days, including today, for which calls are counted
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..=3650))]
    days: u16,
    /// Show only the company names that were most often not found
    #[arg(long, conflicts_with_all = ["days", "missed"])]
    misses: bool,
    /// Show only how often this company name was not found
    #[arg(long, value_name = "NAME", conflicts_with = "days")]
    missed: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl Stats {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        let now = SystemClock.now();
        if self.misses {
            return self
                .common
                .show(&misses::most_missed(&self.common.open_missed_names()?, now)?, console);
        }
        if let Some(name) = &self.missed {
            return self
                .common
                .show(&misses::missed(&self.common.open_missed_names()?, now, name)?, console);
        }
        let store = self.common.open_whole(
            "statistics are of a folder with its ledger; with --store, `enrich source list` counts \
             the directory's sources and the account page shows an account's use",
        )?;
        let last = day_of(now);
        let first = last - i64::from(self.days) + 1;
        self.common.show(&Report::gather(&store, now, first, last)?, console)
    }
}

fn date(day: i64) -> String {
    let midnight = Timestamp::from_second(day.saturating_mul(SECONDS_PER_DAY));
    // The conversion cannot fail, because the day comes from a timestamp.
    midnight.map_or_else(|_| day.to_string(), |at| at.to_string().chars().take(10).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_told_as_its_date() {
        let at: Timestamp = "2026-11-22T23:59:59.9Z".parse().unwrap();
        assert_eq!(date(day_of(at)), "2026-11-22");
        assert_eq!(date(0), "1970-01-01");
    }
}
