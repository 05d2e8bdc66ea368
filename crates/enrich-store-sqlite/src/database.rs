//! Opens databases: connections, their settings, and the schema.
//!
//! The number `application_id` in the header of a file shows which database the file is. So a file
//! of another program is refused before anything is written to it. If `ledger.sqlite` and
//! `directory.sqlite` are exchanged, each is refused in the same way. The schema is migrated in one
//! transaction. A database with a newer schema is refused.

use std::path::{Path, PathBuf};
use std::time::Duration;

use enrich_core::port::error::StoreError;
use refinery::{Runner, error::Kind};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};
use thread_local::ThreadLocal;

use crate::OpenError;
use enrich_secrets::private_file;

/// One of the two databases of a data folder.
#[derive(Clone, Copy, Debug)]
pub struct Database {
    /// The database's name in messages.
    pub name: &'static str,
    /// The file's name in the data folder.
    pub file: &'static str,
    /// The number in the file's header that shows which database the file is (SQLite's
    /// `application_id`).
    pub application_id: i32,
    /// The migrations of the database's schema, in order.
    pub migrations: fn() -> Runner,
}

/// When a commit is certainly on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A commit is on disk before it returns. A power failure loses no commit (`synchronous=FULL`).
    Commit,
    /// A commit is on disk after the next checkpoint of the write-ahead log, or after the next
    /// commit that is synced. A power failure may undo the last commits, each of them completely,
    /// but does not damage the database (`synchronous=NORMAL`).
    Checkpoint,
}

/// The time for which a connection waits for a lock of another connection, before it returns
/// SQLite's error `BUSY`.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The length of the write-ahead log at which a checkpoint copies its content into the database
/// file. The unit is the database page of 4 KiB, so this is 16 MiB. The log contains a page once
/// for each commit that changed it, but a checkpoint copies the page only once. So with a longer
/// log, fewer pages are copied (`docs/performance.md` shows the effect). SQLite's default is a
/// quarter of this length. A much longer log has a disadvantage: after a crash, SQLite reads the
/// whole log when the database is opened.
const CHECKPOINT_PAGES: i64 = 4096;
/// After a large transaction, the write-ahead log is truncated to this length, in bytes: 64 MiB.
const LOG_LIMIT_BYTES: i64 = 64 * 1024 * 1024;
/// Maximum number of bytes of a database file that are mapped into memory for reading. SQLite need
/// not copy mapped pages of the database from the operating system's cache. On systems with 64-bit
/// addresses, this is enough for the whole file. SQLite itself also has a maximum:
/// `SQLITE_MAX_MMAP_SIZE`, which is set when SQLite is compiled.
///
/// If a mapped file became shorter, a read beyond the file's new end would kill the process. Only
/// the checkpoint of a compaction makes the file shorter. This checkpoint waits until all earlier
/// reads have ended, and later reads map the file again. If somebody replaces the data folder, the
/// old file stays mapped and does not change.
const MAPPED_BYTES: i64 = if cfg!(target_pointer_width = "64") { 64 << 30 } else { 0 };
/// Maximum number of prepared statements that one connection keeps in its cache.
const STATEMENT_CACHE: usize = 64;

/// The first version of SQLite in which the WAL-reset bug is fixed; this bug corrupts databases.
const OLDEST_SQLITE: (i32, &str) = (3_051_003, "3.51.3");

/// Returns an error if the linked version of SQLite can corrupt a database with several writers.
pub fn check_version() -> Result<(), OpenError> {
    let (oldest, needed) = OLDEST_SQLITE;
    if rusqlite::version_number() < oldest {
        return Err(OpenError::OldSqlite { found: rusqlite::version(), needed });
    }
    Ok(())
}

/// Creates a database in a new file that only its owner can read and write. Returns an error if the
/// file exists.
pub fn create(path: &Path, database: &Database) -> Result<(), OpenError> {
    let file = private_file().create_new(true).open(path);
    file.map_err(|source| OpenError::unusable(path, source))?;
    let failed = |source| OpenError::of_sqlite(path, source);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    connection.pragma_update(None, "application_id", database.application_id).map_err(failed)?;
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        .map_err(failed)?;
    if mode != "wal" {
        let reason = "this file system cannot hold a database with a write-ahead log";
        return Err(OpenError::unusable(path, reason));
    }
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    migrate(&mut connection, path, database)
}

