//! Usage counters in `ledger.sqlite`, written in the background.
//!
//! Calls are counted in memory ([`GatheredUsage`]). A thread writes the counts every few seconds,
//! and when the store is closed. Its commits are not synced to disk, so a power failure may lose
//! the last counts, but never a charge. While the thread writes, charges wait for SQLite's only
//! write lock. So the thread writes in small transactions with pauses between them. If counts
//! cannot be written, the thread tries again a few seconds later.

use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::usage::{DayCount, Usage, Use, UseOutcome};
use enrich_core::{AccountId, Clock as _, KeyId, Timestamp};
use enrich_ledger::{GatheredUsage, LastUses, MissCounter, UsageKey, UsageSum};
use enrich_store_sqlite::{
    self as sqlite, Column, Durability, OpenError, Readers, SystemClock, Worker, store_error,
};
use parking_lot::Mutex;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use crate::misses;

/// Interval between writes of the usage counters.
const ROUND: Duration = Duration::from_secs(5);
/// Interval between writes of the times when API keys were last used. It is longer than [`ROUND`],
/// the interval for the usage counters, because these writes cost more: the rows of the API keys
/// are spread over many pages of the database file.
const MARK_ROUND: Duration = Duration::from_secs(60);
/// Interval between writes of the counts of missed names: company names that look-ups did not find.
const MISSES_ROUND: Duration = Duration::from_secs(60);
/// Interval between deletions of expired counts of missed names (names that look-ups did not find).
const TIDY_ROUND: Duration = Duration::from_secs(60 * 60);
/// Maximum number of counts that are written in one transaction. Such a transaction takes about a
/// millisecond. The number is also the maximum number of API keys whose last use is written in one
/// transaction.
const PER_TRANSACTION: usize = 100;
/// Pause between two transactions. During the pause, charges can be written.
const PAUSE: Duration = Duration::from_millis(5);

/// The channel on which the result of a flush is sent to the caller that requested it. A flush
/// writes all counts that are in memory.
type Reply = oneshot::Sender<Result<(), StoreError>>;

/// Counts calls in memory, and has a thread that writes the counts to `ledger.sqlite`.
#[derive(Debug)]
pub struct SqliteUsage {
    gathered: Arc<Mutex<GatheredUsage>>,
    readers: Readers,
    flushes: SyncSender<Reply>,
    /// The thread that writes the counts. Before it ends, it writes all counts that are still in
    /// memory.
    _writer: Worker,
}

/// Why counters could not be read.
#[derive(Debug, thiserror::Error)]
enum DaysError {
    #[error("the usage counters could not be read")]
    Read(#[from] rusqlite::Error),
    #[error("`{0}` is no outcome of a call")]
    Outcome(String),
}

impl SqliteUsage {
    /// Opens the usage counters of the ledger at `path`, which must already have its tables, and
    /// starts the writing thread. If `misses` is present, this thread also writes the counts of
    /// missed names (names that look-ups did not find).
    pub(crate) fn open(path: &Path, misses: Option<Arc<MissCounter>>) -> Result<Self, OpenError> {
        let connection = sqlite::writer(path, Durability::Checkpoint)
            .map_err(|source| OpenError::of_sqlite(path, source))?;
        // The readers are opened before the thread starts. If opening failed after the start,
        // dropping the `Worker` would wait for the thread, and the thread would wait until the
        // channel is dropped: a deadlock.
        let readers = Readers::open(path, sqlite::reader)?;
        let gathered = Arc::new(Mutex::new(GatheredUsage::default()));
        // The channel never becomes full, because a flush is requested only at the end of the
        // process.
        let (flushes, asked) = mpsc::sync_channel(64);
        let usage_writer = UsageWriter::new(Arc::clone(&gathered), misses, connection, asked);
        let writer = Worker::start(path, "enrich-usage", move || usage_writer.run())?;
        Ok(Self { gathered, readers, flushes, _writer: writer })
    }
}

#[async_trait]
impl Usage for SqliteUsage {
    fn count(&self, used: Use) {
        self.gathered.lock().count(used);
    }

