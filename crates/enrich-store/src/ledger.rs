//! The ledger in `ledger.sqlite`: an append-only log, decided by one thread, in groups.
//!
//! Charges and grants go through a bounded queue to the one thread that writes. Everything that
//! has arrived while the last commit ran goes into the next transaction, is decided there in order
//! of arrival, and is told only after the commit. Where accounts stand is kept in memory, so that a
//! decision reads nothing and a balance is asked for without waiting; rows of other processes are
//! read in at the beginning of each transaction.
//!
//! # What can become of a group
//!
//! ```text
//! asked ── the queue is full ───────────────────────────────────► Overloaded
//!   │  └── charging has stopped ────────────────────────────────► Stopped
//!   ▼
//! BEGIN IMMEDIATE ── others are busy for 5 s ───────────────────► Overloaded
//!   │  ├── fails, or the file does not open again ── ROLLBACK ──► each again, alone: NotTaken
//!   │  └── a file of the ledger was unlinked or replaced ───────► NotTaken, and charging stops
//!   ▼
//! read in the others' rows ── they cannot be read ── ROLLBACK ──► each again, alone: NotTaken
//!   │  └── they are not as they were written ───────────────────► NotTaken, and charging stops
//!   ▼
//! decide each: Taken, Replayed (its key is there), Insufficient
//!   │  ├── its row breaks a constraint, its account's checkpoint
//!   │  │   or its kept answer was altered ──────────────────────► NotTaken for that one alone
//!   │  ├── no room for another kept answer ─────────────────────► KeepsFull for that one alone
//!   │  └── fails (a full disk, a damaged page) ── ROLLBACK ─────► each again, alone: NotTaken
//!   ▼
//! COMMIT ── busy, or no room in SQLite's log ── ROLLBACK ───────► each again, alone: NotTaken
//!   │  ├── fails otherwise (fsync) ─────────────────────────────► Unknown, and charging stops
//!   │  └── a file was unlinked or replaced meanwhile ───────────► Unknown, and charging stops
//!   ▼
//! told what was decided
//!      └── this thread dies before that ────────────────────────► Unknown, and charging stops
//! ```
//!
//! Before `COMMIT` nothing can have been written for good: a transaction without its commit record
//! is not there for anyone, also not after a crash, so `NotTaken` is certain. A `COMMIT` that fails
//! while it waits for the disk leaves a complete record in a file whose bytes may or may not have
//! arrived; opening the database anew after a crash may bring it back. Nobody can tell, so nobody
//! is told anything but `Unknown`, and nothing more is charged ([`ChargeError::Stopped`]) until
//! the store is opened again, which reads what there is, makes it durable and goes on from there. The
//! idempotency record is part of the same transaction and is there exactly if the charge is: a
//! repeat with the same key is replayed or charged, never charged twice.
//!
//! What was altered in one account is that account's: the others go on. Where the end of the log is
//! not what this process wrote or read before, nothing can be put behind it, and all stop.
//!
//! A group in which nobody wants to write, balances that are looked up, takes `BEGIN` alone.
//!
//! # What is written
//!
//! ```text
//! log       row 1 ── row 2 ── … ── row c ── … ── row n        each with the balance behind it
//! chains      └────── of an account ──┴───────────┘           a hash over the account's row before
//! heads     where each account stood at row c, the checkpoint, each with a hash
//! seal      c, n, and a hash over all rows up to either, in order
//! ```
//!
//! Rows are added at the end of one table whoever they belong to, so that a group fills a page or
//! two; a balance is never rewritten for a charge. Every 16,384 rows the accounts that moved since
//! have their heads written, so that opening the ledger reads few rows, and checks them. A chain
//! shows what was altered in an account; the seal shows what was taken out or cut off anywhere.
//! [`Ledger::verify`] walks it all. That the whole file is an older copy, no file can show by itself.

mod decide;
mod entries;
mod files;
mod head;
mod idempotency_store;
mod job;
mod ledger_state;
mod ledger_state_error;
mod queue;
mod reply;
mod row;
mod seal;
mod verify;
mod writer;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::ledger::{
    Charge, ChargeError, Charged, Grant, Granted, Ledger, Verification,
};
use enrich_core::{AccountId, Credits, Entry, IdempotencyKey, Price, StoredResponse, Timestamp};
use rusqlite::Connection;

