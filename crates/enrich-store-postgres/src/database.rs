//! Reads from the database, and changes it in transactions, for the ports (the traits through which
//! the core uses the store).
//!
//! Statements are unnamed (`query_typed`, `execute_typed`), and settings apply only to their
//! transaction. So the statements also work through a pooler that gives each transaction another
//! connection.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use enrich_core::port::error::StoreError;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;
use tokio_postgres::Client;

use crate::connect::{ConnectError, Connection, Connector};
use crate::failure::Failure;
use crate::runtime::Runtime;

/// Time limit for one attempt of a read or a change.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of attempts to make a change. A change is attempted again if its transaction
/// conflicts with another transaction, or if the connection is lost before the commit.
const ATTEMPTS: u32 = 5;
/// Maximum number of reads that run at the same time. A further read waits. If it still waits after
/// [`TIMEOUT`], it is refused.
const READS: usize = 64;
/// Begins a transaction. The commit waits until the standby has the changes. A statement waits for
/// a lock for at most two seconds. If this node loses its connection during the transaction,
/// PostgreSQL ends the transaction after five seconds, which releases its locks.
pub(crate) const BEGIN: &str = "BEGIN; SET LOCAL synchronous_commit = on; \
     SET LOCAL lock_timeout = '2s'; SET LOCAL idle_in_transaction_session_timeout = '5s'";

/// The SQL statements of one operation on the database, as a future. If the connection fails, the
/// operation runs again. So running it twice must do the same as running it once.
pub(crate) type Statements<'c, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'c>>;

/// Reads and changes the database. The clones of a `Database` share its connections.
#[derive(Clone)]
pub(crate) struct Database {
    connections: Arc<Connections>,
    runtime: Arc<Runtime>,
}

/// The connections of a store. They are used by the tasks of the [`Runtime`], on its thread.
pub(crate) struct Connections {
    connector: Connector,
    /// The connection that all reads share. Its statements are answered in order.
    reading: Mutex<Option<Arc<Connection>>>,
    /// The number of connections that were opened for reads so far. It grows when a connection for
    /// reads is replaced.
    readers: AtomicU64,
    reads: Semaphore,
    /// The connection for changes. Only one change runs at a time.
    changing: Mutex<Option<Connection>>,
}

/// Why a transaction was not committed, or may not have been committed.
enum NotCommitted {
    /// It is certain that nothing was written.
    RolledBack(Failure),
    /// It is unknown whether the change is durable: for example, because the reply to `COMMIT` was
    /// lost or late, or because PostgreSQL stopped waiting for the standby.
    InDoubt(Failure),
}

impl Database {
    /// Returns a database whose connections are opened when they are needed.
    pub(crate) fn new(connector: Connector, runtime: Arc<Runtime>) -> Self {
        let connections = Connections {
            connector,
            reading: Mutex::default(),
            readers: AtomicU64::new(0),
            reads: Semaphore::new(READS),
            changing: Mutex::default(),
        };
        Self { connections: Arc::new(connections), runtime }
    }

    /// Returns the runtime, whose single thread runs the tasks of the database.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the connections, for a task of the runtime. Such a task must not own a `Database`,
    /// because the runtime's thread ends only when the last `Database` is dropped.
    pub(crate) fn connections(&self) -> Arc<Connections> {
        Arc::clone(&self.connections)
    }

    /// Runs the statements of a read on the shared connection. If the connection is lost, runs them
    /// once more on a new connection. If an attempt exceeds the time limit, the read fails without
    /// a second attempt, and the next read opens a new connection.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl for<'c> Fn(&'c Client) -> Statements<'c, T> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        let connections = self.connections();
        let reading = async move { connections.read(&read).await };
        Ok(self.runtime.run(reading).await.map_err(StoreError::failed)??)
    }

    /// Runs `change` in a transaction. Returns when the change is durable.
    ///
    /// If the transaction was certainly rolled back, by a conflict with other transactions or a
    /// lost connection, the statements run again. So `change` must have the same result if it runs
    /// twice.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unknown`] when the reply to `COMMIT` is lost, or when PostgreSQL has stopped
    /// waiting for the standby.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        change: impl for<'c> Fn(&'c Client) -> Statements<'c, T> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        let connections = self.connections();
        let changing = async move { connections.write(&change).await };
        self.runtime.run(changing).await.map_err(StoreError::failed)?
    }
}

impl Connections {
    /// Opens a connection that only the caller uses.
    pub(crate) async fn connect(&self) -> Result<Connection, ConnectError> {
        self.connector.connect().await
    }

    /// Runs the statements of a read, as [`Database::read`] does, but in the task of the caller. If
    /// [`READS`] other reads are running, first waits until one of them has ended, for at most
    /// [`TIMEOUT`].
    pub(crate) async fn read<T>(
        &self,
        read: &(impl for<'c> Fn(&'c Client) -> Statements<'c, T> + Sync),
    ) -> Result<T, Failure> {
        let waited = timeout(TIMEOUT, self.reads.acquire()).await;
        let _permit = waited.map_err(|_| Failure::Store(StoreError::Overloaded))?;
        self.read_within(TIMEOUT, read).await
    }

