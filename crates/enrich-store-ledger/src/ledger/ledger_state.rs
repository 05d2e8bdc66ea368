//! The log as known in memory: its end, and the heads of accounts.
//!
//! The writer owns the state. It builds the state from the last checkpoint and the rows after it,
//! and checks all of them. A group is written on a [`WriteBatch`]. The batch is applied to the
//! state once it is durable, and dropped if the commit fails. The next transaction notices rows of
//! other processes by SQLite's `data_version` and reads them.

use std::sync::Arc;

use enrich_core::AccountId;
use enrich_ledger::Row;
use enrich_secrets::Secrets;
use enrich_store_sqlite::{Column, Moment, RefreshGate, Statements};
use parking_lot::RwLock;
use rusqlite::{CachedStatement, Connection};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ledger::NotAsWritten;
use crate::ledger::entries;
use crate::ledger::head::{Head, MARK_ROWS, Span};
use crate::ledger::ledger_state_error::LedgerStateError;
use crate::ledger::row::{self, Link, link_columns, row_columns};
use crate::ledger::seal::{LogPosition, Seal};

/// The number of rows between two checkpoints. Opening the ledger reads at most this many rows, and
/// a checkpoint writes at most this many heads.
const CHECKPOINT_ROWS: u64 = 16_384;
/// The most accounts in memory, about 15 MB. Accounts with rows after the checkpoint are extra.
const MAX_KNOWN: usize = 100_000;
const ROWS_BEHIND: &str = concat!(
    "SELECT ",
    row_columns!(),
    ", ",
    link_columns!(),
    " FROM entry WHERE position > ?1 ORDER BY position"
);

/// The heads of accounts, readable by every thread.
#[derive(Debug, Default)]
pub(super) struct Heads {
    known: RwLock<FxHashMap<AccountId, Head>>,
    /// Records when this process last looked for rows of other processes. Reads of a cached balance
    /// use it; a decision always looks again.
    refresh_gate: RefreshGate,
}

/// The log as the writer knows it.
#[derive(Debug)]
pub(super) struct LedgerState {
    secrets: Secrets,
    seal: Seal,
    heads: Arc<Heads>,
    /// The accounts with rows after the checkpoint. The heads of all these accounts are in memory.
    behind: FxHashSet<AccountId>,
    /// SQLite's `data_version` when the log was last read; absent before the first read.
    version: Option<i64>,
}

/// The rows of a group before they are durable.
pub(super) struct WriteBatch<'a> {
    ledger_state: &'a LedgerState,
    connection: &'a Connection,
    insert: CachedStatement<'a>,
    written: Written,
}

/// The changes of a write batch, to be applied to the ledger state after the commit.
pub(super) struct Written {
    seal: Seal,
    heads: FxHashMap<AccountId, Head>,
    marks: Vec<SequenceIndexEntry>,
}

/// A row to be added to the sequence index.
struct SequenceIndexEntry {
    account: AccountId,
    sequence: u64,
    position: u64,
    /// The earliest and latest time of the rows since the previous index entry, including this row.
    /// Absent when some of these rows were not read, because they are older than the checkpoint.
    span: Option<Span>,
}

impl Heads {
    /// Returns the account's head, if it is in memory.
    pub(super) fn get(&self, account: AccountId) -> Option<Head> {
        self.known.read().get(&account).copied()
    }

    /// Whether the caller should ask the writer to read other processes' rows.
    pub(super) fn is_refresh_due(&self) -> bool {
        self.refresh_gate.is_due()
    }
}

impl LedgerState {
    /// Builds the state of the log that `connection` reads.
    pub(super) fn open(
        connection: &mut Connection,
        secrets: Secrets,
    ) -> Result<Self, LedgerStateError> {
        let moment = connection.transaction()?;
        let seal = Seal::read(&moment, &secrets)??;
        let start = Seal { end: seal.checkpoint, ..seal };
        let (heads, behind) = (Arc::default(), FxHashSet::default());
        let mut ledger_state = Self { secrets, seal: start, heads, behind, version: None };
        ledger_state.refresh(&moment)?;
        Ok(ledger_state)
    }

    /// The heads of accounts, readable by every thread.
    pub(super) fn heads(&self) -> Arc<Heads> {
        Arc::clone(&self.heads)
    }

    /// Forgets the last `data_version`, because a new connection is used, whose versions are
    /// different.
    pub(super) fn new_connection(&mut self) {
        self.version = None;
    }

