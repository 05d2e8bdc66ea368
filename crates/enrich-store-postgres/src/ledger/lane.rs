//! A lane is a task that decides jobs: it writes or refuses them. A job is a charge or a grant. A
//! lane has one connection to the database, and works on one group of jobs at a time. New jobs
//! arrive in the lane's queue, and form the next group.
//!
//! An account has the same lane while the number of used lanes stays the same
//! ([`lane_choice`](super::lane_choice)). After this number has changed, two lanes may charge the
//! same account at the same time, as two nodes may. Then only one of them adds its ledger rows; the
//! other one must decide its jobs again.
//!
//! To decide a job, the lane needs the last ledger row of the job's account. There are three ways
//! to decide the jobs of a group:
//!
//! - **compared**, one round trip: the lane decides from the last rows that it remembers. The
//!   database adds the new rows of an account only if its last row is still the remembered one
//!   ([`compare`](super::compare)).
//! - **read**, two round trips: the lane locks those accounts that no other transaction has locked,
//!   reads their last rows and decides ([`locked`]).
//! - **locked**, two round trips: as **read**, but the lane also waits for the accounts that other
//!   transactions have locked. This way is used for accounts that others lock often, for jobs that
//!   cannot be decided in the other two ways, and for jobs whose reply from the database was lost.
//!   A job whose reply was lost is sent again with the same id until its outcome is known.

mod primary;
mod without_waiting;

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use enrich_core::AccountId;
use enrich_core::port::ledger::ChargeError;
use enrich_ledger::LastRow;
use enrich_secrets::Secrets;
use tokio::sync::mpsc::Receiver;
use tokio::time::{sleep, timeout, timeout_at};

use crate::connect::Connection;
use crate::database::Connections;
use crate::ledger::balances::Balances;
use crate::ledger::counts::LaneCounter;
use crate::ledger::doubts::DoubtCounts;
use crate::ledger::heads::Heads;
use crate::ledger::job::{Job, SharedError};
use crate::ledger::locked::{self, Locking, RecordSpace, Settled};
use crate::ledger::record_count::RecordCount;
use crate::ledger::refusals::{give_up, refuse, take_repeated};
use crate::ledger::seen::SeenRows;
use crate::ledger::transaction::NotWritten;
use crate::not_ready::NotReady;
use crate::pulse::Readings;
use crate::seals::Unsealed;

/// Maximum number of jobs in a group of charges.
const MAX_IN_GROUP: usize = 512;
/// Limits how long a new group of charges waits for more jobs: at most the duration of the last
/// group divided by this number, and at most [`MAX_GATHERING`].
const GATHERING_PART: u32 = 3;
/// Maximum time that a group of charges waits for more jobs. Without this maximum, the wait would
/// be long after a slow group; see [`GATHERING_PART`].
const MAX_GATHERING: Duration = Duration::from_millis(2);
/// A group of charges waits for more jobs only if at least this many callers were active. With
/// fewer callers, waiting saves too little: two small groups cost the database little more than one
/// group.
const MIN_CALLERS: usize = 16;
/// Pause between two attempts to write a group of charges.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// Maximum number of attempts to write a group of charges that conflicts with other transactions.
const ATTEMPTS: u32 = 5;

/// The state of a lane (a task that decides charges). The threads of its callers read this state.
#[derive(Debug)]
pub(super) struct LaneStatus {
    /// Whether the database confirms commits. This becomes `false` after two seconds without a
    /// confirmed commit.
    has_primary: AtomicBool,
    /// The ledger rows that any lane of this process has read or written; all lanes share this
    /// value. If a lane finds that the database lacks some of these rows, the database is outdated,
    /// and all lanes stop charging.
    pub(super) seen: Arc<SeenRows>,
    pub(super) doubts: DoubtCounts,
    pub(super) counter: LaneCounter,
}

impl LaneStatus {
    pub(super) fn new(seen: Arc<SeenRows>) -> Self {
        Self {
            seen,
            has_primary: AtomicBool::new(true),
            doubts: DoubtCounts::default(),
            counter: LaneCounter::default(),
        }
    }

    /// Whether the lane accepts charges.
    pub(super) fn is_charging(&self) -> bool {
        self.not_charging().is_none()
    }

    /// Returns why the lane does not accept charges; `None` if it does.
    pub(super) fn not_charging(&self) -> Option<NotReady> {
        if self.seen.is_outdated() {
            Some(NotReady::Outdated)
        } else if !self.has_primary.load(Ordering::Acquire) {
            Some(NotReady::NoPrimary)
        } else {
            None
        }
    }
}

/// The data that all lanes of a store share.
#[derive(Clone)]
pub(super) struct LaneShared {
    pub(super) balances: Arc<Balances>,
    pub(super) record_count: Arc<RecordCount>,
    /// The last ledger rows of accounts that are not in a seal yet; see [`seals`](crate::seals).
    /// After a lane has written rows of an account, it adds the account's new last row here. `None`
    /// if the node writes no seals.
    pub(super) unsealed: Option<Arc<Unsealed>>,
}

