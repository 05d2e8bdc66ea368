//! The records of jobs that all nodes share, so that any node can run a job. A job looks up the
//! rows of a list that an account uploaded.
//!
//! A node that works on a job holds a lease of [`LEASE`]. The turn of a job is a number that grows
//! with each new holder, and with each change while no node holds the job. With each change, a node
//! states the turn that it knows. The store refuses the change if the job has another turn, because
//! another node has then taken or changed the job. The clock of the store decides when a lease
//! ends.

use std::time::Duration;

use async_trait::async_trait;

use crate::AccountId;
use crate::port::error::StoreError;

/// The length of a lease, from the last renewal on.
pub const LEASE: Duration = Duration::from_secs(30);

/// The state of a job, as far as all nodes must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobPhase {
    /// There is nothing to run: the job was not started, or has ended.
    Idle,
    /// The job waits for a node that runs it.
    Waiting,
    /// A node runs the job.
    Running,
    /// A node runs the job and must stop it. If the node has released the job, or its lease has
    /// expired, a node takes the job again to end it.
    Stopping,
    /// The job's files are being deleted.
    Removing,
}

/// Whether a node holds a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobLease {
    /// No node holds the job. If a node held the job before, that node has ended its lease
    /// properly.
    Free,
    /// A node holds the job.
    Held,
    /// The lease ended because it was not renewed. The last holder may still write files.
    Expired,
}

/// A job, as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// The job's id: 128 random bits.
    pub id: u128,
    /// The account that the job belongs to.
    pub account: AccountId,
    /// The job's phase: whether it waits, runs or is idle.
    pub phase: JobPhase,
    /// The job's turn: a number that grows with each new holder, and with each change of a free
    /// job.
    pub turn: u64,
    /// Whether a node holds the job.
    pub lease: JobLease,
    /// The job's record, as text. The store does not interpret this text.
    pub record: String,
    /// The job's progress, as text. It changes more often than the record. The store does not
    /// interpret this text.
    pub progress: String,
}

/// The new content of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobChange {
    /// The job's id.
    pub id: u128,
    /// The turn that the job must have. If the job has another turn, nothing is changed.
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
    /// The text from which other nodes show the job. The store does not interpret this text.
    pub summary: String,
}

/// A job whose files only another node sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteJob {
    /// The job and its account.
    pub job: LocalJob,
    /// The name of the node.
    pub node: String,
}

/// The records of jobs that all nodes share. If the outcome of a change is unknown, the caller may
/// make the change again.
#[async_trait]
pub trait JobRecords: Send + Sync {
    /// Adds a job of an account. If a job with this id exists already, changes nothing.
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

    /// Takes a job that no node holds, for work on its files. Sets the job's phase to `phase` and
    /// raises its turn by one. Returns `false` if a node holds the job or the job has another turn.
    ///
    /// # Errors
    ///
    /// If the outcome is unknown, the store may have given a lease that no node uses. Then the job
    /// waits until this lease ends.
    async fn hold(&self, id: u128, turn: u64, phase: JobPhase) -> Result<bool, StoreError>;

    /// Takes the next job to run: a job that waits, or a job whose lease has expired. First come
    /// the jobs of the account with the fewest running jobs. Among several such accounts, the
    /// account whose last job was taken the longest ago comes first. The returned row has the new
    /// turn. Its [`lease`](JobRow::lease) is the one before this call: if it is
    /// [`Expired`](JobLease::Expired), the last holder may still write files. A job that must stop
    /// keeps the phase [`Stopping`](JobPhase::Stopping).
    ///
    /// # Errors
    ///
    /// The same as for [`hold`](Self::hold).
    async fn take_next(&self) -> Result<Option<JobRow>, StoreError>;

    /// Renews the lease of the holder with this turn and saves the progress. Returns the phase of
    /// the job; `None` if the lease is lost.
    async fn renew(
        &self,
        id: u128,
        turn: u64,
        progress: &str,
    ) -> Result<Option<JobPhase>, StoreError>;

    /// Saves the record and the progress of a held job. The phase does not change. Returns `false`
    /// if the lease is lost.
    async fn save(&self, job: &JobChange) -> Result<bool, StoreError>;

    /// Saves a held job and ends the lease. If the job must stop and `job` asks for the phase
    /// [`Waiting`](JobPhase::Waiting), the job does not go back to the queue, but stays in the
    /// phase [`Stopping`](JobPhase::Stopping). Returns `false` if the lease is lost.
    async fn release(&self, job: &JobChange) -> Result<bool, StoreError>;

    /// Asks the node that runs the job to stop it. Returns `false` if the job is not running.
    async fn stop(&self, id: u128) -> Result<bool, StoreError>;

    /// Removes a held job. Returns `false` if the lease is lost.
    async fn remove(&self, id: u128, turn: u64) -> Result<bool, StoreError>;

    /// Returns the number of accounts that have a waiting job, but no running job. A node that runs
    /// as many jobs as it can uses this number to decide whether one of its jobs must pause, so
    /// that another account can run a job.
    async fn contenders(&self) -> Result<u64, StoreError>;

    /// Tells other nodes which jobs are in the folder with the id `folder`. Only this node sees
    /// this folder. The list replaces the earlier list of the folder.
    async fn announce(&self, folder: u128, jobs: &[LocalJob]) -> Result<(), StoreError>;

    /// Returns the jobs of an account that are in folders of other nodes, in the order of their
    /// ids. `folder` is the id of this node's folder; `None` if it has none.
    async fn elsewhere(
        &self,
        account: AccountId,
        folder: Option<u128>,
    ) -> Result<Vec<RemoteJob>, StoreError>;
}
