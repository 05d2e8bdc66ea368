//! A lane has one connection and works on one group of charges at a time. Meanwhile, the next group
//! is collected.
//!
//! An account always has the same lane, so its jobs are decided in the order of their arrival. A
//! group first takes the path of one round trip ([`compare`](super::compare)). The jobs that this
//! path cannot decide take the path of two round trips ([`locked`](super::locked)). So does a group
//! whose reply was lost: it is sent again with the same ids until its outcome is known.

mod primary;

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use enrich_core::AccountId;
use enrich_core::port::ledger::ChargeError;
use enrich_ledger::LastRow;
use enrich_secrets::Secrets;
use rustc_hash::FxHashMap;
use tokio::sync::mpsc::Receiver;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::connect::Connection;
use crate::database::Connections;
use crate::ledger::balances::Balances;
use crate::ledger::compare::Plan;
use crate::ledger::doubts::DoubtCounts;
use crate::ledger::job::{Job, SharedError};
use crate::ledger::locked::{self, RecordSpace, Settled};
use crate::ledger::record_count::RecordCount;
use crate::ledger::refusals::{give_up, refuse, take_repeated};
use crate::ledger::transaction::NotWritten;
use crate::pulse::Readings;

/// Maximum number of jobs in a group.
const MOST_IN_GROUP: usize = 512;
/// Maximum number of accounts whose last rows a lane remembers. If there are more, the lane forgets
/// all of them.
const MOST_KNOWN: usize = 25_000;
/// A new group waits for more jobs for at most the time of the last group divided by this number.
const GATHERING_PART: u32 = 6;
/// The longest time for which a group waits for more jobs.
const MOST_GATHERING: Duration = Duration::from_millis(1);
/// Pause between two attempts to write a group.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// Maximum number of attempts to write a group that conflicts with other transactions.
const ATTEMPTS: u32 = 5;
/// Maximum number of consecutive groups that skip the path of one round trip, after other nodes
/// have changed many accounts.
const MOST_LOCKED_GROUPS: u32 = 32;

/// The state of a lane that callers see.
#[derive(Debug)]
pub(super) struct LaneStatus {
    /// Whether the database confirms commits. This becomes `false` after two seconds without a
    /// confirmed commit.
    has_primary: AtomicBool,
    /// Whether the database is older than what this process has read from it before.
    is_outdated: AtomicBool,
    pub(super) doubts: DoubtCounts,
}

impl LaneStatus {
    pub(super) fn new() -> Self {
        Self {
            has_primary: AtomicBool::new(true),
            is_outdated: AtomicBool::new(false),
            doubts: DoubtCounts::default(),
        }
    }

    /// Whether the lane accepts charges.
    pub(super) fn is_charging(&self) -> bool {
        self.has_primary.load(Ordering::Acquire) && !self.is_outdated.load(Ordering::Acquire)
    }
}

pub(super) struct Lane {
    pub(super) queue: Receiver<Job>,
    pub(super) connections: Arc<Connections>,
    pub(super) secrets: Secrets,
    pub(super) readings: Readings,
    pub(super) balances: Arc<Balances>,
    pub(super) record_count: Arc<RecordCount>,
    pub(super) status: Arc<LaneStatus>,
    state: LaneState,
}

/// What a lane remembers between groups.
#[derive(Default)]
struct LaneState {
    connection: Option<Connection>,
    /// Since when no commit is confirmed; `None` while commits are confirmed.
    down_since: Option<Instant>,
    /// Jobs that arrived while no commit was confirmed, or that did not fit into a group.
    waiting: Vec<Job>,
    /// The last rows of accounts. They may be outdated, so the database always compares them with
    /// its own.
    heads: FxHashMap<AccountId, LastRow>,
    /// The highest sequence that this process has read or written, by account.
    seen: FxHashMap<AccountId, u64>,
    /// The lineage of the database that `seen` belongs to.
    lineage: Option<Uuid>,
    /// The accounts of a group for which the database had fewer rows than `seen` says.
    outdated: Vec<AccountId>,
    /// The number of next groups that take the path of two round trips without trying the other
    /// path first.
    locked_groups: u32,
    /// The number of groups that took the path of two round trips at once after the last conflict.
    backoff: u32,
    last_groups: LastGroups,
}