    async fn flush(&self) -> Result<(), StoreError> {
        let (reply, done) = oneshot::channel();
        self.flushes.try_send(reply).map_err(|error| match error {
            mpsc::TrySendError::Full(_) => StoreError::Overloaded,
            mpsc::TrySendError::Disconnected(_) => {
                StoreError::unavailable("the store is being closed")
            }
        })?;
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

/// The state of the thread that writes the counts.
struct UsageWriter {
    gathered: Arc<Mutex<GatheredUsage>>,
    connection: Connection,
    asked: Receiver<Reply>,
    /// Callers that wait for a flush (a write of all counts). They have requested it while counts
    /// were being written.
    waiting: Vec<Reply>,
    /// The API keys whose last use is not in the database yet, each with the time of this use.
    unmarked: LastUses,
    marked_at: Instant,
    misses: Option<Arc<MissCounter>>,
    missed_at: Instant,
    /// When expired counts of missed names (names that look-ups did not find) were last deleted;
    /// `None` if this was not done yet.
    tidied_at: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Counts are written in the background, with pauses. The times when keys were last used are
    /// written once in each [`MARK_ROUND`], and the counts of missed names once in each
    /// [`MISSES_ROUND`].
    Steady,
    /// All counts are written without pauses, because a caller waits or [`SqliteUsage`] was
    /// dropped.
    Hurried,
}

impl Pace {
    /// With [`Self::Steady`], pauses, so that charges can be written.
    fn pause(self) {
        if self == Self::Steady {
            thread::sleep(PAUSE);
        }
    }
}

impl UsageWriter {
    fn new(
        gathered: Arc<Mutex<GatheredUsage>>,
        misses: Option<Arc<MissCounter>>,
        connection: Connection,
        asked: Receiver<Reply>,
    ) -> Self {
        let now = Instant::now();
        Self {
            gathered,
            connection,
            asked,
            waiting: Vec::new(),
            unmarked: LastUses::default(),
            marked_at: now,
            misses,
            missed_at: now,
            tidied_at: None,
        }
    }

    /// Writes the usage counts at the interval [`ROUND`], and when a caller requests a flush. Ends
    /// when [`SqliteUsage`] is dropped, after it has written the last counts.
    fn run(mut self) {
        loop {
            match self.asked.recv_timeout(ROUND) {
                Ok(reply) => self.waiting.push(reply),
                Err(RecvTimeoutError::Timeout) => self.write_and_report(Pace::Steady),
                Err(RecvTimeoutError::Disconnected) => {
                    return self.write_and_report(Pace::Hurried);
                }
            }
            for reply in mem::take(&mut self.waiting) {
                let written =
                    self.write(Pace::Hurried).and_then(|()| self.write_misses(Pace::Hurried));
                // Sending fails if the caller no longer waits. Then nobody needs the result.
                let _ = reply.send(written.map_err(store_error));
            }
        }
    }

    fn write_and_report(&mut self, pace: Pace) {
        if let Err(error) = self.write(pace) {
            tracing::warn!(%error, "usage counts could not be written and are kept for later");
        }
        if let Err(error) = self.write_misses(pace) {
            tracing::warn!(%error, "counts of missed names could not be written");
        }
    }

    /// Writes the counts of missed names (company names that look-ups did not find), if missed
    /// names are counted. With [`Pace::Steady`], also deletes expired counts at the interval
    /// [`TIDY_ROUND`], even if missed names are no longer counted. The first call with this pace is
    /// at least [`ROUND`] after the start. So a process that ends earlier deletes no expired
    /// counts.
    fn write_misses(&mut self, pace: Pace) -> rusqlite::Result<()> {
        if let Some(misses) = &self.misses
            && (pace == Pace::Hurried || self.missed_at.elapsed() >= MISSES_ROUND)
        {
            self.missed_at = Instant::now();
            misses::write(misses, &mut self.connection, || pace.pause())?;
        }
        let is_due = self.tidied_at.is_none_or(|at| at.elapsed() >= TIDY_ROUND);
        if pace == Pace::Steady && is_due {
            let keeps_texts = self.misses.as_ref().is_some_and(|misses| misses.keeps_texts());
            misses::tidy(&self.connection, SystemClock.now(), keeps_texts)?;
            self.tidied_at = Some(Instant::now());
        }
        Ok(())
    }

    /// Writes the counts that are in memory. If a count cannot be written, it stays in memory.
    fn write(&mut self, mut pace: Pace) -> rusqlite::Result<()> {
        let taken = self.gathered.lock().take();
        if taken.lost > 0 {
            tracing::warn!(calls = taken.lost, "usage counts were lost: too many at once");
        }
        for (counted, sum) in &taken.sums {
            self.unmarked.add(counted.key, sum.last_at);
        }
        let mut marks = self.due_marks(pace).into_iter().peekable();
        // The counts have the order of the table's primary key. So rows on the same page of the
        // database file are in one transaction, and fewer pages are written.
        let mut sums = taken.sums.into_iter().peekable();
        while sums.peek().is_some() || marks.peek().is_some() {
            let some_sums: Vec<_> = sums.by_ref().take(PER_TRANSACTION).collect();
            let some_marks: Vec<_> = marks.by_ref().take(PER_TRANSACTION).collect();
            if let Err(error) = write_some(&mut self.connection, &some_sums, &some_marks) {
                let mut again = self.gathered.lock();
                some_sums.into_iter().chain(sums).for_each(|(what, sum)| again.add(what, sum));
                drop(again);
                some_marks
                    .into_iter()
                    .chain(marks)
                    .for_each(|(key, at)| self.unmarked.add(key, at));
                return Err(error);
            }
            if pace == Pace::Steady {
                pace = self.pause();
            }
        }
        Ok(())
    }

    /// Pauses, so that charges can be written. If a caller requests a flush, or [`SqliteUsage`] is
    /// dropped, the pause ends early. Returns the pace for the remaining counts: `Hurried` if the
    /// pause has ended early, else `Steady`.
    fn pause(&mut self) -> Pace {
        match self.asked.recv_timeout(PAUSE) {
            Ok(reply) => {
                self.waiting.push(reply);
                Pace::Hurried
            }
            Err(RecvTimeoutError::Timeout) => Pace::Steady,
            Err(RecvTimeoutError::Disconnected) => Pace::Hurried,
        }
    }

    /// If the times of the last uses of API keys must be written now, removes them from `unmarked`
    /// and returns them, sorted by key. Otherwise returns an empty list.
    fn due_marks(&mut self, pace: Pace) -> Vec<(KeyId, Timestamp)> {
        if pace == Pace::Steady && self.marked_at.elapsed() < MARK_ROUND {
            return Vec::new();
        }
        self.marked_at = Instant::now();
        self.unmarked.take()
    }
}

fn write_some(
    connection: &mut Connection,
    sums: &[(UsageKey, UsageSum)],
    marks: &[(KeyId, Timestamp)],
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
        for (key, at) in marks {
            mark.execute((Column(*key), Column(*at)))?;
        }
    }
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use enrich_core::port::accounts::Accounts as _;
    use enrich_core::{Account, ApiKey, NewKey, RateOverride};
    use pollster::block_on;

    use super::*;
    use crate::LEDGER;
    use enrich_store::Store;

    #[test]
    fn a_round_writes_counts_and_leaves_the_last_use_for_later() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let now = Timestamp::UNIX_EPOCH;
        let account = AccountId::new(now);
        let key = NewKey {
            id: KeyId::new(now),
            account,
            label: "first".into(),
            key: ApiKey::generate().unwrap(),
            rate: RateOverride::default(),
            created_at: now,
            expires_at: None,
        };
        let id = key.id;
        let new = Account { id: account, ..Account::new("Northwind", now) };
        block_on(store.accounts.create(new, key)).unwrap();
        let counted =
            UsageKey { account, day: 0, key: id, endpoint: "/v1/cuf", outcome: UseOutcome::Found };
        let path = folder.path().join(LEDGER.file);
        let connection = sqlite::writer(&path, Durability::Checkpoint).unwrap();
        let (_flushes, asked) = mpsc::sync_channel(1);
        let mut usage_writer = UsageWriter::new(Arc::default(), None, connection, asked);

        let read = || {
            let days = block_on(store.usage.days(account, 0, 0)).unwrap();
            let key = block_on(store.accounts.key(id)).unwrap().unwrap();
            (days.iter().map(|day| day.calls).sum::<u64>(), key.last_used_at)
        };
        usage_writer.gathered.lock().add(counted, UsageSum { calls: 3, credits: 3, last_at: now });
        usage_writer.write(Pace::Steady).unwrap();
        assert_eq!(read(), (3, None));
        usage_writer.write(Pace::Hurried).unwrap();
        assert_eq!(read(), (3, Some(now)));
    }
}
