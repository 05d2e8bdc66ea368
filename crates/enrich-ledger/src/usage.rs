//! Counts the calls of API keys in memory, until a store writes the counts to its database.

use std::collections::hash_map::Entry;
use std::mem;

use enrich_core::port::usage::{Use, UseOutcome};
use enrich_core::{AccountId, KeyId, Timestamp, day_of};
use rustc_hash::FxHashMap;

/// Maximum number of usage counters in memory; they take about 15 MB. If this number is reached, a
/// call that needs a new counter is not counted.
const MAX_GATHERED: usize = 100_000;
/// Maximum value of an integer column in a database.
const MAX: u64 = i64::MAX as u64;

/// Identifies a usage counter. The fields have the order of the primary key of a store's table. So
/// if the counters are sorted by `UsageKey`, neighbouring rows of the table are written one after
/// the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UsageKey {
    /// The account that made the calls.
    pub account: AccountId,
    /// The day (UTC), in days since 1970-01-01.
    pub day: i64,
    /// The API key with which the calls were made.
    pub key: KeyId,
    /// The path of the endpoint that was called.
    pub endpoint: &'static str,
    /// How the calls ended, for example found or refused.
    pub outcome: UseOutcome,
}

/// The content of a usage counter: the number of calls, their credits, and the time of the last
/// call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageSum {
    /// The number of calls.
    pub calls: u64,
    /// The sum of the credits that were charged.
    pub credits: u64,
    /// The time of the last call.
    pub last_at: Timestamp,
}

/// Counters of calls that are in memory and not yet written to the database.
#[derive(Debug, Default)]
pub struct GatheredUsage {
    sums: FxHashMap<UsageKey, UsageSum>,
    lost: u64,
}

/// The usage counters that [`GatheredUsage::take`] returns. They are then written to the database.
#[derive(Debug)]
pub struct TakenUsage {
    /// The counters, sorted by their [`UsageKey`].
    pub sums: Vec<(UsageKey, UsageSum)>,
    /// The number of calls that were not counted, because there were too many counters in memory.
    pub lost: u64,
}

/// The time of the last use of each API key. The times are in memory until a store writes them.
#[derive(Debug, Default)]
pub struct LastUses(FxHashMap<KeyId, Timestamp>);

impl GatheredUsage {
    /// Counts a call in memory. If the call needs a new counter and the memory already holds too
    /// many counters, the call is not counted.
    pub fn count(&mut self, used: Use) {
        let counted = UsageKey {
            account: used.account,
            day: day_of(used.at),
            key: used.key,
            endpoint: used.endpoint,
            outcome: used.outcome,
        };
        self.add(counted, UsageSum { calls: 1, credits: used.credits.0, last_at: used.at });
    }

    /// Adds a sum to a counter, for example a sum that a store could not write.
    pub fn add(&mut self, counted: UsageKey, sum: UsageSum) {
        let is_full = self.sums.len() >= MAX_GATHERED;
        match self.sums.entry(counted) {
            Entry::Occupied(mut known) => known.get_mut().add(sum),
            Entry::Vacant(_) if is_full => self.lost = self.lost.saturating_add(sum.calls),
            Entry::Vacant(new) => {
                new.insert(sum);
            }
        }
    }

    /// Takes all counters out of memory and returns them.
    pub fn take(&mut self) -> TakenUsage {
        let Self { sums, lost } = mem::take(self);
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable_by_key(|&(counted, _)| counted);
        TakenUsage { sums, lost }
    }
}

impl UsageSum {
    fn add(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls).min(MAX);
        self.credits = self.credits.saturating_add(other.credits).min(MAX);
        self.last_at = self.last_at.max(other.last_at);
    }
}

impl LastUses {
    /// Stores the time of a key's use in memory. If the memory already holds too many keys, a new
    /// key is not stored.
    pub fn add(&mut self, key: KeyId, at: Timestamp) {
        if self.0.len() < MAX_GATHERED || self.0.contains_key(&key) {
            let latest = self.0.entry(key).or_insert(at);
            *latest = at.max(*latest);
        }
    }

    /// Removes all times of last use from memory, and returns them sorted by key.
    pub fn take(&mut self) -> Vec<(KeyId, Timestamp)> {
        let mut uses: Vec<_> = self.0.drain().collect();
        uses.sort_unstable();
        uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gathers_in_memory_has_an_end() {
        let now = Timestamp::UNIX_EPOCH;
        let mut gathered = GatheredUsage::default();
        let (endpoint, outcome) = ("/v1/cuf", UseOutcome::Found);
        let first = UsageKey {
            account: AccountId::new(now),
            day: 0,
            key: KeyId::new(now),
            endpoint,
            outcome,
        };
        let sum = UsageSum { calls: 1, credits: u64::MAX, last_at: now };
        for day in 0..i64::try_from(MAX_GATHERED).unwrap() + 2 {
            gathered.add(UsageKey { day, ..first }, sum);
        }
        gathered.add(first, sum);
        let taken = gathered.take();
        assert_eq!((taken.sums.len(), taken.lost), (MAX_GATHERED, 2));
        assert_eq!(taken.sums[0], (first, UsageSum { calls: 2, credits: MAX, last_at: now }));
        assert!(gathered.take().sums.is_empty());
    }
}
