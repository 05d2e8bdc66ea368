//! The ledger in PostgreSQL. A node decides charges in groups. It remembers the last row of each
//! account, and decides from these rows. The database compares them with the last rows that it has.
//! If they are equal, the database adds the new rows.
//!
//! Charges and grants (jobs) are decided by lanes. Usually, one lane gets all jobs. If many callers
//! wait, the jobs are divided between several lanes ([`lane_choice`]). A lane has one connection
//! and works on one group at a time. While a lane waits for the database, it collects the next
//! group. Balances, stored responses and entries are read on another connection, which all callers
//! share.
//!
//! # Outcomes of a job
//!
//! ```text
//! request ─ the queue is full ─────────────────────────────────► Overloaded
//!   │  └── no primary for 2 s, or the database is outdated ────► Stopped
//!   ▼
//! one round trip, if the last rows are remembered: lock, compare the last rows, add, COMMIT
//!   │  ├── the account's last row was the expected one ────────► Taken
//!   │  └── other last row, used idempotency key, few credits ──► two round trips
//!   ▼
//! two round trips: lock, read last rows, records and ids; decide; add, COMMIT
//!   │  ├── another node has locked the account, at most 5 times ► the next group
//!   │  ├── decided ────────────────────────────────────────────► Taken, Replayed, Insufficient
//!   │  ├── its last row or its stored response was altered ────► NotTaken (this job)
//!   │  ├── the group cannot be written ─ try its halves ───────► NotTaken (this job)
//!   │  ├── no space for another stored response ───────────────► IdempotencyStoreFull (this job)
//!   │  └── five conflicts with other transactions ─────────────► Overloaded
//!   ▼
//! the reply is lost ─ two round trips, with the same ids ──────► its true outcome
//!      └── still no reply after 8 s ───────────────────────────► Unknown
//! ```
//!
//! A lost reply does not stop charging. The lane locks the accounts of the jobs. Then no other
//! transaction of these accounts is open. If a ledger row with the job's id exists at this time,
//! the first attempt was written. If not, the job is decided again, with the same id. If the first
//! attempt was one that compares last rows, it may reach the database only after the second
//! attempt. It then finds a different last row and adds nothing.

mod balances;
mod compare;
mod counts;
mod doubts;
mod heads;
mod job;
mod lane;
mod lane_choice;
mod locked;
mod reading;
mod record_count;
mod refusals;
mod rows;
mod seen;
mod statements;
mod transaction;
mod verify;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::ledger::{
    Charge, ChargeError, Charged, Grant, Granted, Ledger, Verification,
};
use enrich_core::{AccountId, Credits, Entry, IdempotencyKey, StoredResponse, Timestamp};
use enrich_ledger::{response_names, seal_response};
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::oneshot;

use crate::ledger::balances::{Asked, Balances, read_balances};
pub use crate::ledger::counts::{LaneCounts, PathCounts};
pub use crate::ledger::doubts::Doubts;
use crate::ledger::job::Job;
use crate::ledger::lane::{Lane, LaneShared, LaneStatus};
use crate::ledger::lane_choice::{Caller, LANES, LaneChoice};
use crate::ledger::record_count::RecordCount;
use crate::ledger::seen::SeenRows;
use crate::node::Node;
use crate::not_ready::NotReady;
use crate::seals::Unsealed;

pub(crate) use crate::ledger::verify::verify;

/// If the last successful read of the database began longer ago than this, no charges are accepted.
/// The pulse, a task of the node, reads the database several times within this time, so some reads
/// may fail.
const SEEN_WITHIN: Duration = Duration::from_secs(3);

/// Decides charges and grants, and reads the ledger. The rows are in PostgreSQL.
pub struct PostgresLedger {
    node: Node,
    lanes: Vec<(mpsc::Sender<Job>, Arc<LaneStatus>)>,
    lane_choice: LaneChoice,
    balances: Arc<Balances>,
    asked: mpsc::UnboundedSender<Asked>,
}

/// Why the ledger refuses a charge without deciding it.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("a charge for more than 9223372036854775807 items")]
    TooManyItems,
}

/// The lane (the task that decides jobs) ended before it decided the job. So the outcome of the job
/// is unknown.
#[derive(Debug, thiserror::Error)]
#[error("the decision was lost")]
struct Lost;

impl PostgresLedger {
    /// Starts the lanes of a node: the tasks that decide charges. When a lane has written ledger
    /// rows, it adds the new last row of each account to `unsealed`. The node's next seal contains
    /// these rows. If somebody removes them later, the seal shows it. `unsealed` is `None` if the
    /// node makes no seals.
    pub(crate) fn start(node: &Node, unsealed: Option<Arc<Unsealed>>) -> Self {
        let runtime = node.database.runtime();
        let connections = node.database.connections();
        let readings = node.pulse.readings();
        let balances = Arc::new(Balances::default());
        let record_count =
            Arc::new(RecordCount::new(readings.clone(), node.options.max_idempotency_records));
        let seen = Arc::new(SeenRows::default());
        let shared = LaneShared { balances: Arc::clone(&balances), record_count, unsealed };
        let room = node.options.charge_queue.max(1);
        let lane = |_| {
            let (queue, jobs) = mpsc::channel(room);
            let status = Arc::new(LaneStatus::new(Arc::clone(&seen)));
            let lane = Lane::new(
                jobs,
                Arc::clone(&connections),
                node.secrets.clone(),
                readings.clone(),
                shared.clone(),
                Arc::clone(&status),
            );
            runtime.spawn(lane.run());
            (queue, status)
        };
        let lanes = (0..LANES).map(lane).collect();
        let (asked, waiting) = mpsc::unbounded_channel();
        runtime.spawn(read_balances(waiting, connections, Arc::clone(&balances)));
        Self { node: node.clone(), lanes, lane_choice: LaneChoice::new(), balances, asked }
    }

