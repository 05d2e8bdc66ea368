//! A lane: one connection, and one group of charges under way. While a group is under way, the next
//! one gathers.
//!
//! An account always has the same lane, so its jobs are decided in order of arrival. A group first
//! takes the path of one round trip ([`compare`](super::compare)). What that cannot decide takes the
//! path of two ([`locked`](super::locked)), and so does a group whose reply was lost: it is
//! submitted again with the same ids until its outcome is known.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use enrich_core::AccountId;
use enrich_core::port::ledger::ChargeError;
use enrich_ledger::LastRow;
use enrich_secrets::Secrets;
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::mpsc::Receiver;
use tokio::time::sleep;
use uuid::Uuid;

use crate::connect::Connection;
use crate::database::Connections;
use crate::failure::Failure;
use crate::ledger::balances::Balances;
use crate::ledger::compare::Plan;
use crate::ledger::job::{Job, SharedError};
use crate::ledger::locked::{self, RecordSpace, Settled};
use crate::ledger::record_count::RecordCount;
use crate::ledger::transaction::NotWritten;
use crate::pulse::Readings;

/// The most jobs of a group.
const MOST_IN_GROUP: usize = 512;
/// The most accounts whose last rows a lane knows; it forgets all when there are more.
const MOST_KNOWN: usize = 25_000;
/// How long a job waits for a primary before it is refused.
const WAIT_FOR_PRIMARY: Duration = Duration::from_secs(3);
/// How long a lane has no primary before further charges are refused at once.
const DOWN_AFTER: Duration = Duration::from_secs(2);
/// How long a job may be in doubt before its caller is told so.
const DOUBT_FOR: Duration = Duration::from_secs(8);
/// Pause between two attempts to connect.
const RECONNECT_PAUSE: Duration = Duration::from_millis(50);
/// How often a group is tried when other transactions are in its way.
const ATTEMPTS: u32 = 5;
/// The most groups in a row that take the locked path after others changed the accounts.
const MOST_LOCKED_GROUPS: u32 = 32;

/// What callers see of a lane.
#[derive(Debug)]
pub(super) struct LaneStatus {
    /// Whether it has a primary, or had one a moment ago.
    has_primary: AtomicBool,
    /// Whether the database is older than what this process has read from it.
    is_outdated: AtomicBool,
}

impl LaneStatus {
    pub(super) fn new() -> Self {
        Self { has_primary: AtomicBool::new(true), is_outdated: AtomicBool::new(false) }
    }

    /// Whether the lane takes charges.
    pub(super) fn is_charging(&self) -> bool {
        self.has_primary.load(Ordering::Acquire) && !self.is_outdated.load(Ordering::Acquire)
    }
}

/// The database has fewer rows than this process has read from it.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the database is older than what this node has read from it")]
struct Outdated;

/// The other transactions of an account went on for too long.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the reply of the database was lost")]
struct ReplyLost;

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

