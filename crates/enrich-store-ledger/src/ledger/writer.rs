//! The one thread that writes the ledger. It decides groups of charges and grants. Each group takes
//! one transaction and one sync to disk.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use enrich_core::port::ledger::ChargeError;
use enrich_secrets::Secrets;
use enrich_store_sqlite::{self as sqlite, OpenError, Options};
use rusqlite::{Connection, ErrorCode};
use tokio::sync::mpsc::Receiver;

use crate::ledger::decide::{GroupDecider, GroupFailed};
use crate::ledger::files::LedgerFiles;
use crate::ledger::idempotency_store::RecordCount;
use crate::ledger::job::{Job, decide, deliver, refuse};
use crate::ledger::ledger_state::{Heads, LedgerState, Written};
use crate::ledger::ledger_state_error::LedgerStateError;

/// Minimum time between the beginnings of two groups of charges, while several callers charge at
/// the same time. A commit takes about 100 µs of kernel time, whatever its size. So each decision
/// costs less if a group has more of them. `docs/performance.md` compares other intervals. If the
/// processor is the limit, 0.5 ms is better for a few callers and worse for many. 2 ms is worse for
/// a few callers, and no better for many.
const GROUP_INTERVAL: Duration = Duration::from_millis(1);
/// A group of charges is complete when no further job arrives for this time.
const QUIET_DELAY: Duration = Duration::from_micros(200);

/// How a transaction is committed. Tests replace this to simulate a disk that fails.
type Commit = Box<dyn FnMut(&Connection) -> rusqlite::Result<()> + Send>;

/// The state of the thread that writes the ledger.
pub(super) struct Writer {
    path: PathBuf,
    secrets: Secrets,
    limits: Options,
    /// The connection to the database; `None` after a failure that made it useless. Then the next
    /// group of charges opens a new connection.
    connection: Option<Connection>,
    ledger_state: LedgerState,
    /// The number of idempotency records, as `connection` has last counted it.
    record_count: Option<RecordCount>,
    is_charging: Arc<AtomicBool>,
    files: Arc<LedgerFiles>,
    commit: Commit,
}

/// Why a group of charges was not written, or may not have been written.
enum Failed {
    /// The group of charges was not written, because other processes have locked the database for
    /// too long.
    Busy,
    /// The group of charges was not written, because of this error.
    NotWritten(rusqlite::Error),
    /// The group of charges was not written, and charging must stop, because ledger rows were
    /// altered or a file was replaced.
    Stopped(BoxError),
    /// Nobody knows whether the group of charges was written, so charging must stop.
    InDoubt(BoxError),
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An error that is sent to the callers of all jobs in a group of charges.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the group of charges could not be written")]
struct SharedWriteError(#[source] Arc<dyn std::error::Error + Send + Sync>);

impl Writer {
    /// Opens the ledger for writing, and builds the ledger state.
    pub(super) fn open(
        path: PathBuf,
        secrets: Secrets,
        limits: Options,
        is_charging: Arc<AtomicBool>,
    ) -> Result<Self, OpenError> {
        let failed = |source| OpenError::of_sqlite(&path, source);
        let mut connection = sqlite::writer(&path, limits.durability).map_err(failed)?;
        make_durable(&connection, &path)?;
        let ledger_state =
            LedgerState::open(&mut connection, secrets.clone()).map_err(|error| match error {
                LedgerStateError::Read(source) => failed(source),
                LedgerStateError::NotAsWritten(source) => {
                    OpenError::NotAsWritten { path: path.clone(), source: source.into() }
                }
            })?;
        let files = Arc::new(LedgerFiles::open(&path)?);
        let commit: Commit = Box::new(|connection| connection.execute_batch("COMMIT"));
        let connection = Some(connection);
        Ok(Self {
            path,
            secrets,
            limits,
            connection,
            ledger_state,
            record_count: None,
            is_charging,
            files,
            commit,
        })
    }

    pub(super) fn files(&self) -> Arc<LedgerFiles> {
        Arc::clone(&self.files)
    }

    pub(super) fn heads(&self) -> Arc<Heads> {
        self.ledger_state.heads()
    }

    /// Decides jobs until the queue is empty and all its senders are dropped.
    pub(super) fn run(mut self, mut queue: Receiver<Job>) {
        // When this value is dropped, charging stops. This happens even if this thread panics, so
        // that no later caller waits forever.
        let _stop = StopAtEnd(Arc::clone(&self.is_charging));
        let (mut began, mut last_len) = (Instant::now(), 1);
        let mut group = Vec::new();
        while let Some(first) = queue.blocking_recv() {
            // If the last group of charges had only one job, there is probably only one caller.
            // Waiting for other jobs would only delay it.
            if last_len > 1 {
                self.gather(&queue, began + GROUP_INTERVAL);
            }
            group.push(first);
            while group.len() < self.limits.charge_group
                && let Ok(job) = queue.try_recv()
            {
                group.push(job);
            }
            began = Instant::now();
            last_len = group.len();
            self.settle(&mut group);
        }
    }

    /// Lets a group of charges grow: waits as long as more jobs arrive, but at most until `until`.
    /// The thread sleeps for short times instead of waiting at the queue. Otherwise, each caller
    /// would have to wake the thread, by a system call that costs time.
    fn gather(&self, queue: &Receiver<Job>, until: Instant) {
        let (mut known, mut waiting) = (0, 1 + queue.len());
        while waiting < self.limits.charge_group && waiting > known && Instant::now() < until {
            known = waiting;
            thread::sleep(QUIET_DELAY.min(until.saturating_duration_since(Instant::now())));
            waiting = 1 + queue.len();
        }
    }

    /// Decides a group of charges, sends the decisions to the callers, and empties the group.
    fn settle(&mut self, group: &mut Vec<Job>) {
        if !self.is_charging.load(Ordering::Acquire) {
            return refuse(group, || ChargeError::Stopped);
        }
        match self.write(group) {
            Ok(()) => deliver(group),
            Err(Failed::Busy) => refuse(group, || ChargeError::Overloaded),
            // One of the jobs may have caused the error, so each job is tried again alone.
            Err(Failed::NotWritten(_)) if group.len() > 1 => {
                mem::take(group).into_iter().for_each(|job| self.settle(&mut vec![job]));
            }
            Err(Failed::NotWritten(error)) => fail(group, error.into(), ChargeError::NotTaken),
            Err(Failed::Stopped(error)) => {
                self.stop();
                fail(group, error, ChargeError::NotTaken);
            }
            Err(Failed::InDoubt(error)) => {
                self.stop();
                fail(group, error, ChargeError::Unknown);
            }
        }
    }

    fn stop(&mut self) {
        self.is_charging.store(false, Ordering::Release);
        self.connection = None;
    }

    fn write(&mut self, group: &mut [Job]) -> Result<(), Failed> {
        self.files.check().map_err(|fault| Failed::Stopped(fault.into()))?;
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let connection = sqlite::writer(&self.path, self.limits.durability);
                // SQLite's `data_version` shows whether the database has changed. The record count
                // and the ledger state are stored with a `data_version` of the old connection. The
                // versions of two connections cannot be compared. So the old count is dropped, and
                // the ledger state forgets its version.
                self.record_count = None;
                self.ledger_state.new_connection();
                connection.map_err(Failed::NotWritten)?
            }
        };
        let settled = self.write_on(&connection, group);
        // If the rollback fails, the connection is closed. This also rolls the transaction back.
        if connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok() {
            self.connection = Some(connection);
        }
        settled
    }

