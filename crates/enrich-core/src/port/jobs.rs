//! The records of jobs that all nodes share, so that any node can run a job. A job looks up the
//! rows of a list that an account has uploaded. A node is one of several processes that use the
//! same database.
//!
//! A node that works on a job has the job's lease: no other node may change the job until the lease
//! ends. A lease lasts for [`LEASE`] after each renewal. The clock of the store decides when the
//! lease ends.
//!
//! The turn of a job is a number. It grows when a node gets the lease, and when the job is
//! changed while no node has the lease. With each change, a node states the turn that it knows.
//! If the job has another turn, another node has taken or changed the job in the meantime, and
//! the store refuses the change.

use std::time::Duration;

use async_trait::async_trait;

use crate::AccountId;
use crate::port::error::StoreError;

/// The time for which a lease lasts after its last renewal.
pub const LEASE: Duration = Duration::from_secs(30);

/// The phase of a job: whether a node (a server process) must run it, stop it, or delete its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobPhase {
    /// There is nothing to run: the job was not started, or has ended.
    Idle,
    /// The job waits until a node (a server process) takes it and runs it.
    Waiting,
    /// A node (a server process) runs the job.
    Running,
    /// The node (server process) that runs the job must stop it. If that node has released the job,
    /// or if its lease has expired, the next node that takes the job must end it.
    Stopping,
    /// The job's files are being deleted.
    Removing,
}

/// The state of a job's lease. The lease is the right of one node (a server process) to work on the
/// job. It ends if the node does not renew it in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobLease {
    /// No node (server process) has the lease of the job. If a node had it before, that node has
    /// released the job properly.
    Free,
    /// A node (server process) has the lease: only this node may work on the job.
    Held,
    /// The lease ended because its node (a server process) did not renew it. That node may still
    /// write the job's files.
    Expired,
}

/// A job as it is stored. A job looks up all rows of a list that an account has uploaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// The job's id: 128 random bits.
    pub id: u128,
    /// The account that the job belongs to.
    pub account: AccountId,
    /// The job's phase: whether it waits, runs or is idle.
    pub phase: JobPhase,
    /// The job's turn: a number that grows when a node gets the lease, and with each change of a
    /// job that is [free](JobLease::Free). By this number, a node notices that another node has
    /// taken or changed the job.
    pub turn: u64,
    /// Whether a node (server process) has the lease of the job: the right to work on it.
    pub lease: JobLease,
    /// The stored data of the job as text, such as what the account has ordered and the number of
    /// rows. The store does not interpret this text.
    pub record: String,
    /// The progress of the job, as text. It changes more often than `record`. The store does not
    /// interpret this text.
    pub progress: String,
}

/// A change of a job: its new phase, record and progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobChange {
    /// The job's id.
    pub id: u128,
    /// The turn of the job, as the caller knows it: a number that grows when a node gets the lease,
    /// and with each change of a free job. If the job has another turn now, another caller has
    /// taken or changed it, and this change is not made.
    pub turn: u64,
    /// The phase of the job after the change.
    pub phase: JobPhase,
    /// The [`JobRow::record`] after the change.
    pub record: String,
    /// The [`JobRow::progress`] after the change.
    pub progress: String,
}

/// A job whose files are in a folder that only one node (server process) can read. Other nodes can
/// show the job, but cannot run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalJob {
    /// The job's id.
    pub id: u128,
    /// The account that the job belongs to.
    pub account: AccountId,
    /// The text with which other nodes (server processes) show the job. The store does not
    /// interpret this text.
    pub summary: String,
}

/// A job that this node (server process) can show, but cannot run, because only another node can
/// read its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteJob {
    /// The job and its account.
    pub job: LocalJob,
    /// The name of the node (server process) that can read the job's files.
    pub node: String,
}

/// Stores the records of jobs that all nodes (server processes) share. If a method fails and it is
/// unknown whether the change was made, the caller may call the method again.
#[async_trait]
pub trait JobRecords: Send + Sync {
    /// Adds a job of an account. If a job with this id exists already, changes nothing.
    async fn create(&self, account: AccountId, job: &JobChange) -> Result<(), StoreError>;

    /// Finds a job; `None` if there is no such job.
    async fn find(&self, id: u128) -> Result<Option<JobRow>, StoreError>;

    /// Returns the jobs of an account, in the order of their ids.
    async fn of_account(&self, account: AccountId) -> Result<Vec<JobRow>, StoreError>;

