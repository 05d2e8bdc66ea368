//! Usage counters, written in the background.
//!
//! Calls are counted in a map in memory. A task of the store's thread writes the collected counts
//! every few seconds, and when the store is closed. Each batch of counts has a number: 1 more than
//! the batch before it. The transaction that writes a batch also stores its number in `flush`, a
//! column of this node's row in the table `node`. If a batch is written again after a lost reply,
//! `flush` already has its number, so nothing is counted twice. A crash may lose the last counts,
//! but never a charge. If an operator accepts a loss of charges, the counts in memory are
//! discarded, because they may include lost charges.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::usage::{DayCount, Usage, Use, UseOutcome};
use enrich_core::{AccountId, Credits, KeyId, Timestamp};
use enrich_ledger::{GatheredUsage, LastUses, MissCounter};
use parking_lot::Mutex;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::{Value, unreadable, unsigned};
use crate::database::Database;
use crate::failure::Failure;
use crate::heartbeat::Heartbeat;
use crate::misses::MissWriter;
use crate::node::Node;

mod batch;

use batch::{Batch, BatchWriter, Written};

/// Interval between writes of the usage counters.
const ROUND: Duration = Duration::from_secs(5);
/// Interval between writes of the times at which keys were last used.
const MARK_ROUND: Duration = Duration::from_secs(60);
/// Interval between writes of the counts of missed names: company names that look-ups did not find.
const MISSES_ROUND: Duration = Duration::from_secs(60);
/// Maximum number of calls of `flush` that wait for their result.
const MAX_FLUSHES: usize = 64;
/// Time limit for writing the remaining counts when the store is closed.
const LAST_WRITE: Duration = Duration::from_secs(10);

const DAYS: &str = "SELECT day, api_key, endpoint, outcome, calls, credits FROM used
    WHERE account = $1 AND day BETWEEN $2 AND $3";

/// The channel on which a caller of `flush` gets the result. A flush writes all counts that are in
/// memory.
type Reply = oneshot::Sender<Result<(), StoreError>>;

/// Counts calls in memory, and writes the counts to the database.
pub struct PostgresUsage {
    gathered: Arc<Mutex<GatheredUsage>>,
    database: Database,
    /// The queue of waiting calls of `flush`; `None` when the store is being closed.
    flushes: Option<mpsc::Sender<Reply>>,
    /// Receives a value when the task has ended. Before that, the task has tried to write the
    /// remaining counts.
    ended: Option<oneshot::Receiver<()>>,
}

impl PostgresUsage {
    /// Starts the task that writes the counts. If missed names (company names that look-ups did not
    /// find) are counted, the task writes their counts too.
    pub(crate) fn start(
        node: &Node,
        heartbeat: &Heartbeat,
        misses: Option<Arc<MissCounter>>,
    ) -> Self {
        let gathered = Arc::new(Mutex::new(GatheredUsage::default()));
        let (flushes, asked) = mpsc::channel(MAX_FLUSHES);
        let (end, ended) = oneshot::channel();
        let connections = node.database.connections();
        let misses = misses.map(|counter| MissWriter::new(counter, Arc::clone(&connections)));
        let lineage = node.pulse.last().state.lineage;
        let writer = BatchWriter::new(connections, heartbeat.id(), lineage);
        let writer = UsageWriter::new(Arc::clone(&gathered), writer, misses);
        node.database.runtime().spawn(async move {
            writer.run(asked).await;
            // Sending fails if nobody waits for the end of the task. That is no error.
            let _ = end.send(());
        });
        let database = node.database.clone();
        Self { gathered, database, flushes: Some(flushes), ended: Some(ended) }
    }
}

#[async_trait]
impl Usage for PostgresUsage {
    fn count(&self, used: Use) {
        self.gathered.lock().count(used);
    }

    async fn flush(&self) -> Result<(), StoreError> {
        let (reply, done) = oneshot::channel();
        let is_closing = || StoreError::unavailable("the store is being closed");
        let flushes = self.flushes.as_ref().ok_or_else(is_closing)?;
        flushes.try_send(reply).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Overloaded,
            TrySendError::Closed(_) => is_closing(),
        })?;
        done.await.map_err(StoreError::failed)?
    }

    async fn days(
        &self,
        account: AccountId,
        first: i64,
        last: i64,
    ) -> Result<Vec<DayCount>, StoreError> {
        let reading =
            self.database.read(move |client| Box::pin(read_days(client, account, first, last)));
        let mut days = reading.await?;
        // The rows are sorted here, because the database would sort texts by its own locale.
        days.sort_unstable_by(|one, other| order_of(one).cmp(&order_of(other)));
        Ok(days)
    }
}

impl Drop for PostgresUsage {
    fn drop(&mut self) {
        // The task notices that the sender was dropped, and writes the remaining counts.
        drop(self.flushes.take());
        if let Some(ended) = self.ended.take() {
            let waiting = async move { timeout(LAST_WRITE, ended).await.is_ok() };
            if !self.database.runtime().block_on(waiting).unwrap_or(false) {
                tracing::warn!("the last usage counts could not be written");
            }
        }
    }
}

/// The task that writes the counts.
struct UsageWriter {
    gathered: Arc<Mutex<GatheredUsage>>,
    writer: BatchWriter,
    /// The batch of the last attempt, if it is unknown whether the batch was written. It is
    /// written again, unchanged.
    pending: Option<Arc<Batch>>,
    /// For each key, the time of its last use, if this time is in no batch yet.
    unmarked: LastUses,
    marked_at: Instant,
    misses: Option<MissWriter>,
    missed_at: Instant,
}

