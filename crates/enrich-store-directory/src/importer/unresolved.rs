//! Notes the companies whose records entity resolution must divide again, in the table
//! `unresolved`.
//!
//! A company is noted if it got a record, if it lost a record, or if it shares an identifier with
//! another company that changed. Most companies are noted when a load writes its identifiers. The
//! load writes identifiers in the order of their keys. So the rows of the other companies with the
//! same key are on the same page of the database file, which the load has just read.
//!
//! Companies that share only a name are noted only if this name can link them
//! ([`IdentifierKind::CompanyLinkableName`]): many companies have common names.

use enrich_core::SubjectId;
use enrich_core::resolution::MOST_BEARERS;
use enrich_store_sqlite::Statements;
use rusqlite::Connection;
use rustc_hash::FxHashSet;

use crate::directory::codes::{IdentifierKind, sql_id};
use crate::directory::holder::Holder;
use crate::directory::unwritten::{Change, UnwrittenIdentifiers};
use crate::directory::view::View;

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

/// Whether a value of this kind links records with equal names, however many companies have it.
pub(super) fn links_all_of_a_name(kind: IdentifierKind) -> bool {
    matches!(kind, IdentifierKind::CompanyDomain | IdentifierKind::CompanyId)
}

/// Returns the companies with a name that this name alone can link with others, at most `most`.
/// Every such link has one of them at an end, so it is enough to note them.
pub(super) fn linkable_by(
    view: View<'_>,
    name: &str,
    most: usize,
) -> rusqlite::Result<Vec<Holder>> {
    view.holders(IdentifierKind::CompanyLinkableName, name, most)
}

/// Notes the companies that share an identifier, while a load writes its rows in the order of their
/// keys.
pub(super) struct KeyNotes<'a> {
    connection: &'a Connection,
    /// All changes that are being written. Those that come later may not be written yet.
    changed: &'a UnwrittenIdentifiers,
    at: Option<(IdentifierKind, String)>,
    /// Whether a company may have had the current identifier before these rows were written.
    may_be_held: bool,
    /// The companies that got the current identifier.
    added: Vec<SubjectId>,
}

impl<'a> KeyNotes<'a> {
    pub(super) fn new(connection: &'a Connection, changed: &'a UnwrittenIdentifiers) -> Self {
        Self { connection, changed, at: None, may_be_held: true, added: Vec::new() }
    }

    /// Adds a row that was just written. `may_be_held` says whether a company may have had the
    /// identifier before. If the row belongs to a new identifier, first notes the companies that
    /// share the previous identifier.
    pub(super) fn add(
        &mut self,
        notes: &mut UnresolvedNotes,
        (kind, key): (IdentifierKind, &str),
        change: Change,
        may_be_held: bool,
    ) -> rusqlite::Result<()> {
        if notes.is_resolving {
            return Ok(());
        }
        let is_same = self.at.as_ref().is_some_and(|(of, at)| (*of, at.as_str()) == (kind, key));
        if !is_same {
            self.end(notes)?;
            self.at = kind.is_blocking().then(|| (kind, key.to_owned()));
            self.may_be_held = may_be_held;
        }
        if self.at.is_some() && change.confidence.is_some() {
            self.added.push(change.subject);
        }
        Ok(())
    }

    /// Notes the companies that share the current identifier. Must be called after the last row.
    ///
    /// If too many companies share it, those are noted that it could link before. A host or an id
    /// of too many companies still links companies with equal names, so the companies that got it
    /// are noted too.
    pub(super) fn end(&mut self, notes: &mut UnresolvedNotes) -> rusqlite::Result<()> {
        let Some((kind, key)) = self.at.take() else { return Ok(()) };
        let added = std::mem::take(&mut self.added);
        if added.is_empty() || (!self.may_be_held && added.len() == 1) {
            return Ok(());
        }
        // The rows of this identifier are already written.
        let written = View::of(self.connection);
        let most = MOST_BEARERS + added.len() + 1;
        if kind == IdentifierKind::CompanyName {
            let view = View::with_unwritten(self.connection, Some(self.changed));
            let linkable = linkable_by(view, &key, most)?;
            if !linkable.is_empty() {
                let all = written.holders(kind, &key, most)?.len();
                note(notes, linkable, &added, all);
            }
            return Ok(());
        }
        let holders = written.holders(kind, &key, most)?;
        let all = holders.len();
        if all > MOST_BEARERS && links_all_of_a_name(kind) {
            added.iter().for_each(|subject| notes.note(*subject));
        }
        note(notes, holders, &added, all);
        Ok(())
    }
}

/// Notes companies of which `holders` share an identifier that `all` companies have, after the
/// companies `added` got it.
fn note(notes: &mut UnresolvedNotes, mut holders: Vec<Holder>, added: &[SubjectId], all: usize) {
    if all < 2 {
        return;
    }
    if all > MOST_BEARERS && holders.len() > MOST_BEARERS {
        if all - added.len() > MOST_BEARERS {
            return;
        }
        let added: FxHashSet<SubjectId> = added.iter().copied().collect();
        holders.retain(|holder| !added.contains(&holder.subject));
    }
    holders.iter().for_each(|holder| notes.note(holder.subject));
}
