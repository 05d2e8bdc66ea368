//! The pulse: every node polls the only row of the table `state`, to see what other nodes or
//! commands have changed.
//!
//! LISTEN and NOTIFY would be the alternative. But polling also works through poolers and with
//! every compatible database server, and a poll takes no lock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use enrich_core::port::error::StoreError;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_postgres::{Client, Row};
use uuid::Uuid;

use crate::database::Database;
use crate::failure::Failure;

/// Interval between two polls of the database.
const INTERVAL: Duration = Duration::from_millis(400);
/// Time limit for one poll of the database.
const POLL_TIMEOUT: Duration = Duration::from_secs(2);
/// A reading (the result of a poll) counts as current until it has this age. The age is measured
/// from the start of the poll.
const BELIEVED: Duration = Duration::from_secs(1);
/// Time limit for a caller that waits for a new reading (result of a poll) because the last one is
/// too old.
const PATIENCE: Duration = Duration::from_secs(2);

const STATE: &str = "SELECT mode, key_changes, kept, snapshot, forgotten, lineage,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM state WHERE id = 1";

/// The state that all nodes share, as it was last read from the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The mode of the database: `serving`, `read-only` or `copying`.
    pub(crate) mode: String,
    /// A number that grows with every change of a key, and of an account's status or country. When
    /// it has grown, a node empties its cache of keys.
    pub(crate) key_changes: i64,
    /// The number of idempotency records (rows of the table `kept`) when they were last counted.
    pub(crate) kept: u64,
    /// The number of the snapshot (published copy of the look-up data) that nodes must answer from;
    /// 0 if there is none.
    pub(crate) snapshot: i64,
    /// The number of the newest suppression (a value that no answer may contain any more); 0 if
    /// there is none.
    pub(crate) forgotten: i64,
    /// The lineage: a UUID that identifies the history of the database. When an operator accepts a
    /// loss of data, the database gets a new lineage.
    pub(crate) lineage: Uuid,
    /// The time of the database's clock when the other values were read, in microseconds since
    /// 1970.
    pub(crate) clock: i64,
}

/// The result of one poll: the state that all nodes share, and when and how it was read.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) state: State,
    /// When the read from the database began.
    pub(crate) began: Instant,
    /// How long the read from the database took.
    pub(crate) took: Duration,
    /// The number of the connection that was used. If two readings (results of polls) have
    /// different numbers, the connection was lost between them.
    pub(crate) connection: u64,
}

impl Reading {
    /// Returns the present time of the database's clock, in microseconds since 1970. The result may
    /// be wrong by at most half of [`took`](Self::took).
    pub(crate) fn database_now(&self) -> i64 {
        let since = self.began.elapsed().saturating_sub(self.took / 2);
        let since = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
        self.state.clock.saturating_add(since)
    }
}

/// Receives the newest reading (the result of a poll), and can wait for a later one. A task of the
/// store's thread uses this type instead of [`Pulse`], because a `Pulse` keeps the thread running.
pub(crate) type Readings = watch::Receiver<Arc<Reading>>;

/// Gives callers the newest reading: the result of the last successful poll of the database.
#[derive(Clone)]
pub(crate) struct Pulse {
    readings: Readings,
    database: Database,
}

impl Pulse {
    /// Starts the task that polls the database until the store is closed. `first` is a reading (the
    /// result of a poll) that was made just now.
    pub(crate) fn start(database: &Database, first: Reading) -> Self {
        let (readings, newest) = watch::channel(Arc::new(first));
        let connections = database.connections();
        database.runtime().spawn(async move {
            loop {
                sleep(INTERVAL).await;
                let began = Instant::now();
                let poll = connections.read_within(POLL_TIMEOUT, &|client| Box::pin(read(client)));
                match poll.await {
                    Ok(state) => {
                        // A new reading is sent even if the state is the same, because callers may
                        // wait for a newer reading.
                        let took = began.elapsed();
                        let connection = connections.reader_generation();
                        let reading = Reading { state, began, took, connection };
                        if readings.send(Arc::new(reading)).is_err() {
                            return;
                        }
                    }
                    Err(error) => tracing::debug!(%error, "the pulse could not be read"),
                }
            }
        });
        Self { readings: newest, database: database.clone() }
    }

    /// Returns a receiver of new readings (results of polls), for a task of the store's thread.
    pub(crate) fn readings(&self) -> Readings {
        self.readings.clone()
    }

    /// Returns the newest reading (the result of the last successful poll), even if it is old.
    pub(crate) fn last(&self) -> Arc<Reading> {
        Arc::clone(&self.readings.borrow())
    }

    /// Returns a reading (the result of a poll) that is at most a second old. If the newest reading
    /// is older, waits up to two seconds for the next one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when no new reading arrives within two seconds.
    pub(crate) async fn believed(&self) -> Result<Arc<Reading>, StoreError> {
        let last = self.last();
        if last.began.elapsed() < BELIEVED {
            return Ok(last);
        }
        let mut newest = self.readings.clone();
        let waiting = async move {
            let is_new = |reading: &Arc<Reading>| reading.began.elapsed() < BELIEVED;
            let reading = timeout(PATIENCE, newest.wait_for(is_new)).await.ok()?.ok()?;
            Some(Arc::clone(&reading))
        };
        let reading = self.database.runtime().run(waiting).await.map_err(StoreError::failed)?;
        reading.ok_or_else(|| StoreError::unavailable("the database does not answer polls"))
    }
}

/// Reads the state that all nodes share from the only row of the table `state`.
pub(crate) async fn read(client: &Client) -> Result<State, Failure> {
    let rows = client.query_typed(STATE, &[]).await?;
    let row = rows.first().ok_or_else(|| Failure::of("the row of `state` is missing"))?;
    Ok(state_of(row)?)
}

fn state_of(row: &Row) -> Result<State, tokio_postgres::Error> {
    let kept: i64 = row.try_get(2)?;
    Ok(State {
        mode: row.try_get(0)?,
        key_changes: row.try_get(1)?,
        kept: u64::try_from(kept).unwrap_or_default(),
        snapshot: row.try_get(3)?,
        forgotten: row.try_get(4)?,
        lineage: row.try_get(5)?,
        clock: row.try_get(6)?,
    })
}
