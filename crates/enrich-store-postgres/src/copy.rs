//! Exports a complete ledger (accounts, keys, credits and charges) from the database, and imports
//! one into an empty database.
//!
//! During a copy, the database is in the mode `copying`, in which no node charges.

use enrich_core::port::ledger::Verification;
use enrich_ledger::copy::{BATCH_ROWS, Batch, Kind, TABLES, Table, Value, Values};
use enrich_secrets::Secrets;
use futures_util::{TryStreamExt as _, pin_mut};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio_postgres::binary_copy::{BinaryCopyInWriter, BinaryCopyOutRow, BinaryCopyOutStream};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, CopyInSink};
use uuid::Uuid;

use crate::columns::unreadable;
use crate::connect::{Connection, Connector};
use crate::failure::Failure;
use crate::ledger;
use crate::node::{Node, Options};
use crate::open_error::OpenError;
use crate::runtime::Runtime;
use crate::schema;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Maximum number of batches that wait in the channel between the database's thread and the caller.
const BATCHES: usize = 4;
/// Drops the indexes of `entry`, the largest table. Creating the indexes again after the last row
/// takes half as much processor time as updating them for each row.
const DROP_INDEXES: &str = "SAVEPOINT has_indexes; SET LOCAL lock_timeout = '2s'; \
     ALTER TABLE entry DROP CONSTRAINT entry_pkey; DROP INDEX entry_id";
/// Creates the dropped indexes again, as the migration created them.
const CREATE_INDEXES: &str = "ALTER TABLE entry ADD CONSTRAINT entry_pkey \
     PRIMARY KEY (account, sequence); CREATE UNIQUE INDEX entry_id ON entry (id)";

/// Why a ledger cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The database could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database to copy into already has accounts.
    #[error(
        "the database to copy into is not empty; make a new one and run `enrich store migrate`"
    )]
    NotEmpty,
    /// The database failed during the copy. If an import fails before its final commit, nothing is
    /// written. If the commit or a later step fails, everything may be written.
    #[error("the database failed during the copy")]
    Database(#[source] BoxError),
    /// The other side of the copy failed, for example because a data folder cannot be read.
    #[error("the other store failed")]
    Other(#[source] BoxError),
}

impl From<Failure> for CopyError {
    fn from(failure: Failure) -> Self {
        Self::Database(Box::new(failure))
    }
}

impl From<tokio_postgres::Error> for CopyError {
    fn from(error: tokio_postgres::Error) -> Self {
        Failure::from(error).into()
    }
}

/// Whether nodes charge. They must not charge during a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nodes charge for calls, as usual.
    Serving,
    /// Nodes do not charge, because the ledger is being copied or was moved to another store.
    Copying,
}

/// Sets the mode of the database. Nodes notice the change within half a second.
///
/// # Errors
///
/// When the database cannot be changed.
pub fn set_mode(url: &str, secrets: &Secrets, mode: Mode) -> Result<(), CopyError> {
    let name = match mode {
        Mode::Serving => "serving",
        Mode::Copying => "copying",
    };
    on_connection(url, secrets, move |connection| async move {
        let set = "UPDATE state SET mode = $1 WHERE id = 1";
        connection.client.execute_typed(set, &[(&name, Type::TEXT)]).await?;
        Ok(())
    })
}

/// Verifies the ledger of a database. The database may be in any [`Mode`].
///
/// # Errors
///
/// When the database cannot be read. Faults in the ledger are not an error: the result contains
/// them.
pub fn verify(url: &str, secrets: &Secrets) -> Result<Verification, CopyError> {
    let options = Options { accepts_one_copy: true, ..Options::default() };
    let node = Node::open_in_any_mode(url, secrets, options)?;
    // The rows are checked on this thread, and read by the database's thread at the same time.
    let verified = node.database.runtime().poll_here(ledger::verify(&node));
    verified.map_err(|error| CopyError::Database(error.into()))
}

/// Reads all tables of the database in one consistent state, and passes their rows to `each` in
/// batches. The rows of each table are sorted by [`Table::order`].
///
/// # Errors
///
/// When the database cannot be read, and when `each` fails.
pub fn export(
    url: &str,
    secrets: &Secrets,
    each: &mut dyn FnMut(Batch) -> Result<(), BoxError>,
) -> Result<(), CopyError> {
    let (batches, mut received) = mpsc::channel::<Batch>(BATCHES);
    let mut failed = None;
    let exported = with_connection(
        url,
        secrets,
        move |connection| async move { send_all(&connection.client, &batches).await },
        || {
            while let Some(batch) = received.blocking_recv() {
                if let Err(error) = each(batch) {
                    failed = Some(CopyError::Other(error));
                    // Dropping `received` below makes the task stop reading from the database.
                    break;
                }
            }
            drop(received);
        },
    );
    match failed {
        Some(failed) => Err(failed),
        None => exported,
    }
}

