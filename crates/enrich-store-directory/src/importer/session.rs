//! A load (one import): one thread that has the writing connection, receives batches of records and
//! imports them.
//!
//! A transaction contains as many batches as fit into memory, or all batches of the load
//! ([`Atomic::Whole`]). If another writer waits, in this or another process, the transaction ends
//! as soon as it has lasted a second. It also ends if no further batch arrives. Between two
//! transactions, other writers can write. A writer that has waited too long gets an error. Look-ups
//! never wait: until the commit, they read the directory as it was before the transaction. If a
//! transaction fails, none of its batches is written and the load ends. The user can then repeat
//! the import.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use enrich_core::Record;
use enrich_core::port::error::StoreError;
use enrich_core::port::importer::{Atomic, ImportOptions, ImportOutcome, ImportSession};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{store_error, turns};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::batch::take;
use super::log::Log;
use super::part::Part;
use super::resolution;
use super::turn;
use super::unwritten::KnownKeys;
use super::writer::Writer;
use crate::directory::hash_index::{self, kept_index::KeptIndex, stored::DirectoryState};

/// The time for which a transaction of a load accepts batches although another writer waits. A
/// shorter time would make imports slower. Writing the pages of the database file is a large part
/// of their cost. A transaction writes a changed page only once, even if many records have changed
/// it.
const TRANSACTION: Duration = Duration::from_secs(1);
/// Maximum memory that a transaction takes for rows that are not yet written, in bytes: 900 MiB.
/// These are the rows of about 1.6 million companies. SQLite writes whole pages of the database
/// file. The more rows are written together, the more of them are in the same page, so fewer bytes
/// are written for each row.
pub(super) const UNWRITTEN: usize = 900 << 20;
/// If no batch arrives for this time, the transaction is committed.
const IDLE: Duration = Duration::from_millis(50);

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

enum Command {
    Take(Batch),
    Finish(Answer<()>),
}

/// A batch of records to import.
struct Batch {
    records: Vec<Record>,
    /// The number of records that will probably follow this batch; 0 if it is unknown.
    following: u64,
    answer: Answer<Vec<ImportOutcome>>,
}

impl Command {
    /// Sends an error to the caller who waits for this command.
    fn fail(self, error: rusqlite::Error) {
        match self {
            Self::Take(batch) => send_answer(batch.answer, Err(store_error(error))),
            Self::Finish(answer) => send_answer(answer, Err(store_error(error))),
        }
    }
}

/// The error that ends a load, and the waiting command whose caller gets the error. With `None`, no
/// command waits, and the caller of the next command gets the error.
type Failure = (rusqlite::Error, Option<Command>);

/// The directory file that imports write, with the secrets, the hash index and the limits.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    pub(crate) secrets: Secrets,
    /// The hash index that the look-ups of this process use.
    pub(crate) index: Arc<hash_index::Current>,
    /// Maximum length of the write-ahead log after a transaction of a load, in bytes.
    pub(crate) longest_log: u64,
    /// Maximum memory for rows that are not yet written, in bytes; see [`UNWRITTEN`].
    pub(crate) unwritten: usize,
}

/// A running load (one import). When this value is dropped, the thread of the load ends.
pub(crate) struct SqliteImportSession {
    commands: Sender<Command>,
    /// The number of records that will probably follow the next batch; see
    /// [`ImportSession::expect`].
    following: u64,
}

impl SqliteImportSession {
    pub(crate) async fn begin(target: Target, options: ImportOptions) -> Result<Self, StoreError> {
        let (commands, received) = mpsc::channel();
        let (begun, has_begun) = oneshot::channel();
        thread::Builder::new()
            .name("enrich-load".to_owned())
            .spawn(move || run(&target, &options, begun, &received))
            .map_err(StoreError::failed)?;
        has_begun.await.map_err(StoreError::failed)??;
        Ok(Self { commands, following: 0 })
    }

    async fn send<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let ended = || StoreError::failed("the load has ended with an error");
        self.commands.send(command(answer)).map_err(|_| ended())?;
        answered.await.map_err(|_| ended())?
    }
}

#[async_trait]
impl ImportSession for SqliteImportSession {
    async fn import_batch(
        &mut self,
        records: Vec<Record>,
    ) -> Result<Vec<ImportOutcome>, StoreError> {
        let following = self.following;
        self.send(|answer| Command::Take(Batch { records, following, answer })).await
    }

    fn expect(&mut self, records: u64) {
        self.following = records;
    }

