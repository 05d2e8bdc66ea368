//! Adds, changes, lists and counts the sources of imported records.

use std::collections::HashMap;

use enrich_core::SourceName;
use enrich_core::port::importer::{ImportOptions, SourceInfo, SourceTerms};
use enrich_store_sqlite::{Column, Statements};
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, params};

use super::stored_facts;
use super::writer::Writer;

impl Writer<'_> {
    /// Returns the id of the source whose records are imported. Adds the source if it is new.
    /// Stores the time of the import, its file, and the terms of the records (their licence).
    pub(crate) fn source(&mut self, options: &ImportOptions) -> rusqlite::Result<i64> {
        let (at, file) = (Column(self.at), options.file.as_deref());
        if let Some(source) = self.source_named(&options.source)? {
            self.connection.run(
                "UPDATE source SET last_at = max(last_at, ?2), file = coalesce(?3, file)
                 WHERE id = ?1 AND (last_at < ?2 OR file IS NOT coalesce(?3, file))",
                params![source, at, file],
            )?;
            self.set_terms(source, options.terms.as_ref())?;
            return Ok(source);
        }
        let source = self.new_source();
        self.connection.run(
            "INSERT INTO source (id, name, records, first_at, last_at, file)
             VALUES (?1, ?2, 0, ?3, ?3, ?4)",
            params![source, options.source.as_str(), at, file],
        )?;
        self.set_terms(source, options.terms.as_ref())?;
        Ok(source)
    }

    /// Stores the terms of a source, if they are given and differ from those that are stored.
    fn set_terms(&self, source: i64, terms: Option<&SourceTerms>) -> rusqlite::Result<()> {
        let Some(SourceTerms { licence, attribution, homepage }) = terms else { return Ok(()) };
        self.connection.run(
            "UPDATE source SET licence = ?2, attribution = ?3, homepage = ?4
             WHERE id = ?1 AND (licence, attribution, homepage) IS NOT (?2, ?3, ?4)",
            params![source, licence, attribution, homepage],
        )?;
        Ok(())
    }

    /// Returns the id of the source with this name; `None` if there is no such source.
    pub(crate) fn source_named(&self, name: &SourceName) -> rusqlite::Result<Option<i64>> {
        self.connection
            .find("SELECT id FROM source WHERE name = ?1", [name.as_str()], |row| row.get(0))
    }

    /// Adds `records` to the number of records that were imported from a source.
    pub(crate) fn count_records(&self, source: i64, records: i64) -> rusqlite::Result<()> {
        if records > 0 {
            self.connection
                .run("UPDATE source SET records = records + ?2 WHERE id = ?1", [source, records])?;
        }
        Ok(())
    }
}

/// Returns the file from which a source's records were imported; `None` if no file is stored.
pub(crate) fn file(connection: &Connection, name: &SourceName) -> rusqlite::Result<Option<String>> {
    let file = "SELECT file FROM source WHERE name = ?1";
    Ok(connection.find(file, [name.as_str()], |row| row.get(0))?.flatten())
}

/// Returns all sources, sorted by name. Each call counts all values in the directory, which takes a
/// second for a few million values.
pub(crate) fn list(connection: &Connection) -> rusqlite::Result<Vec<SourceInfo>> {
    let mut values: HashMap<i64, u64> = HashMap::new();
    each_source(connection, |source, count| *values.entry(source).or_default() += count)?;
    let counts = "SELECT source, count(*) FROM domain_fact GROUP BY source";
    connection.each(counts, [], |row| {
        *values.entry(row.get(0)?).or_default() += row.get::<_, i64>(1)?.unsigned_abs();
        Ok(())
    })?;
    let sources = "SELECT id, name, records, first_at, last_at, coalesce(licence, ''),
                   coalesce(attribution, ''), coalesce(homepage, '') FROM source ORDER BY name";
    connection.list(sources, [], |row| {
        let name: String = row.get(1)?;
        Ok(SourceInfo {
            name: SourceName::new(&name)
                .ok_or_else(|| FromSqlError::Other("a source has no name".into()))?,
            values: values.get(&row.get(0)?).copied().unwrap_or_default(),
            records: row.get::<_, i64>(2)?.unsigned_abs(),
            first_at: row.get::<_, Column<_>>(3)?.0,
            last_at: row.get::<_, Column<_>>(4)?.0,
            terms: SourceTerms {
                licence: row.get(5)?,
                attribution: row.get(6)?,
                homepage: row.get(7)?,
            },
        })
    })
}

/// Counts the values that all sources give for companies and people. The facts of domains are not
/// counted.
pub(crate) fn count_values(connection: &Connection) -> rusqlite::Result<u64> {
    let mut values = 0;
    each_source(connection, |_, count| values += count)?;
    Ok(values)
}

/// Calls `take` with the id of a source and the number of values that this source gives a company
/// or person, for all companies and people. `take` may be called several times for one source of
/// one company, each time with a part of the values.
fn each_source(connection: &Connection, mut take: impl FnMut(i64, u64)) -> rusqlite::Result<()> {
    connection.each("SELECT facts, profile FROM subject", [], |row| {
        let (facts, profile) = (row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_str()?);
        stored_facts::each_source(facts, profile, &mut take).map_err(FromSqlError::other)?;
        Ok(())
    })
}
