//! The fingerprints of records that a load (one import) has imported but not yet written to the
//! file. A fingerprint is a keyed hash of a record's content or id.

use enrich_core::SubjectId;
use enrich_store_sqlite::Statements;
use rusqlite::{Connection, params};
use rustc_hash::FxHashMap;

use super::rows_at_once::RowsAtOnce;
use crate::directory::codes::sql_id;
use crate::directory::unwritten::WrittenKeys;

const INSERT: &str = "INSERT INTO record (source, hash, subject) VALUES (?, ?, ?)
     ON CONFLICT (source, hash) DO UPDATE SET subject = excluded.subject";

/// The fingerprints (keyed hashes) of a load's records that are not yet written. Each leads to the
/// company or person of its record.
#[derive(Debug, Default)]
pub(crate) struct UnwrittenRecords {
    subjects: FxHashMap<(i64, [u8; 16]), SubjectId>,
    /// The fingerprints in the database file. `None` means that they are not known. Then the file
    /// may contain any fingerprint.
    pub(super) written_keys: Option<WrittenKeys>,
}

impl UnwrittenRecords {
    /// Creates an empty collection. `written_keys` are the fingerprints (keyed hashes of records)
    /// in the database file; `None` if they are not known.
    pub(crate) fn new(written_keys: Option<WrittenKeys>) -> Self {
        Self { written_keys, ..Self::default() }
    }

    /// Whether the file may contain this fingerprint (keyed hash of a record).
    pub(crate) fn may_be_in_file(&self, source: i64, hash: [u8; 16]) -> bool {
        self.written_keys.as_ref().is_none_or(|written| written.may_have(&(source, hash)))
    }

    /// Adds a fingerprint (keyed hash of a record) with the company or person of the record. If the
    /// fingerprint is present already, this company or person replaces the earlier one.
    pub(crate) fn add(&mut self, source: i64, hash: [u8; 16], subject: SubjectId) {
        self.subjects.insert((source, hash), subject);
    }

    /// Returns the company or person of the record with this fingerprint (keyed hash).
    pub(crate) fn subject(&self, source: i64, hash: [u8; 16]) -> Option<SubjectId> {
        self.subjects.get(&(source, hash)).copied()
    }

    /// Returns the memory that the fingerprints take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.subjects.capacity() * (size_of::<((i64, [u8; 16]), SubjectId)>() + 1)
    }

    /// Writes all fingerprints (keyed hashes of records), sorted by the primary key of the table
    /// `record`: source and hash. Returns the fingerprints that the file then contains, if they are
    /// known.
    pub(crate) fn write(self, connection: &Connection) -> rusqlite::Result<Option<WrittenKeys>> {
        let mut written_keys = self.written_keys;
        if let Some(keys) = &mut written_keys {
            self.subjects.keys().for_each(|key| {
                keys.add(key);
            });
        }
        let mut rows: Vec<_> = self.subjects.into_iter().collect();
        rows.sort_unstable();
        RowsAtOnce::new(connection, INSERT)?.write(&rows, |((source, hash), subject), bind| {
            bind(source)?;
            bind(hash)?;
            bind(&sql_id(*subject))
        })?;
        Ok(written_keys)
    }
}

/// Writes one fingerprint to the table `record`. `hash` is the fingerprint, a keyed hash of a
/// record. `subject` is the company or person of this record.
pub(crate) fn write_record(
    connection: &Connection,
    source: i64,
    hash: [u8; 16],
    subject: SubjectId,
) -> rusqlite::Result<()> {
    connection.run(INSERT, params![source, hash, sql_id(subject)]).map(drop)
}
