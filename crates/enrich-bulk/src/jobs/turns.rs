//! Selects the job that runs next. Accounts take turns, so that no account delays the others.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use enrich_core::AccountId;

use super::record::JobId;
use super::{JobRegistry, Settings};

impl JobRegistry {
    /// Takes the next job out of the queue. Jobs of the account with the fewest running jobs come
    /// first. If several accounts have equally few, the account whose last job was taken the
    /// longest ago comes first. Of several jobs of an account, the first in the queue comes first.
    pub(super) fn take_next(&mut self) -> Option<JobId> {
        let running = self.running();
        let rank = |at: &usize| {
            let account = self.waiting.get(*at).and_then(|id| self.account(*id));
            let run = account.and_then(|account| running.get(&account)).copied();
            let turn = account.and_then(|account| self.turns.get(&account)).copied();
            (run.unwrap_or_default(), turn.unwrap_or_default(), *at)
        };
        let at = (0..self.waiting.len()).min_by_key(rank)?;
        let id = self.waiting.remove(at)?;
        if let Some(account) = self.account(id) {
            self.last_turn += 1;
            self.turns.insert(account, self.last_turn);
        }
        Some(id)
    }

    /// Decides whether a job that has run for the time `ran` must yield: stop for a while, so that
    /// a job of another account can run. If so, marks the job as yielding and returns `true`. A job
    /// must yield if all of these are true:
    ///
    /// - The maximum number of jobs is running.
    /// - The number of accounts that have waiting jobs, but no running job, is greater than the
    ///   number of jobs that are already yielding. Each yielding job makes room for one of these
    ///   accounts.
    /// - The job's account runs several jobs that are not yielding, or `ran` is at least
    ///   `settings.turn`.
    pub(super) fn must_yield(&mut self, id: JobId, ran: Duration, settings: &Settings) -> bool {
        let running = self.running();
        let places: usize = running.values().sum();
        if places < settings.running.max(1) {
            return false;
        }
        let waiting: BTreeSet<AccountId> =
            self.waiting.iter().filter_map(|id| self.account(*id)).collect();
        let without = waiting.iter().filter(|account| !running.contains_key(account)).count();
        // `without` is the number of accounts that have waiting jobs, but no running job. Shared
        // jobs wait in the store, so the accounts with waiting shared jobs (`contenders`) are
        // added.
        let without = without + self.contenders;
        let yielding = self.jobs.values().filter(|entry| entry.is_yielding).count();
        if without <= yielding {
            return false;
        }
        let Some(account) = self.account(id) else { return false };
        let yielding = self.of_account(account).filter(|entry| entry.is_yielding).count();
        let own = running.get(&account).copied().unwrap_or_default().saturating_sub(yielding);
        let yields = own > 1 || ran >= settings.turn;
        if let Some(entry) = self.jobs.get_mut(&id).filter(|_| yields) {
            entry.is_yielding = true;
        }
        yields
    }

    fn account(&self, id: JobId) -> Option<AccountId> {
        self.jobs.get(&id).map(|entry| entry.record.account)
    }

    /// Returns the number of running jobs of each account.
    fn running(&self) -> BTreeMap<AccountId, usize> {
        let mut running = BTreeMap::new();
        for entry in self.jobs.values().filter(|entry| entry.stop.is_some()) {
            *running.entry(entry.record.account).or_default() += 1;
        }
        running
    }
}
