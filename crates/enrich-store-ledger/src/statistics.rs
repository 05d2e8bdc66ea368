//! Adds up the calls that the usage counters contain, by outcome, endpoint, day and account.

use std::collections::BTreeMap;
use std::path::Path;

use enrich_core::port::error::StoreError;
use enrich_core::port::usage::UseOutcome;
use enrich_core::{AccountId, Credits};
use enrich_store_sqlite::{self as sqlite, Column};
use rusqlite::Connection;

/// How many calls had each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// The number of calls that were answered and charged.
    pub found: u64,
    /// The number of calls that found nothing. They are free.
    pub not_found: u64,
    /// The number of calls that got a stored response of an earlier call. They are free.
    pub replayed: u64,
    /// The number of calls that were refused after their key was identified.
    pub refused: u64,
    /// The credits that were charged for these calls.
    pub credits: u64,
}

/// The calls of one account in a range of days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountUse {
    /// The account that made the calls.
    pub account: AccountId,
    /// The account's name.
    pub name: String,
    /// The outcomes of the account's calls.
    pub outcomes: Outcomes,
}

/// The calls of all accounts in a range of days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UseStatistics {
    /// The outcomes of all calls.
    pub all: Outcomes,
    /// The outcomes for each endpoint, by its path.
    pub by_endpoint: BTreeMap<String, Outcomes>,
    /// The outcomes on each day, in days since 1970-01-01 (UTC). A day without a call is left out.
    pub by_day: BTreeMap<i64, Outcomes>,
    /// The calls of each listed account. The account with the most calls is first.
    pub by_account: Vec<AccountUse>,
    /// The number of accounts that had calls but are not in `by_account`.
    pub further_accounts: u64,
}

impl Outcomes {
    /// Returns the number of all calls, whatever their outcome.
    pub fn calls(&self) -> u64 {
        [self.found, self.not_found, self.replayed, self.refused]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Returns the share of look-ups that found something, from 0 to 1; `None` when there were no
    /// look-ups. Replays (stored answers that are sent once more) and refused calls do not count as
    /// look-ups.
    pub fn hit_rate(&self) -> Option<f64> {
        let all = self.found.saturating_add(self.not_found);
        (all > 0).then(|| self.found as f64 / all as f64)
    }

    fn add(&mut self, outcome: UseOutcome, calls: u64, credits: Credits) {
        let count = match outcome {
            UseOutcome::Found => &mut self.found,
            UseOutcome::NotFound => &mut self.not_found,
            UseOutcome::Replayed => &mut self.replayed,
            UseOutcome::Refused => &mut self.refused,
        };
        *count = count.saturating_add(calls);
        self.credits = self.credits.saturating_add(credits.0);
    }
}

/// Adds up the counters of the days from `first` to `last`, both included, in days since 1970-01-01
/// (UTC). The result lists at most `most` accounts.
///
/// # Errors
///
/// When the file cannot be read.
pub fn use_statistics(
    path: &Path,
    first: i64,
    last: i64,
    most: usize,
) -> Result<UseStatistics, StoreError> {
    let connection = sqlite::reader(path).map_err(StoreError::failed)?;
    add_up(&connection, first, last, most).map_err(StoreError::failed)
}

fn add_up(
    connection: &Connection,
    first: i64,
    last: i64,
    most: usize,
) -> rusqlite::Result<UseStatistics> {
    let reading = connection.unchecked_transaction()?;
    let mut counted = UseStatistics::default();
    let mut accounts = reading.prepare("SELECT id, name FROM account ORDER BY id")?;
    // The rows of the table `used` are in the order of account and day. So this query, which runs
    // once for each account, reads adjacent rows.
    let mut counters = reading.prepare(
        "SELECT day, endpoint, outcome, sum(calls), sum(credits) FROM used
         WHERE account = ?1 AND day BETWEEN ?2 AND ?3 GROUP BY day, endpoint, outcome",
    )?;
    let mut rows = accounts.query([])?;
    while let Some(row) = rows.next()? {
        let (Column(account), name): (Column<AccountId>, String) = (row.get(0)?, row.get(1)?);
        let mut outcomes = Outcomes::default();
        let mut used = counters.query((Column(account), first, last))?;
        while let Some(row) = used.next()? {
            let outcome: String = row.get(2)?;
            // A newer version of Enrich may have written an outcome that this version does not
            // know.
            let Some(outcome) = UseOutcome::named(&outcome) else { continue };
            let (calls, Column(credits)): (u64, Column<Credits>) = (row.get(3)?, row.get(4)?);
            let endpoint: String = row.get(1)?;
            for sum in [
                &mut outcomes,
                &mut counted.all,
                counted.by_day.entry(row.get(0)?).or_default(),
                counted.by_endpoint.entry(endpoint).or_default(),
            ] {
                sum.add(outcome, calls, credits);
            }
        }
        if outcomes.calls() > 0 {
            counted.by_account.push(AccountUse { account, name, outcomes });
        }
        // The list is sorted and cut only when it is twice as long as needed. So it is rarely
        // sorted.
        if counted.by_account.len() >= most.saturating_mul(2).max(1) {
            keep_first(&mut counted, most);
        }
    }
    keep_first(&mut counted, most);
    Ok(counted)
}

/// Keeps the `most` accounts with the most calls. Removes the other accounts, and adds their number
/// to `further_accounts`.
fn keep_first(counted: &mut UseStatistics, most: usize) {
    counted.by_account.sort_by(|one, other| {
        let by_calls = other.outcomes.calls().cmp(&one.outcomes.calls());
        by_calls.then_with(|| one.account.cmp(&other.account))
    });
    let further = counted.by_account.len().saturating_sub(most);
    counted.by_account.truncate(most);
    counted.further_accounts += further as u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_and_refusals_are_no_look_ups() {
        let outcomes = Outcomes { found: 3, not_found: 1, replayed: 5, refused: 7, credits: 3 };
        assert_eq!((outcomes.calls(), outcomes.hit_rate()), (16, Some(0.75)));
        let none = Outcomes { refused: 7, ..Outcomes::default() };
        assert_eq!(none.hit_rate(), None);
    }

    #[test]
    fn the_accounts_that_called_most_are_told_and_the_others_counted() {
        let mut counted = UseStatistics::default();
        for calls in [1, 5, 3] {
            counted.by_account.push(AccountUse {
                account: AccountId::new(enrich_core::Timestamp::UNIX_EPOCH),
                name: format!("{calls}"),
                outcomes: Outcomes { found: calls, ..Outcomes::default() },
            });
        }
        keep_first(&mut counted, 2);
        let names: Vec<&str> = counted.by_account.iter().map(|it| it.name.as_str()).collect();
        assert_eq!((names, counted.further_accounts), (vec!["5", "3"], 1));
    }
}
