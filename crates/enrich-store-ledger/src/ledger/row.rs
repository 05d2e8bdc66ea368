//! Reads and writes a ledger row in the table `entry`.

use std::borrow::Cow;

use enrich_ledger::{Chain, Row};
use enrich_store_sqlite::Column;
use rusqlite::{Statement, params};

/// The columns of a ledger row, in the order in which [`read`] reads them.
macro_rules! row_columns {
    () => {
        "account, sequence, id, kind, corrects, credits, balance, endpoint, items, price, \
         api_key, request_id, generation, note, at, secret"
    };
}
pub(super) use row_columns;

/// The columns for the hash chain of the ledger, in the order in which [`Link::read`] reads them.
/// In a query, they come after the columns of [`row_columns`].
macro_rules! link_columns {
    () => {
        "chain, position, previous"
    };
}
pub(super) use link_columns;

/// The index of the column with the row's hash ([`Link::chain`]).
pub(super) const CHAIN_COLUMN: usize = 16;
/// The index of the column with the row's position ([`Link::position`]).
pub(super) const POSITION_COLUMN: usize = 17;

/// The hash and the positions that link a ledger row to other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The row's hash, which chains it to the account's previous row.
    pub(super) chain: Chain,
    /// The row's position among the rows of all accounts, from 1.
    pub(super) position: u64,
    /// The position of the account's previous row; 0 for the account's first row.
    pub(super) previous: u64,
}

impl Link {
    /// Reads a link from the columns of [`link_columns`]. In the query, these columns must come
    /// after the columns of [`row_columns`].
    pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        let (chain, position) = (row.get(CHAIN_COLUMN)?, row.get(POSITION_COLUMN)?);
        Ok(Self { chain, position, previous: row.get(18)? })
    }
}

/// The statement that inserts a row. Its columns are in the order in which [`insert`] binds their
/// values.
pub(super) const INSERT: &str = concat!(
    "INSERT INTO entry (",
    row_columns!(),
    ", ",
    link_columns!(),
    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"
);

/// Reads a row from the columns of [`row_columns`].
pub(super) fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row<'static>> {
    let text = |index| row.get::<_, String>(index).map(Cow::Owned);
    let maybe_text =
        |index| Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(index)?.map(Cow::Owned));
    let (Column(account), Column(id)) = (row.get(0)?, row.get(2)?);
    let (Column(balance), Column(at)) = (row.get(6)?, row.get(14)?);
    Ok(Row {
        account,
        sequence: row.get(1)?,
        id,
        kind: text(3)?,
        corrects: row.get::<_, Option<Column<_>>>(4)?.map(|Column(id)| id),
        credits: row.get(5)?,
        balance,
        endpoint: maybe_text(7)?,
        items: row.get(8)?,
        price: row.get(9)?,
        api_key: row.get::<_, Option<Column<_>>>(10)?.map(|Column(id)| id),
        request_id: maybe_text(11)?,
        revision: row.get(12)?,
        note: text(13)?,
        at,
        secret: row.get(15)?,
    })
}

/// Inserts a row. `insert` is the prepared statement [`INSERT`].
pub(super) fn insert(
    row: &Row<'_>,
    insert: &mut Statement<'_>,
    link: &Link,
) -> rusqlite::Result<()> {
    insert.execute(params![
        Column(row.account),
        row.sequence,
        Column(row.id),
        row.kind,
        row.corrects.map(Column),
        row.credits,
        Column(row.balance),
        row.endpoint,
        row.items,
        row.price,
        row.api_key.map(Column),
        row.request_id,
        row.revision,
        row.note,
        Column(row.at),
        row.secret,
        link.chain,
        link.position,
        link.previous,
    ])?;
    Ok(())
}
