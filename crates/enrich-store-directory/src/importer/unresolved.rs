//! Notes the companies whose records have to be divided into companies again.
//!
//! Such a company got a further record, or lost one, or shares a key with another company that
//! changed. Most notes are made when the identifiers of a load are written: the rows come in the order
//! of their keys, so the other holders of a key are on the same page.

use enrich_core::SubjectId;
use enrich_store_sqlite::Statements;
use rusqlite::{Connection, params};
use rustc_hash::FxHashSet;

use crate::directory::codes::{IdentifierKind, sql_id};
use crate::directory::unwritten::Change;

/// The most companies with one key that can be one company because of it.
pub(super) const MOST_BEARERS: usize = 64;

/// The companies that were noted in a transaction and are not yet written.
#[derive(Debug, Default)]
pub(crate) struct UnresolvedNotes {
    subjects: FxHashSet<i64>,
    /// Whether changes are not noted, because they are those of the resolution itself.
    pub(super) is_resolving: bool,
}

impl UnresolvedNotes {
    pub(super) fn note(&mut self, subject: SubjectId) {
        if !self.is_resolving {
            self.subjects.insert(sql_id(subject));
        }
    }

    /// Writes the notes in the order of their rows.
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

/// The changed rows of one identifier, while a load writes its rows in order.
#[derive(Debug)]
pub(super) struct KeyNotes {
    at: Option<(IdentifierKind, String)>,
    added: Vec<Change>,
    /// Whether the directory had no identifiers before these rows.
    is_first: bool,
}

impl KeyNotes {
    pub(super) fn new(is_first: bool) -> Self {
        Self { at: None, added: Vec::new(), is_first }
    }

    /// Adds a row that was just written. If it begins another identifier, notes the companies that
    /// share the one before.
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

    /// Notes the companies that share the last identifier.
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
