//! Identifiers that a load (one import) has changed but not yet written to the file.
//!
//! A load finds the company or person of each record by identifiers. Earlier records of the same
//! load may have changed these identifiers. So the reads of a load combine the rows of the database
//! file with these changes. The rows are written later, many at a time and in the order of their
//! keys. So each page of the file is written only once, although many records change rows of this
//! page.

mod written_keys;

pub(crate) use written_keys::WrittenKeys;

use enrich_core::{Confidence, SubjectId};

use rustc_hash::FxHashSet;

use super::codes::IdentifierKind;
use super::holder::Holder;
use crate::noted::Noted;

#[derive(Debug, Default)]
pub(crate) struct UnwrittenIdentifiers {
    /// The changes, grouped by the kind of identifier. The groups are ordered by the number of the
    /// kind.
    kinds: Vec<(IdentifierKind, Noted<Change>)>,
    /// The identifiers in the database file, each as its kind and key. Contains only the
    /// [kinds](is_kept) that a load looks up often. `None` if it is not known which identifiers are
    /// in the file; then any identifier may be in it.
    pub(crate) written_keys: Option<WrittenKeys>,
}

/// A change of one row in the index of identifiers: a holder (a company or person that has the
/// identifier) is added, changed or deleted.
///
/// A load (one import) keeps millions of changes in memory. With this alignment, one change takes
/// 12 bytes instead of 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub(crate) struct Change {
    pub(crate) subject: SubjectId,
    /// The tier of the identifier: how strongly the identifier belongs to the subject. Tier 0 is
    /// the strongest.
    pub(crate) tier: u8,
    /// The new confidence of the row; `None` if the row is deleted.
    pub(crate) confidence: Option<Confidence>,
}

impl UnwrittenIdentifiers {
    /// Creates an empty collection. `written_keys` are the identifiers in the database file; `None`
    /// if they are not known.
    pub(crate) fn new(written_keys: Option<WrittenKeys>) -> Self {
        Self { kinds: Vec::new(), written_keys }
    }

    /// Whether the file may contain rows of this identifier.
    pub(super) fn may_be_in_file(&self, kind: IdentifierKind, key: &str) -> bool {
        match &self.written_keys {
            Some(written) if is_kept(kind) => written.may_have(&(kind, key)),
            _ => true,
        }
    }

    /// Collects a change: a company or person gets an identifier, or no longer has it. A later
    /// change of the same company or person in the same tier replaces an earlier one.
    pub(crate) fn change(&mut self, kind: IdentifierKind, key: &str, change: Change) {
        let at = match self.kinds.binary_search_by_key(&kind, |(kind, _)| *kind) {
            Ok(at) => at,
            Err(at) => {
                self.kinds.insert(at, (kind, Noted::default()));
                at
            }
        };
        self.kinds[at].1.note(key.as_bytes(), change);
    }

    /// Applies the changes of an identifier to `held`, the identifier's holders in the database
    /// file. A holder is a company or person that has the identifier. Returns the first `limit`
    /// holders after the changes, ordered by tier and then by id. Leaves out holders whose
    /// tier is a number less than `least`. So with 0, no holder is left out.
    ///
    /// `held` must be in the same order. Because changes can delete holders, `held` must contain
    /// more than `limit` of them: `limit` plus the number of [`changes`](Self::changes), or all.
    pub(super) fn applied(
        &self,
        (kind, key): (IdentifierKind, &str),
        least: u8,
        mut held: Vec<Holder>,
        limit: usize,
    ) -> Vec<Holder> {
        let mut changes = self.last_changes(kind, key);
        changes.retain(|change| change.tier >= least);
        let changed: FxHashSet<(u8, SubjectId)> =
            changes.iter().map(|change| (change.tier, change.subject)).collect();
        held.retain(|held| !changed.contains(&(held.tier, held.subject)));
        held.extend(changes.into_iter().filter_map(Change::holder));
        held.sort_unstable_by_key(|holder| (holder.tier, holder.subject));
        held.truncate(limit);
        held
    }

    /// Returns the number of changes of an identifier.
    pub(super) fn changes(&self, kind: IdentifierKind, key: &str) -> usize {
        self.of(kind).map_or(0, |noted| noted.of(key.as_bytes()).count())
    }

    /// Returns the memory that the changes take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.kinds.iter().map(|(_, noted)| noted.bytes()).sum()
    }

    /// Passes the last change of each row to `take`, in the order of the rows in the table
    /// `identifier`. Stops when `take` returns an error.
    pub(crate) fn each_in_order<E>(
        &self,
        mut take: impl FnMut(IdentifierKind, &str, Change) -> Result<(), E>,
    ) -> Result<(), E> {
        for (kind, noted) in &self.kinds {
            noted.each_in_order(|key, changes| {
                // Every key was added as a text, so the conversion cannot fail.
                let key = std::str::from_utf8(key).unwrap_or_default();
                let changes = last_of_each(changes.iter().rev().copied());
                changes.into_iter().try_for_each(|change| take(*kind, key, change))
            })?;
        }
        Ok(())
    }

    fn last_changes(&self, kind: IdentifierKind, key: &str) -> Vec<Change> {
        self.of(kind).map_or_else(Vec::new, |noted| last_of_each(noted.of(key.as_bytes())))
    }

    fn of(&self, kind: IdentifierKind) -> Option<&Noted<Change>> {
        let at = self.kinds.binary_search_by_key(&kind, |(kind, _)| *kind).ok()?;
        Some(&self.kinds[at].1)
    }
}