/// What a lane knows between groups.
#[derive(Default)]
struct LaneState {
    connection: Option<Connection>,
    /// Since when there is no primary.
    down_since: Option<Instant>,
    /// Jobs that arrived while there was no primary.
    waiting: Vec<Job>,
    /// The last rows of accounts. Never trusted: the database compares.
    heads: FxHashMap<AccountId, LastRow>,
    /// The highest sequence of each account that this process has read or written.
    seen: FxHashMap<AccountId, u64>,
    /// The lineage of the database that `seen` belongs to.
    lineage: Option<Uuid>,
    /// The number of further groups that take the locked path at once.
    locked_groups: u32,
    /// The number of groups that took it after the last conflict.
    backoff: u32,
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
        loop {
            let mut group = mem::take(&mut self.state.waiting);
            if group.is_empty() {
                match self.queue.recv().await {
                    Some(job) => group.push(job),
                    None => return,
                }
            }
            while group.len() < MOST_IN_GROUP
                && let Ok(job) = self.queue.try_recv()
            {
                group.push(job);
            }
            self.settle(group).await;
        }
    }

    /// Decides a group and tells each caller.
    async fn settle(&mut self, group: Vec<Job>) {
        self.check_lineage();
        let left = self.compare(group).await;
        // Each part is settled by itself; a part that cannot be written is halved.
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

    /// Decides what one round trip can decide. Returns the other jobs, in order.
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
            }
            Err(NotWritten::Outdated) => {}
            Err(NotWritten::Certainly(failure)) => self.after_failure(&failure),
            Err(NotWritten::InDoubt(failure)) => {
                self.after_failure(&failure);
                self.state.connection = None;
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

    /// After a group in which other nodes were first for `lost` of `compared` accounts, further
    /// groups take the locked path at once: two, then four, up to 32.
    fn after_comparing(&mut self, compared: usize, lost: usize) {
        if 10 * lost > compared {
            self.state.backoff = (2 * self.state.backoff).clamp(2, MOST_LOCKED_GROUPS);
            self.state.locked_groups = self.state.backoff;
        } else {
            self.state.backoff = 0;
        }
    }

    /// Settles a group on the locked path, as long as it takes. Returns its halves if it cannot be
    /// written as a whole.
    async fn settle_locked(&mut self, mut group: Vec<Job>) -> Option<[Vec<Job>; 2]> {
        let mut attempts = 0;
        while !group.is_empty() {
            group = give_up(group);
            if self.connect(&mut group).await.is_none() {
                continue;
            }
            let Some(connection) = &self.state.connection else { continue };
            let (space, seen) = (self.space(), &self.state.seen);
            let settled = locked::settle(connection, &group, &self.secrets, space, seen).await;
            match settled {
                Ok(settled) => {
                    self.finish(group, settled);
                    return None;
                }
                Err(NotWritten::InDoubt(failure)) => {
                    self.after_failure(&failure);
                    self.state.connection = None;
                    let now = Instant::now();
                    group.iter_mut().for_each(|job| {
                        job.doubted.get_or_insert(now);
                    });
                }
                Err(NotWritten::Outdated) => {
                    self.state.connection = None;
                    self.status.is_outdated.store(true, Ordering::Release);
                    tracing::error!(error = %Outdated, "charging has stopped");
                    refuse_all(group, || ChargeError::Stopped);
                    return None;
                }
                Err(NotWritten::Certainly(failure)) => {
                    self.after_failure(&failure);
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
                    sleep(RECONNECT_PAUSE).await;
                }
            }
        }
        None
    }

    /// Tells the decisions of a group that is durable.
    fn finish(&mut self, group: Vec<Job>, settled: Settled) {
        self.record_count.count(settled.counted, settled.grown);
        self.learn(settled.heads);
        for (job, decision) in group.into_iter().zip(settled.decisions) {
            job.tell(decision);
        }
    }

    /// Forgets what was seen of a database whose data loss was accepted: it has another lineage.
    fn check_lineage(&mut self) {
        let lineage = self.readings.borrow().state.lineage;
        if self.state.lineage != Some(lineage) {
            self.state.lineage = Some(lineage);
            self.state.seen.clear();
            self.status.is_outdated.store(false, Ordering::Release);
        }
    }

    /// Notes the last rows of accounts.
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

    /// Drops what a failure makes useless.
    fn after_failure(&mut self, failure: &Failure) {
        tracing::warn!(error = %failure, "a group of charges was not written");
        if failure.loses_connection() {
            self.state.connection = None;
        }
    }

    fn space(&self) -> RecordSpace {
        self.record_count.space()
    }

    /// Ensures a connection. `None` if there was no primary: then the caller asks again.
    async fn connect(&mut self, group: &mut Vec<Job>) -> Option<()> {
        if let Some(connection) = &self.state.connection
            && !connection.client.is_closed()
        {
            return Some(());
        }
        self.state.connection = None;
        // Another primary may have another history.
        self.state.heads.clear();
        match self.connections.connect().await {
            Ok(connection) => {
                self.state.connection = Some(connection);
                self.state.down_since = None;
                self.status.has_primary.store(true, Ordering::Release);
                Some(())
            }
            Err(error) => {
                let down_since = *self.state.down_since.get_or_insert_with(Instant::now);
                if down_since.elapsed() >= DOWN_AFTER
                    && self.status.has_primary.swap(false, Ordering::AcqRel)
                {
                    tracing::error!(%error, "charging waits for a primary");
                }
                while let Ok(job) = self.queue.try_recv() {
                    self.state.waiting.push(job);
                }
                self.state.waiting = give_up(mem::take(&mut self.state.waiting));
                *group = give_up(mem::take(group));
                sleep(RECONNECT_PAUSE).await;
                None
            }
        }
    }
}

/// Takes out the jobs that must wait for an earlier one of the group, because they have the same
/// idempotency key, with all later jobs of their accounts.
fn take_repeated(group: &mut Vec<Job>) -> Vec<Job> {
    let (mut keys, mut held) = (FxHashSet::default(), FxHashSet::default());
    let is_later = |job: &mut Job| {
        let repeats = job.response().is_some_and(|(_, response)| {
            response.names.first().is_some_and(|name| !keys.insert(name.key_hash))
        });
        if repeats {
            held.insert(job.account());
        }
        held.contains(&job.account())
    };
    group.extract_if(.., is_later).collect()
}

/// Refuses jobs that have waited for too long. A job in doubt is refused as unknown.
fn give_up(group: Vec<Job>) -> Vec<Job> {
    let mut left = Vec::with_capacity(group.len());
    for job in group {
        match job.doubted {
            Some(since) if since.elapsed() >= DOUBT_FOR => {
                job.tell(Err(ChargeError::Unknown(Box::new(ReplyLost))));
            }
            None if job.arrived.elapsed() >= WAIT_FOR_PRIMARY => {
                job.tell(Err(ChargeError::Overloaded));
            }
            _ => left.push(job),
        }
    }
    left
}

/// Refuses all jobs of a group; those in doubt as unknown.
fn refuse_all(group: Vec<Job>, error: impl Fn() -> ChargeError) {
    for job in refuse(group, error) {
        job.tell(Err(ChargeError::Unknown(Box::new(ReplyLost))));
    }
}

/// Refuses the jobs that are certainly not written. Returns those in doubt: a refusal of nothing
/// written would be a false promise for them.
fn refuse(group: Vec<Job>, error: impl Fn() -> ChargeError) -> Vec<Job> {
    let (doubted, certain): (Vec<_>, Vec<_>) =
        group.into_iter().partition(|job| job.doubted.is_some());
    certain.into_iter().for_each(|job| job.tell(Err(error())));
    doubted
}
