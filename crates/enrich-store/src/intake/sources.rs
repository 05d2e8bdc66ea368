//! The sources that records were taken from.

use std::collections::HashMap;

use enrich_core::SourceName;
use enrich_core::port::intake::SourceInfo;
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, OptionalExtension, params};

use super::writer::Writer;
use crate::columns::Column;

impl Writer<'_> {
    /// The id of a source, which is made where there is none of this name; notes that it was
    /// imported now.
    pub(crate) fn source(&mut self, name: &SourceName) -> rusqlite::Result<i64> {
        let at = Column(self.at);
        if let Some(source) = self.source_named(name)? {
            let mut statement = self
                .connection
                .prepare_cached("UPDATE source SET last_at = ?2 WHERE id = ?1 AND last_at < ?2")?;
            statement.execute(params![source, at])?;
            return Ok(source);
        }
        let source = self.new_source();
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO source (id, name, records, first_at, last_at) VALUES (?1, ?2, 0, ?3, ?3)",
        )?;
        statement.execute(params![source, name.as_str(), at])?;
        Ok(source)
    }

    /// The id of a source; `None` when there is none of this name.
    pub(crate) fn source_named(&self, name: &SourceName) -> rusqlite::Result<Option<i64>> {
        let mut statement =
            self.connection.prepare_cached("SELECT id FROM source WHERE name = ?1")?;
        statement.query_row([name.as_str()], |row| row.get(0)).optional()
    }

    /// Notes that so many more records were taken from a source.
    pub(crate) fn count_records(&self, source: i64, records: i64) -> rusqlite::Result<()> {
        if records > 0 {
            let mut statement = self
                .connection
                .prepare_cached("UPDATE source SET records = records + ?2 WHERE id = ?1")?;
            statement.execute([source, records])?;
        }
        Ok(())
    }
}

/// The file that a source's records came from, where one was noted.
pub(crate) fn file(connection: &Connection, name: &SourceName) -> rusqlite::Result<Option<String>> {
    let mut statement = connection.prepare("SELECT file FROM source WHERE name = ?1")?;
    let file = statement.query_row([name.as_str()], |row| row.get(0)).optional()?;
    Ok(file.flatten())
}

/// Notes the file that a source's records came from.
pub(crate) fn set_file(
    connection: &Connection,
    name: &SourceName,
    file: &str,
) -> rusqlite::Result<()> {
    let set = "UPDATE source SET file = ?2 WHERE name = ?1";
    connection.execute(set, [name.as_str(), file]).map(|_| ())
}

/// Every source, by name. Its values are counted, not noted: that takes a second for some millions.
pub(crate) fn list(connection: &Connection) -> rusqlite::Result<Vec<SourceInfo>> {
    let mut values: HashMap<i64, u64> = HashMap::new();
    let mut statement = connection.prepare(
        "SELECT source, count(*) FROM fact GROUP BY source
         UNION ALL SELECT source, count(*) FROM domain_fact GROUP BY source",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        *values.entry(row.get(0)?).or_default() += row.get::<_, i64>(1)?.unsigned_abs();
    }
    let mut statement = connection
        .prepare("SELECT id, name, records, first_at, last_at FROM source ORDER BY name")?;
    let sources = statement.query_map([], |row| {
        let name: String = row.get(1)?;
        Ok(SourceInfo {
            name: SourceName::new(&name)
                .ok_or_else(|| FromSqlError::Other("a source has no name".into()))?,
            values: values.get(&row.get(0)?).copied().unwrap_or_default(),
            records: row.get::<_, i64>(2)?.unsigned_abs(),
            first_at: row.get::<_, Column<_>>(3)?.0,
            last_at: row.get::<_, Column<_>>(4)?.0,
        })
    })?;
    sources.collect()
}
