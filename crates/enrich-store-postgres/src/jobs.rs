//! The records of jobs in PostgreSQL. A job looks up the rows of an uploaded list. Any node may run
//! a job while it has the job's lease: the right to run it for a limited time. Only the database's
//! clock decides when a lease has ended.
//!
//! Each job has a number, its turn. The turn grows when a node takes the job, and when a free job
//! (a job whose lease no node has) is changed. A change names a turn, and is made only if the job
//! still has this turn. So a node whose lease has ended can no longer change a job that another
//! node has taken.

mod columns;
mod local;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use enrich_core::AccountId;
use enrich_core::port::error::StoreError;
use enrich_core::port::jobs::{
    JobChange, JobLease, JobPhase, JobRecords, JobRow, LocalJob, RemoteJob,
};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};
use uuid::Uuid;

use crate::background::Background;
use crate::columns::{Value, signed, unsigned};
use crate::failure::Failure;
use crate::node::Node;
use crate::statements::{find, list, run, write_and_settle};
use columns::{phase_column, phase_of, read_job};

/// Time limit for the renewal of a lease.
const RENEWAL_TIMEOUT: Duration = Duration::from_secs(5);

const ADD: &str = "INSERT INTO job (id, account, turn, phase, record, progress, waiting_since)
    VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp()) ON CONFLICT (id) DO NOTHING";
/// Reads and locks the job to run next. It belongs to the account with the fewest running jobs. If
/// several accounts have equally few, it belongs to the account that has waited the longest since
/// one of its jobs was taken. Of the jobs of this account, it is the one that has waited the
/// longest. A job that another transaction has locked is skipped.
const NEXT: &str = "SELECT id, account, phase, turn,
        CASE WHEN until IS NULL THEN 'free' ELSE 'expired' END, record, progress
    FROM job WHERE phase IN ('waiting', 'running', 'stopping')
        AND (until IS NULL OR until < clock_timestamp())
    ORDER BY (SELECT count(*) FROM job AS own WHERE own.account = job.account
            AND own.phase IN ('running', 'stopping') AND own.until > clock_timestamp()),
        (SELECT COALESCE(max(own.taken_at), to_timestamp(0)) FROM job AS own
            WHERE own.account = job.account),
        waiting_since, id
    LIMIT 1 FOR UPDATE SKIP LOCKED";
const TAKE: &str = "UPDATE job SET phase = $2, turn = turn + 1, taken_at = clock_timestamp(),
        until = clock_timestamp() + INTERVAL '30 seconds'
    WHERE id = $1";
const HOLD: &str = "UPDATE job SET phase = $3, turn = turn + 1,
        until = clock_timestamp() + INTERVAL '30 seconds'
    WHERE id = $1 AND turn = $2 AND (until IS NULL OR until < clock_timestamp())";
const RENEW: &str = "UPDATE job SET progress = $3,
        until = clock_timestamp() + INTERVAL '30 seconds'
    WHERE id = $1 AND turn = $2 AND until IS NOT NULL RETURNING phase";
const CHANGE: &str = "UPDATE job SET phase = $3, record = $4, progress = $5, turn = turn + 1,
        waiting_since = CASE WHEN phase = $3 THEN waiting_since ELSE clock_timestamp() END
    WHERE id = $1 AND turn = $2 AND until IS NULL";
const SAVE: &str = "UPDATE job SET record = $3, progress = $4,
        until = clock_timestamp() + INTERVAL '30 seconds'
    WHERE id = $1 AND turn = $2 AND until IS NOT NULL";
const RELEASE: &str = "UPDATE job SET record = $4, progress = $5, until = NULL,
        phase = CASE WHEN phase = 'stopping' AND $3 = 'waiting' THEN phase ELSE $3 END,
        waiting_since = CASE WHEN phase = $3 THEN waiting_since ELSE clock_timestamp() END
    WHERE id = $1 AND turn = $2 AND until IS NOT NULL";
const STOP: &str = "UPDATE job SET phase = 'stopping' WHERE id = $1
    AND phase IN ('running', 'stopping')";
const REMOVE: &str = "DELETE FROM job WHERE id = $1 AND turn = $2 AND until IS NOT NULL";
const CONTENDERS: &str = "SELECT count(DISTINCT account) FROM job
    WHERE phase = 'waiting' AND (until IS NULL OR until < clock_timestamp())
        AND account NOT IN (SELECT account FROM job
            WHERE phase IN ('running', 'stopping') AND until > clock_timestamp())";