    /// Returns why no lane (task that decides charges) accepts charges; `None` if the database was
    /// read recently and its mode is `serving`.
    fn not_serving(&self) -> Option<NotReady> {
        let last = self.node.pulse.last();
        let silence = last.began.elapsed();
        if silence >= SEEN_WITHIN {
            Some(NotReady::Silent(silence))
        } else if last.state.mode != "serving" {
            Some(NotReady::NotServing(last.state.mode.clone()))
        } else {
            None
        }
    }

    /// Returns why at least one lane (task that decides charges) refuses charges; `None` if all
    /// lanes accept charges. One such lane is enough, because the accounts whose jobs it gets
    /// cannot be charged.
    pub(crate) fn not_charging(&self) -> Option<NotReady> {
        let mut stopped = self.lanes.iter().filter_map(|(_, status)| status.not_charging());
        self.not_serving().or_else(|| {
            let first = stopped.next()?;
            // `Outdated` is the more important reason, because an operator may have to act. So it
            // is returned if any lane has it.
            Some(if stopped.any(|other| other == NotReady::Outdated) {
                NotReady::Outdated
            } else {
                first
            })
        })
    }

    /// Returns the outcomes of the charges and grants whose first reply from the database was lost:
    /// for each outcome, the number of charges and grants that had it.
    pub fn doubts(&self) -> Doubts {
        let mut sum = Doubts::default();
        self.lanes.iter().for_each(|(_, status)| status.doubts.add_to(&mut sum));
        sum
    }

    /// Returns the counts of all lanes together, since the store was opened: how many groups of
    /// charges the lanes have processed, how many jobs they have decided in these groups, and how
    /// long this took. Also returns how many jobs wait now.
    pub fn lane_counts(&self) -> LaneCounts {
        let mut sum = LaneCounts::default();
        for (queue, status) in &self.lanes {
            status.counter.add_to(&mut sum);
            sum.waiting += (queue.max_capacity() - queue.capacity()) as u64;
        }
        sum
    }

    /// Puts a job (a charge or a grant) into the queue of the lane that decides the jobs of its
    /// account. The returned [`Caller`] counts as a waiting caller; drop it when the decision has
    /// arrived. Fails if the lane does not charge or its queue is full.
    fn ask(&self, job: Job) -> Result<Caller<'_>, ChargeError> {
        if self.not_serving().is_some() {
            return Err(ChargeError::Stopped);
        }
        let (lane, caller) = self.lane_choice.enter(job.account());
        let Some((queue, status)) = self.lanes.get(lane) else {
            return Err(ChargeError::Stopped);
        };
        if !status.is_charging() {
            return Err(ChargeError::Stopped);
        }
        match queue.try_send(job) {
            Ok(()) => Ok(caller),
            Err(TrySendError::Full(_)) => Err(ChargeError::Overloaded),
            Err(TrySendError::Closed(_)) => Err(ChargeError::Stopped),
        }
    }
}

/// Waits for the decision on a job. If the lane (the task that decides jobs) has ended before it
/// decided this job, the outcome is unknown.
async fn decided<T>(decision: oneshot::Receiver<Result<T, ChargeError>>) -> Result<T, ChargeError> {
    decision.await.unwrap_or_else(|_| Err(ChargeError::Unknown(Lost.into())))
}

#[async_trait]
impl Ledger for PostgresLedger {
    async fn balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        let (reply, balance) = oneshot::channel();
        let is_closing = |_| StoreError::unavailable("the store is being closed");
        self.asked.send((account, reply)).map_err(is_closing)?;
        balance.await.map_err(StoreError::failed)?
    }

    async fn cached_balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        match self.balances.recent(account) {
            Some(balance) => Ok(Some(balance)),
            None => self.balance(account).await,
        }
    }

    async fn stored_response(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        request_bytes: &[u8],
        now: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        let names = response_names(&self.node.secrets, account, key, request_bytes);
        reading::stored_response(&self.node, account, names, now).await
    }

    async fn charge(&self, mut charge: Charge) -> Result<Charged, ChargeError> {
        if i64::try_from(charge.items).is_err() {
            return Err(ChargeError::NotTaken(Unfit::TooManyItems.into()));
        }
        // The response is encrypted on the caller's thread, because the store has only one thread
        // for all callers.
        let response = match charge.idempotency.take() {
            Some(record) => Some(
                seal_response(&self.node.secrets, charge.account, &record, charge.at)
                    .map_err(|error| ChargeError::NotTaken(error.into()))?,
            ),
            None => None,
        };
        let (job, decision) = Job::charge(charge, response);
        let _caller = self.ask(job)?;
        decided(decision).await
    }

    async fn grant(&self, grant: Grant) -> Result<Granted, ChargeError> {
        let (job, decision) = Job::grant(grant);
        let _caller = self.ask(job)?;
        decided(decision).await
    }

    async fn entries(
        &self,
        account: AccountId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        reading::entries_after(&self.node, account, after, limit).await
    }

    async fn newest_entries(
        &self,
        account: AccountId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        reading::entries_before(&self.node, account, before, limit).await
    }

    async fn first_entry_at(&self, account: AccountId, at: Timestamp) -> Result<u64, StoreError> {
        reading::first_entry_at(&self.node, account, at).await
    }

    async fn end_of_entries_before(
        &self,
        account: AccountId,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        reading::end_of_entries_before(&self.node, account, at).await
    }

    async fn verify(&self) -> Result<Verification, StoreError> {
        verify(&self.node).await
    }

    fn is_charging(&self) -> bool {
        self.not_charging().is_none()
    }
}
