//! Reads the rows of one account, which are scattered over the log.
//!
//! Each row stores the position of the account's previous row, and every 256th row is in the
//! sequence index. A read of a row begins at the next row in the index. From there, it goes back
//! row by row, by the stored positions. For example, a read of row 700 begins at row 768. So
//! reading a row costs about the same everywhere in the log, and writing a row needs no index of
//! all rows. A search by time first reads the index entries: each entry contains the earliest and
//! the latest time of the rows since the previous entry.

use std::ops::ControlFlow;

use enrich_core::{AccountId, Entry, Timestamp};
use enrich_store_sqlite::{Column, Statements};
use rusqlite::{Connection, Params, params};

use crate::ledger::NotAsWritten;
use crate::ledger::head::{Head, MARK_ROWS, Span};
use crate::ledger::ledger_state_error::LedgerStateError;
use crate::ledger::row::{self, Link, link_columns, row_columns};

const ROW: &str =
    concat!("SELECT ", row_columns!(), ", ", link_columns!(), " FROM entry WHERE position = ?1");

/// The query for the time of a row, and for the position of the account's previous row.
const TIME: &str = "SELECT account, sequence, at, previous FROM entry WHERE position = ?1";

/// Returns at most `limit` rows of an account, in order. The sequence of the first row is `after +
/// 1`. Rows that were added after `head` was read are left out.
pub(super) fn entries(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    after: u64,
    limit: u32,
) -> Result<Vec<Entry>, LedgerStateError> {
    let last = head.last.sequence.min(after.saturating_add(limit.into()));
    let mut entries = back_from(connection, account, head, last, after)?;
    entries.reverse();
    Ok(entries)
}