use crate::blocking;
use crate::error::OpenError;
pub(crate) use crate::ledger::files::LedgerFiles;
use crate::ledger::head::Head;
use crate::ledger::idempotency_store::RecordState;
use crate::ledger::job::{Awaited, Job, Open};
use crate::ledger::ledger_state::Heads;
use crate::ledger::queue::Refused;
use crate::ledger::seal::Seal;
use crate::ledger::writer::{Limits, Writer};
use crate::secret::Secrets;
use crate::sqlite::{Readers, store_error};
use crate::store::Options;

/// Keeps the ledger. Dropping it decides what is queued, then ends its thread.
#[derive(Debug)]
pub struct SqliteLedger {
    path: PathBuf,
    readers: Readers,
    secrets: Secrets,
    heads: Arc<Heads>,
    files: Arc<LedgerFiles>,
    is_charging: Arc<AtomicBool>,
    /// Absent only while it is dropped.
    queue: Option<queue::Entrance<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// Why a charge cannot be decided at all.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("one credit for every 0 items is no price")]
    NoPrice,
}

/// The ledger is not what was written into it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the ledger is not as it was written: {0}")]
struct NotAsWritten(Cow<'static, str>);

impl NotAsWritten {
    /// Says where that shows.
    fn new(fault: impl Into<Cow<'static, str>>) -> Self {
        Self(fault.into())
    }

    /// It was made with a secret that was not there when this process began.
    fn unknown_secret(what: &str, number: u32) -> Self {
        Self::new(format!(
            "{what} was made with secret {number}, which was not in secret.key when this process \
             read it; if it is there now, start the process again"
        ))
    }
}

/// A row that was read; `None` where a value of it is none that is written there. What remains of
/// errors is that the file cannot be read.
fn read_whole<T>(row: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    match row {
        Ok(row) => Ok(Some(row)),
        Err(error @ rusqlite::Error::SqliteFailure(..)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Begins the log of a ledger that has just been made.
pub(crate) fn begin(connection: &Connection, secrets: &Secrets) -> rusqlite::Result<()> {
    Seal::begin(connection, secrets)
}

/// Walks the ledger at `path`, also one that cannot be opened to be charged.
pub(crate) fn verify(path: &Path, secrets: &Secrets) -> rusqlite::Result<Verification> {
    verify::verify(path, secrets)
}

impl SqliteLedger {
    /// The ledger at `path`, which has been prepared. Starts its thread.
    pub(crate) fn open(
        path: &Path,
        secrets: &Secrets,
        options: Options,
    ) -> Result<Self, OpenError> {
        let is_charging = Arc::new(AtomicBool::new(true));
        let limits = Limits {
            group: options.charge_group.max(1),
            kept: options.max_kept,
            durability: options.durability,
        };
        let charging = Arc::clone(&is_charging);
        let writer = Writer::open(path.into(), secrets.clone(), limits, charging)?;
        let (heads, files) = (writer.heads(), writer.files());
        let (queue, jobs) = queue::bounded(options.charge_queue.max(1));
        let thread = thread::Builder::new()
            .name("enrich-ledger".to_owned())
            .spawn(move || writer.run(&jobs))
            .map_err(|source| OpenError::unusable(path, source))?;
        Ok(Self {
            path: path.into(),
            readers: Readers::open(path)?,
            secrets: secrets.clone(),
            heads,
            files,
            is_charging,
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// The files that it is open on.
    pub(crate) fn files(&self) -> Arc<LedgerFiles> {
        Arc::clone(&self.files)
    }

    /// Whether charging has not stopped, as far as is known.
    fn is_deciding(&self) -> bool {
        self.is_charging.load(Ordering::Acquire)
    }

    /// The account's balance as far as it is in memory.
    fn known_balance(&self, account: AccountId) -> Option<Credits> {
        self.heads.get(account).map(|head| head.balance)
    }

    /// Where the account stands, its rows up to there being there for every reader; `None` when
    /// there is no such account.
    async fn head_for_reading(&self, account: AccountId) -> Result<Option<Head>, StoreError> {
        if self.balance(account).await?.is_none() {
            return Ok(None);
        }
        // Absent when it was forgotten since, to make room for others.
        self.heads.get(account).map(Some).ok_or(StoreError::Overloaded)
    }

    /// Asks for a decision. What is asked goes into the queue from here and not from the future that
    /// waits for what was decided, which would keep places for it on its way.
    fn ask<A, T>(
        &self,
        job: impl FnOnce(Open<A, T>) -> Job,
        asked: A,
    ) -> Result<Awaited<T>, ChargeError> {
        if !self.is_deciding() {
            return Err(ChargeError::Stopped);
        }
        let Some(queue) = &self.queue else {
            return Err(ChargeError::Stopped);
        };
        let (open, decision) = Open::new(asked);
        match queue.put(job(open)) {
            Ok(()) => Ok(decision),
            Err(Refused::Full) => Err(ChargeError::Overloaded),
            Err(Refused::Closed) => Err(ChargeError::Stopped),
        }
    }

    /// Asks for the decision of a charge.
    fn ask_to_charge(&self, mut charge: Charge) -> Result<Awaited<Charged>, ChargeError> {
        if charge.price == Price::PerItems(0) {
            return Err(ChargeError::NotTaken(Unfit::NoPrice.into()));
        }
        // Sealed here and not by the one thread that everyone waits for.
        let to_keep = match charge.idempotency.take() {
            Some(idempotency) => Some(
                idempotency_store::seal(&self.secrets, charge.account, &idempotency, charge.at)
                    .map_err(|error| ChargeError::NotTaken(error.into()))?,
            ),
            None => None,
        };
        self.ask(Job::Charge, (charge, to_keep))
    }
}

/// What is decided, once it is.
async fn decided<T>(decision: Awaited<T>) -> Result<T, ChargeError> {
    decision.await.unwrap_or_else(|lost| Err(ChargeError::Unknown(lost.into())))
}

#[async_trait]
impl Ledger for SqliteLedger {
    async fn balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        if !self.is_deciding() {
            // What was acknowledged until then still counts.
            return self.known_balance(account).map(Some).ok_or(StoreError::Overloaded);
        }
        let looked = match self.ask(Job::Look, account) {
            Ok(decision) => decided(decision).await,
            Err(refused) => Err(refused),
        };
        looked.map_err(|error| match error {
            ChargeError::NotTaken(source) | ChargeError::Unknown(source) => {
                StoreError::Failed(source)
            }
            ChargeError::Overloaded | ChargeError::IdempotencyStoreFull | ChargeError::Stopped => {
                StoreError::Overloaded
            }
        })
    }

    async fn cached_balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        match self.known_balance(account) {
            Some(balance) if !self.heads.is_look_due() => Ok(Some(balance)),
            Some(_) | None => self.balance(account).await,
        }
    }

    async fn kept(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        asked: &[u8],
        now: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        let names = idempotency_store::names(&self.secrets, account, key, asked);
        let record_state = self.readers.read(|connection| {
            idempotency_store::find(connection, &self.secrets, account, &names, now)
        })?;
        Ok(match record_state {
            RecordState::StoredResponse(kept) => Some(kept),
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
        blocking::apart(move || {
            let replaced = files.check().err();
            let verified = match verify::verify(&path, &secrets) {
                Ok(verified) => verified,
                // Another log than the one that its index tells of.
                Err(_) if replaced.is_some() => Verification::default(),
                Err(error) => return Err(store_error(error)),
            };
            let faults = replaced.map(|replaced| replaced.to_string());
            let faults = faults.into_iter().chain(verified.faults).collect();
            Ok(Verification { faults, ..verified })
        })
        .await
    }

    fn is_charging(&self) -> bool {
        if self.is_deciding() && self.files.check().is_err() {
            self.is_charging.store(false, Ordering::Release);
        }
        self.is_deciding()
    }
}

impl Drop for SqliteLedger {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told everyone who waited by dropping their replies.
            let _ = thread.join();
        }
    }
}
