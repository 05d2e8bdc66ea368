//! Batches of usage counts. Each batch is written exactly once.

use std::iter::Take;
use std::sync::Arc;

use enrich_core::port::error::StoreError;
use enrich_core::{KeyId, Timestamp};
use enrich_ledger::{UsageKey, UsageSum};
use tokio_postgres::Client;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::{Value, micros};
use crate::database::Connections;
use crate::failure::Failure;

/// Maximum number of usage counts in a batch. A batch also contains times of last use, for at most
/// this number of API keys.
const SIZE: usize = 5_000;
/// Maximum number of attempts to write a batch in one call. Another attempt is made if the outcome
/// of the last attempt is unknown, or if the database lost the last batches in a failover.
const ATTEMPTS: u32 = 4;

/// Reads the lineage of the database: a UUID that changes when an operator accepts a loss of
/// charges. Prevents such a change until the end of the transaction.
const LINEAGE: &str = "SELECT lineage FROM state WHERE id = 1 FOR UPDATE";
const RAISE: &str = "UPDATE node SET flush = $3 WHERE id = $1 AND flush = $2";
const RAISED: &str = "SELECT flush FROM node WHERE id = $1";
const ADD: &str = "INSERT INTO used (account, day, api_key, endpoint, outcome, calls, credits)
    SELECT account, day, api_key, endpoint, outcome, calls, credits
    FROM unnest($1, $2, $3, $4, $5, $6, $7)
        AS u (account, day, api_key, endpoint, outcome, calls, credits)
    ORDER BY account, day, api_key, endpoint, outcome
    ON CONFLICT (account, day, api_key, endpoint, outcome) DO UPDATE
    SET calls = used.calls + excluded.calls, credits = used.credits + excluded.credits";
const MARK: &str = "INSERT INTO key_used (api_key, at)
    SELECT api_key, at FROM unnest($1, $2) AS u (api_key, at) ORDER BY api_key
    ON CONFLICT (api_key) DO UPDATE SET at = excluded.at WHERE key_used.at < excluded.at";

/// Usage counts, and the times when keys were last used, as one array for each column.
#[derive(Debug, Default)]
pub(super) struct Batch {
    accounts: Vec<Uuid>,
    days: Vec<i64>,
    keys: Vec<Uuid>,
    endpoints: Vec<&'static str>,
    outcomes: Vec<&'static str>,
    calls: Vec<i64>,
    credits: Vec<i64>,
    used_keys: Vec<Uuid>,
    used_at: Vec<i64>,
}

/// Writes batches of usage counts in order, each exactly once.
///
/// Each batch belongs to a lineage of the database. The lineage is a UUID that changes when an
/// operator accepts a loss of charges. Batches of the previous lineage are then discarded, because
/// they may count lost charges.
pub(super) struct BatchWriter {
    connections: Arc<Connections>,
    node: Uuid,
    lineage: Uuid,
    /// The number of the last batch that was written. The column `flush` of this node's row in
    /// the table `node` has the same number.
    last: i64,
}

/// What happened to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The batch is durable.
    Added,
    /// The batch was not written, because the lineage of the database has changed (see
    /// [`BatchWriter`]). The writer uses the new lineage for the next batch.
    OfEarlierLineage,
}

/// The result of one attempt to write a batch.
enum Attempt {
    /// The number of the last batch in the database after the attempt: the column `flush` of the
    /// node's row. `None` if the node has no row.
    Flush(Option<i64>),
    /// Nothing was written, because the database has another lineage than the writer (see
    /// [`BatchWriter`]). The value is the lineage of the database.
    OtherLineage(Uuid),
}

impl Batch {
    /// Takes the next usage counts, and the next times at which keys were last used, out of the
    /// iterators: at most [`SIZE`] of each.
    pub(super) fn of(
        sums: &mut impl Iterator<Item = (UsageKey, UsageSum)>,
        marks: &mut impl Iterator<Item = (KeyId, Timestamp)>,
    ) -> Self {
        let mut batch = Self::default();
        for (counted, sum) in some(sums) {
            batch.accounts.push(counted.account.0);
            batch.days.push(counted.day);
            batch.keys.push(counted.key.0);
            batch.endpoints.push(counted.endpoint);
            batch.outcomes.push(counted.outcome.as_str());
            batch.calls.push(column(sum.calls));
            batch.credits.push(column(sum.credits));
        }
        for (key, at) in some(marks) {
            batch.used_keys.push(key.0);
            batch.used_at.push(micros(at));
        }
        batch
    }