pub(super) struct Lane {
    pub(super) queue: Receiver<Job>,
    pub(super) connections: Arc<Connections>,
    pub(super) secrets: Secrets,
    pub(super) readings: Readings,
    pub(super) shared: LaneShared,
    pub(super) status: Arc<LaneStatus>,
    state: LaneState,
}

/// The state that a lane keeps from one group of charges to the next.
#[derive(Default)]
struct LaneState {
    connection: Option<Connection>,
    /// The time since which no commit was confirmed; `None` while commits are confirmed.
    down_since: Option<Instant>,
    /// The jobs for the next groups of charges. A job is here for one of these reasons:
    ///
    /// - It was in the queue when the connection failed or no primary was found.
    /// - It did not fit into the last group.
    /// - It was left out of the last group, because another node or lane had locked or changed its
    ///   account.
    /// - It, or an earlier job of its account, repeats the idempotency key of another job of the
    ///   last group.
    waiting: Vec<Job>,
    heads: Heads,
    callers: Callers,
}

/// The callers of a lane: how many are active, and how long their last group of charges took. A
/// caller waits for its decision before it sends the next job.
#[derive(Clone, Copy, Default)]
struct Callers {
    /// The number of jobs of the present group of charges. When [`Self::note`] has counted them, it
    /// sets this to 0, so that it counts each group only once.
    in_group: usize,
    /// An estimate of the number of active callers. After each group of charges, it becomes the
    /// larger one of two numbers: the callers whose jobs were in the group or in the queue, and
    /// seven eighths of the earlier estimate.
    active: usize,
    /// How long the last group of charges took.
    last_took: Duration,
}

impl Callers {
    /// Updates `active` from the jobs in the present group of charges and in the queue. Each of
    /// these jobs has a different caller, because a caller waits for its decision before it sends
    /// its next job.
    ///
    /// Only the first call of this method for a group has an effect. After the first decisions were
    /// sent, callers may send their next jobs. Such a caller would be counted twice: once for its
    /// job in the group, and once for its next job in the queue.
    fn note(&mut self, in_queue: usize) {
        if self.in_group > 0 {
            let seen = mem::take(&mut self.in_group) + in_queue;
            self.active = seen.max(self.active - self.active.div_ceil(8));
        }
    }
}

impl Lane {
    pub(super) fn new(
        queue: Receiver<Job>,
        connections: Arc<Connections>,
        secrets: Secrets,
        readings: Readings,
        shared: LaneShared,
        status: Arc<LaneStatus>,
    ) -> Self {
        let state = LaneState::default();
        Self { queue, connections, secrets, readings, shared, status, state }
    }

    /// Decides jobs until the ledger is closed.
    pub(super) async fn run(mut self) {
        while let Some(group) = self.next_group().await {
            let began = Instant::now();
            self.state.callers.in_group = group.len();
            self.settle(group).await;
            self.state.callers.last_took = began.elapsed();
        }
    }

    /// Waits for the next group of charges; `None` when the ledger is closed.
    async fn next_group(&mut self) -> Option<Vec<Job>> {
        let mut group = mem::take(&mut self.state.waiting);
        if group.len() > MAX_IN_GROUP {
            self.state.waiting = group.split_off(MAX_IN_GROUP);
            return Some(group);
        }
        while group.is_empty() {
            if self.status.is_charging() {
                group.push(self.queue.recv().await?);
                continue;
            }
            // The lane refuses new charges now, so the queue usually stays empty. Nothing would
            // wake the lane when charging can go on. So it wakes at intervals and checks this. A
            // job can still arrive, if its caller checked the lane's state just before the change.
            match timeout(RETRY_PAUSE, self.queue.recv()).await {
                Ok(job) => group.push(job?),
                Err(_) => self.look_again().await,
            }
        }
        self.gather(&mut group).await;
        Some(group)
    }

    /// Adds the jobs in the queue to `group`, a group of charges. If the group is then still small,
    /// waits for a short time for more jobs.
    ///
    /// The callers of the last group have just got their decisions. In this time, they can send
    /// their next jobs. Without the wait, these jobs would miss this group. For example, with 100
    /// callers, the groups would have 50 jobs each, of one half of the callers and of the other
    /// half in turn.
    async fn gather(&mut self, group: &mut Vec<Job>) {
        let Callers { active, last_took, .. } = self.state.callers;
        // Waits only until the group has a job of seven eighths of the active callers. A longer
        // wait for the last few callers costs more than it saves. Some of them may never come,
        // because their next job may go to another lane.
        let enough = if active < MIN_CALLERS { 0 } else { active - active / 8 };
        let end = tokio::time::Instant::now() + (last_took / GATHERING_PART).min(MAX_GATHERING);
        while group.len() < MAX_IN_GROUP {
            match self.queue.try_recv() {
                Ok(job) => group.push(job),
                Err(_) if group.len() >= enough => return,
                Err(_) => match timeout_at(end, self.queue.recv()).await {
                    Ok(Some(job)) => group.push(job),
                    Ok(None) | Err(_) => return,
                },
            }
        }
    }

