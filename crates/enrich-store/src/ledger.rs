//! The ledger in `ledger.sqlite`: append-only, decided by one thread, in groups.
//!
//! Charges and grants go through a bounded queue to the one thread that writes. Everything that
//! has arrived while the last commit ran goes into the next transaction, is decided there in order
//! of arrival, and is told only after the commit. Reading goes beside the queue, on connections
//! that cannot write.
//!
//! What can become of a group:
//!
//! ```text
//! BEGIN IMMEDIATE ── busy for 5 s ──────────────────────────────► Overloaded, charging goes on
//!   │  └── fails ───────────────────────────────────────────────► NotTaken,   charging goes on
//!   ▼
//! decide each ── a row breaks a constraint ─────────────────────► NotTaken for that one alone
//!   │  └── fails (a full disk, a damaged page) ── ROLLBACK ──┬──► one left: NotTaken
//!   ▼                                                        └──► several: each again, alone
//! COMMIT ── no room for it in the log ── ROLLBACK ──────────────► as above
//!   │  └── fails otherwise (fsync) ─────────────────────────────► Unknown,    charging stops
//!   ▼
//! told
//! ```
//!
//! Before `COMMIT` nothing can have been written for good: a transaction without its commit record
//! is not there for anyone, also not after a crash, so `NotTaken` is certain. A `COMMIT` that fails
//! while it waits for the disk leaves a complete record in a log whose bytes may or may not have
//! arrived; opening the database anew after a crash may bring it back. Nobody can tell, so nobody
//! is told anything but `Unknown`, and nothing more is charged ([`ChargeError::Stopped`]) until
//! the store is opened again, which reads the log and settles it. The idempotency record is part of
//! the same transaction and is there exactly if the charge is: a repeat with the same key is
//! replayed or charged, never charged twice.
//!
//! Each row holds the balance after it, and a keyed hash over itself and over the hash in the row
//! before it in that account: a checkpoint in every row. A balance is one point read, and nothing
//! is rewritten for a charge. [`Ledger::verify`] walks the chains. A chain shows what was altered or
//! taken out of it; that its newest rows were cut off, or that the whole file is an older copy, no
//! file can show by itself.

mod decide;
mod keeping;
mod row;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};

use async_trait::async_trait;
use enrich_core::port::error::StoreError;
use enrich_core::port::ledger::{
    Charge, ChargeError, Charged, Grant, Granted, Ledger, Verification,
};
use enrich_core::{AccountId, Credits, Entry, IdempotencyKey, Kept, Price, Timestamp};
use rusqlite::OptionalExtension;
use tokio::sync::oneshot;

use crate::blocking;
use crate::columns::Column;
use crate::error::OpenError;
use crate::ledger::keeping::Standing;
use crate::ledger::row::{Row, row_columns};
use crate::ledger::writer::{Job, Limits, Open, Writer};
use crate::secret::Secrets;
use crate::sqlite::{self, Readers, store_error};
use crate::store::Options;

/// Keeps the ledger. Dropping it decides what is queued, then ends its thread.
#[derive(Debug)]
pub struct SqliteLedger {
    path: PathBuf,
    readers: Readers,
    secrets: Secrets,
    is_charging: Arc<AtomicBool>,
    /// Absent only while it is dropped.
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// Why a charge cannot be decided at all.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("one credit for every 0 items is no price")]
    NoPrice,
}

const ENTRIES: &str = concat!(
    "SELECT ",
    row_columns!(),
    " FROM entry WHERE account = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3"
);