/// Imports a ledger into an empty database: writes the batches of rows that `next` returns, until
/// it returns `None`. Writes either all batches or nothing.
///
/// # Errors
///
/// When the database is not empty or cannot be written, and when `next` fails.
pub fn import(
    url: &str,
    secrets: &Secrets,
    next: &mut dyn FnMut() -> Result<Option<Batch>, BoxError>,
) -> Result<(), CopyError> {
    let (batches, received) = mpsc::channel::<Result<Batch, ()>>(BATCHES);
    let mut failed = None;
    let imported = with_connection(
        url,
        secrets,
        move |connection| async move { receive_all(&connection.client, received).await },
        || loop {
            match next() {
                Ok(Some(batch)) => {
                    if batches.blocking_send(Ok(batch)).is_err() {
                        return drop(batches);
                    }
                }
                Ok(None) => return drop(batches),
                Err(error) => {
                    failed = Some(CopyError::Other(error));
                    // The error makes the receiver end the transaction without a commit.
                    let _ = batches.blocking_send(Err(()));
                    return drop(batches);
                }
            }
        },
    );
    match failed {
        Some(failed) => Err(failed),
        None => imported,
    }
}

fn on_connection<T, F>(
    url: &str,
    secrets: &Secrets,
    task: impl FnOnce(Connection) -> F + Send + 'static,
) -> Result<T, CopyError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, CopyError>> + Send,
{
    with_connection(url, secrets, task, || ())
}

/// Runs `task` on the database's thread and `beside` on the caller's thread, at the same time.
fn with_connection<T, F>(
    url: &str,
    secrets: &Secrets,
    task: impl FnOnce(Connection) -> F + Send + 'static,
    beside: impl FnOnce(),
) -> Result<T, CopyError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, CopyError>> + Send,
{
    let connector = Connector::new(url).map_err(OpenError::from)?;
    let secrets = secrets.clone();
    let runtime = Runtime::start().map_err(OpenError::Thread)?;
    let result = runtime.start_task(async move {
        let connection = connector.connect().await.map_err(OpenError::from)?;
        schema::check(&connection.client, &secrets).await?;
        task(connection).await
    });
    beside();
    result.wait().map_err(|lost| CopyError::Database(lost.into()))?
}

async fn send_all(client: &Client, batches: &Sender<Batch>) -> Result<(), CopyError> {
    client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    for table in TABLES {
        let statement = format!(
            "COPY (SELECT {} FROM {} ORDER BY {}) TO STDOUT (FORMAT binary)",
            table.column_list(),
            table.name,
            table.order
        );
        let types: Vec<Type> = table.columns.iter().map(|(_, kind)| type_of(*kind)).collect();
        let rows = BinaryCopyOutStream::new(client.copy_out(&statement).await?, &types);
        pin_mut!(rows);
        let mut batch = Vec::with_capacity(BATCH_ROWS);
        while let Some(row) = rows.try_next().await? {
            batch.push(read_values(table, &row)?);
            if batch.len() == BATCH_ROWS {
                let rows = std::mem::take(&mut batch);
                if batches.send(Batch { table, rows }).await.is_err() {
                    return Ok(());
                }
            }
        }
        if !batch.is_empty() && batches.send(Batch { table, rows: batch }).await.is_err() {
            return Ok(());
        }
    }
    client.batch_execute("COMMIT").await?;
    Ok(())
}

fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::Id => Type::UUID,
        Kind::Integer => Type::INT8,
        Kind::Number => Type::INT4,
        Kind::Flag => Type::BOOL,
        Kind::Text => Type::TEXT,
        Kind::Bytes => Type::BYTEA,
    }
}

fn read_values(table: &Table, row: &BinaryCopyOutRow) -> Result<Values, Failure> {
    let read = |(index, (_, kind)): (usize, &(&str, Kind))| -> Result<Value, Failure> {
        let value = match kind {
            Kind::Id => {
                let id = row.try_get::<Option<Uuid>>(index)?;
                id.map(|id| Value::Id(id.into_bytes()))
            }
            Kind::Integer => row.try_get::<Option<i64>>(index)?.map(Value::Integer),
            Kind::Number => {
                row.try_get::<Option<i32>>(index)?.map(|number| Value::Integer(number.into()))
            }
            Kind::Flag => row.try_get::<Option<bool>>(index)?.map(Value::Flag),
            Kind::Text => row.try_get::<Option<String>>(index)?.map(Value::Text),
            Kind::Bytes => row.try_get::<Option<Vec<u8>>>(index)?.map(Value::Bytes),
        };
        Ok(value.unwrap_or(Value::Null))
    };
    table.columns.iter().enumerate().map(read).collect()
}

