//! Reading an account's rows, which lie scattered in the log.
//!
//! Each row names the position of the account's row before it, and every 256th is marked: reading
//! begins at a mark not far behind what is asked for and goes back from row to row, each a point
//! read. So a page costs about the same wherever it is, and nothing was written for it with the row.

use enrich_core::{AccountId, Entry};
use rusqlite::{Connection, OptionalExtension, params};

use crate::columns::Column;
use crate::ledger::NotAsWritten;
use crate::ledger::book::BookError;
use crate::ledger::head::Head;
use crate::ledger::row::{Link, Row, link_columns, row_columns};

const ROW: &str =
    concat!("SELECT ", row_columns!(), ", ", link_columns!(), " FROM entry WHERE position = ?1");

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
    if last <= after {
        return Ok(Vec::new());
    }
    let (mut sequence, mut position) = begin_at(connection, account, head, last)?;
    let mut entries = Vec::new();
    let mut select = connection.prepare_cached(ROW)?;
    while sequence > after {
        let fault =
            || NotAsWritten::new(format!("account {account}, row {sequence}: cannot be read"));
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
    entries.reverse();
    Ok(entries)
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
