//! Opens databases: connections, their settings, and the schema.
//!
//! Each file says in its header which of the two databases it is (`application_id`), so that a
//! foreign or swapped file is refused instead of filled with our tables. The schema moves forward
//! in one transaction, and a newer one is refused.

use std::path::{Path, PathBuf};
use std::time::Duration;

use enrich_core::port::error::StoreError;
use refinery::{Runner, error::Kind};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};
use thread_local::ThreadLocal;

use crate::OpenError;
use crate::private::private_file;

/// One of the two databases of a data folder.
#[derive(Clone, Copy, Debug)]
pub struct Database {
    /// Its name in messages.
    pub name: &'static str,
    /// The file's name in the data folder.
    pub file: &'static str,
    /// The application id in the file's header (SQLite's `application_id`).
    pub application_id: i32,
    /// Its migrations, in order.
    pub migrations: fn() -> Runner,
}

/// When a commit has reached the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Before it returns: what was told survives a power failure (`synchronous=FULL`).
    Commit,
    /// With the next checkpoint or full commit: a power failure may take the last commits, whole
    /// and in order, and nothing else (`synchronous=NORMAL`).
    Checkpoint,
}

/// How long a connection waits for one of another process or thread before it reports `BUSY`.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How many pages the write-ahead log holds before they are brought into the file: 16 MiB. A page
/// that many commits change is brought there once (`docs/performance.md` has what that brings over
/// SQLite's own quarter of it). A start after a crash reads that much of the log first.
const CHECKPOINT_PAGES: i64 = 4096;
/// What a write-ahead log that grew beyond it, in a large transaction, shrinks back to: 64 MiB.
const LOG_LIMIT_BYTES: i64 = 64 * 1024 * 1024;
/// How much of the directory its readers map into their address space instead of copying each
/// page out of the system's cache: all of it where addresses are plenty. SQLite itself stops at
/// the `SQLITE_MAX_MMAP_SIZE` it was compiled with and reads what lies behind.
///
/// A mapped page that the file no longer has would end the process. Only `compaction` makes the file
/// shorter, by a checkpoint: that waits for every read that began before, and a read that begins
/// later maps the file anew and asks for no page behind its end. A folder that is replaced is a new
/// file.
const MAPPED_BYTES: i64 = if cfg!(target_pointer_width = "64") { 64 << 30 } else { 0 };
/// How many prepared statements a connection keeps.
const STATEMENT_CACHE: usize = 64;

/// The first SQLite without the WAL-reset corruption bug.
const OLDEST_SQLITE: (i32, &str) = (3_051_003, "3.51.3");

/// Refuses a SQLite that can corrupt a database under concurrent writers.
pub fn check_version() -> Result<(), OpenError> {
    let (oldest, needed) = OLDEST_SQLITE;
    if rusqlite::version_number() < oldest {
        return Err(OpenError::OldSqlite { found: rusqlite::version(), needed });
    }
    Ok(())
}

/// Makes a database where no file is, readable by its owner alone.
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

/// Makes sure that the file is the database it should be, and brings its schema up to date.
pub fn prepare(path: &Path, database: &Database) -> Result<(), OpenError> {
    let failed = |source| OpenError::of_sqlite(path, source);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
    let id: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
    if id != database.application_id {
        return Err(OpenError::Foreign { path: path.into(), expected: database.name });
    }
    let known = newest_known(database);
    let found = schema_version(&connection).map_err(failed)?;
    match found {
        Some(found) if found > known => {
            return Err(OpenError::NewerSchema { path: path.into(), found, known });
        }
        _ => connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?,
    }
    migrate(&mut connection, path, database)?;
    // A file written by `VACUUM INTO` comes back from a backup without its log, and its readers
    // would wait for its writer.
    let mode: String =
        connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(failed)?;
    if mode != "wal" {
        connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
            .map_err(failed)?;
    }
    Ok(())
}

/// A connection that writes. The database must have been [created](create) or
/// [prepared](prepare).
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

/// A connection that cannot write.
pub fn reader(path: &Path) -> rusqlite::Result<Connection> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// A connection that cannot write, to a file that is seldom written: it reads from a map of it.
pub fn mapped_reader(path: &Path) -> rusqlite::Result<Connection> {
    let connection = reader(path)?;
    connection.pragma_update(None, "mmap_size", MAPPED_BYTES)?;
    Ok(connection)
}

/// Read-only connections to one database, for point reads on whatever thread asks: one a thread, so
/// that its statements and what it remembers of the file stay with one processor.
#[derive(Debug)]
pub struct Readers {
    path: PathBuf,
    connect: fn(&Path) -> rusqlite::Result<Connection>,
    of_threads: ThreadLocal<Connection>,
}

impl Readers {
    /// Readers of the database at `path`; one is opened at once, to see that it works.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::over(path, reader)
    }

    /// Readers of the database at `path`, which is [mapped](mapped_reader).
    pub fn open_mapped(path: &Path) -> Result<Self, OpenError> {
        Self::over(path, mapped_reader)
    }

    fn over(
        path: &Path,
        connect: fn(&Path) -> rusqlite::Result<Connection>,
    ) -> Result<Self, OpenError> {
        let readers = Self { path: path.into(), connect, of_threads: ThreadLocal::new() };
        readers.of_thread().map_err(|source| OpenError::of_sqlite(path, source))?;
        Ok(readers)
    }

    /// Runs `read` on the connection of this thread.
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

    /// Where the database is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn of_thread(&self) -> rusqlite::Result<&Connection> {
        self.of_threads.get_or_try(|| (self.connect)(&self.path))
    }
}

/// What an error of SQLite means to who asked: a database that others kept busy can be asked again.
pub fn store_error(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy) => StoreError::Overloaded,
        _ => StoreError::failed(error),
    }
}

/// The result of a check of one database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseReport {
    /// The version of its schema.
    pub schema_version: i64,
    /// What SQLite's own integrity and foreign-key checks complain of; empty when all is well.
    pub problems: Vec<String>,
    /// How many there are of what it holds.
    pub counts: Vec<(&'static str, u64)>,
}

/// Checks a whole database; `counts` are names, each with the query that counts.
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
        counts: counts.iter().map(count).collect::<rusqlite::Result<_>>()?,
    })
}

/// Opens a file that is there; SQLite itself never makes one.
fn connect(path: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    // A connection is used by one thread at a time: SQLite's own mutexes are not needed.
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    connection.pragma_update(None, "foreign_keys", true)?;
    // Views and triggers of a file that was tampered with must not run functions of ours.
    connection.pragma_update(None, "trusted_schema", false)?;
    // A prepared statement keeps its plan. Without this guarantee SQLite plans some anew each time
    // a value is bound, which takes longer than running them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Applies what is missing of the schema, all of it or nothing.
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
            // A statement that SQLite refuses met tables that are not those of its version.
            None | Some(ErrorCode::Unknown) => OpenError::Schema { path, source: error.into() },
            Some(_) => OpenError::unusable(path, error),
        }
    })
}

/// The version of a database's schema; `None` when it has none.
///
/// Every value of the history that the migrations read is read here first: they trust it blindly.
fn schema_version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
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

fn newest_known(database: &Database) -> i64 {
    let runner = (database.migrations)();
    let versions = runner.get_migrations().iter().map(|migration| i64::from(migration.version()));
    versions.max().unwrap_or_default()
}