    /// Reads the rows that other processes have written. `connection` must be in a transaction.
    pub(super) fn refresh(&mut self, connection: &Connection) -> Result<(), LedgerStateError> {
        let moment = self.heads.refresh_gate.moment();
        let version = connection.value("PRAGMA data_version", [])?;
        if self.version != Some(version) {
            let there = Seal::read(connection, &self.secrets)??;
            if there != self.seal {
                self.follow_to(connection, there)?;
            }
            self.version = Some(version);
        }
        self.heads.refresh_gate.seen(moment);
        Ok(())
    }

    /// Reads the rows up to the end of the log and checks each against the previous one.
    fn follow_to(&mut self, connection: &Connection, there: Seal) -> Result<(), LedgerStateError> {
        if there.end.position < self.seal.end.position {
            let next = there.end.position + 1;
            return Err(NotAsWritten::new(format!("the rows from {next} on are gone")).into());
        }
        let mut log_end = self.seal.end;
        if there.checkpoint.position > log_end.position {
            // Heads in memory may be older than the checkpoint.
            self.forget();
            log_end = there.checkpoint;
        }
        let mut heads = FxHashMap::default();
        let mut select = connection.prepare_cached(ROWS_BEHIND)?;
        let mut rows = select.query([log_end.position])?;
        while let Some(row) = rows.next()? {
            let read = row::read(row).and_then(|read| Ok((read, Link::read(row)?)));
            let (row, link) = read.map_err(|_| {
                NotAsWritten::new(format!("row {} of the log cannot be read", log_end.position + 1))
            })?;
            let account = row.account;
            let head = match heads.get(&account) {
                Some(head) => *head,
                None => self.head(connection, account)?.ok_or_else(|| {
                    NotAsWritten::new(format!("account {account}: has rows and is not there"))
                })?,
            };
            heads.insert(account, self.follow(&row, &link, &head, &mut log_end)?);
        }
        if log_end != there.end {
            let position = there.end.position;
            return Err(
                NotAsWritten::new(format!("the log does not end with row {position}")).into()
            );
        }
        self.behind.extend(heads.keys());
        let mut known = self.heads.known.write();
        known.extend(heads);
        self.seal = there;
        self.behind.retain(|account| {
            known.get(account).is_some_and(|head| head.position > there.checkpoint.position)
        });
        evict_known(&mut known, &self.behind);
        Ok(())
    }

    /// Returns the account's head after a row. Checks that the row is the next one of the log and
    /// of the account.
    fn follow(
        &self,
        row: &Row<'_>,
        link: &Link,
        head: &Head,
        log_end: &mut LogPosition,
    ) -> Result<Head, NotAsWritten> {
        let fault = || {
            NotAsWritten::new(format!("row {} of the log is not as it was written", link.position))
        };
        let secret = self.secrets.with_id(row.secret).ok_or_else(fault)?;
        if link.position != log_end.position + 1 || link.previous != head.position {
            return Err(fault());
        }
        let last = head.last.follow(row, &link.chain, &self.secrets).map_err(|_| fault())?;
        *log_end = log_end.after(&link.chain, secret);
        let span = Span::with_next(head.last.sequence, head.span, row.at);
        Ok(Head { last, position: link.position, span })
    }

    fn forget(&mut self) {
        self.heads.known.write().clear();
        self.behind.clear();
    }

    /// Returns the account's head from memory, else from the checkpoint; `None` when there is no
    /// such account.
    fn head(
        &self,
        connection: &Connection,
        account: AccountId,
    ) -> Result<Option<Head>, LedgerStateError> {
        match self.heads.get(account) {
            Some(head) => Ok(Some(head)),
            None => Ok(Head::read(connection, &self.secrets, account)??),
        }
    }

