//! Which subject a record became: so that the same record again is known at once, and a record
//! that changed at its source finds the subject it was.
//!
//! A record is remembered by a hash of its content and, where its source has an id for it, by one
//! of that id. The hashes are keyed: what is remembered of somebody who was forgotten cannot be
//! tested against a list of ids or records by who has only the database. A remembered record
//! whose subject is gone was forgotten on request: removing a source removes what is remembered of
//! the subjects that go with it.

use enrich_core::{Origin, SubjectId};
use rusqlite::{OptionalExtension, params};

use super::subject_facts::Kind;
use super::writer::Writer;
use crate::directory::codes::{sql_id, subject_id};
use crate::secret::{Purpose, Secret};

/// What a record is remembered by.
#[derive(Clone, Copy)]
enum RecordFingerprint<'a> {
    /// Its content.
    Content(&'a [u8; 16]),
    /// Its source's own id for it. A company and a person may have the same one.
    Id(Kind, &'a str),
}

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
        if let Some(subject) =
            self.subject_of_record(source, RecordFingerprint::Content(&origin.content))?
        {
            let is_there = self.view().is_there(subject)?;
            return Ok(if is_there { Remembered::Same } else { Remembered::Forgotten });
        }
        let Some(id) = &origin.id else { return Ok(Remembered::No) };
        match self.subject_of_record(source, RecordFingerprint::Id(kind, id))? {
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
        let content = RecordFingerprint::Content(&origin.content);
        let id = origin.id.as_deref().map(|id| RecordFingerprint::Id(kind, id));
        for mark in [Some(content), id].into_iter().flatten() {
            let hash = mark.hash(self.secrets.current());
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
        mark: RecordFingerprint<'_>,
    ) -> rusqlite::Result<Option<SubjectId>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT subject FROM record WHERE source = ?1 AND hash = ?2")?;
        // A hash may have been made with an older secret.
        for secret in self.secrets.newest_first() {
            let found = statement
                .query_row(params![source, mark.hash(secret)], |row| Ok(subject_id(row.get(0)?)))
                .optional()?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

impl RecordFingerprint<'_> {
    /// The first half of the keyed hash: 16 bytes tell any number of records apart.
    fn hash(self, secret: &Secret) -> [u8; 16] {
        let parts: [&[u8]; 2] = match self {
            Self::Content(content) => [b"content", content],
            Self::Id(Kind::Company, id) => [b"company id", id.as_bytes()],
            Self::Id(Kind::Person, id) => [b"person id", id.as_bytes()],
        };
        let whole = secret.hash(Purpose::Origin, &parts);
        let mut short = [0; 16];
        short.copy_from_slice(&whole[..16]);
        short
    }
}
