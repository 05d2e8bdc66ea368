//! The fingerprints of records that a load has imported but not yet written to the file.

use enrich_core::SubjectId;
use enrich_store_sqlite::Statements;
use rusqlite::{Connection, params};
use rustc_hash::FxHashMap;

use super::rows_at_once::RowsAtOnce;
use crate::directory::codes::sql_id;

const INSERT: &str = "INSERT INTO record (source, hash, subject) VALUES (?, ?, ?)
     ON CONFLICT (source, hash) DO UPDATE SET subject = excluded.subject";

/// The fingerprints of a load's records that are not yet written, each with its subject.
#[derive(Debug, Default)]
pub(crate) struct UnwrittenRecords {
    subjects: FxHashMap<(i64, [u8; 16]), SubjectId>,
    /// Whether the database file contains no fingerprints. If so, reads need not look in the file.
    is_file_empty: bool,
}

impl UnwrittenRecords {
    /// Creates an empty collection for the directory that `connection` writes.
    pub(crate) fn new(connection: &Connection) -> rusqlite::Result<Self> {
        let is_file_empty = !connection.has("SELECT 1 FROM record LIMIT 1", [])?;
        Ok(Self { subjects: FxHashMap::default(), is_file_empty })
    }

    pub(crate) fn is_file_empty(&self) -> bool {
        self.is_file_empty
    }

    /// Adds a fingerprint with its subject. If the fingerprint is present already, its subject is
    /// replaced.
    pub(crate) fn add(&mut self, source: i64, hash: [u8; 16], subject: SubjectId) {
        self.subjects.insert((source, hash), subject);
    }

    /// Returns the subject of a fingerprint.
    pub(crate) fn subject(&self, source: i64, hash: [u8; 16]) -> Option<SubjectId> {
        self.subjects.get(&(source, hash)).copied()
    }

    /// Returns the memory that the fingerprints take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.subjects.capacity() * (size_of::<((i64, [u8; 16]), SubjectId)>() + 1)
    }

    /// Writes all fingerprints in the order of their rows.
    pub(crate) fn write(self, connection: &Connection) -> rusqlite::Result<()> {
        let mut rows: Vec<_> = self.subjects.into_iter().collect();
        rows.sort_unstable();
        RowsAtOnce::new(connection, INSERT)?.write(&rows, |((source, hash), subject), bind| {
            bind(source)?;
            bind(hash)?;
            bind(&sql_id(*subject))
        })
    }
}

/// Writes the row of a fingerprint.
pub(crate) fn write_record(
    connection: &Connection,
    source: i64,
    hash: [u8; 16],
    subject: SubjectId,
) -> rusqlite::Result<()> {
    connection.run(INSERT, params![source, hash, sql_id(subject)]).map(drop)
}
