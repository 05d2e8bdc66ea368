//! Remembers the subject (a company or a person) to which each record was imported. So a record
//! that is imported again is recognised without comparing its values. If a source has changed a
//! record, the subject is still found by the id of the record.
//!
//! A record is stored as a fingerprint: a keyed hash of its content. If its source gives the record
//! an id, a keyed hash of the id is stored too. The hashes are made with a secret. Without it,
//! nobody can find out from the database whether a certain record was imported, such as the record
//! of a forgotten person.
//!
//! If the subject of a remembered record no longer exists, the subject was forgotten on request, so
//! the record is not imported again. A subject that is removed with its source can be imported
//! again, because its fingerprints are deleted too.

use enrich_core::{Origin, SubjectId};
use enrich_secrets::{Purpose, Secret, Secrets};
use enrich_store_sqlite::Statements;
use rusqlite::params;

use super::subject_facts::Kind;
use super::unwritten_records::write_record;
use super::writer::Writer;
use crate::directory::codes::subject_id;

/// The data by which a record of a source is recognised. Only a keyed hash of this data is stored.
#[derive(Clone, Copy)]
enum RecordFingerprint<'a> {
    /// A hash of the record's content.
    Content(&'a [u8; 16]),
    /// The id that the source gives the record. The records of a company and of a person may have
    /// the same id, so the kind is part of the hash.
    Id(Kind, &'a str),
}

/// The result of looking for a record among the records that were imported before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remembered {
    /// The record is new.
    No,
    /// Exactly the same record was imported before.
    Same,
    /// An earlier record of the same source has the same id, but other content. That record was
    /// imported to this subject (a company or a person).
    Earlier(SubjectId),
    /// The record was imported before, and its company or person was forgotten on request.
    Forgotten,
}

impl Writer<'_> {
    /// Looks for a source's record among the records that were imported before.
    pub(crate) fn remembered(
        &self,
        source: i64,
        kind: Kind,
        origin: &Origin,
    ) -> rusqlite::Result<Remembered> {
        if let Some(subject) =
            self.subject_of_record(source, RecordFingerprint::Content(&origin.content))?
        {
            let is_there = self.view().is_there(self.successor(subject)?)?;
            return Ok(if is_there { Remembered::Same } else { Remembered::Forgotten });
        }
        let Some(id) = &origin.id else { return Ok(Remembered::No) };
        let held = self.subject_of_record(source, RecordFingerprint::Id(kind, id))?;
        match held.map(|subject| self.successor(subject)).transpose()? {
            Some(subject) if self.view().is_there(subject)? => Ok(Remembered::Earlier(subject)),
            Some(_) => Ok(Remembered::Forgotten),
            None => Ok(Remembered::No),
        }
    }

    /// Remembers the subject (the company or person) to which a record was imported. The subject is
    /// stored under a hash of the record's content. If the source gives the record an id, the
    /// subject is also stored under a hash of the id.
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
            match &mut self.unwritten {
                Some(unwritten) => unwritten.records.add(source, hash, subject),
                None => write_record(self.connection, source, hash, subject)?,
            }
        }
        Ok(())
    }

    /// Returns the company to which a source's record with this id was imported; `None` if there is
    /// no such record.
    pub(super) fn company_of_record(
        &self,
        source: i64,
        id: &str,
    ) -> rusqlite::Result<Option<SubjectId>> {
        let held = self.subject_of_record(source, RecordFingerprint::Id(Kind::Company, id))?;
        held.map(|subject| self.successor(subject)).transpose()
    }

    fn subject_of_record(
        &self,
        source: i64,
        mark: RecordFingerprint<'_>,
    ) -> rusqlite::Result<Option<SubjectId>> {
        let select = "SELECT subject FROM record WHERE source = ?1 AND hash = ?2";
        let unwritten = self.unwritten.as_ref().map(|unwritten| &unwritten.records);
        // The stored hash may have been made with an older secret, so all secrets are tried.
        for secret in self.secrets.newest_first() {
            let hash = mark.hash(secret);
            if let Some(subject) = unwritten.and_then(|records| records.subject(source, hash)) {
                return Ok(Some(subject));
            }
            if unwritten.is_some_and(|records| !records.may_be_in_file(source, hash)) {
                continue;
            }
            let values = params![source, hash];
            let found = self.connection.find(select, values, |row| Ok(subject_id(row.get(0)?)))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// Returns the fingerprints that a record's id may have in the database: a keyed hash of the id for
/// each secret.
pub(super) fn record_hashes(
    secrets: &Secrets,
    kind: Kind,
    id: &str,
) -> impl Iterator<Item = [u8; 16]> {
    let mark = RecordFingerprint::Id(kind, id);
    secrets.newest_first().map(move |secret| mark.hash(secret))
}

/// Returns the keyed hash by which the content of a record is remembered.
pub(crate) fn content_hash(secret: &Secret, content: &[u8; 16]) -> [u8; 16] {
    RecordFingerprint::Content(content).hash(secret)
}

impl RecordFingerprint<'_> {
    /// Returns the first half of the keyed hash. Its 16 bytes are enough, because practically no
    /// two records have the same 16 bytes.
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
