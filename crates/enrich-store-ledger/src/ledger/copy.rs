//! Copies a complete ledger from `ledger.sqlite`, or into a new one. All values are copied
//! unchanged, including the hash of each ledger row. The import creates the data that depends on
//! the order of the rows:
//!
//! - the positions of the rows in the log;
//! - the sequence index: every 256th row of each account;
//! - the heads: the state of each account after its last row;
//! - the seal: a keyed hash over all rows.

use std::collections::HashMap;
use std::path::Path;

use enrich_core::{AccountId, Credits, Timestamp};
use enrich_ledger::copy::{BATCH_ROWS, Batch, ENTRY, KEY_USED, Kind, TABLES, Table, Value, Values};
use enrich_ledger::{Chain, LastRow};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{self as sqlite, Durability, Statements};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};

use crate::ledger::head::{Head, MARK_ROWS, Span};
use crate::ledger::seal::{LogPosition, Seal};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a ledger could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The database cannot be read or written.
    #[error("the ledger cannot be read or written")]
    Sqlite(#[from] rusqlite::Error),
    /// A value in this table has the wrong type for its column.
    #[error("table {0}: a value is not of its kind")]
    Malformed(&'static str),
    /// The ledger into which rows were to be copied already has accounts.
    #[error("the ledger to copy into is not empty")]
    NotEmpty,
    /// The store from which the rows come, or to which they go, has failed.
    #[error("the other store failed")]
    Other(#[source] BoxError),
}

/// Reads all tables of the ledger at `path` in one consistent state, and passes their rows to
/// `each` in batches. The ledger rows of each account come in the order of their sequence numbers.
///
/// # Errors
///
/// When the file cannot be read, or when `each` returns an error.
pub fn export(
    path: &Path,
    each: &mut dyn FnMut(Batch) -> Result<(), BoxError>,
) -> Result<(), CopyError> {
    let mut connection = sqlite::reader(path)?;
    let moment = connection.transaction()?;
    for table in TABLES {
        let query = select(table);
        let mut statement = moment.prepare(&query)?;
        let mut rows = statement.query([])?;
        let mut batch = Vec::new();
        while let Some(row) = rows.next()? {
            batch.push(read_values(table, row)?);
            if batch.len() == BATCH_ROWS {
                let rows = std::mem::take(&mut batch);
                each(Batch { table, rows }).map_err(CopyError::Other)?;
            }
        }
        if !batch.is_empty() {
            each(Batch { table, rows: batch }).map_err(CopyError::Other)?;
        }
    }
    Ok(())
}

/// Writes batches of rows into the new ledger at `path`, which has no accounts yet. The batches
/// come from `next`, until `next` returns `None`. Either all rows are written or none.
///
/// # Errors
///
/// When the file cannot be written, when a value has the wrong type for its column, or when `next`
/// returns an error.
pub fn import(
    path: &Path,
    secrets: &Secrets,
    next: &mut dyn FnMut() -> Result<Option<Batch>, BoxError>,
) -> Result<(), CopyError> {
    let mut connection = sqlite::writer(path, Durability::Commit)?;
    let transaction = connection.transaction()?;
    if transaction.has("SELECT 1 FROM account", [])? {
        return Err(CopyError::NotEmpty);
    }
    // The index is dropped here and created again at the end. This is faster than adding each row
    // to the index.
    transaction.execute_batch("DROP INDEX entry_id")?;
    let mut log = NewLog::default();
    while let Some(batch) = next().map_err(CopyError::Other)? {
        if batch.table.name == ENTRY.name {
            log.add(&transaction, secrets, &batch.rows)?;
        } else {
            insert(&transaction, &batch)?;
        }
    }
    transaction.execute_batch("CREATE UNIQUE INDEX entry_id ON entry (id)")?;
    log.close(&transaction, secrets)?;
    Ok(transaction.commit()?)
}

fn select(table: &Table) -> String {
    if table.name == KEY_USED.name {
        return "SELECT id, last_used_at FROM api_key WHERE last_used_at IS NOT NULL".to_owned();
    }
    let order = if table.name == ENTRY.name { "position" } else { table.order };
    format!("SELECT {} FROM {} ORDER BY {order}", table.column_list(), table.name)
}

fn read_values(table: &'static Table, row: &rusqlite::Row<'_>) -> Result<Values, CopyError> {
    let malformed = || CopyError::Malformed(table.name);
    let read = |(index, (_, kind)): (usize, &(&str, Kind))| {
        Ok(match (kind, row.get_ref(index)?) {
            (_, ValueRef::Null) => Value::Null,
            (Kind::Id, ValueRef::Blob(bytes)) => {
                Value::Id(bytes.try_into().map_err(|_| malformed())?)
            }
            (Kind::Integer | Kind::Number, ValueRef::Integer(number)) => Value::Integer(number),
            (Kind::Flag, ValueRef::Integer(number)) => Value::Flag(number != 0),
            (Kind::Text, ValueRef::Text(text)) => {
                Value::Text(std::str::from_utf8(text).map_err(|_| malformed())?.to_owned())
            }
            (Kind::Bytes, ValueRef::Blob(bytes)) => Value::Bytes(bytes.to_vec()),
            _ => return Err(malformed()),
        })
    };
    table.columns.iter().enumerate().map(read).collect()
}

struct Stored<'v>(&'v Value);

impl ToSql for Stored<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Id(bytes) => ValueRef::Blob(bytes),
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Flag(is_set) => ValueRef::Integer(i64::from(*is_set)),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Inserts the rows of a batch, of any table except `entry`. [`NewLog::add`] inserts the rows of
/// `entry`.
fn insert(connection: &Connection, batch: &Batch) -> Result<(), CopyError> {
    let Batch { table, rows } = batch;
    let statement = if table.name == KEY_USED.name {
        "UPDATE api_key SET last_used_at = ?2 WHERE id = ?1".to_owned()
    } else {
        // A new ledger has already recorded its secrets, so rows of the table `secret` may exist.
        let or_ignore = if table.name == "secret" { "OR IGNORE" } else { "" };
        format!(
            "INSERT {or_ignore} INTO {} ({}) VALUES ({})",
            table.name,
            table.column_list(),
            places(table.columns.len())
        )
    };
    let mut statement = connection.prepare_cached(&statement)?;
    for row in rows {
        statement.execute(params_from_iter(row.iter().map(Stored)))?;
    }
    Ok(())
}

/// Returns the placeholders for `count` values in a statement: `?1, ?2` for 2 values.
fn places(count: usize) -> String {
    let places: Vec<String> = (1..=count).map(|at| format!("?{at}")).collect();
    places.join(", ")
}

/// The state of the new log after the rows that were written so far: the position of the last row,
/// and the head of each account.
struct NewLog {
    end: LogPosition,
    heads: HashMap<AccountId, Head>,
}

impl Default for NewLog {
    fn default() -> Self {
        Self { end: LogPosition::BEGINNING, heads: HashMap::new() }
    }
}

/// The values of a ledger row that the account's head and the seal need. The head is the account's
/// state after its last row. The seal is a keyed hash over all rows.
struct Linked {
    account: AccountId,
    sequence: u64,
    balance: Credits,
    at: Timestamp,
    secret: u32,
    chain: Chain,
}

impl Linked {
    /// Reads the values from a row of the table [`ENTRY`]; `None` when a value has the wrong type
    /// for its column.
    fn read(row: &Values) -> Option<Self> {
        let integer = |column| match ENTRY.value(row, column) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        let (Some(Value::Id(account)), Some(Value::Bytes(chain))) =
            (ENTRY.value(row, "account"), ENTRY.value(row, "chain"))
        else {
            return None;
        };
        Some(Self {
            account: AccountId(uuid::Uuid::from_bytes(*account)),
            sequence: integer("sequence")?.try_into().ok()?,
            balance: Credits(integer("balance")?.try_into().ok()?),
            at: Timestamp::from_microsecond(integer("at")?).ok()?,
            secret: integer("secret")?.try_into().ok()?,
            chain: Chain::try_from(&chain[..]).ok()?,
        })
    }
}

impl NewLog {
    /// Appends rows to the table `entry`. The rows of each account must come in the order of their
    /// sequence numbers.
    fn add(
        &mut self,
        connection: &Connection,
        secrets: &Secrets,
        rows: &[Values],
    ) -> Result<(), CopyError> {
        let mut insert = connection.prepare_cached(&format!(
            "INSERT INTO entry ({}, position, previous) VALUES ({})",
            ENTRY.column_list(),
            places(ENTRY.columns.len() + 2)
        ))?;
        for values in rows {
            let malformed = || CopyError::Malformed(ENTRY.name);
            let row = Linked::read(values).ok_or_else(malformed)?;
            let secret = secrets.with_id(row.secret).ok_or_else(malformed)?;
            let head = self.heads.get(&row.account).copied().unwrap_or(Head::NEW);
            self.end = self.end.after(&row.chain, secret);
            let position = self.end.position;
            let links = [
                Value::Integer(i64::try_from(position).map_err(|_| malformed())?),
                Value::Integer(i64::try_from(head.position).map_err(|_| malformed())?),
            ];
            insert.execute(params_from_iter(values.iter().chain(&links).map(Stored)))?;
            let span = Span::with_next(head.last.sequence, head.span, row.at);
            if let Some(span) = span.filter(|_| row.sequence.is_multiple_of(MARK_ROWS)) {
                span.write_mark(connection, row.account, row.sequence, position)?;
            }
            let last = LastRow { sequence: row.sequence, balance: row.balance, chain: row.chain };
            self.heads.insert(row.account, Head { last, position, span });
        }
        Ok(())
    }

    /// Writes the head of each account (its state after its last row), and the seal of the log (a
    /// keyed hash over all rows).
    fn close(self, connection: &Connection, secrets: &Secrets) -> rusqlite::Result<()> {
        let secret = secrets.current();
        for (account, head) in &self.heads {
            head.write(connection, *account, secret)?;
        }
        Seal { end: self.end, checkpoint: self.end }.write(connection, secret)
    }
}