/// Checks that the file is the expected database, and migrates its schema.
pub fn prepare(path: &Path, database: &Database) -> Result<(), OpenError> {
    let failed = |source| OpenError::of_sqlite(path, source);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    read_schema(&connection, path, database)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    migrate(&mut connection, path, database)?;
    // A copy made by `VACUUM INTO` does not use a write-ahead log yet. Without this log, readers
    // would wait for the writer.
    let mode: String =
        connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(failed)?;
    if mode != "wal" {
        connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
            .map_err(failed)?;
    }
    Ok(())
}

/// Returns an error if the file is not the expected database, or if its schema is not the newest
/// one. Writes nothing.
pub fn refuse_other_schema(path: &Path, database: &Database) -> Result<(), OpenError> {
    let connection = reader(path).map_err(|source| OpenError::of_sqlite(path, source))?;
    let found = read_schema(&connection, path, database)?.unwrap_or_default();
    let known = newest_known(database);
    if found < known {
        return Err(OpenError::OlderSchema { path: path.into(), found, known });
    }
    Ok(())
}

/// Returns the version of the schema. Returns an error if the file is not the expected database, or
/// if its schema is newer than this Enrich.
fn read_schema(
    connection: &Connection,
    path: &Path,
    database: &Database,
) -> Result<Option<i64>, OpenError> {
    let failed = |source| OpenError::of_sqlite(path, source);
    let id: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    if id != database.application_id {
        return Err(OpenError::Foreign { path: path.into(), expected: database.name });
    }
    let (found, known) = (schema_version(connection).map_err(failed)?, newest_known(database));
    match found {
        Some(found) if found > known => {
            Err(OpenError::NewerSchema { path: path.into(), found, known })
        }
        found => Ok(found),
    }
}

/// Opens a connection that can write. The database must have been [created](create) or
/// [prepared](prepare) before.
pub fn writer(path: &Path, durability: Durability) -> rusqlite::Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let synchronous = match durability {
        Durability::Commit => "FULL",
        Durability::Checkpoint => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "journal_size_limit", LOG_LIMIT_BYTES)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    Ok(connection)
}

/// Opens a connection that cannot write.
pub fn reader(path: &Path) -> rusqlite::Result<Connection> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Opens a connection that cannot write, and that maps the file into memory.
pub fn mapped_reader(path: &Path) -> rusqlite::Result<Connection> {
    let connection = reader(path)?;
    connection.pragma_update(None, "mmap_size", MAPPED_BYTES)?;
    Ok(connection)
}

/// Opens a connection to a file that no process ever changes, and maps the file into memory. The
/// connection takes no locks, and uses no write-ahead log.
pub fn immutable_reader(path: &Path) -> rusqlite::Result<Connection> {
    let mode = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = connect(Path::new(&immutable_uri(path)), mode)?;
    connection.pragma_update(None, "mmap_size", MAPPED_BYTES)?;
    Ok(connection)
}

/// Returns the URI with which SQLite opens a file as immutable (SQLite's documentation, "Uniform
/// Resource Identifiers").
fn immutable_uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri.push_str("?immutable=1");
    uri
}

/// Read-only connections to one database. Each thread that reads has its own connection, with its
/// own prepared statements and page cache.
#[derive(Debug)]
pub struct Readers {
    path: PathBuf,
    connect: fn(&Path) -> rusqlite::Result<Connection>,
    of_threads: ThreadLocal<Connection>,
}

impl Readers {
    /// Creates readers of the database at `path`. `connect` opens a connection to this database.
    /// The connection of the calling thread is opened immediately, so that this function returns an
    /// error if the database cannot be opened.
    ///
    /// # Errors
    ///
    /// When `connect` fails.
    pub fn open(
        path: &Path,
        connect: fn(&Path) -> rusqlite::Result<Connection>,
    ) -> Result<Self, OpenError> {
        let readers = Self { path: path.into(), connect, of_threads: ThreadLocal::new() };
        readers.of_thread().map_err(|source| OpenError::of_sqlite(path, source))?;
        Ok(readers)
    }

    /// Runs `read` on the connection of the calling thread.
    pub fn read<T, E>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, StoreError>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let connection = self.of_thread().map_err(StoreError::failed)?;
        read(connection).map_err(StoreError::failed)
    }

    /// Returns the path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn of_thread(&self) -> rusqlite::Result<&Connection> {
        self.of_threads.get_or_try(|| (self.connect)(&self.path))
    }
}

/// Converts an error of SQLite to a [`StoreError`]. If another connection has locked the database,
/// the result is [`StoreError::Unavailable`], so the caller can try again.
pub fn store_error(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy) => StoreError::unavailable(error),
        _ => StoreError::failed(error),
    }
}

