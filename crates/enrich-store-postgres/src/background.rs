//! A connection for writes that may be lost: heartbeats, renewals of job leases, rate-limit counts,
//! counts of missed names (names that look-ups did not find), and the removal of expired rows. Its
//! commits wait neither for the disk nor for the standby, so a crash of the primary or a failover
//! may lose the last commits.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join3;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_postgres::{Client, Row};

use crate::columns::Value;
use crate::connect::Connection;
use crate::database::Connections;
use crate::failure::Failure;

const BEGIN: &str = "BEGIN; SET LOCAL synchronous_commit = off; SET LOCAL lock_timeout = '1s'";

/// A connection for background work. Its last commits may be lost. It is opened when it is needed,
/// and runs one statement at a time.
pub(crate) struct Background {
    connections: Arc<Connections>,
    connection: Mutex<Option<Connection>>,
    timeout: Duration,
}

impl Background {
    /// Returns a connection that is not open yet. `timeout` is the time limit for a statement; it
    /// does not include the time for connecting.
    pub(crate) fn new(connections: Arc<Connections>, timeout: Duration) -> Self {
        Self { connections, connection: Mutex::default(), timeout }
    }

    /// Runs one statement in its own transaction, in one round trip.
    ///
    /// If the failure [loses the connection](Failure::loses_connection), it is unknown whether the
    /// transaction was committed.
    pub(crate) async fn query(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, Failure> {
        let mut shared = self.connection.lock().await;
        // The connection is taken out of the shared slot. If this call is cancelled, the
        // connection is dropped, which closes it. So nobody reuses a connection with an open
        // transaction.
        let connection = match shared.take() {
            Some(connection) if !connection.client.is_closed() => connection,
            _ => self.connections.connect().await?,
        };
        let result = timeout(self.timeout, transact(&connection.client, statement, values)).await;
        let result = result.unwrap_or(Err(Failure::TimedOut));
        if !result.as_ref().is_err_and(Failure::loses_connection) {
            *shared = Some(connection);
        }
        result
    }
}

/// Sends `BEGIN`, the statement and `COMMIT` in one round trip. PostgreSQL answers them in this
/// order. If the statement failed, `COMMIT` rolls the transaction back.
async fn transact(
    client: &Client,
    statement: &str,
    values: &[Value<'_>],
) -> Result<Vec<Row>, Failure> {
    let begin = client.batch_execute(BEGIN);
    let query = client.query_typed(statement, values);
    let (begun, rows, committed) = join3(begin, query, client.batch_execute("COMMIT")).await;
    begun?;
    let rows = rows?;
    committed?;
    Ok(rows)
}
