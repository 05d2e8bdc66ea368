//! Writes the rows of the table `identifier`.

use rusqlite::{CachedStatement, Connection, params};

use super::rows_at_once::RowsAtOnce;
use crate::directory::codes::{IdentifierKind, sql_id};
use crate::directory::holder::stored_confidence;
use crate::directory::unwritten::Change;

const INSERT: &str = "INSERT INTO identifier (kind, key, tier, subject, confidence)
     VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (kind, key, tier, subject) DO UPDATE SET confidence = excluded.confidence";
const DELETE: &str =
    "DELETE FROM identifier WHERE kind = ?1 AND key = ?2 AND tier = ?3 AND subject = ?4";

/// An identifier, and the change of one of its rows.
pub(super) type IdentifierRow = (IdentifierKind, String, Change);

/// The prepared statements that insert and delete rows of the table `identifier`.
pub(super) struct IdentifierRows<'c> {
    insert: RowsAtOnce<'c>,
    delete: CachedStatement<'c>,
}

impl<'c> IdentifierRows<'c> {
    pub(super) fn new(connection: &'c Connection) -> rusqlite::Result<Self> {
        let (insert, delete) =
            (RowsAtOnce::new(connection, INSERT)?, connection.prepare_cached(DELETE)?);
        Ok(Self { insert, delete })
    }

    /// Writes changes of rows. A change without a confidence means that its row is deleted. No row
    /// may occur twice.
    pub(super) fn write(&mut self, rows: &[IdentifierRow]) -> rusqlite::Result<()> {
        let held = rows.iter().filter_map(|(kind, key, change)| {
            change.confidence.map(|confidence| (kind, key, change, confidence))
        });
        let held: Vec<_> = held.collect();
        self.insert.write(&held, |(kind, key, change, confidence), bind| {
            bind(kind)?;
            bind(key)?;
            bind(&change.tier)?;
            bind(&sql_id(change.subject))?;
            bind(&stored_confidence(*confidence))
        })?;
        rows.iter().filter(|(.., change)| change.confidence.is_none()).try_for_each(
            |(kind, key, change)| {
                let subject = sql_id(change.subject);
                self.delete.execute(params![kind, key, change.tier, subject]).map(drop)
            },
        )
    }
}

/// Writes a change of an identifier's row. A change without a confidence deletes the row.
pub(super) fn write_identifier(
    connection: &Connection,
    kind: IdentifierKind,
    key: &str,
    change: Change,
) -> rusqlite::Result<()> {
    let Change { subject, tier, confidence } = change;
    let subject = sql_id(subject);
    match confidence {
        Some(confidence) => {
            let confidence = stored_confidence(confidence);
            let mut insert = connection.prepare_cached(INSERT)?;
            insert.execute(params![kind, key, tier, subject, confidence])
        }
        None => connection.prepare_cached(DELETE)?.execute(params![kind, key, tier, subject]),
    }
    .map(drop)
}