/// The result of a check of one database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseReport {
    /// The version of the database's schema.
    pub schema_version: i64,
    /// The faults that were found; empty if there are none.
    pub problems: Vec<String>,
    /// Notes for the operator about the content. They are not faults of the database.
    pub notes: Vec<String>,
    /// The counted rows: the name of each count and the number of rows.
    pub counts: Vec<(&'static str, u64)>,
}

/// Checks a whole database and counts its rows. Each element of `counts` is the name of a count,
/// and the query that counts the rows.
pub fn examine(
    connection: &Connection,
    counts: &[(&'static str, &'static str)],
) -> rusqlite::Result<DatabaseReport> {
    let mut problems = Vec::new();
    connection.pragma_query(None, "integrity_check", |row| {
        let line: String = row.get(0)?;
        if line != "ok" {
            problems.push(line);
        }
        Ok(())
    })?;
    connection.pragma_query(None, "foreign_key_check", |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        problems.push(format!("a row of {table} refers to a row of {parent} that is not there"));
        Ok(())
    })?;
    let count = |(name, query): &(&'static str, &'static str)| {
        Ok((*name, connection.query_row(query, [], |row| row.get(0))?))
    };
    Ok(DatabaseReport {
        schema_version: schema_version(connection)?.unwrap_or_default(),
        problems,
        notes: Vec::new(),
        counts: counts.iter().map(count).collect::<rusqlite::Result<_>>()?,
    })
}

/// Opens an existing database file; never creates a file.
fn connect(path: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    // Only one thread at a time uses a connection, so SQLite's own mutexes are not needed.
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    connection.pragma_update(None, "foreign_keys", true)?;
    // If somebody has altered the file, its views and triggers must not be able to call functions
    // of this program.
    connection.pragma_update(None, "trusted_schema", false)?;
    // With this setting, a prepared statement keeps its plan. Without it, SQLite plans some
    // statements again whenever a value is bound. This takes longer than running them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Runs the migrations that the database does not have yet, all in one transaction.
fn migrate(connection: &mut Connection, path: &Path, database: &Database) -> Result<(), OpenError> {
    let runner = (database.migrations)();
    let done =
        runner.set_grouped(true).set_abort_divergent(true).set_abort_missing(true).run(connection);
    done.map(|_| ()).map_err(|error| {
        let cause = match error.kind() {
            Kind::Connection(_, cause) => cause.downcast_ref::<rusqlite::Error>(),
            _ => None,
        };
        let path = path.to_path_buf();
        match cause.and_then(rusqlite::Error::sqlite_error_code) {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                OpenError::Damaged { path, source: error.into() }
            }
            // SQLite refused a statement of a migration. So the tables are not those that belong to
            // the stored schema version.
            None | Some(ErrorCode::Unknown) => OpenError::Schema { path, source: error.into() },
            Some(_) => OpenError::unusable(path, error),
        }
    })
}

/// Returns the version of a database's schema; `None` when the database has no schema. Also reads
/// every value that the migrations will read, because the library for migrations panics if it
/// cannot read a value.
///
/// # Errors
///
/// When the history of the schema's versions cannot be read.
pub fn schema_version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let history = "SELECT 1 FROM sqlite_schema WHERE name = 'refinery_schema_history'";
    if connection.query_row(history, [], |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    let rows = "SELECT version, name, applied_on, checksum FROM refinery_schema_history";
    let mut statement = connection.prepare(rows)?;
    let versions = statement.query_map([], |row| {
        let (version, _): (i32, String) = (row.get(0)?, row.get(1)?);
        let (applied_on, checksum): (String, String) = (row.get(2)?, row.get(3)?);
        let is_readable =
            applied_on.parse::<jiff::Timestamp>().is_ok() && checksum.parse::<u64>().is_ok();
        if is_readable { Ok(i64::from(version)) } else { Err(corrupt_history()) }
    })?;
    let mut newest = None;
    for version in versions {
        newest = newest.max(Some(version?));
    }
    Ok(newest)
}

fn corrupt_history() -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(code, Some("the schema's history cannot be read".to_owned()))
}

/// Returns the newest schema version that this build knows.
pub fn newest_known(database: &Database) -> i64 {
    let runner = (database.migrations)();
    let versions = runner.get_migrations().iter().map(|migration| i64::from(migration.version()));
    versions.max().unwrap_or_default()
}