    /// Creates a write batch for a group. `connection` must be in the group's transaction, and
    /// [`Self::refresh`] must have been called in it.
    pub(super) fn batch<'a>(
        &'a self,
        connection: &'a Connection,
    ) -> rusqlite::Result<WriteBatch<'a>> {
        let insert = connection.prepare_cached(row::INSERT)?;
        let written = Written { seal: self.seal, heads: FxHashMap::default(), marks: Vec::new() };
        Ok(WriteBatch { ledger_state: self, connection, insert, written })
    }

    /// Returns the present moment, to be passed to [`Self::apply`].
    pub(super) fn moment(&self) -> Moment {
        self.heads.refresh_gate.moment()
    }

    /// Applies a batch that has become durable. `moment` was taken before the transaction ended,
    /// while no other process could write. The commit may take long, because it may move the log
    /// into the database.
    pub(super) fn apply(&mut self, batch: Written, moment: Moment) {
        let is_checkpoint = batch.seal.checkpoint != self.seal.checkpoint;
        let mut known = self.heads.known.write();
        if is_checkpoint {
            self.behind.clear();
        } else {
            let heads = batch.heads.iter();
            let added = heads.filter(|(_, head)| head.position > self.seal.end.position);
            self.behind.extend(added.map(|(account, _)| account));
        }
        known.extend(batch.heads);
        evict_known(&mut known, &self.behind);
        drop(known);
        if batch.seal.end != self.seal.end {
            self.heads.refresh_gate.seen(moment);
        }
        self.seal = batch.seal;
    }
}

impl SequenceIndexEntry {
    fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let span = match self.span {
            Some(span) => span,
            None => entries::span_of(connection, self.sequence, self.position)?,
        };
        connection.run(
            "INSERT INTO mark (account, sequence, position, earliest, latest)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (Column(self.account), self.sequence, self.position, span.earliest, span.latest),
        )?;
        Ok(())
    }
}

/// If too many heads are in memory, removes the heads that the stored checkpoint also contains.
fn evict_known(known: &mut FxHashMap<AccountId, Head>, behind: &FxHashSet<AccountId>) {
    if known.len() > MAX_KNOWN {
        known.retain(|account, _| behind.contains(account));
        known.shrink_to(MAX_KNOWN);
    }
}

impl WriteBatch<'_> {
    /// Returns the account's head, including the rows of this batch; `None` when there is no such
    /// account.
    pub(super) fn head(&mut self, account: AccountId) -> Result<Option<Head>, LedgerStateError> {
        if let Some(head) = self.written.heads.get(&account) {
            return Ok(Some(*head));
        }
        let head = self.ledger_state.head(self.connection, account)?;
        if let Some(head) = head {
            // The head is cached even if no row is added.
            self.written.heads.insert(account, head);
        }
        Ok(head)
    }

    /// Adds a row after `head`, the head of its account.
    pub(super) fn add(&mut self, mut row: Row<'_>, head: &Head) -> rusqlite::Result<()> {
        let secret = self.ledger_state.secrets.current();
        let span = Span::with_next(head.last.sequence, head.span, row.at);
        let last = head.last.append(&mut row, secret);
        let log_end = self.written.seal.end.after(&last.chain, secret);
        let (chain, position) = (last.chain, log_end.position);
        let link = Link { chain, position, previous: head.position };
        row::insert(&row, &mut self.insert, &link)?;
        let (account, sequence) = (row.account, last.sequence);
        if sequence.is_multiple_of(MARK_ROWS) {
            self.written.marks.push(SequenceIndexEntry { account, sequence, position, span });
        }
        self.written.seal.end = log_end;
        self.written.heads.insert(account, Head { last, position, span });
        Ok(())
    }

    /// Writes index entries and the seal for the rows, and a checkpoint after enough rows.
    pub(super) fn close(mut self) -> rusqlite::Result<Written> {
        let seal = &mut self.written.seal;
        if seal.end == self.ledger_state.seal.end {
            return Ok(self.written);
        }
        for mark in &self.written.marks {
            mark.write(self.connection)?;
        }
        let secret = self.ledger_state.secrets.current();
        if seal.end.position - seal.checkpoint.position >= CHECKPOINT_ROWS {
            let known = self.ledger_state.heads.known.read();
            let heads = &self.written.heads;
            let older =
                self.ledger_state.behind.iter().filter(|account| !heads.contains_key(account));
            let older = older.filter_map(|account| Some((*account, *known.get(account)?)));
            let newer = heads.iter().map(|(account, head)| (*account, *head));
            let newer = newer.filter(|(_, head)| head.position > seal.checkpoint.position);
            let mut due: Vec<_> = newer.chain(older).collect();
            drop(known);
            // The heads are in the order of the table, so that each page of the table is written
            // once.
            due.sort_unstable_by_key(|(account, _)| *account);
            for (account, head) in due {
                head.write(self.connection, account, secret)?;
            }
            seal.checkpoint = seal.end;
        }
        seal.write(self.connection, secret)?;
        Ok(self.written)
    }
}
