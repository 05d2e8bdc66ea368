//! Notes the companies whose records entity resolution must divide again, in the table
//! `unresolved`.
//!
//! A company is noted if it got a record, if it lost a record, or if it shares an identifier with
//! another company that changed. Most companies are noted when a load writes its identifiers. The
//! load writes identifiers in the order of their keys. So the rows of the other companies with the
//! same key are on the same page of the database file, which the load has just read.

use enrich_core::SubjectId;
use enrich_core::resolution::MOST_BEARERS;
use enrich_store_sqlite::Statements;
use rusqlite::{Connection, params};
use rustc_hash::FxHashSet;

use crate::directory::codes::{IdentifierKind, sql_id};
use crate::directory::unwritten::Change;

/// The companies that were noted in a transaction and are not yet written.
#[derive(Debug, Default)]
pub(crate) struct UnresolvedNotes {
    subjects: FxHashSet<i64>,
    /// Whether entity resolution itself is changing companies. Its changes are not noted.
    pub(super) is_resolving: bool,
}

impl UnresolvedNotes {
    pub(super) fn note(&mut self, subject: SubjectId) {
        if !self.is_resolving {
            self.subjects.insert(sql_id(subject));
        }
    }

    /// Writes the notes in the order of their ids, and removes them from memory.
    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut subjects: Vec<i64> = self.subjects.drain().collect();
        subjects.sort_unstable();
        let insert = "INSERT OR IGNORE INTO unresolved (subject) VALUES (?1)";
        subjects.into_iter().try_for_each(|subject| connection.run(insert, [subject]).map(drop))
    }
}

/// Whether companies that share an identifier of this kind may be one company.
pub(super) fn is_blocking(kind: IdentifierKind) -> bool {
    use IdentifierKind::{CompanyDomain, CompanyId, CompanyName, CompanyPage, CompanyPhone};
    matches!(kind, CompanyDomain | CompanyId | CompanyName | CompanyPage | CompanyPhone)
}

/// Collects the companies that get the same identifier, while a load writes its rows in order.
#[derive(Debug)]
pub(super) struct KeyNotes {
    at: Option<(IdentifierKind, String)>,
    added: Vec<Change>,
    /// Whether the directory had no identifiers before this load. Then the collected companies are
    /// all companies with the identifier.
    is_first: bool,
}

impl KeyNotes {
    pub(super) fn new(is_first: bool) -> Self {
        Self { at: None, added: Vec::new(), is_first }
    }

    /// Adds a row that was just written. If the row belongs to a new identifier, first notes the
    /// companies that share the previous identifier.
    pub(super) fn add(
        &mut self,
        connection: &Connection,
        notes: &mut UnresolvedNotes,
        (kind, key): (IdentifierKind, &str),
        change: Change,
    ) -> rusqlite::Result<()> {
        if notes.is_resolving {
            return Ok(());
        }
        let is_same = self.at.as_ref().is_some_and(|(of, at)| (*of, at.as_str()) == (kind, key));
        if !is_same {
            self.end(connection, notes)?;
            self.at = is_blocking(kind).then(|| (kind, key.to_owned()));
        }
        if self.at.is_some() && change.confidence.is_some() {
            self.added.push(change);
        }
        Ok(())
    }

    /// Notes the companies that share the current identifier. Must be called after the last row.
    pub(super) fn end(
        &mut self,
        connection: &Connection,
        notes: &mut UnresolvedNotes,
    ) -> rusqlite::Result<()> {
        let Some((kind, key)) = self.at.take() else { return Ok(()) };
        let added = std::mem::take(&mut self.added);
        if added.is_empty() || (self.is_first && added.len() == 1) {
            return Ok(());
        }
        let mut holders: Vec<i64> = match self.is_first {
            true => added.iter().map(|it| sql_id(it.subject)).collect(),
            false => {
                let mut statement = connection.prepare_cached(
                    "SELECT subject FROM identifier WHERE kind = ?1 AND key = ?2",
                )?;
                let rows = statement.query_map(params![kind, key], |row| row.get(0))?;
                rows.take(MOST_BEARERS + 1).collect::<rusqlite::Result<_>>()?
            }
        };
        holders.sort_unstable();
        holders.dedup();
        if (2..=MOST_BEARERS).contains(&holders.len()) {
            notes.subjects.extend(holders);
        }
        Ok(())
    }
}
