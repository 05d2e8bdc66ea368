//! The ledger in `ledger.sqlite`: a log to which entries are only added. One thread decides all
//! charges and grants, in groups.
//!
//! Charges and grants go through a bounded queue to the one thread that writes. All charges and
//! grants that arrived during the last commit form a group, which is decided in the next
//! transaction, in order of arrival. The results of a group are sent after its commit. The state of
//! an account after its last row, its head, is in memory for up to 100,000 accounts. So a decision
//! for these accounts reads nothing from the file, and a balance is read without waiting. Each
//! transaction begins with reading the rows that other processes have added.
//!
//! # Outcomes of a group
//!
//! ```text
//! request ─ the queue is full ──────────────────────────────────► Overloaded
//!   │  └── charging has stopped ────────────────────────────────► Stopped
//!   ▼
//! BEGIN IMMEDIATE ── other processes write for 5 s ─────────────► Overloaded
//!   │  ├── fails, or the database cannot be opened ─ ROLLBACK ──► each again, alone: NotTaken
//!   │  └── a file of the ledger was unlinked or replaced,
//!   │      or its identity (inode) cannot be read ──────────────► NotTaken, and charging stops
//!   ▼
//! read other processes' rows ── unreadable ── ROLLBACK ─────────► each again, alone: NotTaken
//!   │  └── their rows were altered ─────────────────────────────► NotTaken, and charging stops
//!   ▼
//! decide each job: Taken, Replayed (its idempotency key is stored), Insufficient
//!   │  ├── its row breaks a constraint, its account's checkpoint
//!   │  │   or its stored response was altered ──────────────────► NotTaken (this job)
//!   │  ├── idempotency store full ──────────────────────────────► IdempotencyStoreFull (this job)
//!   │  └── fails (a full disk, a damaged page) ── ROLLBACK ─────► each again, alone: NotTaken
//!   ▼
//! COMMIT ── database busy, or disk full ── ROLLBACK ────────────► each again, alone: NotTaken
//!   │  ├── another failure, such as of fsync ───────────────────► Unknown, and charging stops
//!   │  └── a file was unlinked or replaced meanwhile ───────────► Unknown, and charging stops
//!   ▼
//! send each caller its decision
//!      └── the writing thread dies before that ─────────────────► Unknown, and charging stops
//! ```
//!
//! "Each again, alone" means: each job of the group is tried once more, in its own transaction. A
//! job that fails again gets `NotTaken`.
//!
//! Before `COMMIT` nothing is final. A transaction without its commit record is never visible, even
//! after a crash, so `NotTaken` is certain. If a `COMMIT` fails while it waits for the disk, its
//! record is complete, but it is unknown whether the disk has it. After a crash, opening the
//! database may restore the transaction. So the result is `Unknown`. Then nothing more is charged
//! ([`ChargeError::Stopped`]) until the store is opened again, which reads the log and makes it
//! durable. The idempotency record is written in the transaction of its charge, so both exist or
//! neither. Therefore a repeated call with the same idempotency key either gets the stored answer
//! or is charged for the first time. It is never charged twice.
//!
//! If somebody has altered rows of one account, charging stops only for this account. If the end of
//! the log differs from the end that this process knows, no row can be added, and charging stops
//! for all accounts.
//!
//! A group that only reads balances begins with `BEGIN` instead of `BEGIN IMMEDIATE`, because it
//! needs no write lock.
//!
//! # Layout
//!
//! ```text
//! log       row 1 ── row 2 ── … ── row c ── … ── row n   each row contains the account's balance
//! chains      └── rows of an account ─┴───────────┘      each row hashes the account's row before
//! heads     the state of each account at row c, which is the checkpoint; each has a hash
//! seal      the numbers c and n, a hash over the rows 1 to c, and a hash over the rows 1 to n
//! ```
//!
//! Rows of all accounts are appended to one table, so that the rows of a group fill only one or two
//! pages. No stored balance is overwritten by a charge. After every 16,384 rows, the heads of the
//! accounts with new rows are written as a checkpoint. So when the ledger is opened, only the rows
//! after the checkpoint are read and checked. If a row of an account was altered, its chain shows
//! this. If rows were removed, even from the end, the seal shows this. [`Ledger::verify`] checks
//! everything. But nothing in the file can show that the whole file is an older copy.

mod copy;
mod decide;
mod entries;
mod files;
mod head;
mod idempotency_store;
mod job;
mod ledger_state;
mod ledger_state_error;
mod row;
mod seal;
mod verify;
mod writer;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::ledger::{
    Charge, ChargeError, Charged, Grant, Granted, Ledger, Verification,
};
use enrich_core::{AccountId, Credits, Entry, IdempotencyKey, StoredResponse, Timestamp};
use enrich_ledger::{response_names, seal_response};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{
    self as sqlite, OpenError, Options, Readers, Worker, run_on_new_thread, store_error,
};
use tokio::sync::{Semaphore, mpsc, mpsc::error::TrySendError};