/// The last two groups of a lane.
#[derive(Clone, Copy, Default)]
struct LastGroups {
    /// The number of jobs of each group, the older group first.
    sizes: [usize; 2],
    /// The time that the last group took.
    took: Duration,
}

impl Lane {
    pub(super) fn new(
        queue: Receiver<Job>,
        connections: Arc<Connections>,
        secrets: Secrets,
        readings: Readings,
        balances: Arc<Balances>,
        record_count: Arc<RecordCount>,
        status: Arc<LaneStatus>,
    ) -> Self {
        let state = LaneState::default();
        Self { queue, connections, secrets, readings, balances, record_count, status, state }
    }

    /// Decides jobs until the ledger is closed.
    pub(super) async fn run(mut self) {
        while let Some(group) = self.next_group().await {
            let (size, began) = (group.len(), Instant::now());
            self.settle(group).await;
            let sizes = [self.state.last_groups.sizes[1], size];
            self.state.last_groups = LastGroups { sizes, took: began.elapsed() };
        }
    }

    /// Waits for the next group; `None` when the ledger is closed.
    async fn next_group(&mut self) -> Option<Vec<Job>> {
        let mut group = mem::take(&mut self.state.waiting);
        if group.len() > MOST_IN_GROUP {
            self.state.waiting = group.split_off(MOST_IN_GROUP);
            return Some(group);
        }
        while group.is_empty() {
            if self.status.is_charging() {
                group.push(self.queue.recv().await?);
                continue;
            }
            // While the lane accepts no jobs, the queue stays empty, so the lane checks from time
            // to time whether charging can go on.
            match timeout(RETRY_PAUSE, self.queue.recv()).await {
                Ok(job) => group.push(job?),
                Err(_) => self.look_again().await,
            }
        }
        self.gather(&mut group).await;
        Some(group)
    }

    /// Takes the waiting jobs. If they are fewer than in the last two groups, waits a small part of
    /// the time that the last group took, so that the callers of that group, who have just got
    /// their answers, can send their next jobs. Otherwise these callers would fill every second
    /// group only.
    async fn gather(&mut self, group: &mut Vec<Job>) {
        let LastGroups { sizes, took } = self.state.last_groups;
        let expected = sizes.into_iter().max().unwrap_or_default();
        let end = Instant::now() + (took / GATHERING_PART).min(MOST_GATHERING);
        loop {
            while group.len() < MOST_IN_GROUP
                && let Ok(job) = self.queue.try_recv()
            {
                group.push(job);
            }
            if group.len() >= expected || Instant::now() >= end {
                return;
            }
            // A timer waits for at least a millisecond, which is too long.
            yield_now().await;
        }
    }

