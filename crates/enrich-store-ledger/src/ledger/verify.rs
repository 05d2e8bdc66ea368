//! Verifies the whole ledger and adds up its totals. The rows are read once, in the order of the
//! log. The state of each account after the rows read so far is in memory, so that its next row can
//! be checked. At the end, the states are compared with the stored heads, the seal, the sequence
//! index and the tables that belong to the log ([`related_tables`]).

mod related_tables;

use std::collections::HashMap;
use std::mem;
use std::path::Path;

use enrich_core::AccountId;
use enrich_core::port::ledger::Verification;
use enrich_ledger::{AccountCheck, At, Fault, Findings, Row};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{self as sqlite, Column, Statements};
use rusqlite::Connection;

use crate::ledger::head::MARK_ROWS;
use crate::ledger::head::{Head, Span};
use crate::ledger::ledger_state_error::LedgerStateError;
use crate::ledger::row::{self, EntryColumn, Link, link_columns, row_columns};
use crate::ledger::seal::{LogPosition, Seal};
use crate::ledger::verify::related_tables::Ids;

const ROWS: &str =
    concat!("SELECT ", row_columns!(), ", ", link_columns!(), " FROM entry ORDER BY position");

/// Verifies one consistent state of the ledger at `path`. Charging continues during this time. A
/// ledger that was altered can also be verified, although it cannot be opened for charging.
///
/// # Errors
///
/// When the file itself cannot be read. Wrong content is not an error: it is reported as a fault.
pub fn verify(path: &Path, secrets: &Secrets) -> rusqlite::Result<Verification> {
    let mut connection = sqlite::reader(path)?;
    let moment = connection.transaction()?;
    let (seal, broken) = match Seal::read(&moment, secrets) {
        Ok(seal) => (Some(seal), None),
        Err(LedgerStateError::NotAsWritten(broken)) => (None, Some(broken)),
        Err(LedgerStateError::Read(error)) => return Err(error),
    };
    let mut walk = Walk::begin(&moment, secrets, seal);
    let mut rows = moment.prepare(ROWS)?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        walk.row(row)?;
    }
    if let Some(broken) = broken {
        walk.found.fault(broken.0);
    }
    walk.end()?;
    let Walk { mut found, ids, states, .. } = walk;
    related_tables::check_ids(&moment, ids, &mut found)?;
    related_tables::check_kept(&moment, secrets, &mut found)?;
    related_tables::check_used(&moment, &states, &mut found)?;
    let accounts = moment.query_row("SELECT count(*) FROM account", [], |row| row.get(0))?;
    Ok(found.into_verification(accounts))
}

/// A verification that is running: it reads all rows of the ledger in order.
struct Walk<'a> {
    connection: &'a Connection,
    secrets: &'a Secrets,
    seal: Option<Seal>,
    found: Findings,
    /// A sum of hashes: each row read so far adds the hash of its id and its position (see
    /// [`Ids`]). `None` after a row that cannot be read.
    ids: Option<Ids>,
    /// The position of the last row that was read, and the digest (keyed hash) of all rows up to
    /// it; `None` after a row that is missing or cannot be checked.
    log_end: Option<LogPosition>,
    /// The state of each account after the rows read so far.
    states: HashMap<AccountId, AccountState>,
    /// The state of each account at the ledger's last checkpoint; `None` until all rows up to the
    /// checkpoint are read.
    at_checkpoint: Option<HashMap<AccountId, AccountState>>,
    /// The entries that the sequence index (the table `mark`) must contain: one for each ledger row
    /// whose sequence is a multiple of [`MARK_ROWS`]. An entry has the row's account, its sequence
    /// (the number of the row among the account's rows), its position, and a span. The span is the
    /// earliest and the latest time of the account's last `MARK_ROWS` rows up to this row; `None`
    /// if one of them is missing or cannot be read.
    marks: Vec<(AccountId, u64, u64, Option<Span>)>,
}

/// The state of one account after the rows read so far.
#[derive(Clone, Copy)]
struct AccountState {
    /// The account's balance and hash, calculated from its rows.
    check: AccountCheck,
    /// The position of the account's last row.
    position: u64,
    /// The earliest and the latest time in the account's newest block of rows (see
    /// [`Span::with_next`]); `None` if a row of this block is missing or cannot be read.
    span: Option<Span>,
}

