//! The records of jobs that any node runs. A job looks up the rows of a list that an account
//! uploaded.
//!
//! A node that works on a job holds a lease of [`LEASE`]. Each holder gets a higher turn. A holder
//! changes the job only with its own turn, so a node that lost its lease changes nothing. Leases
//! end by the clock of the store.

use std::time::Duration;

use async_trait::async_trait;

use crate::AccountId;
use crate::port::error::StoreError;

/// The length of a lease, from the last renewal on.
pub const LEASE: Duration = Duration::from_secs(30);

/// What the nodes must know of a job's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobPhase {
    /// There is nothing to run: the job was not started, or has ended.
    Idle,
    /// The job waits for a node that runs it.
    Waiting,
    /// A node runs the job.
    Running,
    /// A node runs the job and must stop it.
    Stopping,
    /// The job's files are being deleted.
    Removing,
}

/// Whether a node holds a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobLease {
    /// No node holds the job. The last holder has ended its lease itself.
    Free,
    /// A node holds the job.
    Held,
    /// The lease ended without a renewal. The last holder may still write files.
    Expired,
}

/// A job, as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// The job's id: 128 random bits.
    pub id: u128,
    /// The account that the job belongs to.
    pub account: AccountId,
    /// The phase.
    pub phase: JobPhase,
    /// The turn of the last holder or change.
    pub turn: u64,
    /// Whether a node holds the job.
    pub lease: JobLease,
    /// The record. The store does not read it.
    pub record: String,
    /// The progress, which changes more often than the record. The store does not read it.
    pub progress: String,
}

/// The new content of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobChange {
    /// The job's id.
    pub id: u128,
    /// The turn that the job must have; else nothing is changed.
    pub turn: u64,
    /// The new phase.
    pub phase: JobPhase,
    /// The new record.
    pub record: String,
    /// The new progress.
    pub progress: String,
}

/// A job whose files only one node sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalJob {
    /// The job's id.
    pub id: u128,
    /// The account that the job belongs to.
    pub account: AccountId,
    /// What other nodes show of the job. The store does not read it.
    pub summary: String,
}

/// A job whose files only another node sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteJob {
    /// The job.
    pub job: LocalJob,
    /// The name of the node.
    pub node: String,
}

/// The records of jobs that all nodes share. Every change may be made again if its outcome is
/// unknown.
#[async_trait]
pub trait JobRecords: Send + Sync {
    /// Adds a job of an account. If the id is known, changes nothing.
    async fn create(&self, account: AccountId, job: &JobChange) -> Result<(), StoreError>;

    /// Finds a job; `None` if there is no such job.
    async fn find(&self, id: u128) -> Result<Option<JobRow>, StoreError>;

    /// Returns the jobs of an account, in the order of their ids.
    async fn of_account(&self, account: AccountId) -> Result<Vec<JobRow>, StoreError>;

    /// Returns the jobs of all accounts with an id above `after`, in the order of their ids, at
    /// most `limit`.
    async fn page(&self, after: u128, limit: u32) -> Result<Vec<JobRow>, StoreError>;

    /// Changes a [free](JobLease::Free) job. Its turn grows by one. Returns `false` if the job is
    /// not free or has another turn.
    async fn change(&self, job: &JobChange) -> Result<bool, StoreError>;

    /// Takes a job that no node holds, for work on its files; its phase becomes `phase`. The turn
    /// grows by one. Returns `false` if a node holds the job or the job has another turn.
    ///
    /// # Errors
    ///
    /// If the outcome is unknown, the job may be held by nobody until the lease ends.
    async fn hold(&self, id: u128, turn: u64, phase: JobPhase) -> Result<bool, StoreError>;

    /// Takes the next job to run: one that waits, or whose lease has ended. Jobs of the account
    /// with the fewest running jobs come first, then those of the account whose last turn was the
    /// longest ago. The returned row has the new turn, and the lease as it was before. A job that
    /// must stop keeps the phase [`Stopping`](JobPhase::Stopping).
    ///
    /// # Errors
    ///
    /// As [`hold`](Self::hold).
    async fn take_next(&self) -> Result<Option<JobRow>, StoreError>;

    /// Renews the lease of the holder with this turn and saves the progress. Returns the phase;
    /// `None` if the lease is lost.
    async fn renew(
        &self,
        id: u128,
        turn: u64,
        progress: &str,
    ) -> Result<Option<JobPhase>, StoreError>;

    /// Saves record and progress of a held job; the phase stays. Returns `false` if the lease is
    /// lost.
    async fn save(&self, job: &JobChange) -> Result<bool, StoreError>;

    /// Saves a held job and ends the lease. A job that must stop is not put back in the queue: it
    /// stays in the phase [`Stopping`](JobPhase::Stopping). Returns `false` if the lease is lost.
    async fn release(&self, job: &JobChange) -> Result<bool, StoreError>;

    /// Asks the node that runs the job to stop it. Returns `false` if the job is not running.
    async fn stop(&self, id: u128) -> Result<bool, StoreError>;

    /// Removes a held job. Returns `false` if the lease is lost.
    async fn remove(&self, id: u128, turn: u64) -> Result<bool, StoreError>;

    /// Returns the number of accounts with a waiting job and without a running one.
    async fn contenders(&self) -> Result<u64, StoreError>;

    /// Tells other nodes which jobs are in the folder with the id `folder`, which only this node
    /// sees. Replaces what was told of the folder before.
    async fn announce(&self, folder: u128, jobs: &[LocalJob]) -> Result<(), StoreError>;

    /// Returns the jobs of an account that are in folders of other nodes, in the order of their
    /// ids. `folder` is the id of this node's folder; `None` if it has none.
    async fn elsewhere(
        &self,
        account: AccountId,
        folder: Option<u128>,
    ) -> Result<Vec<RemoteJob>, StoreError>;
}
