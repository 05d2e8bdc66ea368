//! Reading an account's rows, which lie scattered in the log.
//!
//! Each row names the position of the account's row before it, and every 256th is marked: reading
//! begins at a mark not far behind what is asked for and goes back from row to row, each a point
//! read. So a page costs about the same wherever it is, and nothing was written for it with the row.
//! A time is looked for among the marks first, each with the times of the rows before it.

use std::ops::ControlFlow;

use enrich_core::{AccountId, Entry, Timestamp};
use rusqlite::{Connection, OptionalExtension, Statement, params};

use crate::columns::Column;
use crate::ledger::NotAsWritten;
use crate::ledger::head::{Head, MARK_ROWS, Span};
use crate::ledger::ledger_state_error::LedgerStateError;
use crate::ledger::row::{Link, Row, link_columns, row_columns};

const ROW: &str =
    concat!("SELECT ", row_columns!(), ", ", link_columns!(), " FROM entry WHERE position = ?1");

/// When one row was written, and where the account's row before it lies.
const TIME: &str = "SELECT account, sequence, at, previous FROM entry WHERE position = ?1";

/// The rows of an account behind the one numbered `after`, in order, at most `limit` of them and
/// none behind `head`.
pub(super) fn entries(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    after: u64,
    limit: u32,
) -> Result<Vec<Entry>, LedgerStateError> {
    let last = head.sequence.min(after.saturating_add(limit.into()));
    let mut entries = back_from(connection, account, head, last, after)?;
    entries.reverse();
    Ok(entries)
}

/// The rows of an account before the one numbered `before`, the newest first, at most `limit` of
/// them and none behind `head`.
pub(super) fn newest(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<Entry>, LedgerStateError> {
    let last = before.map_or(head.sequence, |before| head.sequence.min(before.saturating_sub(1)));
    back_from(connection, account, head, last, last.saturating_sub(limit.into()))
}

/// The number of an account's first row that was written at or after `at`; one more than `head`'s
/// when none was.
///
/// Of ten million rows the times of 39,000 marks are looked through, which lie side by side, and 256
/// rows before one of them.
pub(super) fn first_at(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    at: Timestamp,
) -> Result<u64, LedgerStateError> {
    let mut select = connection.prepare_cached(
        "SELECT sequence, position FROM mark
         WHERE account = ?1 AND sequence <= ?2 AND latest >= ?3 ORDER BY sequence LIMIT 1",
    )?;
    let mark = marked(&mut select, account, head, at)?;
    let (end, mut first) = (mark.unwrap_or((head.sequence, head.position)), None);
    back_through_block(connection, account, end, |sequence, written_at| {
        first = if written_at >= at { Some(sequence) } else { first };
        ControlFlow::Continue(())
    })?;
    match first {
        Some(first) => Ok(first),
        None if mark.is_none() => Ok(head.sequence + 1),
        None => Err(unreadable(account, end.0).into()),
    }
}

/// One more than the number of an account's last row that was written before `at`; 1 when none was.
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
    // The rows behind the last mark first.
    if !head.sequence.is_multiple_of(MARK_ROWS)
        && let Some(last) = last_of_block((head.sequence, head.position))?
    {
        return Ok(last + 1);
    }
    let mut select = connection.prepare_cached(
        "SELECT sequence, position FROM mark
         WHERE account = ?1 AND sequence <= ?2 AND earliest < ?3 ORDER BY sequence DESC LIMIT 1",
    )?;
    let Some(mark) = marked(&mut select, account, head, at)? else { return Ok(1) };
    last_of_block(mark)?.map(|last| last + 1).ok_or_else(|| unreadable(account, mark.0).into())
}

/// When the rows were written that end with the marked one of this number, at this position.
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

/// A mark of an account, which `select` finds by a time: its number and position.
fn marked(
    select: &mut Statement<'_>,
    account: AccountId,
    head: &Head,
    at: Timestamp,
) -> rusqlite::Result<Option<(u64, u64)>> {
    let values = (Column(account), head.sequence, Column(at));
    select.query_row(values, |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Goes back from a row to the one behind the mark before it, and calls `each` with the number and
/// the time of each, until that breaks off.
fn back_through_block(
    connection: &Connection,
    account: AccountId,
    mut place: (u64, u64),
    mut each: impl FnMut(u64, Timestamp) -> ControlFlow<()>,
) -> Result<(), LedgerStateError> {
    let after = place.0.saturating_sub(1) / MARK_ROWS * MARK_ROWS;
    while place.0 > after {
        let (written_at, previous) = time_of(connection, account, place)?;
        if each(place.0, written_at).is_break() {
            break;
        }
        place = (place.0 - 1, previous);
    }
    Ok(())
}

/// The rows of an account from the one numbered `last` back to the one behind `after`.
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
    let mut select = connection.prepare_cached(ROW)?;
    while sequence > after {
        let fault = || unreadable(account, sequence);
        let row = select
            .query_row([position], |row| Ok((Row::read(row)?, Link::read(row)?)))
            .optional()?;
        let (row, link) = row.ok_or_else(fault)?;
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

/// When the row of this number at this position was written, and the position of the one before.
fn time_of(
    connection: &Connection,
    account: AccountId,
    (sequence, position): (u64, u64),
) -> Result<(Timestamp, u64), LedgerStateError> {
    let mut select = connection.prepare_cached(TIME)?;
    let row = select.query_row([position], |row| {
        let (Column::<AccountId>(account), Column(at)) = (row.get(0)?, row.get(2)?);
        Ok((account, row.get::<_, u64>(1)?, at, row.get(3)?))
    });
    match row.optional()? {
        Some((of, number, at, previous)) if of == account && number == sequence => {
            Ok((at, previous))
        }
        _ => Err(unreadable(account, sequence).into()),
    }
}

fn unreadable(account: AccountId, sequence: u64) -> NotAsWritten {
    NotAsWritten::new(format!("account {account}, row {sequence}: cannot be read"))
}

/// The row numbered `last`, or one not far behind it: its number and position.
fn begin_at(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    last: u64,
) -> rusqlite::Result<(u64, u64)> {
    let mut select = connection.prepare_cached(
        "SELECT sequence, position FROM mark WHERE account = ?1 AND sequence BETWEEN ?2 AND ?3
         ORDER BY sequence LIMIT 1",
    )?;
    let mark = select.query_row(params![Column(account), last, head.sequence], |row| {
        Ok((row.get(0)?, row.get(1)?))
    });
    Ok(mark.optional()?.unwrap_or((head.sequence, head.position)))
}