    /// Runs the statements of a read, as [`Database::read`] does, but without a limit on the number
    /// of reads, and with `limit` as the time limit of each attempt.
    pub(crate) async fn read_within<T>(
        &self,
        limit: Duration,
        read: &(impl for<'c> Fn(&'c Client) -> Statements<'c, T> + Sync),
    ) -> Result<T, Failure> {
        let mut is_first = true;
        loop {
            let connection = self.reading().await?;
            let failure = match timeout(limit, read(&connection.client)).await {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(failure)) => failure,
                Err(_) => Failure::TimedOut,
            };
            if !failure.loses_connection() {
                return Err(failure);
            }
            self.discard(&connection).await;
            if !is_first || matches!(failure, Failure::TimedOut) {
                return Err(failure);
            }
            is_first = false;
        }
    }

    /// Returns the connection that all reads share. Opens a new one if there is none, or if it is
    /// closed.
    async fn reading(&self) -> Result<Arc<Connection>, ConnectError> {
        let mut reading = self.reading.lock().await;
        if let Some(connection) = &*reading
            && !connection.client.is_closed()
        {
            return Ok(Arc::clone(connection));
        }
        let connection = Arc::new(self.connector.connect().await?);
        self.readers.fetch_add(1, Ordering::AcqRel);
        *reading = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Returns the number of connections that were opened for reads so far. If the number has
    /// grown, reads use a new connection, which may lead to another primary.
    pub(crate) fn reader_generation(&self) -> u64 {
        self.readers.load(Ordering::Acquire)
    }

    /// Stops sharing `connection`, so that the next read opens a new one. Does nothing if the reads
    /// already share another connection.
    async fn discard(&self, connection: &Arc<Connection>) {
        let mut reading = self.reading.lock().await;
        if reading.as_ref().is_some_and(|shared| Arc::ptr_eq(shared, connection)) {
            *reading = None;
        }
    }

    /// Runs `change` in a transaction, as [`Database::write`] does, but in the task of the caller.
    pub(crate) async fn write<T>(
        &self,
        change: &(impl for<'c> Fn(&'c Client) -> Statements<'c, T> + Sync),
    ) -> Result<T, StoreError> {
        let mut changing = self.changing.lock().await;
        let mut attempt = 1;
        loop {
            // The connection is taken out of the shared slot. If this call is cancelled, the
            // connection is dropped, which closes it. So nobody reuses a connection with an open
            // transaction.
            let connection = match changing.take() {
                Some(connection) if !connection.client.is_closed() => connection,
                _ => self.connector.connect().await.map_err(Failure::from)?,
            };
            match transact(&connection, change).await {
                Ok(value) => {
                    *changing = Some(connection);
                    return Ok(value);
                }
                Err(NotCommitted::InDoubt(failure)) => {
                    return Err(StoreError::Unknown(Box::new(failure)));
                }
                Err(NotCommitted::RolledBack(failure)) => {
                    if !failure.loses_connection() {
                        *changing = Some(connection);
                    }
                    let may_repeat = failure.is_conflict() || failure.loses_connection();
                    if !may_repeat || attempt == ATTEMPTS {
                        return Err(failure.into());
                    }
                    attempt += 1;
                }
            }
        }
    }
}

/// Runs a change between `BEGIN` and `COMMIT`.
async fn transact<T>(
    connection: &Connection,
    change: &(impl for<'c> Fn(&'c Client) -> Statements<'c, T> + Sync),
) -> Result<T, NotCommitted> {
    let client = &connection.client;
    let statements = async {
        client.batch_execute(BEGIN).await?;
        change(client).await
    };
    let value = match timeout(TIMEOUT, statements).await {
        Ok(Ok(value)) => value,
        Ok(Err(failure)) => {
            if !failure.loses_connection() {
                let rollback = timeout(TIMEOUT, client.batch_execute("ROLLBACK")).await;
                let rolled_back = rollback.map_err(|_| Failure::TimedOut);
                let rolled_back = rolled_back.and_then(|sent| Ok(sent?));
                rolled_back.map_err(NotCommitted::RolledBack)?;
            }
            return Err(NotCommitted::RolledBack(failure));
        }
        Err(_) => return Err(NotCommitted::RolledBack(Failure::TimedOut)),
    };
    let warnings = connection.warnings();
    match timeout(TIMEOUT, client.batch_execute("COMMIT")).await {
        Ok(Ok(())) if connection.warnings() == warnings => Ok(value),
        // PostgreSQL has warned that it stopped waiting for the standby. The change may be lost if
        // the primary fails.
        Ok(Ok(())) => Err(NotCommitted::InDoubt(Failure::TimedOut)),
        Ok(Err(error)) => {
            let failure = Failure::from(error);
            let is_certain = failure.is_conflict();
            Err(if is_certain {
                NotCommitted::RolledBack(failure)
            } else {
                NotCommitted::InDoubt(failure)
            })
        }
        Err(_) => Err(NotCommitted::InDoubt(Failure::TimedOut)),
    }
}