impl<'a> Walk<'a> {
    fn begin(connection: &'a Connection, secrets: &'a Secrets, seal: Option<Seal>) -> Self {
        Self {
            connection,
            secrets,
            seal,
            found: Findings::default(),
            ids: Some(Ids::default()),
            log_end: Some(LogPosition::BEGINNING),
            states: HashMap::new(),
            at_checkpoint: None,
            marks: Vec::new(),
        }
    }

    /// Checks one row, and adds its faults to `found`. Returns an error only when the file cannot
    /// be read.
    fn row(&mut self, raw: &rusqlite::Row<'_>) -> rusqlite::Result<()> {
        self.found.count_row();
        let position: u64 = EntryColumn::Position.read(raw).unwrap_or_default();
        self.pass_checkpoint(position);
        self.check_position(position);
        let (Ok(Column(account)), Ok(sequence)) =
            (EntryColumn::Account.read(raw), EntryColumn::Sequence.read(raw))
        else {
            self.found.fault(format_args!("the log, row {position}: cannot be read"));
            (self.log_end, self.ids) = (None, None);
            return Ok(());
        };
        let before = self.step_to(account, sequence)?;
        let read = row::read(raw).and_then(|row| Ok((row, Link::read(raw)?)));
        let Ok((row, link)) = read else {
            (self.log_end, self.ids) = (None, None);
            let (at, chain) = (At(account, sequence), EntryColumn::Chain.read(raw).ok());
            let check = before.check.after_unreadable(at, chain, &mut self.found);
            self.states.insert(account, AccountState { check, position, span: None });
            return Ok(());
        };
        let span = Span::with_next(sequence.saturating_sub(1), before.span, row.at);
        if sequence.is_multiple_of(MARK_ROWS) {
            self.marks.push((account, sequence, position, span));
        }
        self.ids.iter_mut().for_each(|ids| ids.add(row.id, position));
        self.check_links(&row, &link, &before);
        let (check, correction) = before.check.after(row, &link.chain, &mut self.found);
        self.states.insert(account, AccountState { check, position, span });
        if let Some(correction) = correction {
            let earlier = self.connection.find(
                "SELECT sequence FROM entry WHERE id = ?1 AND account = ?2",
                (Column(correction.corrects), Column(account)),
                |row| row.get(0),
            )?;
            correction.check(earlier, &mut self.found);
        }
        Ok(())
    }

    /// As soon as all rows up to the ledger's last checkpoint are read, checks their digest, and
    /// stores a copy of the states of all accounts in `at_checkpoint`. `position` is the position
    /// of the next row.
    fn pass_checkpoint(&mut self, position: u64) {
        let checkpoint = self.seal.map_or(u64::MAX, |seal| seal.checkpoint.position);
        if position > checkpoint && self.at_checkpoint.is_none() {
            self.check_digest(checkpoint);
            self.at_checkpoint = Some(self.states.clone());
        }
    }

    /// Checks the digest (a keyed hash) of the rows up to `position`, which is the end of the log
    /// or the ledger's last checkpoint. The seal must contain the same digest.
    fn check_digest(&mut self, position: u64) {
        let Some(seal) = self.seal else { return };
        let sealed = if position == seal.end.position { seal.end } else { seal.checkpoint };
        // If `log_end` is `None`, a fault in the log was already reported.
        if self.log_end.is_some_and(|log_end| log_end != sealed) {
            self.found.fault(format_args!(
                "the log: the rows up to {} are not those that were sealed",
                sealed.position
            ));
        }
    }

    fn check_position(&mut self, position: u64) {
        if let Some(log_end) = self.log_end
            && position != log_end.position + 1
        {
            let missing = log_end.position + 1;
            self.found.fault(format_args!("the log, row {missing}: missing"));
            self.log_end = None;
        }
    }