    async fn finish(self: Box<Self>) -> Result<(), StoreError> {
        self.send(Command::Finish).await
    }
}

fn run(target: &Target, options: &ImportOptions, begun: Answer<()>, commands: &Receiver<Command>) {
    let connection = match turn::connect(&target.path) {
        Ok(connection) => connection,
        Err(error) => return send_answer(begun, Err(store_error(error))),
    };
    let log = Log::of(&connection, target.longest_log);
    let kept_index = RefCell::new(KeptIndex::new(&target.path));
    let (kept_index, known_keys) = (&kept_index, RefCell::new(None));
    let run = Run { connection: &connection, target, options, log, kept_index, known_keys };
    match options.atomic {
        Atomic::InParts => {
            send_answer(begun, Ok(()));
            run.in_parts(commands);
        }
        Atomic::Whole => run.as_a_whole(begun, commands),
    }
}

/// A running load (one import), with the state that only its own thread uses.
struct Run<'a> {
    connection: &'a Connection,
    target: &'a Target,
    options: &'a ImportOptions,
    log: Log<'a>,
    kept_index: &'a RefCell<KeptIndex>,
    /// The keys of the rows in the database file as far as they are known, and the state of the
    /// directory. Both are from the end of the last transaction of this load. If the state has
    /// changed since then, another writer may have added rows, so the keys are not used. `None`
    /// before the first transaction, and during a transaction.
    known_keys: RefCell<Option<(KnownKeys, DirectoryState)>>,
}