    /// Returns jobs of all accounts in the order of the jobs' ids: at most `limit` jobs whose id is
    /// above `after`.
    async fn rows_after(&self, after: u128, limit: u32) -> Result<Vec<JobRow>, StoreError>;

    /// Changes a job on which no node works ([`JobLease::Free`]), and raises the job's turn by one.
    /// Returns `false` and changes nothing if the job is not free, or if its stored turn differs
    /// from [`JobChange::turn`]: then another caller has taken or changed the job in the meantime.
    async fn change(&self, job: &JobChange) -> Result<bool, StoreError>;

    /// Gets the lease of a job if no node has the lease. With the lease, the caller may work on the
    /// job's files. Also sets the job's phase to `phase`, and raises its turn by one. Returns
    /// `false` and changes nothing if a node has the lease, or if the job's turn is not `turn`.
    ///
    /// # Errors
    ///
    /// If the call fails with [`StoreError::Unknown`], the store may have given the lease to this
    /// node. The node cannot know this. In this case, no node can take the job until the lease
    /// ends.
    async fn hold(&self, id: u128, turn: u64, phase: JobPhase) -> Result<bool, StoreError>;

    /// Gets the lease of the next job to run: a job that waits, or a job whose lease has expired.
    /// Returns `None` if no job can run. A job of the account with the fewest running jobs comes
    /// first. If several accounts have equally few, the account whose last job was taken the
    /// longest ago comes first.
    ///
    /// The returned row has the new turn, but its [`lease`](JobRow::lease) is the state of the
    /// lease before this call. If this state is [`Expired`](JobLease::Expired), the node that had
    /// the lease may still write the job's files. A job that must stop keeps the phase
    /// [`Stopping`](JobPhase::Stopping).
    ///
    /// # Errors
    ///
    /// If the call fails with [`StoreError::Unknown`], the store may have given the lease of a job
    /// to this node. The node cannot know this. In this case, no node can take that job until the
    /// lease ends.
    async fn take_next(&self) -> Result<Option<JobRow>, StoreError>;

    /// Renews this node's lease of a job (the right to work on it), and saves the progress. `turn`
    /// is the number that the job got together with the lease. Returns the phase of the job; `None`
    /// if this node no longer has the lease.
    async fn renew(
        &self,
        id: u128,
        turn: u64,
        progress: &str,
    ) -> Result<Option<JobPhase>, StoreError>;

    /// Saves the record and the progress of a job whose lease (right to work on the job) this node
    /// has. The phase does not change. Returns `false` if this node no longer has the lease.
    async fn save(&self, job: &JobChange) -> Result<bool, StoreError>;

    /// Saves a job whose lease (right to work on the job) this node has, and ends the lease.
    /// Returns `false` if this node no longer has the lease.
    ///
    /// The job gets the phase in `job`. Exception: if the job must stop
    /// ([`Stopping`](JobPhase::Stopping)) and `job` has the phase [`Waiting`](JobPhase::Waiting),
    /// the job stays in the phase `Stopping`.
    async fn release(&self, job: &JobChange) -> Result<bool, StoreError>;

    /// Asks the node that runs the job to stop it. Returns `false` if the job is not running.
    async fn stop(&self, id: u128) -> Result<bool, StoreError>;

    /// Removes a job whose lease (right to work on the job) this node has. Returns `false` if this
    /// node no longer has the lease.
    async fn remove(&self, id: u128, turn: u64) -> Result<bool, StoreError>;

    /// Returns the number of accounts that have a waiting job, but no running job. A node that runs
    /// as many jobs as it can uses this number: if it is above 0, one of its jobs must pause, so
    /// that another account can run a job.
    async fn contenders(&self) -> Result<u64, StoreError>;

    /// Tells other nodes (server processes) which jobs are in the folder with the id `folder`,
    /// which only this node can read. `jobs` replaces the list of the last call for this folder.
    async fn announce(&self, folder: u128, jobs: &[LocalJob]) -> Result<(), StoreError>;

    /// Returns the jobs of an account whose files only other nodes (server processes) can read, in
    /// the order of their ids. `folder` is the id of this node's folder; `None` if it has none.
    async fn elsewhere(
        &self,
        account: AccountId,
        folder: Option<u128>,
    ) -> Result<Vec<RemoteJob>, StoreError>;
}