    /// Decides a group of charges, and sends each caller its decision.
    async fn settle(&mut self, group: Vec<Job>) {
        self.check_lineage();
        let left = self.settle_without_waiting(group).await;
        // The remaining jobs are decided and written in parts. A job that repeats the idempotency
        // key of an earlier job goes into a later part. A part that cannot be written as a whole is
        // divided into halves.
        let mut parts = vec![left];
        while let Some(mut part) = parts.pop() {
            let later = take_repeated(&mut part);
            if !later.is_empty() {
                parts.push(later);
            }
            if part.is_empty() {
                continue;
            }
            if let Some(half) = self.settle_locked(part).await {
                parts.extend(half.into_iter().rev());
            }
        }
    }

    /// Decides a group of charges while its accounts are locked, and repeats failed attempts. If
    /// the group cannot be written as a whole, returns its halves.
    async fn settle_locked(&mut self, mut group: Vec<Job>) -> Option<[Vec<Job>; 2]> {
        let mut attempts = 0;
        while !group.is_empty() {
            group = give_up(group, &self.status.doubts);
            // All jobs were refused, so there is nothing to write. The commit of an empty group of
            // charges would not show that the database confirms commits: a commit without changes
            // always succeeds.
            if group.is_empty() {
                return None;
            }
            if self.connect(&mut group).await.is_none() {
                continue;
            }
            let Some(connection) = &self.state.connection else { continue };
            let (space, seen) = (self.space(), &*self.status.seen);
            let began = Instant::now();
            let settling =
                locked::settle(connection, &group, &self.secrets, Locking::Wait, space, seen);
            let settled = settling.await;
            self.status.counter.locked.count_group(began);
            match settled {
                Ok(settled) => {
                    let decided = self.finish(group, settled, began);
                    self.status.counter.locked.count_jobs(decided);
                    return None;
                }
                Err(NotWritten::InDoubt(failure)) => {
                    self.after_doubt(&failure, began);
                    let now = Instant::now();
                    group.iter_mut().for_each(|job| {
                        job.doubted.get_or_insert(now);
                    });
                }
                Err(NotWritten::Outdated) => {
                    self.after_outdated(&group);
                    group = refuse(group, || ChargeError::Stopped);
                    sleep(RETRY_PAUSE).await;
                }
                Err(NotWritten::Certainly(failure)) => {
                    self.after_failure(&failure, began);
                    attempts += 1;
                    if failure.loses_connection() {
                        continue;
                    }
                    if failure.is_conflict() {
                        if attempts >= ATTEMPTS {
                            group = refuse(group, || ChargeError::Overloaded);
                        }
                    } else if group.len() > 1 {
                        let rest = group.split_off(group.len() / 2);
                        return Some([group, rest]);
                    } else {
                        let error = SharedError::new(failure);
                        group = refuse(group, || ChargeError::NotTaken(error.boxed()));
                    }
                    sleep(RETRY_PAUSE).await;
                }
            }
        }
        None
    }

    /// Tells the callers of a group of charges their decisions, which are now durable. `began` is
    /// the time when the group was sent to the database. Jobs without a decision wait for the next
    /// group. Returns the number of decisions.
    fn finish(&mut self, group: Vec<Job>, settled: Settled, began: Instant) -> usize {
        if settled.has_locks {
            self.note_up();
        }
        self.state.callers.note(self.queue.len());
        self.shared.record_count.count(settled.counted, settled.grown);
        self.state.heads.reserve(settled.heads.len());
        for (account, last) in settled.read {
            self.status.seen.note([(account, last.sequence)].into_iter());
            self.state.heads.read(account, last);
        }
        self.learn(settled.heads);
        let (all, mut skipped) = (group.len(), Vec::new());
        for (job, decision) in group.into_iter().zip(settled.decisions) {
            let Some(decision) = decision else {
                skipped.push(job);
                continue;
            };
            self.status.counter.count_wait(&job, began);
            if job.doubted.is_some() {
                self.status.doubts.count(&decision);
            }
            job.tell(decision);
        }
        let decided = all - skipped.len();
        self.wait_for_next_group(skipped);
        decided
    }

    /// Keeps jobs for the next group of charges. They arrived before the jobs that are already in
    /// `waiting`, so they are put at the beginning.
    fn wait_for_next_group(&mut self, mut jobs: Vec<Job>) {
        jobs.append(&mut self.state.waiting);
        self.state.waiting = jobs;
    }

    /// Remembers the new last ledger row of each account to which this lane has added rows for a
    /// group of charges.
    fn learn(&mut self, heads: Vec<(AccountId, LastRow)>) {
        let now = Instant::now();
        self.shared
            .balances
            .note(heads.iter().map(|(account, last)| (*account, last.balance)), now);
        self.status.seen.note(heads.iter().map(|(account, last)| (*account, last.sequence)));
        if let Some(unsealed) = &self.shared.unsealed {
            unsealed.add(heads.iter().copied());
        }
        for (account, last) in heads {
            self.state.heads.written(account, last);
        }
    }

    fn space(&self) -> RecordSpace {
        self.shared.record_count.space()
    }
}