    /// Decides a group, and sends each caller its decision.
    async fn settle(&mut self, group: Vec<Job>) {
        self.check_lineage();
        let left = self.compare(group).await;
        // Each part is decided and written by itself. A part that cannot be written as a whole is
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

    /// Decides the jobs that one round trip can decide. Returns the other jobs, in the same order.
    async fn compare(&mut self, mut group: Vec<Job>) -> Vec<Job> {
        if self.state.locked_groups > 0 {
            self.state.locked_groups -= 1;
            return group;
        }
        let space = self.space();
        let is_scarce = enrich_ledger::share_of(space.most, space.records).is_some();
        if is_scarce && group.iter().any(|job| job.response().is_some()) {
            return group;
        }
        if self.connect(&mut group).await.is_none() {
            return group;
        }
        let Some(connection) = &self.state.connection else { return group };
        let plan = Plan::new(&group, &self.state.heads, &self.secrets);
        if plan.is_empty() {
            return group;
        }
        let began = Instant::now();
        let sent = plan.send(connection).await;
        let decisions: Vec<_> = match &sent {
            Ok(stood) => {
                let decisions = plan.decisions.iter().zip(&group);
                decisions
                    .map(|(decision, job)| {
                        decision.clone().filter(|_| stood.contains(&job.account()))
                    })
                    .collect()
            }
            Err(_) => vec![None; group.len()],
        };
        let is_sent: Vec<bool> = plan.decisions.iter().map(Option::is_some).collect();
        match sent {
            Ok(stood) => {
                let heads: Vec<_> = stood
                    .iter()
                    .filter_map(|account| Some((*account, plan.after(*account)?)))
                    .collect();
                let lost = plan.account_count() - stood.len();
                self.after_comparing(plan.account_count(), lost);
                self.learn(heads);
                self.note_up();
            }
            Err(NotWritten::Outdated) => {}
            Err(NotWritten::Certainly(failure)) => self.after_failure(&failure, began),
            Err(NotWritten::InDoubt(failure)) => {
                self.after_doubt(&failure, began);
                let now = Instant::now();
                for (job, is_sent) in group.iter_mut().zip(is_sent) {
                    job.doubted = job.doubted.or(is_sent.then_some(now));
                }
            }
        }
        let (mut left, mut new_records) = (Vec::new(), 0);
        for (job, decision) in group.into_iter().zip(decisions) {
            match decision {
                Some(decision) => {
                    new_records += i64::from(job.response().is_some());
                    job.tell(Ok(decision));
                }
                None => {
                    self.state.heads.remove(&job.account());
                    left.push(job);
                }
            }
        }
        self.record_count.grow(new_records);
        left
    }

    /// Reacts to a group in which other nodes had changed `lost` of the `compared` accounts first.
    /// If these are more than a tenth, the next groups take the path of two round trips at once:
    /// first two groups, then four, up to 32.
    fn after_comparing(&mut self, compared: usize, lost: usize) {
        if 10 * lost > compared {
            self.state.backoff = (2 * self.state.backoff).clamp(2, MOST_LOCKED_GROUPS);
            self.state.locked_groups = self.state.backoff;
        } else {
            self.state.backoff = 0;
        }
    }

    /// Decides and writes a group by the path of two round trips, and tries as often as needed. If
    /// the group cannot be written as a whole, returns its halves.
    async fn settle_locked(&mut self, mut group: Vec<Job>) -> Option<[Vec<Job>; 2]> {
        let mut attempts = 0;
        while !group.is_empty() {
            group = give_up(group, &self.status.doubts);
            // An empty group does not show whether commits are confirmed.
            if group.is_empty() {
                return None;
            }
            if self.connect(&mut group).await.is_none() {
                continue;
            }
            let Some(connection) = &self.state.connection else { continue };
            let (space, seen) = (self.space(), &self.state.seen);
            let began = Instant::now();
            let settled = locked::settle(connection, &group, &self.secrets, space, seen).await;
            match settled {
                Ok(settled) => {
                    self.finish(group, settled);
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

    /// Sends the decisions of a group that is durable.
    fn finish(&mut self, group: Vec<Job>, settled: Settled) {
        self.note_up();
        self.record_count.count(settled.counted, settled.grown);
        self.learn(settled.heads);
        for (job, decision) in group.into_iter().zip(settled.decisions) {
            if job.doubted.is_some() {
                self.status.doubts.count(&decision);
            }
            job.tell(decision);
        }
    }

    /// Remembers the last rows of accounts.
    fn learn(&mut self, heads: Vec<(AccountId, LastRow)>) {
        let LaneState { heads: known, seen, .. } = &mut self.state;
        if known.len() + heads.len() > MOST_KNOWN {
            known.clear();
            seen.clear();
        }
        let now = Instant::now();
        self.balances.note(heads.iter().map(|(account, last)| (*account, last.balance)), now);
        for (account, last) in heads {
            known.insert(account, last);
            seen.insert(account, last.sequence);
        }
    }

    fn space(&self) -> RecordSpace {
        self.record_count.space()
    }
}
