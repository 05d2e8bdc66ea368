//! Groups on the path of one round trip: which jobs can take this path, and what the lane remembers
//! afterwards. The locks of this path are taken and released in the same round trip.

use std::mem;
use std::time::Instant;

use enrich_core::AccountId;
use enrich_ledger::LastRow;
use rustc_hash::FxHashMap;
use tokio::time::timeout;

use crate::failure::Failure;
use crate::ledger::compare::{Compared, Plan};
use crate::ledger::counts::add;
use crate::ledger::heads::Access;
use crate::ledger::job::{Decision, Job};
use crate::ledger::lane::Lane;
use crate::ledger::rows::read_last_rows;
use crate::ledger::transaction::{ANSWER_TIMEOUT, NotWritten};

/// A group, divided by the way in which it gets the last rows of its accounts.
struct Divided {
    /// The jobs of contended accounts.
    locked: Vec<Job>,
    /// The jobs of the other accounts.
    compared: Vec<Job>,
    /// The accounts of `compared` whose last rows must be read.
    to_read: Vec<AccountId>,
}

impl Lane {
    /// Decides the jobs that can take the path of one round trip. Returns the other jobs; jobs of
    /// the same account stay in their order. If another node or lane changed an account first, the
    /// jobs of this account wait for the next group. If the space for idempotency records is scarce and a
    /// job stores one, returns the whole group, because only the path of two round trips counts the
    /// records of each account.
    pub(super) async fn compare(&mut self, mut group: Vec<Job>) -> Vec<Job> {
        let space = self.space();
        let is_scarce = enrich_ledger::share_of(space.most, space.records).is_some();
        if is_scarce && group.iter().any(|job| job.response().is_some()) {
            return group;
        }
        if self.connect(&mut group).await.is_none() {
            return group;
        }
        let Divided { mut locked, compared, to_read } = self.divide(group);
        if !self.read_rows(&to_read).await {
            locked.extend(compared);
            return locked;
        }
        locked.extend(self.compare_rows(compared).await);
        locked
    }

    fn divide(&mut self, group: Vec<Job>) -> Divided {
        let heads = &mut self.state.heads;
        let mut accesses: FxHashMap<AccountId, Access> = FxHashMap::default();
        for job in &group {
            let account = job.account();
            accesses.entry(account).or_insert_with(|| heads.access(account));
        }
        let is_locked = |job: &Job| accesses.get(&job.account()) == Some(&Access::Locked);
        let (locked, compared) = group.into_iter().partition(is_locked);
        let read = accesses.iter().filter(|(_, access)| **access == Access::Read);
        let to_read = read.map(|(account, _)| *account).collect();
        Divided { locked, compared, to_read }
    }

    /// Reads the last rows of accounts without locking the accounts. Returns `false` if they could
    /// not be read.
    ///
    /// A row is not remembered if it was altered, or if it is older than a row that this process
    /// has seen. The jobs of its account are then decided while the account is locked.
    async fn read_rows(&mut self, accounts: &[AccountId]) -> bool {
        if accounts.is_empty() {
            return true;
        }
        let Some(connection) = &self.state.connection else { return false };
        let began = Instant::now();
        let reading = read_last_rows(&connection.client, accounts, &self.secrets);
        add(&self.status.counter.reads, accounts.len() as u64);
        let read = match timeout(ANSWER_TIMEOUT, reading).await {
            Ok(read) => read,
            Err(_) => Err(Failure::TimedOut),
        };
        match read {
            Ok(mut read) => {
                let heads = &mut self.state.heads;
                heads.reserve(accounts.len());
                let seen = &self.status.seen;
                for account in accounts {
                    match read.remove(account) {
                        Some(Ok(last)) if seen.has_all(*account, last.sequence) => {
                            seen.note([(*account, last.sequence)].into_iter());
                            heads.read(*account, last);
                        }
                        _ => heads.forget(*account),
                    }
                }
                true
            }
            Err(failure) => {
                self.after_failure(&failure, began);
                false
            }
        }
    }

    /// Decides jobs from the last rows that this node remembers, if the database has the same rows.
    /// Returns the jobs that must be decided while their accounts are locked.
    async fn compare_rows(&mut self, mut group: Vec<Job>) -> Vec<Job> {
        let Some(connection) = &self.state.connection else { return group };
        let plan = Plan::new(&group, self.state.heads.rows(), &self.secrets);
        if plan.is_empty() {
            return group;
        }
        let began = Instant::now();
        let sent = plan.send(connection).await;
        self.status.counter.compared.count_group(began);
        let (decisions, after) = plan.into_decisions();
        match sent {
            Ok(compared) => {
                self.note_up();
                self.state.callers.note(self.queue.len());
                self.learn_compared(after, &compared);
                self.tell_compared(group, decisions, &compared, began)
            }
            Err(NotWritten::Outdated) => group,
            Err(NotWritten::Certainly(failure)) => {
                self.after_failure(&failure, began);
                group
            }
            Err(NotWritten::InDoubt(failure)) => {
                self.after_doubt(&failure, began);
                let now = Instant::now();
                for (job, decision) in group.iter_mut().zip(decisions) {
                    job.doubted = job.doubted.or(decision.is_some().then_some(now));
                }
                group
            }
        }
    }

    /// Remembers the last rows after the group, for the accounts whose rows were as expected.
    fn learn_compared(&mut self, after: FxHashMap<AccountId, LastRow>, compared: &Compared) {
        let heads = &mut self.state.heads;
        heads.reserve(after.len());
        let mut written = Vec::with_capacity(after.len());
        for (account, last) in after {
            if compared.stood.contains(&account) {
                heads.won(account);
                written.push((account, last));
            } else if !compared.has_record.contains(&account) {
                heads.lost(account);
                add(&self.status.counter.conflicts, 1);
            }
        }
        self.learn(written);
    }

    /// Sends the decisions of the accounts whose last rows were as expected. If another node
    /// or lane had changed an account, its jobs wait for the next group. Returns the remaining jobs.
    fn tell_compared(
        &mut self,
        group: Vec<Job>,
        decisions: Vec<Option<Decision>>,
        compared: &Compared,
        began: Instant,
    ) -> Vec<Job> {
        let counter = &self.status.counter;
        let (mut left, mut lost, mut new_records) = (Vec::new(), Vec::new(), 0);
        for (job, decision) in group.into_iter().zip(decisions) {
            let account = job.account();
            match decision {
                Some(decision) if compared.stood.contains(&account) => {
                    new_records += i64::from(job.response().is_some());
                    counter.compared.count_jobs(1);
                    counter.count_wait(&job, began);
                    job.tell(Ok(decision));
                }
                Some(_) if !compared.has_record.contains(&account) => lost.push(job),
                _ => left.push(job),
            }
        }
        self.shared.record_count.grow(new_records);
        // These jobs arrived before the jobs that already wait, so they come first.
        lost.append(&mut mem::take(&mut self.state.waiting));
        self.state.waiting = lost;
        left
    }
}
