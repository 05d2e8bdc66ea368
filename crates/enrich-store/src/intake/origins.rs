//! Which subject a record became: so that the same record again is known at once, and a record
//! that changed at its source finds the subject it was.
//!
//! A record is remembered by the hash of its content and, where its source has an id for it, by a
//! hash of that id. A remembered record whose subject is gone was forgotten on request: removing a
//! source removes what is remembered of the subjects that go with it.

use enrich_core::{Origin, SubjectId};
use rusqlite::{OptionalExtension, params};

use super::sheet::Kind;
use super::writer::Writer;
use crate::directory::codes::{sql_id, subject_id};

/// What is remembered of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remembered {
    /// Nothing.
    No,
    /// This very record.
    Same,
    /// A record of the same id: the subject it became.
    Earlier(SubjectId),
    /// The subject it became was forgotten.
    Forgotten,
}

impl Writer<'_> {
    /// What is remembered of a record of a source.
    pub(crate) fn remembered(
        &self,
        source: i64,
        kind: Kind,
        origin: &Origin,
    ) -> rusqlite::Result<Remembered> {
        if let Some(subject) = self.subject_of_record(source, &origin.content)? {
            let is_there = self.view().is_there(subject)?;
            return Ok(if is_there { Remembered::Same } else { Remembered::Forgotten });
        }
        let Some(id) = &origin.id else { return Ok(Remembered::No) };
        match self.subject_of_record(source, &id_hash(kind, id))? {
            Some(subject) if self.view().is_there(subject)? => Ok(Remembered::Earlier(subject)),
            Some(_) => Ok(Remembered::Forgotten),
            None => Ok(Remembered::No),
        }
    }

    /// Remembers what a record became.
    pub(crate) fn remember(
        &mut self,
        source: i64,
        kind: Kind,
        origin: &Origin,
        subject: SubjectId,
    ) -> rusqlite::Result<()> {
        self.is_changed = true;
        let id = origin.id.as_deref().map(|id| id_hash(kind, id));
        for hash in [Some(origin.content), id].into_iter().flatten() {
            let mut statement = self.connection.prepare_cached(
                "INSERT INTO record (source, hash, subject) VALUES (?1, ?2, ?3)
                 ON CONFLICT (source, hash) DO UPDATE SET subject = excluded.subject",
            )?;
            statement.execute(params![source, hash, sql_id(subject)])?;
        }
        Ok(())
    }

    fn subject_of_record(
        &self,
        source: i64,
        hash: &[u8; 16],
    ) -> rusqlite::Result<Option<SubjectId>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT subject FROM record WHERE source = ?1 AND hash = ?2")?;
        statement.query_row(params![source, hash], |row| Ok(subject_id(row.get(0)?))).optional()
    }
}

/// The hash of a source's own id. A company and a person may have the same one.
fn id_hash(kind: Kind, id: &str) -> [u8; 16] {
    let kind: &[u8] = match kind {
        Kind::Company => b"company id ",
        Kind::Person => b"person id ",
    };
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind).update(id.as_bytes());
    let mut short = [0; 16];
    hasher.finalize_xof().fill(&mut short);
    short
}