    async fn insert(&self, client: &Client) -> Result<(), Failure> {
        if !self.accounts.is_empty() {
            let values: [Value<'_>; 7] = [
                (&self.accounts, Type::UUID_ARRAY),
                (&self.days, Type::INT8_ARRAY),
                (&self.keys, Type::UUID_ARRAY),
                (&self.endpoints, Type::TEXT_ARRAY),
                (&self.outcomes, Type::TEXT_ARRAY),
                (&self.calls, Type::INT8_ARRAY),
                (&self.credits, Type::INT8_ARRAY),
            ];
            client.execute_typed(ADD, &values).await?;
        }
        if !self.used_keys.is_empty() {
            let values: [Value<'_>; 2] =
                [(&self.used_keys, Type::UUID_ARRAY), (&self.used_at, Type::INT8_ARRAY)];
            client.execute_typed(MARK, &values).await?;
        }
        Ok(())
    }
}

impl BatchWriter {
    /// Returns a writer for a node that has not written a batch yet. `lineage` is the present
    /// lineage of the database (see [`BatchWriter`]).
    pub(super) fn new(connections: Arc<Connections>, node: Uuid, lineage: Uuid) -> Self {
        Self { connections, node, lineage, last: 0 }
    }

    /// Writes a batch. After an error, the same batch must be written again before any other batch,
    /// because it is unknown whether it was written.
    pub(super) async fn write(&mut self, batch: &Arc<Batch>) -> Result<Written, StoreError> {
        let mut attempt = 1;
        loop {
            let number = self.last + 1;
            match self.attempt(batch).await {
                // This attempt was committed, or an earlier one whose reply was lost.
                Ok(Attempt::Flush(Some(flush))) if flush == number => {
                    self.last = number;
                    return Ok(Written::Added);
                }
                // The database lost the last batches in a failover. The next attempt continues
                // from the number in the database.
                Ok(Attempt::Flush(Some(flush))) => self.last = flush,
                Ok(Attempt::Flush(None)) => {
                    return Err(StoreError::failed("the node has no row in `node`"));
                }
                Ok(Attempt::OtherLineage(lineage)) => {
                    self.lineage = lineage;
                    return Ok(Written::OfEarlierLineage);
                }
                Err(StoreError::Unknown(_)) if attempt < ATTEMPTS => {}
                Err(error) => return Err(error),
            }
            if attempt == ATTEMPTS {
                return Err(StoreError::unavailable("the database has lost the last batches"));
            }
            attempt += 1;
        }
    }

    /// Tries once to write the batch. Writes nothing in two cases:
    ///
    /// - The database has another lineage than this writer.
    /// - The number of the last batch in the database (the column `flush` of the node's row) is not
    ///   the number of this writer's last batch.
    async fn attempt(&self, batch: &Arc<Batch>) -> Result<Attempt, StoreError> {
        let (node, lineage, last, batch) = (self.node, self.lineage, self.last, Arc::clone(batch));
        self.connections
            .write(&move |client| {
                Box::pin(write_of_lineage(client, node, lineage, last, Arc::clone(&batch)))
            })
            .await
    }
}

/// Writes the batch, unless the database has another lineage than `lineage` (see [`BatchWriter`]).
async fn write_of_lineage(
    client: &Client,
    node: Uuid,
    lineage: Uuid,
    last: i64,
    batch: Arc<Batch>,
) -> Result<Attempt, Failure> {
    let rows = client.query_typed(LINEAGE, &[]).await?;
    let present: Option<Uuid> = rows.first().map(|row| row.try_get(0)).transpose()?;
    match present {
        Some(present) if present != lineage => Ok(Attempt::OtherLineage(present)),
        _ => Ok(Attempt::Flush(raise_and_insert(client, node, last, batch).await?)),
    }
}

async fn raise_and_insert(
    client: &Client,
    node: Uuid,
    last: i64,
    batch: Arc<Batch>,
) -> Result<Option<i64>, Failure> {
    let number = last + 1;
    let values: [Value<'_>; 3] = [(&node, Type::UUID), (&last, Type::INT8), (&number, Type::INT8)];
    if client.execute_typed(RAISE, &values).await? == 1 {
        batch.insert(client).await?;
        return Ok(Some(number));
    }
    let rows = client.query_typed(RAISED, &[(&node, Type::UUID)]).await?;
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
}

/// Takes the next values out of an iterator, at most [`SIZE`] values.
fn some<I: Iterator>(values: &mut I) -> Take<&mut I> {
    values.take(SIZE)
}

fn column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