    /// Returns the state of an account before the row with the number `sequence` (an account's rows
    /// are numbered from 1). Reports the rows that are missing between the account's previous row
    /// and this row.
    fn step_to(&mut self, account: AccountId, sequence: u64) -> rusqlite::Result<AccountState> {
        let before = match self.states.get(&account) {
            Some(state) => *state,
            None => {
                let select = "SELECT 1 FROM account WHERE id = ?1";
                if !self.connection.has(select, [Column(account)])? {
                    self.found.fault(Fault::NoAccount(account));
                }
                AccountState { check: AccountCheck::START, position: 0, span: None }
            }
        };
        let check = before.check.step_to(account, sequence, &mut self.found);
        let span = before.span.filter(|_| check.balance.is_some());
        Ok(AccountState { check, span, ..before })
    }

    /// Checks the two links from a row to the previous row of its account: the hash that depends on
    /// the previous row, and `link.previous`, the position of the previous row. Also checks the
    /// row's balance, and computes the digest of the log up to this row.
    fn check_links(&mut self, row: &Row<'_>, link: &Link, before: &AccountState) {
        let (check, found) = (&before.check, &mut self.found);
        let secret = check.check_chain(row, &link.chain, self.secrets, found);
        self.log_end = match (self.log_end, secret) {
            (Some(log_end), Some(secret)) => Some(log_end.after(&link.chain, secret)),
            _ => None,
        };
        if secret.is_none() {
            return;
        }
        if check.chain.is_some() && link.previous != before.position {
            let at = At(row.account, row.sequence);
            found.fault(format_args!("{at}: does not lead to the row before it"));
        }
        check.check_balance(row, found);
    }

    /// Ends the verification after the last row: compares the states of the accounts with the seal,
    /// the stored heads and the sequence index.
    fn end(&mut self) -> rusqlite::Result<()> {
        if let Some(seal) = self.seal {
            self.pass_checkpoint(u64::MAX);
            self.check_digest(seal.end.position);
        }
        let heads = mem::take(&mut self.at_checkpoint).unwrap_or_default();
        let mut found = 0;
        for (account, state) in &heads {
            found += u64::from(self.check_head(*account, state)?);
        }
        let count = |query| self.connection.query_row(query, [], |row| row.get::<_, u64>(0));
        let (in_table, marked) =
            (count("SELECT count(*) FROM head")?, count("SELECT count(*) FROM mark")?);
        if self.seal.is_some() && in_table > found {
            let more = in_table - found;
            self.found
                .fault(format_args!("the checkpoint: {more} accounts that have no rows in it"));
        }
        let marks = mem::take(&mut self.marks);
        for (account, sequence, position, span) in &marks {
            let mark = "SELECT earliest, latest FROM mark
                        WHERE account = ?1 AND sequence = ?2 AND position = ?3";
            let values = (Column(*account), sequence, position);
            let marked = self.connection.find(mark, values, |row| {
                Ok(Span { earliest: row.get(0)?, latest: row.get(1)? })
            })?;
            let at = At(*account, *sequence);
            match (marked, span) {
                (None, _) => self.found.fault(format_args!("{at}: is not marked")),
                (Some(marked), Some(span)) if marked != *span => {
                    self.found.fault(format_args!("{at}: is marked with other times"));
                }
                (Some(_), _) => {}
            }
        }
        if marked > marks.len() as u64 {
            let more = marked - marks.len() as u64;
            self.found.fault(format_args!("the marks: {more} of rows that are not there"));
        }
        Ok(())
    }

    /// Compares the stored head of an account with `state`: the account's state at the checkpoint,
    /// calculated from its rows. First checks the hash of the stored head. Returns whether the
    /// account has a stored head.
    fn check_head(&mut self, account: AccountId, state: &AccountState) -> rusqlite::Result<bool> {
        let head = match Head::read(self.connection, self.secrets, account) {
            Ok(head) => head,
            Err(LedgerStateError::NotAsWritten(broken)) => {
                self.found.fault(broken.0);
                return Ok(true);
            }
            Err(LedgerStateError::Read(error)) => return Err(error),
        };
        // `None` means that the account does not exist. `step_to` has already reported this.
        let Some(head) = head else { return Ok(false) };
        let Some(last) = state.check.last_row() else { return Ok(true) };
        if head != (Head { last, position: state.position, span: None }) {
            self.found.fault(format_args!(
                "account {account}: its checkpoint says {} at row {}, its rows say {} at row {}",
                head.last.balance, head.last.sequence, last.balance, last.sequence
            ));
        }
        Ok(head != Head::NEW)
    }
}
