//! The schema. The owner of the database creates and upgrades it; every node checks it.

use enrich_secrets::{SecretError, Secrets};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, IsolationLevel};

use crate::connect::Connector;
use crate::failure::Failure;
use crate::open_error::OpenError;

mod migrations {
    refinery::embed_migrations!("migrations");
}

/// The name of the ledger's database in error messages.
const LEDGER: &str = "ledger";
const VERSION: &str = "SELECT max(version) FROM refinery_schema_history";
const SECRET: &str = "SELECT check_hash FROM secret WHERE id = $1";

/// Creates or upgrades the schema. Stores a check hash of each secret; every node compares it
/// with the check hash of its own secret. Returns the number of migrations that ran.
pub(crate) async fn migrate(connector: &Connector, secrets: &Secrets) -> Result<usize, OpenError> {
    let mut connection = connector.connect().await?;
    let runner = migrations::migrations::runner().set_grouped(true);
    let newest = newest_known();
    if let Some(found) = version(&connection.client).await?
        && found > newest
    {
        return Err(OpenError::NewerSchema { found, known: newest });
    }
    let report = runner.run_async(&mut connection.client).await;
    let report = report.map_err(|error| OpenError::Schema(Box::new(error)))?;
    // This transaction writes all rows of the tables `state` and `secret`, or none of them. It
    // locks the only row of `state`. So another process that runs this migration at the same time
    // must wait.
    let builder = connection.client.build_transaction();
    let transaction = builder.isolation_level(IsolationLevel::ReadCommitted).start().await?;
    let begin = "INSERT INTO state (id, mode, key_changes, kept, snapshot, forgotten, lineage)
                 VALUES (1, 'serving', 0, 0, 0, 0, gen_random_uuid()) ON CONFLICT (id) DO NOTHING";
    transaction.execute_typed(begin, &[]).await?;
    transaction.batch_execute("SELECT id FROM state WHERE id = 1 FOR UPDATE").await?;
    for secret in secrets.newest_first() {
        let insert = "INSERT INTO secret (id, check_hash) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        let (id, check_hash) = (column_id(secret.id())?, secret.check_hash());
        let values: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 2] =
            [(&id, Type::INT4), (&&check_hash[..], Type::BYTEA)];
        transaction.execute_typed(insert, &values).await?;
    }
    transaction.commit().await?;
    check_secrets(&connection.client, secrets).await?;
    Ok(report.applied_migrations().len())
}

/// Checks that the schema has the version that this build needs, and that the database was created
/// with these secrets.
pub(crate) async fn check(client: &Client, secrets: &Secrets) -> Result<(), OpenError> {
    let known = newest_known();
    match version(client).await? {
        None => return Err(OpenError::NoSchema),
        Some(found) if found < known => return Err(OpenError::OlderSchema { found, known }),
        Some(found) if found > known => return Err(OpenError::NewerSchema { found, known }),
        Some(_) => {}
    }
    check_secrets(client, secrets).await
}

/// Returns the version of the newest migration in this build.
pub(crate) fn newest_known() -> i32 {
    let runner = migrations::migrations::runner();
    let versions = runner.get_migrations().iter().map(|migration| migration.version());
    versions.max().unwrap_or_default()
}

/// Returns the version of the database's schema; `None` if the database has no schema.
pub(crate) async fn version(client: &Client) -> Result<Option<i32>, Failure> {
    match client.query_typed(VERSION, &[]).await {
        Ok(rows) => match rows.first() {
            Some(row) => Ok(row.try_get(0)?),
            None => Ok(None),
        },
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Checks that `secrets` contains every secret whose number is in the database, and that the
/// check hash of each secret equals the stored check hash.
async fn check_secrets(client: &Client, secrets: &Secrets) -> Result<(), OpenError> {
    for row in client.query_typed("SELECT id FROM secret", &[]).await? {
        let id: i32 = row.try_get(0)?;
        let known = u32::try_from(id).ok().and_then(|id| secrets.with_id(id));
        let id = id.unsigned_abs();
        let secret = known.ok_or(SecretError::Missing { id, database: LEDGER })?;
        let column = column_id(id)?;
        let rows = client.query_typed(SECRET, &[(&column, Type::INT4)]).await?;
        let stored = rows.first().map(|row| row.try_get::<_, &[u8]>(0)).transpose()?;
        if stored != Some(&secret.check_hash()[..]) {
            return Err(SecretError::Different { id, database: LEDGER }.into());
        }
    }
    Ok(())
}

fn column_id(id: u32) -> Result<i32, OpenError> {
    i32::try_from(id).map_err(|_| OpenError::SecretNumber(id))
}
