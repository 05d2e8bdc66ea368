//! Reading an account's rows, which lie scattered in the log.
//!
//! Each row names the position of the account's row before it, and every 256th is marked: reading
//! begins at a mark not far behind what is asked for and goes back from row to row, each a point
//! read. So a page costs about the same wherever it is, and nothing was written for it with the row.
//! A time is looked for among the marks first.

use enrich_core::{AccountId, Entry, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use crate::columns::Column;
use crate::ledger::NotAsWritten;
use crate::ledger::book::{BookError, MARK_ROWS};
use crate::ledger::head::Head;
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
) -> Result<Vec<Entry>, BookError> {
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
) -> Result<Vec<Entry>, BookError> {
    let last = before.map_or(head.sequence, |before| head.sequence.min(before.saturating_sub(1)));
    back_from(connection, account, head, last, last.saturating_sub(limit.into()))
}

/// The number of an account's row that is written at or after `at` while the one before it was not;
/// one more than `head`'s when its last row was not either.
///
/// Of ten million rows 16 marks are looked at, and at most 256 rows behind one of them. Where the
/// clock was set back there can be several such rows; one of them is found.
pub(super) fn first_at(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    at: Timestamp,
) -> Result<u64, BookError> {
    // The last mark that is known to be earlier, and the first that is not: one behind the last
    // mark stands for the head.
    let (mut earlier, mut first) = (0, head.sequence / MARK_ROWS + 1);
    let mut place = (head.sequence, head.position);
    while first - earlier > 1 {
        let middle = earlier.midpoint(first);
        let marked = mark(connection, account, middle * MARK_ROWS)?;
        if time_of(connection, account, marked)?.0 < at {
            earlier = middle;
        } else {
            (first, place) = (middle, marked);
        }
    }
    while place.0 > 0 {
        let (written_at, previous) = time_of(connection, account, place)?;
        if written_at < at {
            break;
        }
        place = (place.0 - 1, previous);
    }
    Ok(place.0 + 1)
}

/// The rows of an account from the one numbered `last` back to the one behind `after`.
fn back_from(
    connection: &Connection,
    account: AccountId,
    head: &Head,
    last: u64,
    after: u64,
) -> Result<Vec<Entry>, BookError> {
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
) -> Result<(Timestamp, u64), BookError> {
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

/// The number of a marked row, and its position.
fn mark(
    connection: &Connection,
    account: AccountId,
    sequence: u64,
) -> Result<(u64, u64), BookError> {
    let mut select = connection
        .prepare_cached("SELECT position FROM mark WHERE account = ?1 AND sequence = ?2")?;
    let position = select.query_row((Column(account), sequence), |row| row.get(0)).optional()?;
    Ok((sequence, position.ok_or_else(|| unreadable(account, sequence))?))
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