/// Builds a query for the jobs that fulfil a condition.
macro_rules! jobs {
    ($condition:literal) => {
        concat!(
            "SELECT id, account, phase, turn, CASE WHEN until IS NULL THEN 'free'
                WHEN until > clock_timestamp() THEN 'held' ELSE 'expired' END, record, progress
             FROM job WHERE ",
            $condition
        )
    };
}

/// Reads and changes the records of jobs in the database.
pub struct PostgresJobs {
    node: Node,
    /// The connection for renewals of leases. Its commits do not wait for the standby: if a
    /// failover loses a renewal, the node renews the lease again.
    background: Arc<Background>,
}

impl PostgresJobs {
    pub(crate) fn new(node: &Node) -> Self {
        let background = Background::new(node.database.connections(), RENEWAL_TIMEOUT);
        Self { node: node.clone(), background: Arc::new(background) }
    }

    /// Changes the row of one job. Returns whether the row then has the change. An earlier attempt
    /// may have made the change although its reply was lost. In this case, `statement` changes
    /// nothing, and `is_made` recognises the change in the row.
    async fn change_row(
        &self,
        statement: &'static str,
        job: &JobChange,
        is_made: fn(&JobChange, &JobRow) -> bool,
    ) -> Result<bool, StoreError> {
        let (job, turn) = (job.clone(), signed(job.turn)?);
        write_and_settle(&self.node.database, move |client| {
            let job = job.clone();
            Box::pin(async move {
                let (id, phase) = (Uuid::from_u128(job.id), phase_column(job.phase));
                let values: [Value<'_>; 5] = [
                    (&id, Type::UUID),
                    (&turn, Type::INT8),
                    (&phase, Type::TEXT),
                    (&job.record, Type::TEXT),
                    (&job.progress, Type::TEXT),
                ];
                if run(client, statement, &values).await? > 0 {
                    return Ok(true);
                }
                Ok(job_with(client, id).await?.is_some_and(|row| is_made(&job, &row)))
            })
        })
        .await
    }
}

#[async_trait]
impl JobRecords for PostgresJobs {
    async fn create(&self, account: AccountId, job: &JobChange) -> Result<(), StoreError> {
        let (job, turn) = (job.clone(), signed(job.turn)?);
        write_and_settle(&self.node.database, move |client| {
            let job = job.clone();
            Box::pin(async move {
                let (id, phase) = (Uuid::from_u128(job.id), phase_column(job.phase));
                let values: [Value<'_>; 6] = [
                    (&id, Type::UUID),
                    (&account.0, Type::UUID),
                    (&turn, Type::INT8),
                    (&phase, Type::TEXT),
                    (&job.record, Type::TEXT),
                    (&job.progress, Type::TEXT),
                ];
                run(client, ADD, &values).await.map(drop)
            })
        })
        .await
    }

    async fn find(&self, id: u128) -> Result<Option<JobRow>, StoreError> {
        let id = Uuid::from_u128(id);
        self.node
            .database
            .read(move |client| Box::pin(async move { job_with(client, id).await }))
            .await
    }

    async fn of_account(&self, account: AccountId) -> Result<Vec<JobRow>, StoreError> {
        let query = jobs!("account = $1 ORDER BY id");
        self.node
            .database
            .read(move |client| {
                Box::pin(
                    async move { list(client, query, &[(&account.0, Type::UUID)], read_job).await },
                )
            })
            .await
    }

