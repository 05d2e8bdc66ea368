//! Writes many rows with each execution of an SQL statement, because each execution takes longer
//! than adding one row to a database page in memory.
//!
//! If rows are added to a table in the order of their keys, SQLite leaves about 12 % of each page
//! free. So every ninth row ([`LATER`]) is left out at first: 11 % of all rows. These rows are
//! written after the others, and fill the free space.

use rusqlite::{CachedStatement, Connection, Statement, ToSql};

/// The number of rows that one execution writes.
const AT_ONCE: usize = 32;
/// The number of rows that are collected in memory and then written together.
pub(super) const ROWS: usize = 4096;
/// In each chunk of [`ROWS`] rows, the 9th, 18th, 27th … row is written after all others. These
/// rows fill the space that SQLite leaves free, so the database pages are full to 97 %. If `LATER`
/// were smaller, more rows would be written later. The free space would not be enough for them, so
/// SQLite would split pages.
const LATER: u64 = 9;

/// The prepared statements that write rows: one for [`AT_ONCE`] rows, and one for a single row.
pub(super) struct RowsAtOnce<'c> {
    many: CachedStatement<'c>,
    one: CachedStatement<'c>,
}

/// Sets the next parameter of a statement.
pub(super) type Bind<'b> = &'b mut dyn FnMut(&dyn ToSql) -> rusqlite::Result<()>;

impl<'c> RowsAtOnce<'c> {
    /// Prepares the statements. `insert` is the statement for one row: `INSERT … VALUES (?, ?) …`,
    /// with a parameter for each column.
    pub(super) fn new(connection: &'c Connection, insert: &str) -> rusqlite::Result<Self> {
        Ok(Self {
            many: connection.prepare_cached(&for_rows(insert, AT_ONCE))?,
            one: connection.prepare_cached(insert)?,
        })
    }

    /// Writes `rows`, which must be in the order of their keys and have different keys. `values`
    /// sets the values of a row, in the order of the columns.
    pub(super) fn write<T>(
        &mut self,
        rows: &[T],
        mut values: impl FnMut(&T, Bind<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        rows.chunks(ROWS).try_for_each(|rows| self.write_chunk(rows, &mut values))
    }

    fn write_chunk<T>(
        &mut self,
        rows: &[T],
        values: &mut impl FnMut(&T, Bind<'_>) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let numbered = || rows.iter().zip(1..);
        let now = numbered().filter(|(_, number)| number % LATER != 0);
        let later = numbered().filter(|(_, number)| number % LATER == 0);
        let rows: Vec<&T> = now.chain(later).map(|(row, _)| row).collect();
        let mut many = rows.chunks_exact(AT_ONCE);
        for rows in &mut many {
            execute(&mut self.many, rows, values)?;
        }
        many.remainder().chunks(1).try_for_each(|row| execute(&mut self.one, row, values))
    }
}

fn execute<T>(
    statement: &mut Statement<'_>,
    rows: &[&T],
    values: &mut impl FnMut(&T, Bind<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut number = 0;
    let mut bind = |value: &dyn ToSql| {
        number += 1;
        statement.raw_bind_parameter(number, value)
    };
    rows.iter().try_for_each(|row| values(row, &mut bind))?;
    statement.raw_execute().map(drop)
}

/// Converts `insert`, a statement for one row, to a statement for `rows` rows: repeats the
/// parameters, as in `VALUES (?, ?), (?, ?)`.
fn for_rows(insert: &str, rows: usize) -> String {
    const VALUES: &str = "VALUES ";
    let begin = insert.find(VALUES).map_or(0, |at| at + VALUES.len());
    let end = insert[begin..].find(')').map_or(insert.len(), |at| begin + at + 1);
    let values = vec![&insert[begin..end]; rows].join(", ");
    [&insert[..begin], &values, &insert[end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rows_are_written() {
        const INSERT: &str = "INSERT INTO word (key, value) VALUES (?, ?)
                              ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        for count in [0, 1, AT_ONCE, 3 * AT_ONCE + 2] {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch("CREATE TABLE word (key PRIMARY KEY, value)").unwrap();
            let rows: Vec<usize> = (0..count).collect();
            for add in [1, 2] {
                let mut insert = RowsAtOnce::new(&connection, INSERT).unwrap();
                let values = |key: &usize, bind: Bind<'_>| {
                    bind(&format!("{key}"))?;
                    bind(&(key + add))
                };
                insert.write(&rows, values).unwrap();
            }
            let sum = "SELECT count(*), total(value - 2) FROM word";
            let found: (usize, f64) =
                connection.query_row(sum, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            assert_eq!(found, (count, rows.iter().sum::<usize>() as f64));
        }
    }

    #[test]
    fn rows_in_the_order_of_their_keys_fill_the_pages() {
        const KEYS: usize = 20_000;
        let connection = Connection::open_in_memory().unwrap();
        let create = "CREATE TABLE word (key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID";
        connection.execute_batch(create).unwrap();
        let rows: Vec<String> = (0..KEYS).map(|key| format!("{key:040}")).collect();
        let mut insert = RowsAtOnce::new(&connection, "INSERT INTO word (key) VALUES (?)").unwrap();
        insert.write(&rows, |key, bind| bind(key)).unwrap();
        let bytes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        let bytes: usize = connection.query_row(bytes, [], |row| row.get(0)).unwrap();
        // The rows take more than 95 % of the database's bytes. Each row takes 45 bytes: its key of
        // 40 bytes, and 5 bytes that SQLite adds.
        assert!(bytes * 95 / 100 < KEYS * 45, "{bytes} bytes");
    }

    #[test]
    fn values_are_repeated() {
        let insert = "INSERT INTO a (b, c) VALUES (?, ?) ON CONFLICT (b) DO NOTHING";
        let expected = "INSERT INTO a (b, c) VALUES (?, ?), (?, ?) ON CONFLICT (b) DO NOTHING";
        assert_eq!(for_rows(insert, 2), expected);
    }
}