impl SqliteLedger {
    /// The ledger at `path`, which has been prepared. Starts its thread.
    pub(crate) fn open(
        path: &Path,
        secrets: &Secrets,
        options: Options,
    ) -> Result<Self, OpenError> {
        let is_charging = Arc::new(AtomicBool::new(true));
        let limits = Limits { group: options.charge_group.max(1), kept: options.max_kept };
        let charging = Arc::clone(&is_charging);
        let writer = Writer::open(path.into(), secrets.clone(), limits, charging)?;
        let (queue, jobs) = mpsc::sync_channel(options.charge_queue);
        let thread = thread::Builder::new()
            .name("enrich-ledger".to_owned())
            .spawn(move || writer.run(&jobs))
            .map_err(|source| OpenError::unusable(path, source))?;
        Ok(Self {
            path: path.into(),
            readers: Readers::open(path)?,
            secrets: secrets.clone(),
            is_charging,
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Queues a job and waits for its decision.
    async fn decide<T>(
        &self,
        job: Job,
        decision: oneshot::Receiver<Result<T, ChargeError>>,
    ) -> Result<T, ChargeError> {
        if !self.is_charging() {
            return Err(ChargeError::Stopped);
        }
        let Some(queue) = &self.queue else {
            return Err(ChargeError::Stopped);
        };
        match queue.try_send(job) {
            Ok(()) => match decision.await {
                Ok(decided) => decided,
                Err(lost) => Err(ChargeError::Unknown(lost.into())),
            },
            Err(TrySendError::Full(_)) => Err(ChargeError::Overloaded),
            Err(TrySendError::Disconnected(_)) => Err(ChargeError::Stopped),
        }
    }
}

#[async_trait]
impl Ledger for SqliteLedger {
    async fn balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        self.readers.read(|connection| -> rusqlite::Result<_> {
            let mut statement = connection.prepare_cached(
                "SELECT coalesce((SELECT balance FROM entry WHERE account = account.id
                     ORDER BY sequence DESC LIMIT 1), 0)
                 FROM account WHERE id = ?1",
            )?;
            let balance = statement.query_row([Column(account)], |row| row.get(0)).optional()?;
            Ok(balance.map(|Column(balance)| balance))
        })
    }

    async fn kept(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        asked: &[u8],
        now: Timestamp,
    ) -> Result<Option<Kept>, StoreError> {
        let names = keeping::names(&self.secrets, account, key, asked);
        let standing = self
            .readers
            .read(|connection| keeping::find(connection, &self.secrets, account, &names, now))?;
        Ok(match standing {
            Standing::Kept(kept) => Some(kept),
            Standing::Free | Standing::Expired => None,
        })
    }

    async fn charge(&self, mut charge: Charge) -> Result<Charged, ChargeError> {
        if charge.price == Price::PerItems(0) {
            return Err(ChargeError::NotTaken(Unfit::NoPrice.into()));
        }
        // Sealed here and not by the one thread that everyone waits for.
        let to_keep = match charge.keep.take() {
            Some(keep) => Some(
                keeping::seal(&self.secrets, charge.account, &keep)
                    .map_err(|error| ChargeError::NotTaken(error.into()))?,
            ),
            None => None,
        };
        let (open, decision) = Open::new((charge, to_keep));
        self.decide(Job::Charge(open), decision).await
    }

    async fn grant(&self, grant: Grant) -> Result<Granted, ChargeError> {
        let (open, decision) = Open::new(grant);
        self.decide(Job::Grant(open), decision).await
    }

    async fn entries(
        &self,
        account: AccountId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        let Ok(after) = i64::try_from(after) else {
            return Ok(Vec::new());
        };
        let rows: Vec<Row<'_>> = self.readers.read(|connection| {
            connection
                .prepare_cached(ENTRIES)?
                .query_map((Column(account), after, limit), Row::read)?
                .collect::<rusqlite::Result<_>>()
        })?;
        rows.into_iter().map(|row| row.entry().map_err(StoreError::failed)).collect()
    }

    async fn verify(&self) -> Result<Verification, StoreError> {
        let (path, secrets) = (self.path.clone(), self.secrets.clone());
        blocking::apart(move || {
            let mut connection = sqlite::reader(&path).map_err(store_error)?;
            verify::verify(&mut connection, &secrets).map_err(store_error)
        })
        .await
    }

    fn is_charging(&self) -> bool {
        self.is_charging.load(Ordering::Acquire)
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
