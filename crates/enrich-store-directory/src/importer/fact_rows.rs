//! Reads the facts that earlier versions stored as rows of the table `fact`. Now all facts of a
//! subject (a company or a person) are one value, in the column `facts` of the table `subject`.
//! When all look-up data is derived again, the facts are moved from the table `fact` to this
//! column.

use enrich_core::{Confidence, Fact, SubjectId};
use enrich_store_sqlite::{Column, Statements};
use enrich_text::Country;
use rusqlite::Connection;
use rusqlite::types::FromSqlError;

use super::subject_facts::{Given, RecordMark, Unpacked};
use crate::directory::codes::{attribute_of, sql_id};

/// Reads the rows of the facts of a company or person; returns no facts if there are no rows.
pub(crate) fn read(connection: &Connection, subject: SubjectId) -> rusqlite::Result<Unpacked> {
    let rows = "SELECT source, source_record, at, attribute, value, country, confidence FROM fact
                WHERE subject = ?1 ORDER BY ordinal";
    let mut unpacked = Unpacked::default();
    connection.each(rows, [sql_id(subject)], |row| {
        let at: Column<_> = row.get(2)?;
        let id: Option<String> = row.get(1)?;
        let record = id.map_or(RecordMark::Unknown, RecordMark::Id);
        let given = Given { source: row.get(0)?, record, at: at.0 };
        let country: Option<String> = row.get(5)?;
        let country = country.as_deref().map(Country::from_code).transpose();
        let fact = Fact {
            attribute: attribute_of(row.get(3)?)?,
            value: row.get(4)?,
            country: country.map_err(FromSqlError::other)?,
            confidence: Confidence::clamped(row.get(6)?),
        };
        unpacked.add(given, fact);
        Ok(())
    })?;
    Ok(unpacked)
}

/// Deletes all rows of the table `fact`. The facts must already be stored in the table `subject`.
pub(crate) fn delete_all(connection: &Connection) -> rusqlite::Result<()> {
    connection.run("DELETE FROM fact", []).map(drop)
}