    async fn rows_after(&self, after: u128, limit: u32) -> Result<Vec<JobRow>, StoreError> {
        let (after, limit) = (Uuid::from_u128(after), i64::from(limit));
        let query = jobs!("id > $1 ORDER BY id LIMIT $2");
        self.node
            .database
            .read(move |client| {
                Box::pin(async move {
                    let values: [Value<'_>; 2] = [(&after, Type::UUID), (&limit, Type::INT8)];
                    list(client, query, &values, read_job).await
                })
            })
            .await
    }

    async fn change(&self, job: &JobChange) -> Result<bool, StoreError> {
        let is_made = |job: &JobChange, row: &JobRow| {
            row.turn == job.turn + 1 && row.phase == job.phase && row.record == job.record
        };
        self.change_row(CHANGE, job, is_made).await
    }

    async fn hold(&self, id: u128, turn: u64, phase: JobPhase) -> Result<bool, StoreError> {
        let (id, turn, phase) = (Uuid::from_u128(id), signed(turn)?, phase_column(phase));
        self.node
            .database
            .write(move |client| {
                Box::pin(async move {
                    let values: [Value<'_>; 3] =
                        [(&id, Type::UUID), (&turn, Type::INT8), (&phase, Type::TEXT)];
                    Ok(run(client, HOLD, &values).await? > 0)
                })
            })
            .await
    }

    async fn take_next(&self) -> Result<Option<JobRow>, StoreError> {
        self.node.database.write(|client| Box::pin(async move { take_next(client).await })).await
    }

    async fn renew(
        &self,
        id: u128,
        turn: u64,
        progress: &str,
    ) -> Result<Option<JobPhase>, StoreError> {
        let (background, progress) = (Arc::clone(&self.background), progress.to_owned());
        let (id, turn) = (Uuid::from_u128(id), signed(turn)?);
        let renewal = async move {
            let values: [Value<'_>; 3] =
                [(&id, Type::UUID), (&turn, Type::INT8), (&progress, Type::TEXT)];
            let rows = background.query(RENEW, &values).await?;
            rows.first().map(|row| phase_of(row.try_get(0)?)).transpose()
        };
        let renewed = self.node.database.runtime().run(renewal).await;
        Ok(renewed.map_err(StoreError::failed)??)
    }

    async fn save(&self, job: &JobChange) -> Result<bool, StoreError> {
        let (job, turn) = (job.clone(), signed(job.turn)?);
        write_and_settle(&self.node.database, move |client| {
            let job = job.clone();
            Box::pin(async move {
                let id = Uuid::from_u128(job.id);
                let values: [Value<'_>; 4] = [
                    (&id, Type::UUID),
                    (&turn, Type::INT8),
                    (&job.record, Type::TEXT),
                    (&job.progress, Type::TEXT),
                ];
                Ok(run(client, SAVE, &values).await? > 0)
            })
        })
        .await
    }

    async fn release(&self, job: &JobChange) -> Result<bool, StoreError> {
        let is_made = |job: &JobChange, row: &JobRow| {
            let is_same = row.turn == job.turn && row.record == job.record;
            is_same && row.lease == JobLease::Free
        };
        self.change_row(RELEASE, job, is_made).await
    }

    async fn stop(&self, id: u128) -> Result<bool, StoreError> {
        let id = Uuid::from_u128(id);
        write_and_settle(&self.node.database, move |client| {
            Box::pin(async move { Ok(run(client, STOP, &[(&id, Type::UUID)]).await? > 0) })
        })
        .await
    }

    async fn remove(&self, id: u128, turn: u64) -> Result<bool, StoreError> {
        let (id, turn) = (Uuid::from_u128(id), signed(turn)?);
        write_and_settle(&self.node.database, move |client| {
            Box::pin(async move {
                let values: [Value<'_>; 2] = [(&id, Type::UUID), (&turn, Type::INT8)];
                let is_removed = run(client, REMOVE, &values).await? > 0;
                Ok(is_removed || job_with(client, id).await?.is_none())
            })
        })
        .await
    }

    async fn contenders(&self) -> Result<u64, StoreError> {
        let read = |row: &Row| unsigned(row.try_get(0)?);
        let counted = self
            .node
            .database
            .read(move |client| Box::pin(async move { find(client, CONTENDERS, &[], read).await }))
            .await?;
        Ok(counted.unwrap_or_default())
    }

    async fn announce(&self, folder: u128, jobs: &[LocalJob]) -> Result<(), StoreError> {
        local::announce(&self.node, folder, jobs.to_vec()).await
    }

    async fn elsewhere(
        &self,
        account: AccountId,
        folder: Option<u128>,
    ) -> Result<Vec<RemoteJob>, StoreError> {
        local::elsewhere(&self.node, account, folder).await
    }
}

async fn job_with(client: &Client, id: Uuid) -> Result<Option<JobRow>, Failure> {
    find(client, jobs!("id = $1"), &[(&id, Type::UUID)], read_job).await
}

async fn take_next(client: &Client) -> Result<Option<JobRow>, Failure> {
    let Some(next) = find(client, NEXT, &[], read_job).await? else { return Ok(None) };
    let phase = match next.phase {
        JobPhase::Stopping => JobPhase::Stopping,
        _ => JobPhase::Running,
    };
    let (id, column) = (Uuid::from_u128(next.id), phase_column(phase));
    run(client, TAKE, &[(&id, Type::UUID), (&column, Type::TEXT)]).await?;
    Ok(Some(JobRow { phase, turn: next.turn + 1, ..next }))
}
