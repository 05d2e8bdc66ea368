//! A lane's connection to the primary, and what the lane does during an outage, when the primary
//! confirms no commit.

use std::mem;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use enrich_core::AccountId;
use tokio::time::{sleep, timeout};
use tokio_postgres::Client;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::unsigned;
use crate::failure::Failure;
use crate::ledger::job::Job;
use crate::ledger::lane::{Lane, RETRY_PAUSE};
use crate::ledger::refusals::give_up;
use crate::ledger::transaction::{ANSWER_TIMEOUT, NotWritten, write_and_commit};

/// If no commit is confirmed for this time, further charges are refused immediately.
const DOWN_AFTER: Duration = Duration::from_secs(2);

/// Reads the highest sequence of each account.
const SEQUENCES: &str =
    "SELECT account, max(sequence) FROM entry WHERE account = ANY($1) GROUP BY account";

/// Locks the only row of the table `state`, to test whether the database confirms commits. The
/// commit of a transaction that writes nothing does not wait for the standby, so it would show
/// nothing. But PostgreSQL writes a row lock to its log, so this commit waits for the standby.
const LOCK_STATE: &str = "SELECT id FROM state WHERE id = 1 FOR UPDATE";

/// The database is outdated: it has fewer rows of an account than this process has read from it.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the database is older than what this node has read from it")]
struct Outdated;

impl Lane {
    /// If the lane has no open connection, opens one. If no primary is found, returns `None`. In
    /// this case, the jobs that have waited for too long are refused and removed from `group`, and
    /// the caller must try again with the remaining jobs.
    pub(super) async fn connect(&mut self, group: &mut Vec<Job>) -> Option<()> {
        if let Some(connection) = &self.state.connection
            && !connection.client.is_closed()
        {
            return Some(());
        }
        self.state.connection = None;
        // The new connection may lead to another primary. The database there may lack the accounts'
        // last rows that this lane remembers.
        self.state.heads.forget_rows();
        let began = Instant::now();
        match self.connections.connect().await {
            Ok(connection) => {
                self.state.connection = Some(connection);
                Some(())
            }
            Err(error) => {
                tracing::debug!(%error, "there is no primary");
                self.note_down(began);
                *group = give_up(mem::take(group), &self.status.doubts);
                sleep(RETRY_PAUSE).await;
                None
            }
        }
    }

    /// Resumes charging after it has stopped, if the database can be used again. Call this only
    /// while the lane has no jobs.
    pub(super) async fn look_again(&mut self) {
        self.check_lineage();
        if self.connect(&mut Vec::new()).await.is_none() {
            return;
        }
        if self.status.seen.is_outdated() {
            if !self.has_caught_up().await {
                self.drop_suspected();
                return;
            }
            self.status.seen.resume();
        }
        if self.confirms().await {
            self.note_up();
        }
    }

    /// Whether the database confirms a commit now. A primary without any standby accepts
    /// connections, but confirms no commit that writes something. So this commit contains a row
    /// lock, which is written to the database's log.
    async fn confirms(&mut self) -> bool {
        let Some(connection) = &self.state.connection else { return false };
        let begin = async { Ok(()) };
        let locking =
            async { Ok::<_, Failure>(connection.client.query_typed(LOCK_STATE, &[]).await?) };
        match write_and_commit(connection, Some(begin), locking).await {
            Ok(_) => true,
            Err(NotWritten::Certainly(failure)) if !failure.loses_connection() => false,
            Err(_) => {
                self.drop_suspected();
                false
            }
        }
    }

    /// Lets charging resume if an operator has accepted a loss of data, which changes the lineage
    /// of the database (the id of its history). This process then forgets which rows it has read,
    /// because the database may lack them.
    pub(super) fn check_lineage(&mut self) {
        self.status.seen.follow(self.readings.borrow().state.lineage);
    }

    /// Charging stopped because the database lacked rows that this process had read before. Returns
    /// whether the database has these rows now. For example, the lane was connected to an old
    /// primary when charging stopped, and is connected to the right one now. Checks all accounts in
    /// the groups of charges that made charging stop.
    async fn has_caught_up(&mut self) -> bool {
        let Some(connection) = &self.state.connection else { return false };
        let outdated = self.status.seen.outdated();
        let accounts: Vec<Uuid> = outdated.iter().map(|account| account.0).collect();
        let reading = timeout(ANSWER_TIMEOUT, read_sequences(&connection.client, &accounts));
        let Ok(Ok(sequences)) = reading.await else { return false };
        outdated.iter().all(|account| {
            let is_of = |(of, _): &&(AccountId, u64)| of == account;
            let sequence = sequences.iter().find(is_of).map_or(0, |(_, sequence)| *sequence);
            self.status.seen.has_all(*account, sequence)
        })
    }

    /// Logs the failure of a group of charges. The group was sent at `began`. If the failure makes
    /// the connection useless, closes it, and notes that the database confirms no commits.
    pub(super) fn after_failure(&mut self, failure: &Failure, began: Instant) {
        tracing::warn!(error = %failure, "a group of charges was not written");
        if failure.loses_connection() {
            self.state.connection = None;
            self.note_down(began);
        }
    }

    /// Closes the connection, because the reply to a group of charges was lost. The group was sent
    /// at `began`. If the failure is a time-out, the host may be an old primary without a standby.
    /// So the next connection attempts prefer other hosts.
    pub(super) fn after_doubt(&mut self, failure: &Failure, began: Instant) {
        if matches!(failure, Failure::TimedOut) {
            self.drop_suspected();
        }
        self.after_failure(failure, began);
        self.state.connection = None;
        self.note_down(began);
    }

    /// Stops charging until the database has the rows that this process has read, or an operator
    /// has accepted their loss.
    pub(super) fn after_outdated(&mut self, group: &[Job]) {
        if self.status.seen.stop(group.iter().map(Job::account)) {
            tracing::error!(error = %Outdated, "charging has stopped");
        }
        self.drop_suspected();
    }

    fn drop_suspected(&mut self) {
        if let Some(connection) = self.state.connection.take() {
            connection.suspect();
        }
    }

    /// Notes that the database has confirmed no commit since `since`. If an earlier time was
    /// already noted, it stays. Then moves all jobs from the queue to `waiting`, the jobs for the
    /// next group of charges. Refuses the jobs that have waited for too long.
    fn note_down(&mut self, since: Instant) {
        let down_since = *self.state.down_since.get_or_insert(since);
        if down_since.elapsed() >= DOWN_AFTER
            && self.status.has_primary.swap(false, Ordering::AcqRel)
        {
            tracing::error!("charging waits for a primary");
        }
        while let Ok(job) = self.queue.try_recv() {
            self.state.waiting.push(job);
        }
        self.state.waiting = give_up(mem::take(&mut self.state.waiting), &self.status.doubts);
    }

    /// Notes that the database confirms commits. From now on, the lane no longer refuses charges
    /// for lack of a primary.
    pub(super) fn note_up(&mut self) {
        self.state.down_since = None;
        self.status.has_primary.store(true, Ordering::Release);
    }
}

async fn read_sequences(
    client: &Client,
    accounts: &[Uuid],
) -> Result<Vec<(AccountId, u64)>, Failure> {
    let rows = client.query_typed(SEQUENCES, &[(&accounts, Type::UUID_ARRAY)]).await?;
    rows.iter().map(|row| Ok((AccountId(row.try_get(0)?), unsigned(row.try_get(1)?)?))).collect()
}