    fn write_on(&mut self, connection: &Connection, group: &mut [Job]) -> Result<(), Failed> {
        let begin = if group.iter().any(Job::writes) { "BEGIN IMMEDIATE" } else { "BEGIN" };
        connection.execute_batch(begin).map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Failed::Busy,
            _ => Failed::NotWritten(error),
        })?;
        self.ledger_state.refresh(connection).map_err(|error| match error {
            LedgerStateError::Read(error) => Failed::NotWritten(error),
            LedgerStateError::NotAsWritten(fault) => Failed::Stopped(fault.into()),
        })?;
        let decided = self.decide_on(connection, group);
        let (batch, record_count) = decided.map_err(|failed| Failed::NotWritten(failed.0))?;
        let moment = self.ledger_state.moment();
        (self.commit)(connection).map_err(|error| match error.sqlite_error_code() {
            // With these two errors, the write-ahead log has no complete record of the commit. So
            // opening the database after a crash cannot restore the transaction.
            Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy) => Failed::NotWritten(error),
            _ => Failed::InDoubt(error.into()),
        })?;
        self.record_count = record_count;
        self.ledger_state.apply(batch, moment);
        self.files.check().map_err(|fault| Failed::InDoubt(fault.into()))
    }

    fn decide_on(
        &self,
        connection: &Connection,
        group: &mut [Job],
    ) -> Result<(Written, Option<RecordCount>), GroupFailed> {
        let mut decider = GroupDecider {
            connection,
            secrets: &self.secrets,
            batch: self.ledger_state.batch(connection).map_err(GroupFailed)?,
            record_count: self.record_count,
            max_idempotency_records: self.limits.max_idempotency_records,
        };
        decide(&mut decider, group)?;
        let written = decider.batch.close().map_err(GroupFailed)?;
        Ok((written, decider.record_count))
    }
}

/// Sends the same error to the callers of all jobs in a group of charges, and empties the group.
fn fail(group: &mut Vec<Job>, error: BoxError, outcome: fn(BoxError) -> ChargeError) {
    let shared = SharedWriteError(error.into());
    refuse(group, || outcome(Box::new(shared.clone())));
}

/// Makes the commits of an earlier process durable. That process may have crashed before it synced
/// them to disk. A power failure could then lose these commits, and with them the charges that
/// follow.
///
/// Syncing the write-ahead log alone is not enough. After a failed write, the operating system may
/// treat pages of its file cache as written although they are not on the disk. A sync would skip
/// these pages. So the commits are written once more, by moving them into the database. SQLite
/// cannot move all commits if another process reads an older state of the database, or is moving
/// commits at this time. In these cases, the write-ahead log is written again instead.
fn make_durable(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::of_sqlite(path, error);
    match sqlite::move_log(connection) {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        // The disk is full, so the commits cannot be moved into the database. But before SQLite
        // tried this, it has at least synced the write-ahead log, which contains the commits.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => return Ok(()),
        Err(error) => return Err(failed(error)),
    }
    // While this transaction is open, other processes cannot append to the write-ahead log.
    connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    let written = sqlite::write_log_again(path);
    connection.execute_batch("ROLLBACK").map_err(failed)?;
    written.map_err(|error| OpenError::unusable(path, error))
}

/// Stops charging when this value is dropped, at the end of the writing thread.
struct StopAtEnd(Arc<AtomicBool>);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
