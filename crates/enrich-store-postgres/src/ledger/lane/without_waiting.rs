//! Decides a group of charges without waiting for locks.
//!
//! If the lane remembers the last ledger rows of all accounts of the group, it decides from these
//! rows. The database then checks that they are still the last rows, and adds the new rows. This
//! takes one round trip. Otherwise, the lane first locks the accounts that no other transaction has
//! locked, and reads their last rows. This takes two round trips.

use std::time::Instant;

use enrich_core::AccountId;
use enrich_ledger::LastRow;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ledger::compare::{Compared, Plan};
use crate::ledger::counts::add;
use crate::ledger::heads::Access;
use crate::ledger::job::{Decision, Job};
use crate::ledger::lane::Lane;
use crate::ledger::locked::{self, Locking, Settled};
use crate::ledger::refusals::take_repeated;
use crate::ledger::transaction::NotWritten;

/// The jobs of a group of charges, in two parts: those that must wait for locks, and the others.
struct Divided {
    /// The jobs of accounts that are contended (other nodes or lanes often lock them). The jobs are
    /// decided only after the group of charges has waited for the locks of these accounts.
    locked: Vec<Job>,
    /// The jobs of all other accounts.
    others: Vec<Job>,
    /// Whether the lane remembers the last rows of all accounts in `others`.
    are_remembered: bool,
}

impl Lane {
    /// Decides the jobs of a group of charges that need not wait for a lock. Returns the remaining
    /// jobs, which must be decided while their accounts are locked. Their order within an account
    /// stays the same.
    ///
    /// If another node or lane changes an account at the same time, the jobs of this account wait
    /// for the next group. If the space for idempotency records is scarce and a job stores such a
    /// record, decides nothing and returns the whole group. The records are then counted while the
    /// accounts are locked.
    pub(super) async fn settle_without_waiting(&mut self, mut group: Vec<Job>) -> Vec<Job> {
        let space = self.space();
        let is_scarce = enrich_ledger::share_of(space.most, space.records).is_some();
        if is_scarce && group.iter().any(|job| job.response().is_some()) {
            return group;
        }
        if self.connect(&mut group).await.is_none() {
            return group;
        }
        let Divided { mut locked, others, are_remembered } = self.divide(group);
        let left = if are_remembered {
            self.compare_rows(others).await
        } else {
            self.settle_free(others).await
        };
        locked.extend(left);
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
        let (locked, others) = group.into_iter().partition(is_locked);
        let are_remembered = accesses.values().all(|access| *access != Access::Read);
        Divided { locked, others, are_remembered }
    }

    /// Locks the accounts that no other transaction has locked, and decides their jobs. The jobs of
    /// the other accounts wait for the next group. If the group of charges cannot be written,
    /// returns all its jobs; otherwise returns no jobs.
    async fn settle_free(&mut self, mut group: Vec<Job>) -> Vec<Job> {
        let repeated = take_repeated(&mut group);
        let Some(connection) = &self.state.connection else {
            group.extend(repeated);
            return group;
        };
        let (space, seen) = (self.space(), &*self.status.seen);
        let began = Instant::now();
        let settling =
            locked::settle(connection, &group, &self.secrets, Locking::SkipLocked, space, seen);
        let settled = settling.await;
        self.status.counter.read.count_group(began);
        match settled {
            Ok(settled) => {
                self.note_locks(&group, &settled);
                // The jobs in `repeated` wait for the next group. `finish` puts the undecided jobs
                // of `group` before them, because the jobs of `group` arrived earlier.
                self.wait_for_next_group(repeated);
                let decided = self.finish(group, settled, began);
                self.status.counter.read.count_jobs(decided);
                return Vec::new();
            }
            Err(NotWritten::Outdated) => {}
            Err(NotWritten::Certainly(failure)) => self.after_failure(&failure, began),
            Err(NotWritten::InDoubt(failure)) => {
                self.after_doubt(&failure, began);
                let now = Instant::now();
                group.iter_mut().for_each(|job| {
                    job.doubted.get_or_insert(now);
                });
            }
        }
        group.extend(repeated);
        group
    }

    /// Remembers which accounts of a group of charges could be locked without waiting.
    fn note_locks(&mut self, group: &[Job], settled: &Settled) {
        let heads = &mut self.state.heads;
        let mut noted: FxHashSet<AccountId> = FxHashSet::default();
        for (job, decision) in group.iter().zip(&settled.decisions) {
            let account = job.account();
            if !noted.insert(account) {
                continue;
            }
            if decision.is_some() {
                heads.won(account);
            } else {
                heads.lost(account);
                add(&self.status.counter.conflicts, 1);
            }
        }
    }

    /// Decides each job from the last ledger row of its account, as this lane remembers the row.
    /// The decision is valid only if this is still the account's last row in the database. Returns
    /// the jobs that must be decided while their accounts are locked.
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
                // A database without a standby confirms only commits that write nothing. If `stood`
                // is empty, this commit has added no rows, so it does not show that the database
                // can store charges.
                if !compared.stood.is_empty() {
                    self.note_up();
                }
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

    /// Remembers the new last row of each account that no other node or lane has changed: the last
    /// row in the database was still the row that this lane remembered.
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

    /// Sends the decisions to the callers. A decision is sent only if the last row of the account
    /// in the database was still the row that this lane remembered. If another node or lane had
    /// changed or locked an account, the jobs of this account wait for the next group of charges.
    /// Returns the remaining jobs, which must be decided while their accounts are locked.
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
        self.wait_for_next_group(lost);
        left
    }
}
