//! Runs statements and reads their results. Repeats changes until their outcome is known.

use std::sync::Arc;
use std::time::{Duration, Instant};

use enrich_core::AccountId;
use enrich_core::port::error::StoreError;
use tokio::time::sleep;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::Value;
use crate::database::{Database, Statements};
use crate::failure::Failure;

/// Time limit for repeating a change after its reply was lost.
const SETTLING: Duration = Duration::from_secs(8);
/// Pause between two attempts to make a change.
const PAUSE: Duration = Duration::from_millis(200);

/// Returns the first row of a query; `None` if there is no row.
pub(crate) async fn find<T>(
    client: &Client,
    query: &str,
    values: &[Value<'_>],
    read: impl Fn(&Row) -> Result<T, Failure> + Send,
) -> Result<Option<T>, Failure> {
    client.query_typed(query, values).await?.first().map(read).transpose()
}

/// Returns all rows of a query.
pub(crate) async fn list<T>(
    client: &Client,
    query: &str,
    values: &[Value<'_>],
    read: impl Fn(&Row) -> Result<T, Failure> + Send,
) -> Result<Vec<T>, Failure> {
    client.query_typed(query, values).await?.iter().map(read).collect()
}

/// Runs a statement and returns the number of rows that it changed.
pub(crate) async fn run(
    client: &Client,
    statement: &str,
    values: &[Value<'_>],
) -> Result<u64, Failure> {
    Ok(client.execute_typed(statement, values).await?)
}

/// Locks the row of an account until the transaction ends. Returns `false` if the account does not
/// exist.
///
/// Call this before every change of several rows of an account, so that such changes run one after
/// the other.
pub(crate) async fn lock_account(client: &Client, id: AccountId) -> Result<bool, Failure> {
    let lock = "SELECT 1 FROM account WHERE id = $1 FOR UPDATE";
    Ok(!client.query_typed(lock, &[(&id.0, Type::UUID)]).await?.is_empty())
}

/// Runs `change` in a transaction, as [`Database::write`] does. If the reply is lost, repeats the
/// change until a reply arrives, for at most [`SETTLING`].
///
/// # Errors
///
/// [`StoreError::Unknown`] when the outcome is still unknown after [`SETTLING`].
pub(crate) async fn write_and_settle<T: Send + 'static>(
    database: &Database,
    change: impl for<'c> Fn(&'c Client) -> Statements<'c, T> + Send + Sync + 'static,
) -> Result<T, StoreError> {
    let change = Arc::new(change);
    let attempt = || {
        let change = Arc::clone(&change);
        database.write(move |client| change(client))
    };
    let unknown = match attempt().await {
        Err(unknown @ StoreError::Unknown(_)) => unknown,
        result => return result,
    };
    let began = Instant::now();
    while began.elapsed() < SETTLING {
        // An error of a later attempt is ignored, because it does not show whether the first
        // attempt was written.
        if let Ok(value) = attempt().await {
            return Ok(value);
        }
        let pause = database.runtime().run(async { sleep(PAUSE).await });
        pause.await.map_err(StoreError::failed)?;
    }
    Err(unknown)
}
