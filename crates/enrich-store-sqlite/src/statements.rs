//! Cached statements, each in one call.

use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Params, Row};

/// Prepares a statement, or takes it from the connection's cache, and runs it once.
pub trait Statements {
    /// Runs a statement that changes rows; returns their number.
    ///
    /// # Errors
    ///
    /// SQLite's, as of all methods here.
    fn run(&self, statement: &str, values: impl Params) -> rusqlite::Result<usize>;

    /// The first row; `None` when there is none.
    fn find<T>(
        &self,
        query: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>>;

    /// The first column of the first row, which must exist.
    fn value<T: FromSql>(&self, query: &str, values: impl Params) -> rusqlite::Result<T>;

    /// Whether there is a row.
    fn has(&self, query: &str, values: impl Params) -> rusqlite::Result<bool>;

    /// The first rows, at most `limit`. `limit` is no part of the query: SQLite may plan a statement
    /// anew each time its `LIMIT` is bound, which takes longer than running it.
    fn list<T, C: FromIterator<T>>(
        &self,
        query: &str,
        values: impl Params,
        limit: usize,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<C>;
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
        limit: usize,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<C> {
        self.prepare_cached(query)?.query_map(values, read)?.take(limit).collect()
    }
}