async fn receive_all(
    client: &Client,
    mut batches: Receiver<Result<Batch, ()>>,
) -> Result<(), CopyError> {
    client.batch_execute("BEGIN; SET LOCAL synchronous_commit = on").await?;
    let filled = "SELECT 1 FROM account UNION ALL SELECT 1 FROM entry LIMIT 1";
    if !client.query_typed(filled, &[]).await?.is_empty() {
        return Err(CopyError::NotEmpty);
    }
    let has_no_indexes = drop_indexes(client).await?;
    let mut open: Option<Open> = None;
    while let Some(batch) = batches.recv().await {
        let Ok(Batch { table, rows }) = batch else {
            return Ok(());
        };
        if table.name == "secret" {
            insert_secrets(client, &rows).await?;
            continue;
        }
        let mut writer = match open.take() {
            Some(writer) if writer.table.name == table.name => writer,
            last => {
                if let Some(mut last) = last {
                    last.writer.as_mut().finish().await?;
                }
                Open::begin(client, table).await?
            }
        };
        writer.write(&rows).await?;
        open = Some(writer);
    }
    if let Some(mut last) = open {
        last.writer.as_mut().finish().await?;
    }
    if has_no_indexes {
        client.batch_execute(CREATE_INDEXES).await?;
    }
    client.batch_execute("INSERT INTO purse (account) SELECT id FROM account; COMMIT").await?;
    client.batch_execute("ANALYZE").await?;
    Ok(())
}

/// Drops the indexes until the end of the copy. Returns `false` if they cannot be dropped: the role
/// does not own the table, another database session uses the table, or the database server cannot
/// drop a primary key.
async fn drop_indexes(client: &Client) -> Result<bool, Failure> {
    let Err(failure) = client.batch_execute(DROP_INDEXES).await.map_err(Failure::from) else {
        return Ok(true);
    };
    if !failure.is_answer() {
        return Err(failure);
    }
    client.batch_execute("ROLLBACK TO SAVEPOINT has_indexes").await?;
    Ok(false)
}

/// Adds the check hashes that the database does not have yet. A check hash shows whether a secret
/// is the right one. The migration has already stored the check hashes of this process's secrets.
async fn insert_secrets(client: &Client, rows: &[Values]) -> Result<(), CopyError> {
    let insert = "INSERT INTO secret (id, check_hash) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
    for row in rows {
        let [Value::Integer(id), Value::Bytes(check_hash)] = &row[..] else {
            return Err(unreadable("a secret's number and hash").into());
        };
        let id = i32::try_from(*id).map_err(|_| unreadable("a secret's number"))?;
        let values: [(&(dyn ToSql + Sync), Type); 2] =
            [(&id, Type::INT4), (check_hash, Type::BYTEA)];
        client.execute_typed(insert, &values).await?;
    }
    Ok(())
}

/// The table that is being written, and its writer.
struct Open {
    table: &'static Table,
    writer: std::pin::Pin<Box<BinaryCopyInWriter>>,
}

impl Open {
    async fn begin(client: &Client, table: &'static Table) -> Result<Self, CopyError> {
        let statement =
            format!("COPY {} ({}) FROM STDIN (FORMAT binary)", table.name, table.column_list());
        let sink: CopyInSink<_> = client.copy_in(&statement).await?;
        let types: Vec<Type> = table.columns.iter().map(|(_, kind)| type_of(*kind)).collect();
        Ok(Self { table, writer: Box::pin(BinaryCopyInWriter::new(sink, &types)) })
    }

    async fn write(&mut self, rows: &[Values]) -> Result<(), CopyError> {
        for row in rows {
            let values = row.iter().zip(self.table.columns);
            let values: Result<Vec<Box<dyn ToSql + Sync + Send>>, Failure> =
                values.map(|(value, (_, kind))| stored(value, *kind)).collect();
            let values = values?;
            let values: Vec<&(dyn ToSql + Sync)> =
                values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
            self.writer.as_mut().write(&values).await?;
        }
        Ok(())
    }
}

/// Returns a value in the type in which PostgreSQL stores it.
fn stored(value: &Value, kind: Kind) -> Result<Box<dyn ToSql + Sync + Send + '_>, Failure> {
    Ok(match (kind, value) {
        (Kind::Id, Value::Id(bytes)) => Box::new(Uuid::from_bytes(*bytes)),
        (Kind::Id, Value::Null) => Box::new(None::<Uuid>),
        (Kind::Integer, Value::Integer(number)) => Box::new(*number),
        (Kind::Integer, Value::Null) => Box::new(None::<i64>),
        (Kind::Number, Value::Integer(number)) => {
            Box::new(i32::try_from(*number).map_err(|_| unreadable("a secret's number"))?)
        }
        (Kind::Number, Value::Null) => Box::new(None::<i32>),
        (Kind::Flag, Value::Flag(is_set)) => Box::new(*is_set),
        (Kind::Flag, Value::Null) => Box::new(None::<bool>),
        (Kind::Text, Value::Text(text)) => Box::new(text.as_str()),
        (Kind::Text, Value::Null) => Box::new(None::<&str>),
        (Kind::Bytes, Value::Bytes(bytes)) => Box::new(bytes.as_slice()),
        (Kind::Bytes, Value::Null) => Box::new(None::<&[u8]>),
        _ => return Err(unreadable("of its column's kind")),
    })
}
