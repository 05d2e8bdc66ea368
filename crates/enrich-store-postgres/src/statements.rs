//! Short forms of statements, for the rows that they give, and changes that are repeated once.

use std::sync::Arc;

use enrich_core::AccountId;
use enrich_core::port::error::StoreError;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use crate::columns::Value;
use crate::database::{Database, Statements};
use crate::failure::Failure;

/// The first row of a query; `None` when there is none.
pub(crate) async fn find<T>(
    client: &Client,
    query: &str,
    values: &[Value<'_>],
    read: impl Fn(&Row) -> Result<T, Failure> + Send,
) -> Result<Option<T>, Failure> {
    client.query_typed(query, values).await?.first().map(read).transpose()
}

/// All rows of a query.
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

/// Locks the row of an account until the transaction ends; `false` if it does not exist.
///
/// Changes of several rows of one account lock it first, so that they run one after the other.
pub(crate) async fn lock_account(client: &Client, id: AccountId) -> Result<bool, Failure> {
    let lock = "SELECT 1 FROM account WHERE id = $1 FOR UPDATE";
    Ok(!client.query_typed(lock, &[(&id.0, Type::UUID)]).await?.is_empty())
}

/// Makes a change as [`Database::write`] does, and makes it once more if the reply is lost.
///
/// # Errors
///
/// [`StoreError::Unknown`] when the second attempt fails too.
pub(crate) async fn write_again<T: Send + 'static>(
    database: &Database,
    change: impl for<'c> Fn(&'c Client) -> Statements<'c, T> + Send + Sync + 'static,
) -> Result<T, StoreError> {
    let change = Arc::new(change);
    let again = Arc::clone(&change);
    match database.write(move |client| change(client)).await {
        Err(unknown @ StoreError::Unknown(_)) => {
            // A failure of the second attempt says nothing of the first.
            database.write(move |client| again(client)).await.map_err(|_| unknown)
        }
        result => result,
    }
}
