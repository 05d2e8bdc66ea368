//! Checks whether `secret.key` belongs to a database. A database contains keyed hashes. For each
//! secret that is the key of such hashes, it also records a check hash. The check hashes are
//! compared with the secrets in `secret.key`.

use std::path::Path;

use enrich_secrets::{SECRET_FILE, Secret, SecretError, Secrets};
use enrich_store_ledger::{self as ledger, LEDGER};
use enrich_store_sqlite::{self as sqlite, Database, Durability, OpenError};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

/// Stores two things in a new ledger: the check hashes of the secrets, and the seal (a keyed hash
/// of the ledger's rows).
pub(crate) fn begin_ledger(path: &Path, secrets: &Secrets) -> Result<(), OpenError> {
    let new: Vec<&Secret> = secrets.newest_first().collect();
    let noted =
        sqlite::writer(path, Durability::Commit).and_then(|file| note(file, &new, secrets, true));
    noted.map_err(|source| OpenError::of_sqlite(path, source))
}

/// Checks that the databases of a folder were made with these secrets. If `secrets` contains new
/// secrets, stores their check hashes in the databases.
pub(crate) fn match_and_record(
    folder: &Path,
    secrets: &Secrets,
    databases: &[Database],
) -> Result<(), OpenError> {
    let mut unknown = Vec::new();
    for database in databases {
        unknown.push((folder.join(database.file), compare(folder, database, secrets)?));
    }
    for (path, new) in unknown.iter().filter(|(_, new)| !new.is_empty()) {
        let noted = sqlite::writer(path, Durability::Commit)
            .and_then(|file| note(file, new, secrets, path.ends_with(LEDGER.file)));
        noted.map_err(|source| OpenError::of_sqlite(path, source))?;
    }
    Ok(())
}

/// Returns the secrets that a database of a folder has not recorded yet. Writes nothing.
///
/// # Errors
///
/// When a recorded secret is missing in `secret.key` or differs there, and when the database cannot
/// be read.
pub(crate) fn compare<'a>(
    folder: &Path,
    database: &Database,
    secrets: &'a Secrets,
) -> Result<Vec<&'a Secret>, OpenError> {
    let path = folder.join(database.file);
    unrecorded(&path, database, secrets).map_err(|error| match error {
        CompareError::Read(source) => OpenError::of_sqlite(&path, source),
        CompareError::Secret(source) => {
            OpenError::Secret { path: folder.join(SECRET_FILE), source }
        }
    })
}

/// Why the secrets of a database could not be compared with `secret.key`.
#[derive(Debug, thiserror::Error)]
enum CompareError {
    /// The database cannot be read.
    #[error(transparent)]
    Read(#[from] rusqlite::Error),
    /// A recorded secret is missing in `secret.key`, or differs there.
    #[error(transparent)]
    Secret(#[from] SecretError),
}

/// Returns the secrets that a database has not recorded yet. Returns an error if a recorded secret
/// is missing in `secret.key`, or differs there.
fn unrecorded<'a>(
    path: &Path,
    database: &Database,
    secrets: &'a Secrets,
) -> Result<Vec<&'a Secret>, CompareError> {
    let connection = sqlite::reader(path)?;
    let mut new = Vec::new();
    for secret in secrets.newest_first() {
        let noted: Option<[u8; 32]> = connection
            .query_row("SELECT check_hash FROM secret WHERE id = ?1", [secret.id()], |row| {
                row.get(0)
            })
            .optional()?;
        match noted {
            None => new.push(secret),
            Some(noted) if noted != secret.check_hash() => {
                let (id, database) = (secret.id(), database.name);
                return Err(SecretError::Different { id, database }.into());
            }
            Some(_) => {}
        }
    }
    let mut statement = connection.prepare("SELECT id FROM secret")?;
    let mut ids = statement.query([])?;
    while let Some(row) = ids.next()? {
        let id = row.get(0)?;
        if secrets.with_id(id).is_none() {
            return Err(SecretError::Missing { id, database: database.name }.into());
        }
    }
    Ok(new)
}

/// Stores the check hashes of new secrets in a database. In a new ledger, also stores its seal: a
/// keyed hash that shows later whether ledger rows were removed or reordered.
fn note(
    mut connection: Connection,
    new: &[&Secret],
    secrets: &Secrets,
    is_ledger: bool,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let is_new = !transaction.prepare("SELECT 1 FROM secret")?.exists([])?;
    for secret in new {
        transaction.execute(
            "INSERT INTO secret (id, check_hash) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            (secret.id(), secret.check_hash()),
        )?;
    }
    if is_ledger && is_new {
        ledger::begin(&transaction, secrets)?;
    }
    transaction.commit()
}