impl Run<'_> {
    fn in_parts(&self, commands: &Receiver<Command>) {
        while let Ok(command) = commands.recv() {
            let finish = match command {
                Command::Finish(answer) => Some(answer),
                Command::Take(batch) => match self.transaction(batch, commands) {
                    Ok(finish) => finish,
                    Err((error, waiting)) => {
                        if let Some(waiting) = waiting.or_else(|| commands.recv().ok()) {
                            waiting.fail(error);
                        }
                        return;
                    }
                },
            };
            if let Some(answer) = finish {
                let done = self.resolve().and_then(|()| self.make_durable());
                return send_answer(answer, done.map_err(store_error));
            }
        }
    }

    /// Imports the first batch, and then the batches that arrive while the transaction accepts
    /// them. Commits all of them together. If a command to finish the load arrives, returns the
    /// sender for the answer to this command.
    fn transaction(
        &self,
        mut batch: Batch,
        commands: &Receiver<Command>,
    ) -> Result<Option<Answer<()>>, Failure> {
        let begun = Instant::now();
        let mut part = Part::new(self.target.unwritten);
        let opened =
            turn::begin(self.connection).and_then(|transaction| Ok((self.writer()?, transaction)));
        let (mut writer, transaction) = match opened {
            Ok(opened) => opened,
            // The transaction could not begin, so nothing of the first batch was written, and the
            // caller can send the batch again.
            Err(error) => {
                send_answer(batch.answer, Err(store_error(error)));
                return Ok(None);
            }
        };
        let finish = loop {
            let Batch { records, following, answer } = batch;
            part.add(records.len(), following);
            match take(&mut writer, self.options, records) {
                Ok(taken) => send_answer(answer, Ok(taken)),
                Err(error) => {
                    let waiting = Batch { records: Vec::new(), following, answer };
                    return Err((error, Some(Command::Take(waiting))));
                }
            }
            if part.is_full(writer.unwritten_bytes()) || self.must_yield(begun) {
                break None;
            }
            match commands.recv_timeout(IDLE) {
                Ok(Command::Take(next)) => batch = next,
                Ok(Command::Finish(waiting)) => break Some(waiting),
                // No batch arrived in time, or the load was dropped. In both cases, the imported
                // batches are committed.
                Err(_) => break None,
            }
        };
        let committed = self.finish(writer).and_then(|()| transaction.commit());
        self.target.index.clear();
        if committed.is_ok()
            && let Err(error) = self.log.bound()
        {
            // The commit has succeeded, so this is only a warning and not an error of the import.
            tracing::warn!(%error, "the directory's log cannot be emptied");
        }
        match (committed, finish) {
            (Ok(()), finish) => {
                turn::pause();
                Ok(finish)
            }
            (Err(error), waiting) => Err((error, waiting.map(Command::Finish))),
        }
    }

    /// Whether the transaction accepts no further batch because it has lasted a second and another
    /// writer waits. `begun` is the time when it began.
    fn must_yield(&self, begun: Instant) -> bool {
        begun.elapsed() >= TRANSACTION && turns::is_awaited(self.connection)
    }

    fn as_a_whole(&self, begun: Answer<()>, commands: &Receiver<Command>) {
        let opened =
            turn::begin(self.connection).and_then(|transaction| Ok((self.writer()?, transaction)));
        let (mut writer, transaction) = match opened {
            Ok(opened) => opened,
            Err(error) => return send_answer(begun, Err(store_error(error))),
        };
        send_answer(begun, Ok(()));
        let mut part = Part::new(self.target.unwritten);
        for command in commands {
            match command {
                Command::Take(Batch { records, following, answer }) => {
                    part.add(records.len(), following);
                    match self.take(&mut writer, records, &mut part) {
                        Ok(taken) => send_answer(answer, Ok(taken)),
                        // One batch failed. A single batch of the transaction cannot be undone, so
                        // the whole transaction is rolled back.
                        Err(error) => return send_answer(answer, Err(store_error(error))),
                    }
                }
                Command::Finish(answer) => {
                    let done = self
                        .finish(writer)
                        .and_then(|()| self.resolve_within(&transaction))
                        .and_then(|()| transaction.commit())
                        .and_then(|()| self.make_durable())
                        .and_then(|()| self.log.bound());
                    self.target.index.clear();
                    return send_answer(answer, done.map_err(store_error));
                }
            }
        }
    }

    /// Imports a batch of a load that is one transaction. If the unwritten rows take too much
    /// memory, they are written now, because the load commits only at its end.
    fn take(
        &self,
        writer: &mut Writer<'_>,
        records: Vec<Record>,
        part: &mut Part,
    ) -> rusqlite::Result<Vec<ImportOutcome>> {
        let taken = take(writer, self.options, records)?;
        if part.is_full(writer.unwritten_bytes()) {
            writer.write_unwritten()?;
            *part = Part::new(self.target.unwritten);
        }
        Ok(taken)
    }

    fn writer(&self) -> rusqlite::Result<Writer<'_>> {
        self.kept_index.borrow_mut().begin(self.connection)?;
        let known = match self.known_keys.take() {
            Some((known, state)) if state == DirectoryState::read(self.connection)? => known,
            // Either this is the first transaction of the load, or another writer has changed the
            // directory since the last transaction of the load. In both cases, it is not known
            // which rows a table has, except for an empty table.
            _ => KnownKeys::of_empty_tables(self.connection)?,
        };
        let (secrets, at) = (&self.target.secrets, self.options.at);
        let mut writer = Writer::of_load(self.connection, secrets, at, known)?;
        writer.kept_index = Some(self.kept_index);
        Ok(writer)
    }

    fn finish(&self, writer: Writer<'_>) -> rusqlite::Result<()> {
        let known = writer.finish()?;
        self.known_keys.replace(Some((known, DirectoryState::read(self.connection)?)));
        self.kept_index.borrow_mut().end(self.connection)
    }

    /// Runs entity resolution for the companies in the table `unresolved`: decides again which of
    /// their records describe the same company.
    fn resolve(&self) -> rusqlite::Result<()> {
        let (secrets, index) = (&self.target.secrets, &self.target.index);
        resolution::resolve_all(self.connection, secrets, Some(self.kept_index), || {
            index.clear();
            if let Err(error) = self.log.bound() {
                tracing::warn!(%error, "the directory's log cannot be emptied");
            }
        })
    }

    /// Like [`resolve`](Self::resolve), but in the one transaction of a load with
    /// [`Atomic::Whole`].
    fn resolve_within(&self, transaction: &Connection) -> rusqlite::Result<()> {
        resolution::resolve_within(transaction, &self.target.secrets, Some(self.kept_index))
    }

    /// Makes all earlier commits durable, and then stores the hash index. The commits of batches
    /// are not synced to disk. So this method makes one more commit and syncs it, which also syncs
    /// all earlier commits.
    fn make_durable(&self) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        turn::write(self.connection, |transaction| {
            // SQLite syncs only if something is written, so this statement writes a value that does
            // not change.
            transaction.execute("UPDATE state SET generation = generation", [])?;
            Ok(())
        })?;
        self.kept_index.replace(KeptIndex::new(&self.target.path)).store();
        Ok(())
    }
}

/// Sends an answer. Does nothing if the caller no longer waits for it.
fn send_answer<T>(answer: Answer<T>, result: Result<T, StoreError>) {
    let _ = answer.send(result);
}
