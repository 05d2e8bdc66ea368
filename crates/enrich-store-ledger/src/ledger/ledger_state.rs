//! The state of the ledger in memory, as the writing thread knows it: the end of the log, and the
//! heads of some accounts. A head is the state of an account after its last row.
//!
//! The writing thread owns the state. When it opens the ledger, it reads the end of the last
//! checkpoint and all rows after it, and checks them. The heads of the accounts in these rows are
//! then in memory. Other heads are read from the checkpoint when they are needed. The rows of a
//! group of charges are added in a [`WriteBatch`]. When the batch is durable, it is applied to the
//! state; if the commit fails, the batch is dropped. If other processes have added rows, SQLite's
//! `data_version` has changed, and the next transaction reads these rows.

use std::sync::Arc;

use enrich_core::AccountId;
use enrich_ledger::Row;
use enrich_secrets::Secrets;
use enrich_store_sqlite::{Moment, RefreshGate, Statements};
use parking_lot::RwLock;
use rusqlite::{CachedStatement, Connection};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ledger::NotAsWritten;
use crate::ledger::entries;
use crate::ledger::head::{Head, MARK_ROWS, Span};
use crate::ledger::ledger_state_error::LedgerStateError;
use crate::ledger::row::{self, Link, link_columns, row_columns};
use crate::ledger::seal::{LogPosition, Seal};

/// After this number of rows, a group of charges writes a new checkpoint: the heads of all accounts
/// that have rows since the last checkpoint. So opening the ledger reads at most this number of
/// rows plus the rows of one group of charges. A checkpoint writes at most one head for each of
/// these rows.
const CHECKPOINT_ROWS: u64 = 16_384;
/// Maximum number of accounts whose heads (states after the last row) are kept in memory, about 15
/// MB. The heads of accounts with rows after the checkpoint stay in memory in any case.
const MAX_KNOWN: usize = 100_000;
const ROWS_BEHIND: &str = concat!(
    "SELECT ",
    row_columns!(),
    ", ",
    link_columns!(),
    " FROM entry WHERE position > ?1 ORDER BY position"
);

/// The heads of accounts in memory. Every thread can read them. A head is the state of an account
/// after its last row.
#[derive(Debug, Default)]
pub(super) struct Heads {
    known: RwLock<FxHashMap<AccountId, Head>>,
    /// Stores when this process last looked for rows of other processes. For a short time after
    /// that, a reader of a balance gets the cached balance, and nobody looks for new rows. But
    /// before the writing thread decides charges, it always looks for new rows.
    refresh_gate: RefreshGate,
}

/// The state of the ledger, as the writing thread knows it.
#[derive(Debug)]
pub(super) struct LedgerState {
    secrets: Secrets,
    seal: Seal,
    heads: Arc<Heads>,
    /// The accounts with rows after the last checkpoint. Their heads (states after the last row)
    /// are always in memory, because the checkpoint contains only their older heads.
    behind: FxHashSet<AccountId>,
    /// SQLite's `data_version` when the log was last read; `None` before the first read.
    version: Option<i64>,
}

/// The rows that a group of charges adds, until they are durable.
pub(super) struct WriteBatch<'a> {
    ledger_state: &'a LedgerState,
    connection: &'a Connection,
    insert: CachedStatement<'a>,
    written: Written,
}

/// The changes of a [`WriteBatch`]. They are applied to the ledger state in memory after the
/// commit.
pub(super) struct Written {
    seal: Seal,
    heads: FxHashMap<AccountId, Head>,
    marks: Vec<SequenceIndexEntry>,
}

/// A ledger row that must be added to the sequence index (the table `mark`).
struct SequenceIndexEntry {
    account: AccountId,
    sequence: u64,
    position: u64,
    /// The earliest and the latest time of a block of the account's rows. The block ends with this
    /// row. It begins after the account's previous row in the sequence index. `None` if some rows
    /// of the block were not read, because they are before the checkpoint.
    span: Option<Span>,
}

impl Heads {
    pub(super) fn get(&self, account: AccountId) -> Option<Head> {
        self.known.read().get(&account).copied()
    }

    /// Whether a caller should ask the writing thread to look for rows of other processes, before
    /// the caller uses a cached balance.
    pub(super) fn is_refresh_due(&self) -> bool {
        self.refresh_gate.is_due()
    }
}

impl LedgerState {
    /// Reads the ledger's rows after the last checkpoint, and builds the state from the checkpoint
    /// and these rows.
    pub(super) fn open(
        connection: &mut Connection,
        secrets: Secrets,
    ) -> Result<Self, LedgerStateError> {
        let moment = connection.transaction()?;
        let seal = Seal::read(&moment, &secrets)?;
        let start = Seal { end: seal.checkpoint, ..seal };
        let (heads, behind) = (Arc::default(), FxHashSet::default());
        let mut ledger_state = Self { secrets, seal: start, heads, behind, version: None };
        ledger_state.refresh(&moment)?;
        Ok(ledger_state)
    }