/// Returns at most `limit` rows of an account, the newest first. If `before` is present, only rows
/// with a lower sequence are returned. Rows that were added after `head` was read are left out.
pub(super) fn newest(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<Entry>, LedgerStateError> {
    let last = before
        .map_or(head.last.sequence, |before| head.last.sequence.min(before.saturating_sub(1)));
    back_from(connection, account, head, last, last.saturating_sub(limit.into()))
}

/// Returns the sequence of the account's first row whose time is `at` or later. If all rows are
/// earlier, returns `head.last.sequence + 1`.
///
/// For an account with ten million rows, this reads at most about 39,000 entries of the sequence
/// index (10,000,000 / 256). This is fast, because they are next to each other in the table `mark`.
/// Then it reads the rows of one block: at most 256 rows.
pub(super) fn first_at(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    at: Timestamp,
) -> Result<u64, LedgerStateError> {
    let first = "SELECT sequence, position FROM mark
                 WHERE account = ?1 AND sequence <= ?2 AND latest >= ?3 ORDER BY sequence LIMIT 1";
    let mark =
        find_mark(connection, first, params![Column(account), head.last.sequence, Column(at)])?;
    let (end, mut first) = (mark.unwrap_or((head.last.sequence, head.position)), None);
    back_through_block(connection, account, end, |sequence, written_at| {
        first = if written_at >= at { Some(sequence) } else { first };
        ControlFlow::Continue(())
    })?;
    match first {
        Some(first) => Ok(first),
        None if mark.is_none() => Ok(head.last.sequence + 1),
        None => Err(unreadable(account, end.0).into()),
    }
}

/// Finds the account's last row whose time is before `at`, and returns the sequence of that row
/// plus 1. Returns 1 if there is no such row.
pub(super) fn end_before(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    at: Timestamp,
) -> Result<u64, LedgerStateError> {
    let last_of_block = |end: (u64, u64)| {
        let mut last = None;
        back_through_block(connection, account, end, |sequence, written_at| {
            if written_at < at {
                last = Some(sequence);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        Ok::<_, LedgerStateError>(last)
    };
    // The newest rows, which come after the last row in the sequence index, are read first.
    if !head.last.sequence.is_multiple_of(MARK_ROWS)
        && let Some(last) = last_of_block((head.last.sequence, head.position))?
    {
        return Ok(last + 1);
    }
    let last = "SELECT sequence, position FROM mark
                WHERE account = ?1 AND sequence <= ?2 AND earliest < ?3
                ORDER BY sequence DESC LIMIT 1";
    let mark =
        find_mark(connection, last, params![Column(account), head.last.sequence, Column(at)])?;
    let Some(mark) = mark else { return Ok(1) };
    last_of_block(mark)?.map(|last| last + 1).ok_or_else(|| unreadable(account, mark.0).into())
}

/// Returns the earliest and the latest time of a block of [`MARK_ROWS`] rows of an account.
/// `sequence` and `position` belong to the last row of the block, which is a row of the sequence
/// index.
pub(super) fn span_of(
    connection: &Connection,
    sequence: u64,
    mut position: u64,
) -> rusqlite::Result<Span> {
    let mut select = connection.prepare_cached(TIME)?;
    let mut read = |position| {
        select.query_row([position], |row| Ok((row.get::<_, Column<Timestamp>>(2)?.0, row.get(3)?)))
    };
    let (at, previous): (_, u64) = read(position)?;
    let mut span = Span::of(at);
    position = previous;
    for _ in 1..MARK_ROWS.min(sequence) {
        let (at, previous) = read(position)?;
        (span, position) = (span.and(at), previous);
    }
    Ok(span)
}

/// Finds an entry of the sequence index (the table `mark`) with `query`. Returns the sequence and
/// the position of the row that the entry is about.
fn find_mark(
    connection: &Connection,
    query: &str,
    values: impl Params,
) -> rusqlite::Result<Option<(u64, u64)>> {
    connection.find(query, values, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Goes back through a block of an account's rows, from the row `entry` (sequence and position) to
/// the first row of the block. Calls `each` with the sequence and the time of each row. Stops early
/// if `each` returns `Break`. A block has at most [`MARK_ROWS`] rows, for example the rows 257 to
/// 512. The last row of a full block is in the sequence index.
fn back_through_block(
    connection: &Connection,
    account: AccountId,
    mut entry: (u64, u64),
    mut each: impl FnMut(u64, Timestamp) -> ControlFlow<()>,
) -> Result<(), LedgerStateError> {
    let after = entry.0.saturating_sub(1) / MARK_ROWS * MARK_ROWS;
    while entry.0 > after {
        let (written_at, previous) = time_of(connection, account, entry)?;
        if each(entry.0, written_at).is_break() {
            break;
        }
        entry = (entry.0 - 1, previous);
    }
    Ok(())
}

/// Returns the rows of an account from sequence `last` back to sequence `after + 1`.
fn back_from(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    last: u64,
    after: u64,
) -> Result<Vec<Entry>, LedgerStateError> {
    if last <= after {
        return Ok(Vec::new());
    }
    let (mut sequence, mut position) = begin_at(connection, account, head, last)?;
    let mut entries = Vec::new();
    while sequence > after {
        let fault = || unreadable(account, sequence);
        let read = |row: &rusqlite::Row<'_>| Ok((row::read(row)?, Link::read(row)?));
        let (row, link) = connection.find(ROW, [position], read)?.ok_or_else(fault)?;
        if row.account != account || row.sequence != sequence {
            return Err(fault().into());
        }
        if sequence <= last {
            entries.push(row.entry().map_err(|_| fault())?);
        }
        (sequence, position) = (sequence - 1, link.previous);
    }
    Ok(entries)
}

/// Reads the row with this sequence at this position. Returns its time, and the position of the
/// account's previous row.
fn time_of(
    connection: &Connection,
    account: AccountId,
    (sequence, position): (u64, u64),
) -> Result<(Timestamp, u64), LedgerStateError> {
    let row = connection.find(TIME, [position], |row| {
        let (Column::<AccountId>(account), Column(at)) = (row.get(0)?, row.get(2)?);
        Ok((account, row.get::<_, u64>(1)?, at, row.get(3)?))
    })?;
    match row {
        Some((of, number, at, previous)) if of == account && number == sequence => {
            Ok((at, previous))
        }
        _ => Err(unreadable(account, sequence).into()),
    }
}

fn unreadable(account: AccountId, sequence: u64) -> NotAsWritten {
    NotAsWritten::new(format!("account {account}, row {sequence}: cannot be read"))
}

/// Finds the row at which a read of row `last` begins. From there, the read goes back row by row
/// until it reaches row `last`. The read begins at the first row at or after `last` that is in the
/// sequence index, for example at row 768 to read row 700. If no such row is in the index, it
/// begins at the account's last row. Returns the sequence and the position of the first row read.
fn begin_at(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    last: u64,
) -> rusqlite::Result<(u64, u64)> {
    let next = "SELECT sequence, position FROM mark
                WHERE account = ?1 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence LIMIT 1";
    let mark = find_mark(connection, next, params![Column(account), last, head.last.sequence])?;
    Ok(mark.unwrap_or((head.last.sequence, head.position)))
}
