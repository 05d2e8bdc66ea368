//! A connection for the node's own work, such as its heartbeat: nothing that a caller was told
//! depends on it, so its commits do not wait for the standby.

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

/// The connection. It is opened when it is needed, and runs one statement at a time.
pub(crate) struct Background {
    connections: Arc<Connections>,
    connection: Mutex<Option<Connection>>,
    timeout: Duration,
}

impl Background {
    /// For a task of the store's thread. A statement may take as long as `timeout`, not counting
    /// the time for connecting.
    pub(crate) fn new(connections: Arc<Connections>, timeout: Duration) -> Self {
        Self { connections, connection: Mutex::default(), timeout }
    }

    /// Runs one statement in a transaction of its own. One round trip.
    ///
    /// It is not known whether it was committed if the failure
    /// [loses the connection](Failure::loses_connection).
    pub(crate) async fn query(
        &self,
        statement: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, Failure> {
        let mut shared = self.connection.lock().await;
        // Taken out, so that the connection is closed when the statement is broken off.
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

/// Sends all three at once; they are answered in order. `COMMIT` rolls back what failed.
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