impl Change {
    fn holder(self) -> Option<Holder> {
        let Self { subject, tier, confidence } = self;
        confidence.map(|confidence| Holder { subject, tier, confidence })
    }
}

/// Notes in `written_keys` that an identifier is written to the file. Returns `false` if the file
/// surely did not contain the identifier before.
pub(crate) fn add_written(
    written_keys: &mut Option<WrittenKeys>,
    kind: IdentifierKind,
    key: &str,
) -> bool {
    match written_keys {
        Some(written) if is_kept(kind) => written.add(&(kind, key)),
        _ => true,
    }
}

/// Whether a load (one import) remembers which keys of this kind are in the file. It does so only
/// for the kinds that it looks up often. It looks up some of them to find the company of a record,
/// and some for entity resolution, which finds companies that may be the same company.
fn is_kept(kind: IdentifierKind) -> bool {
    kind.is_blocking() || kind == IdentifierKind::CompanyLinkableName
}

/// Returns the last change of each row of one identifier, ordered by tier and then by subject.
/// `changes` must begin with the change that was made last.
fn last_of_each(changes: impl Iterator<Item = Change>) -> Vec<Change> {
    let mut changes: Vec<Change> = changes.collect();
    // The sort is stable. So of several changes of one row, the one that was made last stays first.
    // Only this change is kept.
    changes.sort_by_key(|change| (change.tier, change.subject));
    changes.dedup_by_key(|change| (change.tier, change.subject));
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: IdentifierKind = IdentifierKind::CompanyDomain;

    fn change(tier: u8, subject: u64, percent: Option<u8>) -> Change {
        let confidence = percent.map(Confidence::clamped);
        Change { subject: SubjectId(subject), tier, confidence }
    }

    fn holder(tier: u8, subject: u64, percent: u8) -> Holder {
        let confidence = Confidence::clamped(percent);
        Holder { subject: SubjectId(subject), tier, confidence }
    }

    #[test]
    fn holders_are_those_of_the_file_with_the_changes() {
        let mut unwritten = UnwrittenIdentifiers::new(None);
        for one in [change(0, 3, Some(80)), change(1, 1, None), change(0, 3, Some(90))] {
            unwritten.change(KIND, "quill.example", one);
        }
        let held = vec![holder(0, 2, 70), holder(1, 1, 60), holder(1, 4, 50)];
        let found = unwritten.applied((KIND, "quill.example"), 0, held, 2);
        assert_eq!(found, [holder(0, 2, 70), holder(0, 3, 90)]);
        assert_eq!(unwritten.applied((KIND, "ink.example"), 0, vec![holder(0, 1, 1)], 9).len(), 1);
    }

    #[test]
    fn written_identifiers_may_be_in_the_file_and_others_not() {
        let mut unwritten = UnwrittenIdentifiers::new(Some(WrittenKeys::default()));
        assert!(!unwritten.may_be_in_file(KIND, "quill.example"));
        assert!(!add_written(&mut unwritten.written_keys, KIND, "quill.example"));
        assert!(unwritten.may_be_in_file(KIND, "quill.example"));
        assert!(!unwritten.may_be_in_file(KIND, "ink.example"));
        // Labels are not among the remembered keys, so the file may contain any label.
        assert!(unwritten.may_be_in_file(IdentifierKind::CompanyLabel, "ink"));
        assert!(UnwrittenIdentifiers::new(None).may_be_in_file(KIND, "ink.example"));
    }

    #[test]
    fn rows_come_in_the_order_of_the_file_each_once() {
        let mut unwritten = UnwrittenIdentifiers::new(Some(WrittenKeys::default()));
        unwritten.change(IdentifierKind::CompanyName, "a", change(0, 1, Some(100)));
        unwritten.change(KIND, "b", change(1, 1, Some(100)));
        unwritten.change(KIND, "b", change(0, 2, Some(100)));
        unwritten.change(KIND, "a", change(0, 1, Some(100)));
        unwritten.change(KIND, "a", change(0, 1, None));
        let mut rows = Vec::new();
        let take = |kind, key: &str, change: Change| {
            rows.push((kind, key.to_owned(), change.tier, change.confidence.is_some()));
            Ok::<(), ()>(())
        };
        unwritten.each_in_order(take).unwrap();
        let expected = [
            (KIND, "a", 0, false),
            (KIND, "b", 0, true),
            (KIND, "b", 1, true),
            (IdentifierKind::CompanyName, "a", 0, true),
        ];
        assert_eq!(rows, expected.map(|(kind, key, tier, is)| (kind, key.to_owned(), tier, is)));
    }
}
