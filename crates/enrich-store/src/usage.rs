//! Usage counters in `ledger.sqlite`, written behind.
//!
//! Counting adds to a map in memory; a thread writes what has gathered every two seconds and at
//! the end. It has a connection of its own that does not wait for the disk, so that it holds
//! SQLite's one write lock for as short as can be: a power failure may take the last counts, never
//! a charge. What could not be written is tried again with the next round.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::usage::{DayCount, Usage, Use, UseOutcome};
use enrich_core::{AccountId, KeyId, Timestamp};
use parking_lot::Mutex;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use crate::columns::Column;
use crate::error::OpenError;
use crate::sqlite::{self, Durability, Readers, store_error};

/// How long counts gather before they are written.
const ROUND: Duration = Duration::from_secs(2);
/// The most different counts that gather: about 10 MB. Beyond it new ones are lost, and said so.
const MAX_GATHERED: usize = 100_000;
/// How many counts a transaction writes; between two of them charges have their turn.
const PER_TRANSACTION: usize = 500;
/// The most that a column holds.
const MOST: u64 = i64::MAX as u64;
const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// Counts calls.
#[derive(Debug)]
pub struct SqliteUsage {
    gathered: Arc<Mutex<Gathered>>,
    readers: Readers,
    /// Absent only while it is dropped.
    flushes: Option<SyncSender<oneshot::Sender<Result<(), StoreError>>>>,
    thread: Option<JoinHandle<()>>,
}

/// Why counters could not be read.
#[derive(Debug, thiserror::Error)]
enum DaysError {
    #[error("the usage counters could not be read")]
    Read(#[from] rusqlite::Error),
    #[error("`{0}` is no outcome of a call")]
    Outcome(String),
}

/// What is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Counted {
    account: AccountId,
    day: i64,
    key: KeyId,
    endpoint: &'static str,
    outcome: UseOutcome,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    calls: u64,
    credits: u64,
}

/// What has not been written yet.
#[derive(Debug, Default)]
struct Gathered {
    sums: BTreeMap<Counted, Sum>,
    last_used: BTreeMap<KeyId, Timestamp>,
    lost: u64,
}

impl SqliteUsage {
    /// The counters in the ledger at `path`, which has been prepared. Starts their thread.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenError> {
        let connection = sqlite::writer(path, Durability::Checkpoint)
            .map_err(|source| OpenError::of_sqlite(path, source))?;
        let gathered = Arc::new(Mutex::new(Gathered::default()));
        // More than ever ask at once: one does, when the process ends.
        let (flushes, asked) = mpsc::sync_channel(64);
        let scribe = Scribe { gathered: Arc::clone(&gathered), connection };
        let thread = thread::Builder::new()
            .name("enrich-usage".to_owned())
            .spawn(move || scribe.run(&asked))
            .map_err(|source| OpenError::unusable(path, source))?;
        let readers = Readers::open(path)?;
        Ok(Self { gathered, readers, flushes: Some(flushes), thread: Some(thread) })
    }
}

#[async_trait]
impl Usage for SqliteUsage {
    fn count(&self, used: Use) {
        let counted = Counted {
            account: used.account,
            day: used.at.as_second().div_euclid(SECONDS_PER_DAY),
            key: used.key,
            endpoint: used.endpoint,
            outcome: used.outcome,
        };
        let mut gathered = self.gathered.lock();
        gathered.add(counted, Sum { calls: 1, credits: used.credits.0 });
        gathered.used(used.key, used.at);
    }

    async fn flush(&self) -> Result<(), StoreError> {
        let (reply, done) = oneshot::channel();
        let asked = self.flushes.as_ref().is_some_and(|flushes| flushes.try_send(reply).is_ok());
        if !asked {
            return Err(StoreError::Overloaded);
        }
        done.await.map_err(StoreError::failed)?
    }

    async fn days(
        &self,
        account: AccountId,
        first: i64,
        last: i64,
    ) -> Result<Vec<DayCount>, StoreError> {
        self.readers.read(|connection| -> Result<_, DaysError> {
            let mut statement = connection.prepare_cached(
                "SELECT day, api_key, endpoint, outcome, calls, credits FROM used
                 WHERE account = ?1 AND day BETWEEN ?2 AND ?3
                 ORDER BY day, api_key, endpoint, outcome",
            )?;
            let mut rows = statement.query((Column(account), first, last))?;
            let mut days = Vec::new();
            while let Some(row) = rows.next()? {
                let (Column(key), Column(credits)) = (row.get(1)?, row.get(5)?);
                let outcome: String = row.get(3)?;
                let outcome = UseOutcome::named(&outcome).ok_or(DaysError::Outcome(outcome))?;
                let (day, endpoint, calls) = (row.get(0)?, row.get(2)?, row.get(4)?);
                days.push(DayCount { day, key, endpoint, outcome, calls, credits });
            }
            Ok(days)
        })
    }
}

