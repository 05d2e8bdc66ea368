//! Fills the table `unresolved`. It names the companies whose records entity resolution must divide
//! into companies again. To note a company means to add it to this table.
//!
//! A company is noted if it got a record, if it lost a record, or if it shares an identifier with
//! another company that changed. Most companies are noted when a load writes its identifiers. The
//! load writes them in the order of their keys. The rows of all companies with the same identifier
//! are next to each other, so they are on a database page that the load has just read. This makes
//! it cheap to find these companies.
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

/// Returns at most `most` companies with this name that may have a link by name: a link to another
/// company with which they have only the name in common, and no domain or other value. If two
/// companies may have such a link, one of them may be missing in the result, but not both. It is
/// enough to note one of them, because entity resolution then also finds the other.
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

    /// Takes the row that the load has just written: `change`, of the identifier with this kind and
    /// key. If this identifier is not the current one, first notes the companies that share the
    /// current one; then the new identifier is current. `may_be_held` says whether any company may
    /// have had the new identifier before the load.
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
    /// Usually, all companies that share the identifier are noted. If too many companies share it,
    /// it no longer links them, and [`note`] decides which of them are noted.
    ///
    /// But a host or an id that too many companies share still links those of them that have equal
    /// names. So the companies to which the load has added the host or id are noted too.
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
            // Rows are written in the order of their kinds, and `CompanyLinkableName` comes after
            // `CompanyName`. So the changed rows of `CompanyLinkableName` are not in the database
            // yet, and this view must also read the unwritten rows.
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

/// Notes companies that share an identifier; notes none if only one company has it. `all` is the
/// number of companies that have the identifier now, including the companies `added`, which have
/// just got it. `holders` are all companies that have the identifier; for a name, only those that
/// [`linkable_by`] returns.
///
/// - If there are at most [`MAX_BEARERS`] `holders`, all of them are noted.
/// - If there are more, the identifier now links none of them. If at most [`MAX_BEARERS`] companies
///   had it before the load, it may have linked these. So the `holders` that are not in `added` are
///   noted.
/// - If more than [`MAX_BEARERS`] companies had it even before the load, it linked none of them
///   then, and none are noted.
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
