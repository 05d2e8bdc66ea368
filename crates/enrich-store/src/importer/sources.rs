//! The sources that records were taken from.

use std::collections::HashMap;

use enrich_core::SourceName;
use enrich_core::port::importer::{Load, SourceInfo};
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, OptionalExtension, params};

use super::writer::Writer;
use crate::columns::Column;

impl Writer<'_> {
    /// The id of the source of a load, which is made where there is none of this name; notes that it
    /// was imported now, and from which file.
    pub(crate) fn source(&mut self, load: &Load) -> rusqlite::Result<i64> {
        let (at, file) = (Column(self.at), load.file.as_deref());
        if let Some(source) = self.source_named(&load.source)? {
            let mut statement = self.connection.prepare_cached(
                "UPDATE source SET last_at = max(last_at, ?2), file = coalesce(?3, file)
                 WHERE id = ?1 AND (last_at < ?2 OR file IS NOT coalesce(?3, file))",
            )?;
            statement.execute(params![source, at, file])?;
            return Ok(source);
        }
        let source = self.new_source();
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO source (id, name, records, first_at, last_at, file)
             VALUES (?1, ?2, 0, ?3, ?3, ?4)",
        )?;
        statement.execute(params![source, load.source.as_str(), at, file])?;
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