impl Drop for SqliteUsage {
    fn drop(&mut self) {
        self.flushes = None;
        if let Some(thread) = self.thread.take() {
            // It writes what is left before it ends. Had it panicked, counts would be lost and
            // nothing else.
            let _ = thread.join();
        }
    }
}

impl Gathered {
    fn add(&mut self, counted: Counted, sum: Sum) {
        let is_full = self.sums.len() >= MAX_GATHERED;
        match self.sums.entry(counted) {
            Entry::Occupied(mut known) => known.get_mut().add(sum),
            Entry::Vacant(_) if is_full => self.lost = self.lost.saturating_add(sum.calls),
            Entry::Vacant(new) => new.insert(Sum::default()).add(sum),
        }
    }

    fn used(&mut self, key: KeyId, at: Timestamp) {
        let is_full = self.last_used.len() >= MAX_GATHERED;
        match self.last_used.entry(key) {
            Entry::Occupied(mut known) => {
                let latest = at.max(*known.get());
                known.insert(latest);
            }
            Entry::Vacant(new) if !is_full => {
                new.insert(at);
            }
            Entry::Vacant(_) => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.last_used.is_empty()
    }
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls).min(MOST);
        self.credits = self.credits.saturating_add(other.credits).min(MOST);
    }
}

/// The thread that writes.
struct Scribe {
    gathered: Arc<Mutex<Gathered>>,
    connection: Connection,
}

impl Scribe {
    /// Writes every round and whenever it is asked to, until nobody can ask any more.
    fn run(mut self, asked: &Receiver<oneshot::Sender<Result<(), StoreError>>>) {
        loop {
            match asked.recv_timeout(ROUND) {
                Ok(reply) => {
                    // Nobody may be waiting any more; what is written is written.
                    let _ = reply.send(self.write().map_err(store_error));
                }
                Err(RecvTimeoutError::Timeout) => self.write_and_report(),
                Err(RecvTimeoutError::Disconnected) => return self.write_and_report(),
            }
        }
    }

    fn write_and_report(&mut self) {
        if let Err(error) = self.write() {
            tracing::warn!(%error, "usage counts could not be written and are kept for later");
        }
    }

    /// Writes what has gathered; what cannot be written gathers again.
    fn write(&mut self) -> rusqlite::Result<()> {
        let gathered = mem::take(&mut *self.gathered.lock());
        if gathered.lost > 0 {
            tracing::warn!(calls = gathered.lost, "usage counts were lost: too many at once");
        }
        if gathered.is_empty() {
            return Ok(());
        }
        let mut sums = gathered.sums.into_iter().peekable();
        let mut last_used = gathered.last_used.into_iter().peekable();
        while sums.peek().is_some() || last_used.peek().is_some() {
            let some_sums: Vec<_> = sums.by_ref().take(PER_TRANSACTION).collect();
            let some_used: Vec<_> = last_used.by_ref().take(PER_TRANSACTION).collect();
            if let Err(error) = write_some(&mut self.connection, &some_sums, &some_used) {
                let mut again = self.gathered.lock();
                some_sums.into_iter().chain(sums).for_each(|(what, sum)| again.add(what, sum));
                some_used.into_iter().chain(last_used).for_each(|(key, at)| again.used(key, at));
                return Err(error);
            }
        }
        Ok(())
    }
}

fn write_some(
    connection: &mut Connection,
    sums: &[(Counted, Sum)],
    last_used: &[(KeyId, Timestamp)],
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut add = transaction.prepare_cached(
            "INSERT INTO used (account, day, api_key, endpoint, outcome, calls, credits)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (account, day, api_key, endpoint, outcome) DO UPDATE
             SET calls = used.calls + excluded.calls, credits = used.credits + excluded.credits",
        )?;
        for (counted, sum) in sums {
            add.execute((
                Column(counted.account),
                counted.day,
                Column(counted.key),
                counted.endpoint,
                counted.outcome.as_str(),
                sum.calls,
                sum.credits,
            ))?;
        }
        let mut mark = transaction.prepare_cached(
            "UPDATE api_key SET last_used_at = ?2
             WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)",
        )?;
        for (key, at) in last_used {
            mark.execute((Column(*key), Column(*at)))?;
        }
    }
    transaction.commit()
}