    pub(super) fn heads(&self) -> Arc<Heads> {
        Arc::clone(&self.heads)
    }

    /// Forgets SQLite's last `data_version`. Call this when a new connection replaces the old one,
    /// because each connection counts versions differently.
    pub(super) fn new_connection(&mut self) {
        self.version = None;
    }

    /// Reads the rows that other processes have added. `connection` must be in a transaction.
    pub(super) fn refresh(&mut self, connection: &Connection) -> Result<(), LedgerStateError> {
        let moment = self.heads.refresh_gate.moment();
        let version = connection.value("PRAGMA data_version", [])?;
        if self.version != Some(version) {
            let there = Seal::read(connection, &self.secrets)?;
            if there != self.seal {
                self.follow_to(connection, there)?;
            }
            self.version = Some(version);
        }
        self.heads.refresh_gate.seen(moment);
        Ok(())
    }

    /// Reads the new rows, up to `there.end`, the end of the log. Checks that each row follows the
    /// previous one.
    fn follow_to(&mut self, connection: &Connection, there: Seal) -> Result<(), LedgerStateError> {
        if there.end.position < self.seal.end.position {
            let next = there.end.position + 1;
            return Err(NotAsWritten::new(format!("the rows from {next} on are gone")).into());
        }
        let mut log_end = self.seal.end;
        if there.checkpoint.position > log_end.position {
            // The checkpoint is newer than the state in memory, so heads (states of accounts) in
            // memory may be out of date.
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

    /// Checks that a row is the next row of the log, and also the next row of its account. Returns
    /// the head of the account: its state after this row.
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

    /// Returns the head of an account (its state after the last row) from memory; if it is not in
    /// memory, from the checkpoint. Returns `None` when there is no such account.
    fn head(
        &self,
        connection: &Connection,
        account: AccountId,
    ) -> Result<Option<Head>, LedgerStateError> {
        match self.heads.get(account) {
            Some(head) => Ok(Some(head)),
            None => Head::read(connection, &self.secrets, account),
        }
    }

    /// Creates a write batch for a group of charges. `connection` must be in the transaction of the
    /// group, and [`Self::refresh`] must have been called in this transaction.
    pub(super) fn batch<'a>(
        &'a self,
        connection: &'a Connection,
    ) -> rusqlite::Result<WriteBatch<'a>> {
        let insert = connection.prepare_cached(row::INSERT)?;
        let written = Written { seal: self.seal, heads: FxHashMap::default(), marks: Vec::new() };
        Ok(WriteBatch { ledger_state: self, connection, insert, written })
    }

    /// Returns the present moment. Call this in the transaction of a batch, just before the commit.
    /// Until the commit, no other process can add rows. So with the batch, the cached balances are
    /// up to date at this moment. After the commit, pass the moment to [`Self::apply`].
    pub(super) fn moment(&self) -> Moment {
        self.heads.refresh_gate.moment()
    }

    /// Applies a batch that is now durable. If the batch has added rows, the cached balances then
    /// count as up to date at `moment`. So `moment` must be taken before the commit, while the
    /// transaction still keeps other processes from writing. A moment after the commit would be too
    /// late: some commits also copy SQLite's write-ahead log into the database file. This takes
    /// long, and other processes may write meanwhile.
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
        span.write_mark(connection, self.account, self.sequence, self.position)
    }
}

/// If too many heads (states of accounts after their last rows) are in memory, keeps only those of
/// the accounts in `behind`. These accounts have rows after the last checkpoint, so the database
/// does not contain their newest heads. All other heads can be read from the database again.
fn evict_known(known: &mut FxHashMap<AccountId, Head>, behind: &FxHashSet<AccountId>) {
    if known.len() > MAX_KNOWN {
        known.retain(|account, _| behind.contains(account));
        known.shrink_to(MAX_KNOWN);
    }
}

impl WriteBatch<'_> {
    /// Returns the head of an account: its state after the rows of this batch; `None` when there is
    /// no such account.
    pub(super) fn head(&mut self, account: AccountId) -> Result<Option<Head>, LedgerStateError> {
        if let Some(head) = self.written.heads.get(&account) {
            return Ok(Some(*head));
        }
        let head = self.ledger_state.head(self.connection, account)?;
        if let Some(head) = head {
            // The head (the account's state after its last row) is put into the batch even if no
            // row is added. So it is in memory later, and need not be read from the database again.
            self.written.heads.insert(account, head);
        }
        Ok(head)
    }

    /// Adds a row to an account. `head` is the account's state before this row.
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

    /// Writes the new seal (a keyed hash over all rows), and adds rows to the sequence index (the
    /// table `mark`). After [`CHECKPOINT_ROWS`] rows, also writes a checkpoint: the heads of all
    /// accounts that have rows since the last checkpoint.
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
            // The heads are written in the order of the table. So each page of the table is written
            // only once.
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
