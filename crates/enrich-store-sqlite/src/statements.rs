//! Prepares a statement, caches it and runs it, in one call.

use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Params, Row};

/// Methods that run a statement once. The prepared statement is taken from the connection's cache.
/// If it is not in the cache, it is prepared first.
pub trait Statements {
    /// Runs a statement that changes rows. Returns how many rows were changed.
    ///
    /// # Errors
    ///
    /// Returns the error of SQLite, as all methods of this trait do.
    fn run(&self, statement: &str, values: impl Params) -> rusqlite::Result<usize>;

    /// Returns the first row of a query, converted by `read`; `None` when there is no row.
    fn find<T>(
        &self,
        query: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>>;

    /// Returns the value in the first column of the first row. Returns an error if there is no row.
    fn value<T: FromSql>(&self, query: &str, values: impl Params) -> rusqlite::Result<T>;

    /// Whether a query returns at least one row.
    fn has(&self, query: &str, values: impl Params) -> rusqlite::Result<bool>;

    /// Returns all rows of a query, each converted by `read`.
    fn list<T, C: FromIterator<T>>(
        &self,
        query: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<C>;

    /// Calls `each` for each row of a query. Stops when a call returns an error.
    fn each(
        &self,
        query: &str,
        values: impl Params,
        each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()>;
}

impl Statements for Connection {
    fn run(&self, statement: &str, values: impl Params) -> rusqlite::Result<usize> {
        self.prepare_cached(statement)?.execute(values)
    }

    fn find<T>(
        &self,
        query: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.prepare_cached(query)?.query_row(values, read).optional()
    }

    fn value<T: FromSql>(&self, query: &str, values: impl Params) -> rusqlite::Result<T> {
        self.prepare_cached(query)?.query_row(values, |row| row.get(0))
    }

    fn has(&self, query: &str, values: impl Params) -> rusqlite::Result<bool> {
        self.prepare_cached(query)?.exists(values)
    }

    fn list<T, C: FromIterator<T>>(
        &self,
        query: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<C> {
        self.prepare_cached(query)?.query_map(values, read)?.collect()
    }

    fn each(
        &self,
        query: &str,
        values: impl Params,
        mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let mut statement = self.prepare_cached(query)?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            each(row)?;
        }
        Ok(())
    }
}
