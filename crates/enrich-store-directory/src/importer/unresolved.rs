//! Notes the companies whose records entity resolution must divide again, in the table
//! `unresolved`.
//!
//! A company is noted if it got a record, if it lost a record, or if it shares an identifier with
//! another company that changed. Most companies are noted when a load writes its identifiers. The
//! load writes identifiers in the order of their keys. So the other companies with the same
//! identifier are found cheaply: their rows are on the same page of the database file, which the
//! load has just read.
//!
//! If companies share only a name, they are noted only if this name can link them
//! ([`IdentifierKind::CompanyLinkableName`]). Otherwise, common names would cause much needless
//! work.

use enrich_core::SubjectId;
use enrich_core::resolution::MAX_BEARERS;
use enrich_store_sqlite::Statements;
use rusqlite::Connection;
use rustc_hash::FxHashSet;

use crate::directory::codes::{IdentifierKind, sql_id};
use crate::directory::holder::Holder;
use crate::directory::unwritten::{Change, UnwrittenIdentifiers};
use crate::directory::view::View;

/// The companies that were noted for entity resolution in a transaction and are not yet written to
/// the table `unresolved`.
#[derive(Debug, Default)]
pub(crate) struct UnresolvedNotes {
    subjects: FxHashSet<i64>,
    /// Whether entity resolution itself is changing companies. The companies that it changes are
    /// not noted for a further entity resolution.
    pub(super) is_resolving: bool,
}

impl UnresolvedNotes {
    pub(super) fn note(&mut self, subject: SubjectId) {
        if !self.is_resolving {
            self.subjects.insert(sql_id(subject));
        }
    }

    /// Writes the noted companies to the table `unresolved`, in the order of their ids, and removes
    /// them from memory.
    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut subjects: Vec<i64> = self.subjects.drain().collect();
        subjects.sort_unstable();
        let insert = "INSERT OR IGNORE INTO unresolved (subject) VALUES (?1)";
        subjects.into_iter().try_for_each(|subject| connection.run(insert, [subject]).map(drop))
    }
}

/// Whether a value of this kind always links records with equal names, even if very many companies
/// have the value.
pub(super) fn links_all_of_a_name(kind: IdentifierKind) -> bool {
    matches!(kind, IdentifierKind::CompanyDomain | IdentifierKind::CompanyId)
}

/// Returns at most `most` companies with this name that may be linked with another company by the
/// equal name alone, without a common domain or other value. Of two companies that may be linked in
/// this way, at least one is in the result. Noting this one is enough, because entity resolution
/// then also finds the other.
pub(super) fn linkable_by(
    view: View<'_>,
    name: &str,
    most: usize,
) -> rusqlite::Result<Vec<Holder>> {
    view.holders(IdentifierKind::CompanyLinkableName, name, most)
}

/// Notes the companies that share an identifier, for entity resolution, because their records may
/// describe one company. This happens while a load (one import) writes its rows in the order of
/// their keys.
pub(super) struct KeyNotes<'a> {
    connection: &'a Connection,
    /// All changes of identifiers in this load, in the order of the identifiers. The changes that
    /// come after the current identifier (`at`) are perhaps not written yet.
    changed: &'a UnwrittenIdentifiers,
    /// The current identifier, whose rows the load is writing. `None` before the first row, and if
    /// identifiers of the current kind cannot link companies.
    at: Option<(IdentifierKind, String)>,
    /// Whether any company may have had the current identifier before the load.
    may_be_held: bool,
    /// The companies to which the load has added the current identifier.
    added: Vec<SubjectId>,
}

impl<'a> KeyNotes<'a> {
    pub(super) fn new(connection: &'a Connection, changed: &'a UnwrittenIdentifiers) -> Self {
        Self { connection, changed, at: None, may_be_held: true, added: Vec::new() }
    }

    /// Takes the next row that was written. If the row begins a new identifier, first notes the
    /// companies that share the previous identifier. `may_be_held` says whether a company may have
    /// had the new identifier before the load.
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

    /// Notes the companies that share the current identifier. [`add`](Self::add) calls this method
    /// when the next identifier begins. After the last row, the caller must call it.
    ///
    /// Usually, all companies that share the identifier are noted. But if too many share it now, it
    /// no longer links companies. Then only the companies that had it before the load are noted
    /// ([`note`]).
    ///
    /// A host or an id still links companies with equal names, even if too many companies share it.
    /// So for a host or an id, the companies that have just got it are noted too.
    pub(super) fn end(&mut self, notes: &mut UnresolvedNotes) -> rusqlite::Result<()> {
        let Some((kind, key)) = self.at.take() else { return Ok(()) };
        let added = std::mem::take(&mut self.added);
        if added.is_empty() || (!self.may_be_held && added.len() == 1) {
            return Ok(());
        }
        // All rows of this identifier are already in the database, so this view does not need the
        // unwritten rows.
        let written = View::of(self.connection);
        let most = MAX_BEARERS + added.len() + 1;
        if kind == IdentifierKind::CompanyName {
            // Rows are written in the order of their kinds. So the changed rows of
            // `CompanyLinkableName` are not in the database yet, and this view must also read the
            // unwritten rows.
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
        if all > MAX_BEARERS && links_all_of_a_name(kind) {
            added.iter().for_each(|subject| notes.note(*subject));
        }
        note(notes, holders, &added, all);
        Ok(())
    }
}

/// Notes the companies `holders`, which share an identifier. `all` is the number of companies that
/// have the identifier now, including the companies `added`, which have just got it.
///
/// If `all` is too large (more than [`MAX_BEARERS`]) and there are also too many `holders`, the
/// identifier no longer links companies. It may have linked the companies that had it before the
/// load, so only these are noted. If too many companies had it even then, it linked none of them,
/// and none are noted.
fn note(notes: &mut UnresolvedNotes, mut holders: Vec<Holder>, added: &[SubjectId], all: usize) {
    if all < 2 {
        return;
    }
    if all > MAX_BEARERS && holders.len() > MAX_BEARERS {
        if all - added.len() > MAX_BEARERS {
            return;
        }
        let added: FxHashSet<SubjectId> = added.iter().copied().collect();
        holders.retain(|holder| !added.contains(&holder.subject));
    }
    holders.iter().for_each(|holder| notes.note(holder.subject));
}
