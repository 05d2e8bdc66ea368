//! A load: one thread with the writing connection, to which batches are handed.
//!
//! A batch is a transaction, or all of them are one ([`Atomic::Whole`]). The write lock is held
//! for no longer than that, so that two loads take turns, in one process or in two; who waits too
//! long for a turn is told so. Look-ups wait for nobody: they read the state before.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use async_trait::async_trait;
use enrich_core::Record;
use enrich_core::port::error::StoreError;
use enrich_core::port::intake::{Atomic, Load, Loading, Taken};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::failed;
use super::writer::Writer;
use crate::secret::Secrets;
use crate::sqlite::{self, Durability};

/// Memory for pages: an import that finds its pages there is not slowed by the directory's size.
/// 256 MiB, in SQLite's unit of −1 KiB.
const CACHE: i64 = -256 * 1024;
/// How much is written before it is moved from the log into the database: 64 MiB in pages of
/// 4 KiB. Pages that several batches change are moved once.
const CHECKPOINT_PAGES: i64 = 16 * 1024;
/// How many prepared statements are kept; there are some forty.
const STATEMENTS: usize = 128;

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// What a load is told to do.
enum Command {
    Take(Vec<Record>, Answer<Vec<Taken>>),
    Finish(Answer<()>),
}

/// A load that is running; its thread ends when this is dropped.
pub(crate) struct SqliteLoading {
    commands: Sender<Command>,
}

impl SqliteLoading {
    /// Begins a load into the database at `path`.
    pub(crate) async fn begin(
        path: PathBuf,
        secrets: Secrets,
        load: Load,
    ) -> Result<Self, StoreError> {
        let (commands, received) = mpsc::channel();
        let (begun, has_begun) = oneshot::channel();
        thread::Builder::new()
            .name("enrich-load".to_owned())
            .spawn(move || run(&path, &secrets, &load, begun, &received))
            .map_err(StoreError::failed)?;
        has_begun.await.map_err(StoreError::failed)??;
        Ok(Self { commands })
    }

    async fn tell<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let ended = || StoreError::failed("the load has ended with an error");
        self.commands.send(command(answer)).map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }
}

#[async_trait]
impl Loading for SqliteLoading {
    async fn take(&mut self, records: Vec<Record>) -> Result<Vec<Taken>, StoreError> {
        self.tell(|answer| Command::Take(records, answer)).await
    }

    async fn finish(self: Box<Self>) -> Result<(), StoreError> {
        self.tell(Command::Finish).await
    }
}

/// A connection for writing much.
pub(crate) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = sqlite::writer(path, Durability::Checkpoint)?;
    connection.pragma_update(None, "cache_size", CACHE)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

fn run(
    path: &Path,
    secrets: &Secrets,
    load: &Load,
    begun: Answer<()>,
    commands: &Receiver<Command>,
) {
    let connection = match connect(path) {
        Ok(connection) => connection,
        Err(error) => return tell(begun, Err(failed(error))),
    };
    match load.atomic {
        Atomic::Batch => {
            tell(begun, Ok(()));
            by_batches(&connection, secrets, load, commands);
        }
        Atomic::Whole => as_a_whole(&connection, secrets, load, begun, commands),
    }
}

fn by_batches(
    connection: &Connection,
    secrets: &Secrets,
    load: &Load,
    commands: &Receiver<Command>,
) {
    for command in commands {
        match command {
            Command::Take(records, answer) => {
                let taken = in_transaction(connection, |transaction| {
                    let mut writer = Writer::new(transaction, secrets, load.at)?;
                    let taken = take(&mut writer, load, records)?;
                    writer.finish()?;
                    Ok(taken)
                });
                tell(answer, taken.map_err(failed));
            }
            Command::Finish(answer) => {
                return tell(answer, make_durable(connection).map_err(failed));
            }
        }
    }
}

fn as_a_whole(
    connection: &Connection,
    secrets: &Secrets,
    load: &Load,
    begun: Answer<()>,
    commands: &Receiver<Command>,
) {
    let opened = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
        .and_then(|transaction| Ok((Writer::new(connection, secrets, load.at)?, transaction)));
    let (mut writer, transaction) = match opened {
        Ok(opened) => opened,
        Err(error) => return tell(begun, Err(failed(error))),
    };
    tell(begun, Ok(()));
    for command in commands {
        match command {
            Command::Take(records, answer) => match take(&mut writer, load, records) {
                Ok(taken) => tell(answer, Ok(taken)),
                // What the batch wrote before it failed cannot be told from the rest: all goes.
                Err(error) => return tell(answer, Err(failed(error))),
            },
            Command::Finish(answer) => {
                let done = writer
                    .finish()
                    .and_then(|()| transaction.commit())
                    .and_then(|()| make_durable(connection));
                return tell(answer, done.map_err(failed));
            }
        }
    }
}

/// Takes a batch of records in.
fn take(
    writer: &mut Writer<'_>,
    load: &Load,
    records: Vec<Record>,
) -> rusqlite::Result<Vec<Taken>> {
    if records.is_empty() {
        return Ok(Vec::new());
    }
    let source = writer.source(&load.source)?;
    let mut new_records = 0;
    let mut all = Vec::with_capacity(records.len());
    for record in records {
        let (taken, is_new) = match record {
            Record::Company(record) => writer.take_company(source, record)?,
            Record::Person(record) => writer.take_person(source, record)?,
            Record::Domain(record) => writer.take_domain(source, &record)?,
        };
        new_records += i64::from(is_new);
        all.push(taken);
    }
    writer.count_records(source, new_records)?;
    Ok(all)
}

/// A commit that reaches the disk, and all before it: those of the batches need not have.
fn make_durable(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    in_transaction(connection, |transaction| {
        // SQLite writes the row though nothing of it changes: without a write it syncs nothing.
        transaction.execute("UPDATE state SET generation = generation", [])?;
        Ok(())
    })
}

/// Runs `write` in a transaction that waits for the write lock, and commits it.
pub(crate) fn in_transaction<T>(
    connection: &Connection,
    write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let written = write(&transaction)?;
    transaction.commit()?;
    Ok(written)
}

/// Answers; whoever asked may have gone, and then nobody needs it.
fn tell<T>(answer: Answer<T>, result: Result<T, StoreError>) {
    let _ = answer.send(result);
}