pub(crate) use crate::ledger::files::LedgerFiles;
use crate::ledger::head::Head;
use crate::ledger::idempotency_store::RecordState;
use crate::ledger::job::{Awaited, Job, Open};
use crate::ledger::ledger_state::Heads;
use crate::ledger::writer::Writer;

pub use copy::{CopyError, export, import};
pub use seal::begin;
pub use verify::verify;

/// The ledger in a SQLite file. When this value is dropped, the writing thread decides the jobs
/// that are still in the queue, and then ends.
#[derive(Debug)]
pub struct SqliteLedger {
    path: PathBuf,
    readers: Readers,
    secrets: Secrets,
    heads: Arc<Heads>,
    files: Arc<LedgerFiles>,
    is_charging: Arc<AtomicBool>,
    queue: mpsc::Sender<Job>,
    _writer: Worker,
}

/// The error for a decision that the writing thread did not deliver before it ended. Nobody knows
/// whether the charge was written.
#[derive(Debug, thiserror::Error)]
#[error("the decision was lost")]
struct Lost;

/// The error for a ledger whose content was altered after Enrich has written it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ledger is not as it was written: {0}")]
struct NotAsWritten(Cow<'static, str>);

impl NotAsWritten {
    /// Creates the error. `fault` tells the operator which content was altered.
    fn new(fault: impl Into<Cow<'static, str>>) -> Self {
        Self(fault.into())
    }

    /// Creates the error for data that was made with a secret which was not in `secret.key` when
    /// this process started.
    fn unknown_secret(what: &str, number: u32) -> Self {
        Self::new(format!(
            "{what} was made with secret {number}, which was not in secret.key when this process \
             read it; if it is there now, start the process again"
        ))
    }
}

/// Returns the row; `None` when the row contains a value that Enrich never writes. Returns an error
/// only when the file cannot be read.
fn read_whole<T>(row: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    match row {
        Ok(row) => Ok(Some(row)),
        Err(error @ rusqlite::Error::SqliteFailure(..)) => Err(error),
        Err(_) => Ok(None),
    }
}

impl SqliteLedger {
    /// Opens the ledger at `path`, which must already have its tables, and starts its writing
    /// thread.
    pub(crate) fn open(
        path: &Path,
        secrets: &Secrets,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let is_charging = Arc::new(AtomicBool::new(true));
        let charging = Arc::clone(&is_charging);
        let writer = Writer::open(path.into(), secrets.clone(), *options, charging)?;
        let (heads, files) = (writer.heads(), writer.files());
        // The readers are opened before the thread starts. If opening failed after the start,
        // dropping the `Worker` would wait for the thread, and the thread would wait until the
        // queue is dropped: a deadlock.
        let readers = Readers::open(path, sqlite::reader)?;
        let room = options.charge_queue.clamp(1, Semaphore::MAX_PERMITS);
        let (queue, jobs) = mpsc::channel(room);
        let writer = Worker::start(path, "enrich-ledger", move || writer.run(jobs))?;
        Ok(Self {
            path: path.into(),
            readers,
            secrets: secrets.clone(),
            heads,
            files,
            is_charging,
            queue,
            _writer: writer,
        })
    }

    pub(crate) fn files(&self) -> Arc<LedgerFiles> {
        Arc::clone(&self.files)
    }

    /// Whether this process still decides charges (writes or refuses them); `false` after charging
    /// has stopped.
    fn is_deciding(&self) -> bool {
        self.is_charging.load(Ordering::Acquire)
    }

    /// Returns the account's balance from memory; `None` if the account's head (its state after its
    /// last row) is not in memory.
    fn known_balance(&self, account: AccountId) -> Option<Credits> {
        self.heads.get(account).map(|head| head.last.balance)
    }

    /// Returns the account's head, its state after the last row; `None` when there is no such
    /// account. After this call, every reading connection sees all rows of the account up to this
    /// head.
    async fn head_for_reading(&self, account: AccountId) -> Result<Option<Head>, StoreError> {
        if self.balance(account).await?.is_none() {
            return Ok(None);
        }
        // The head may already be removed from memory, to make room for other accounts. The caller
        // may then try again.
        let is_gone = || StoreError::unavailable("the account's head has just left the memory");
        self.heads.get(account).map(Some).ok_or_else(is_gone)
    }

    /// Puts a job into the queue of the writing thread, and returns a future that waits for the
    /// decision. This function is not `async`: the future of an `async` function would also store
    /// the job, and so be larger.
    fn ask<A, T>(
        &self,
        job: impl FnOnce(Open<A, T>) -> Job,
        asked: A,
    ) -> Result<Awaited<T>, ChargeError> {
        if !self.is_deciding() {
            return Err(ChargeError::Stopped);
        }
        let (open, decision) = Open::new(asked);
        match self.queue.try_send(job(open)) {
            Ok(()) => Ok(decision),
            Err(TrySendError::Full(_)) => Err(ChargeError::Overloaded),
            Err(TrySendError::Closed(_)) => Err(ChargeError::Stopped),
        }
    }

    fn ask_to_charge(&self, mut charge: Charge) -> Result<Awaited<Charged>, ChargeError> {
        // The response is encrypted on the caller's thread, because there is only one thread that
        // writes the ledger.
        let record = match charge.idempotency.take() {
            Some(idempotency) => Some(
                seal_response(&self.secrets, charge.account, &idempotency, charge.at)
                    .map_err(|error| ChargeError::NotTaken(error.into()))?,
            ),
            None => None,
        };
        self.ask(Job::Charge, (charge, record))
    }
}

/// Waits for the decision of the writing thread. If this thread ends without a decision, nobody
/// knows whether the charge was written.
async fn decided<T>(decision: Awaited<T>) -> Result<T, ChargeError> {
    decision.await.unwrap_or_else(|_| Err(ChargeError::Unknown(Lost.into())))
}

#[async_trait]
impl Ledger for SqliteLedger {
    async fn balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        if !self.is_deciding() {
            // Charging has stopped. The balance in memory still includes all charges that were
            // confirmed to callers.
            let stopped = || StoreError::unavailable(ChargeError::Stopped);
            return self.known_balance(account).map(Some).ok_or_else(stopped);
        }
        let looked = match self.ask(Job::Balance, account) {
            Ok(decision) => decided(decision).await,
            Err(refused) => Err(refused),
        };
        looked.map_err(|error| match error {
            ChargeError::NotTaken(source) | ChargeError::Unknown(source) => {
                StoreError::Failed(source)
            }
            ChargeError::Overloaded => StoreError::Overloaded,
            error @ (ChargeError::Stopped | ChargeError::IdempotencyStoreFull) => {
                StoreError::unavailable(error)
            }
        })
    }

    async fn cached_balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        match self.known_balance(account) {
            Some(balance) if !self.heads.is_refresh_due() => Ok(Some(balance)),
            Some(_) | None => self.balance(account).await,
        }
    }

    async fn stored_response(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        request_bytes: &[u8],
        now: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        let names = response_names(&self.secrets, account, key, request_bytes);
        let record_state = self.readers.read(|connection| {
            idempotency_store::find(connection, &self.secrets, account, &names, now)
        })?;
        Ok(match record_state {
            RecordState::StoredResponse(stored) => Some(stored),
            RecordState::Free | RecordState::Expired => None,
        })
    }

    async fn charge(&self, charge: Charge) -> Result<Charged, ChargeError> {
        decided(self.ask_to_charge(charge)?).await
    }

    async fn grant(&self, grant: Grant) -> Result<Granted, ChargeError> {
        decided(self.ask(Job::Grant, grant)?).await
    }

    async fn entries(
        &self,
        account: AccountId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        let Some(head) = self.head_for_reading(account).await? else {
            return Ok(Vec::new());
        };
        self.readers.read(|connection| entries::entries(connection, account, &head, after, limit))
    }

    async fn newest_entries(
        &self,
        account: AccountId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        let Some(head) = self.head_for_reading(account).await? else {
            return Ok(Vec::new());
        };
        self.readers.read(|connection| entries::newest(connection, account, &head, before, limit))
    }

    async fn first_entry_at(&self, account: AccountId, at: Timestamp) -> Result<u64, StoreError> {
        let head = self.head_for_reading(account).await?.unwrap_or(Head::NEW);
        self.readers.read(|connection| entries::first_at(connection, account, &head, at))
    }

    async fn end_of_entries_before(
        &self,
        account: AccountId,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        let head = self.head_for_reading(account).await?.unwrap_or(Head::NEW);
        self.readers.read(|connection| entries::end_before(connection, account, &head, at))
    }

    async fn verify(&self) -> Result<Verification, StoreError> {
        let (path, secrets) = (self.path.clone(), self.secrets.clone());
        let files = self.files();
        run_on_new_thread(move || {
            let file_fault = files.check().err();
            let verified = match verify::verify(&path, &secrets) {
                Ok(verified) => verified,
                // If the ledger's file was removed or replaced, the path may lead to a file that is
                // not a ledger, and verifying it fails. Then this error is ignored, and the result
                // contains `file_fault`.
                Err(_) if file_fault.is_some() => Verification::default(),
                Err(error) => return Err(store_error(error)),
            };
            let faults = file_fault.map(|fault| fault.to_string());
            let faults = faults.into_iter().chain(verified.faults).collect();
            Ok(Verification { faults, ..verified })
        })
        .await
    }

    fn is_charging(&self) -> bool {
        self.is_deciding()
    }

    fn check_charging(&self) -> bool {
        if self.is_deciding() && self.files.check().is_err() {
            self.is_charging.store(false, Ordering::Release);
        }
        self.is_deciding()
    }
}
