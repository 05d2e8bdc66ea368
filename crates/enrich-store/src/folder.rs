//! The data folder itself: what makes one new, complete, or neither.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::error::OpenError;
use crate::secret::{self, Purpose, Secret, SecretError, Secrets};
use crate::sqlite::{self, DIRECTORY, Durability, LEDGER};

/// The files of a data folder. The order is that in which they are made: the ledger, without which
/// the others are worth little, comes last.
const FILES: [&str; 3] = [secret::FILE, DIRECTORY.file, LEDGER.file];

/// What an empty file system brings along.
const LOST_AND_FOUND: &str = "lost+found";

/// Whether a folder is new: not there, or empty. One that is neither new nor complete is refused.
pub(crate) fn is_new(folder: &Path) -> Result<bool, OpenError> {
    let unusable = |source: io::Error| OpenError::unusable(folder, source);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(unusable(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(unusable)?.file_name();
        if name != OsStr::new(LOST_AND_FOUND) {
            names.push(name);
        }
    }
    let is_missing = |file: &&&str| !names.iter().any(|name| name.as_os_str() == OsStr::new(file));
    let missing: Vec<&str> = FILES.iter().filter(is_missing).copied().collect();
    let is_left_over = |name: &&std::ffi::OsString| {
        name.to_str().is_some_and(|name| FILES.iter().any(|file| name.starts_with(file)))
    };
    if missing.is_empty() {
        Ok(false)
    } else if names.is_empty() {
        Ok(true)
    } else if names.iter().any(|name| is_left_over(&name)) {
        // A write-ahead log alone counts too: its database was here.
        Err(OpenError::Incomplete { folder: folder.into(), missing: missing.join(", ") })
    } else {
        Err(OpenError::NotOurs { folder: folder.into() })
    }
}

/// Makes a new folder and its files. What fails half-way leaves a folder that is refused as
/// incomplete.
pub(crate) fn create(folder: &Path) -> Result<Secrets, OpenError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|source| OpenError::unusable(folder, source))?;
    let path = folder.join(secret::FILE);
    let secrets = Secrets::create(&path);
    let secrets = secrets.map_err(|source| OpenError::Secret { path, source })?;
    for database in [DIRECTORY, LEDGER] {
        sqlite::create(&folder.join(database.file), &database)?;
    }
    // The names of the files have to outlive a power failure as well.
    #[cfg(unix)]
    fs::File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|source| OpenError::unusable(folder, source))?;
    Ok(secrets)
}

/// Makes sure that the ledger was made with these secrets, and notes the new ones among them.
pub(crate) fn match_secrets(folder: &Path, secrets: &Secrets) -> Result<(), OpenError> {
    let ledger = folder.join(LEDGER.file);
    let failed = |source| OpenError::of_sqlite(&ledger, source);
    let mut connection = sqlite::writer(&ledger, Durability::Commit).map_err(failed)?;
    let (new, wrong) = compare(&connection, secrets).map_err(failed)?;
    if let Some(source) = wrong {
        return Err(OpenError::Secret { path: folder.join(secret::FILE), source });
    }
    if !new.is_empty() {
        note(&mut connection, &new).map_err(failed)?;
    }
    Ok(())
}

/// The secrets that the ledger does not know yet, and what is wrong with those it does.
fn compare<'a>(
    connection: &Connection,
    secrets: &'a Secrets,
) -> rusqlite::Result<(Vec<&'a Secret>, Option<SecretError>)> {
    let mut new = Vec::new();
    for secret in secrets.newest_first() {
        let noted: Option<[u8; 32]> = connection
            .query_row("SELECT check_hash FROM secret WHERE id = ?1", [secret.id()], |row| {
                row.get(0)
            })
            .optional()?;
        match noted {
            None => new.push(secret),
            Some(noted) if noted != check_hash(secret) => {
                return Ok((new, Some(SecretError::Different { id: secret.id() })));
            }
            Some(_) => {}
        }
    }
    let mut statement = connection.prepare("SELECT id FROM secret")?;
    let mut ids = statement.query([])?;
    while let Some(row) = ids.next()? {
        let id = row.get(0)?;
        if secrets.with_id(id).is_none() {
            return Ok((new, Some(SecretError::Missing { id })));
        }
    }
    Ok((new, None))
}

fn note(connection: &mut Connection, new: &[&Secret]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for secret in new {
        transaction.execute(
            "INSERT INTO secret (id, check_hash) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            (secret.id(), check_hash(secret)),
        )?;
    }
    transaction.commit()
}

fn check_hash(secret: &Secret) -> [u8; 32] {
    secret.hash(Purpose::Check, &[])
}
