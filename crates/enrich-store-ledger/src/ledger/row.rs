//! Reads and writes a ledger row in the table `entry`.

use std::borrow::Cow;

use enrich_ledger::{Chain, Row};
use enrich_store_sqlite::Column;
use rusqlite::types::FromSql;
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

/// The columns of [`row_columns`], followed by those of [`link_columns`], in the same order. The
/// discriminant of a variant is the index of its column in a query that selects these columns.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntryColumn {
    Account,
    Sequence,
    Id,
    Kind,
    Corrects,
    Credits,
    Balance,
    Endpoint,
    Items,
    Price,
    ApiKey,
    RequestId,
    Generation,
    Note,
    At,
    Secret,
    Chain,
    Position,
    Previous,
}

impl EntryColumn {
    /// Reads this column of a row.
    pub(super) fn read<T: FromSql>(self, row: &rusqlite::Row<'_>) -> rusqlite::Result<T> {
        row.get(self as usize)
    }
}

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
        Ok(Self {
            chain: EntryColumn::Chain.read(row)?,
            position: EntryColumn::Position.read(row)?,
            previous: EntryColumn::Previous.read(row)?,
        })
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
    let text = |column: EntryColumn| column.read::<String>(row).map(Cow::Owned);
    let maybe_text = |column: EntryColumn| {
        let text = column.read::<Option<String>>(row)?;
        Ok::<_, rusqlite::Error>(text.map(Cow::Owned))
    };
    let (Column(account), Column(id)) =
        (EntryColumn::Account.read(row)?, EntryColumn::Id.read(row)?);
    let (Column(balance), Column(at)) =
        (EntryColumn::Balance.read(row)?, EntryColumn::At.read(row)?);
    let corrects: Option<Column<_>> = EntryColumn::Corrects.read(row)?;
    let api_key: Option<Column<_>> = EntryColumn::ApiKey.read(row)?;
    Ok(Row {
        account,
        sequence: EntryColumn::Sequence.read(row)?,
        id,
        kind: text(EntryColumn::Kind)?,
        corrects: corrects.map(|Column(id)| id),
        credits: EntryColumn::Credits.read(row)?,
        balance,
        endpoint: maybe_text(EntryColumn::Endpoint)?,
        items: EntryColumn::Items.read(row)?,
        price: EntryColumn::Price.read(row)?,
        api_key: api_key.map(|Column(id)| id),
        request_id: maybe_text(EntryColumn::RequestId)?,
        revision: EntryColumn::Generation.read(row)?,
        note: text(EntryColumn::Note)?,
        at,
        secret: EntryColumn::Secret.read(row)?,
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

#[cfg(test)]
mod tests {
    use enrich_ledger::copy::ENTRY;

    #[test]
    fn a_copied_row_has_the_columns_of_a_row_and_its_hash() {
        assert_eq!(ENTRY.column_list(), concat!(row_columns!(), ", chain"));
    }
}