/// Whether a caller waits for a write of counts. This decides which counts the write includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// A regular write in the background. The times when keys were last used are included only
    /// every [`MARK_ROUND`], and counts of missed names only every [`MISSES_ROUND`].
    Steady,
    /// A write for which a caller waits. It includes all counts.
    Hurried,
}

impl UsageWriter {
    fn new(
        gathered: Arc<Mutex<GatheredUsage>>,
        writer: BatchWriter,
        misses: Option<MissWriter>,
    ) -> Self {
        let now = Instant::now();
        Self {
            gathered,
            writer,
            pending: None,
            unmarked: LastUses::default(),
            marked_at: now,
            misses,
            missed_at: now,
        }
    }

    /// Writes the counts at regular intervals and on request, until the store is closed.
    async fn run(mut self, mut asked: mpsc::Receiver<Reply>) {
        loop {
            match timeout(ROUND, asked.recv()).await {
                Ok(Some(reply)) => {
                    let mut written = self.write(Pace::Hurried).await;
                    if written.is_ok() {
                        written = self.write_misses(Pace::Hurried).await;
                    }
                    // Sending fails if the caller no longer waits. That is no error.
                    let _ = reply.send(written);
                }
                Ok(None) => return self.write_and_report(Pace::Hurried).await,
                Err(_) => self.write_and_report(Pace::Steady).await,
            }
        }
    }

    async fn write_and_report(&mut self, pace: Pace) {
        if let Err(error) = self.write(pace).await {
            tracing::warn!(%error, "usage counts could not be written and are kept for later");
        }
        if let Err(error) = self.write_misses(pace).await {
            tracing::warn!(%error, "counts of missed names could not be written");
        }
    }

    async fn write_misses(&mut self, pace: Pace) -> Result<(), StoreError> {
        if let Some(misses) = &self.misses
            && (pace == Pace::Hurried || self.missed_at.elapsed() >= MISSES_ROUND)
        {
            self.missed_at = Instant::now();
            misses.write().await?;
        }
        Ok(())
    }

    /// Writes the collected counts. Counts that could not be written stay in memory until the next
    /// call.
    async fn write(&mut self, pace: Pace) -> Result<(), StoreError> {
        self.write_pending().await?;
        let taken = self.gathered.lock().take();
        if taken.lost > 0 {
            tracing::warn!(calls = taken.lost, "usage counts were lost: too many at once");
        }
        for (counted, sum) in &taken.sums {
            self.unmarked.add(counted.key, sum.last_at);
        }
        let mut sums = taken.sums.into_iter().peekable();
        let mut marks = self.due_marks(pace).into_iter().peekable();
        while sums.peek().is_some() || marks.peek().is_some() {
            let batch = Batch::of(&mut sums, &mut marks);
            self.pending = Some(Arc::new(batch));
            match self.write_pending().await {
                Ok(Written::Added) => {}
                Ok(Written::OfEarlierLineage) => return Ok(()),
                Err(error) => {
                    let mut again = self.gathered.lock();
                    sums.for_each(|(counted, sum)| again.add(counted, sum));
                    drop(again);
                    marks.for_each(|(key, at)| self.unmarked.add(key, at));
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    async fn write_pending(&mut self) -> Result<Written, StoreError> {
        let mut written = Written::Added;
        if let Some(batch) = &self.pending {
            written = self.writer.write(batch).await?;
            self.pending = None;
        }
        if written == Written::OfEarlierLineage {
            self.discard();
        }
        Ok(written)
    }

    /// Discards all collected counts, because they may include charges that the database has lost.
    fn discard(&mut self) {
        drop(self.gathered.lock().take());
        self.unmarked = LastUses::default();
        tracing::warn!("usage counts from before the accepted loss of charges were discarded");
    }

    /// If it is time to write when each API key was last used, returns these times, sorted by key.
    /// Otherwise returns an empty list.
    fn due_marks(&mut self, pace: Pace) -> Vec<(KeyId, Timestamp)> {
        if pace == Pace::Steady && self.marked_at.elapsed() < MARK_ROUND {
            return Vec::new();
        }
        self.marked_at = Instant::now();
        self.unmarked.take()
    }
}

async fn read_days(
    client: &Client,
    account: AccountId,
    first: i64,
    last: i64,
) -> Result<Vec<DayCount>, Failure> {
    let values: [Value<'_>; 3] =
        [(&account.0, Type::UUID), (&first, Type::INT8), (&last, Type::INT8)];
    let rows = client.query_typed(DAYS, &values).await?;
    rows.iter().map(day_count).collect()
}

fn day_count(row: &Row) -> Result<DayCount, Failure> {
    let outcome: &str = row.try_get(3)?;
    let outcome = UseOutcome::named(outcome).ok_or_else(|| unreadable("the outcome of a call"))?;
    Ok(DayCount {
        day: row.try_get(0)?,
        key: KeyId(row.try_get(1)?),
        endpoint: row.try_get(2)?,
        outcome,
        calls: unsigned(row.try_get(4)?)?,
        credits: Credits(unsigned(row.try_get(5)?)?),
    })
}

fn order_of(count: &DayCount) -> (i64, KeyId, &str, &str) {
    (count.day, count.key, &count.endpoint, count.outcome.as_str())
}

#[cfg(test)]
mod tests;
