//! Writes the rows of the table `identifier`.

use rusqlite::{CachedStatement, Connection, params};

use crate::directory::codes::{IdentifierKind, sql_id};
use crate::directory::holder::stored_confidence;
use crate::directory::unwritten::Change;

const INSERT: &str = "INSERT INTO identifier (kind, key, tier, subject, confidence)
     VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (kind, key, tier, subject) DO UPDATE SET confidence = excluded.confidence";
const DELETE: &str =
    "DELETE FROM identifier WHERE kind = ?1 AND key = ?2 AND tier = ?3 AND subject = ?4";

/// The statements for many rows, prepared once.
pub(super) struct IdentifierRows<'c> {
    insert: CachedStatement<'c>,
    delete: CachedStatement<'c>,
}

impl<'c> IdentifierRows<'c> {
    pub(super) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let (insert, delete) =
            (connection.prepare_cached(INSERT)?, connection.prepare_cached(DELETE)?);
        Ok(Self { insert, delete })
    }

    /// Writes or deletes the row of an identifier.
    pub(super) fn write(
        &mut self,
        kind: IdentifierKind,
        key: &str,
        change: Change,
    ) -> rusqlite::Result<()> {
        let Change { subject, tier, confidence } = change;
        let subject = sql_id(subject);
        match confidence {
            Some(confidence) => {
                let confidence = stored_confidence(confidence);
                self.insert.execute(params![kind, key, tier, subject, confidence])?
            }
            None => self.delete.execute(params![kind, key, tier, subject])?,
        };
        Ok(())
    }
}

/// Writes or deletes the row of one identifier.
pub(super) fn write_identifier(
    connection: &Connection,
    kind: IdentifierKind,
    key: &str,
    change: Change,
) -> rusqlite::Result<()> {
    IdentifierRows::new(connection)?.write(kind, key, change)
}
