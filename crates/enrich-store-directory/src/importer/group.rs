//! Companies that got a record of a batch and are not saved yet.
//!
//! Deriving the look-up data of a company is the largest part of the work on its record, and needs
//! no stored data. So the data of all companies of a group is derived at once, on all processors.

use std::hash::{BuildHasher, Hash};

use enrich_core::port::importer::ImportOutcome;
use enrich_core::{CompanyRecord, Origin, SubjectId};
use enrich_text::CompanyName;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::derive::DerivedChange;
use super::subject_facts::{SourceClaim, SubjectFacts};
use super::threads::{in_parts, processors};
use crate::directory::codes::IdentifierKind;

/// Minimum number of records for each thread that derives the data of their companies.
const FEWEST: usize = if cfg!(test) { 4 } else { 256 };
/// A group is full when its companies have this many facts together. They take some hundred
/// megabytes, with copies from before the change and the derived data.
const MOST_FACTS: usize = 1 << 17;

/// The records of a batch that were matched since the last group was saved.
#[derive(Default)]
pub(super) struct Group {
    records: Vec<Matched>,
    subjects: FxHashSet<SubjectId>,
    /// The hashes of what the records add: identifiers, names of bare companies, and fingerprints.
    /// Two of them may have the same hash; then a group is only saved earlier than necessary.
    added: FxHashSet<u64>,
    /// The number of facts of all companies.
    facts: usize,
}

/// A record after it was matched.
pub(super) enum Matched {
    /// The record changes no company.
    NoChange(ImportOutcome),
    /// The record was added to the facts of a company.
    Company(Box<MatchedCompany>),
}

/// A company that got a record and is not saved yet.
pub(super) struct MatchedCompany {
    pub(super) record: CompanyRecord,
    pub(super) claim: SourceClaim,
    /// The facts of the company, with those of the record.
    pub(super) subject_facts: SubjectFacts,
    /// The company of an earlier record of this source with the same id.
    pub(super) earlier: Option<SubjectId>,
    /// Whether the record added the company.
    pub(super) is_new: bool,
    pub(super) suppressed_values: u32,
    /// The data that is derived from the facts; `None` until [`Group::take_derived`].
    pub(super) derived: Option<DerivedChange>,
}

/// What is hashed of the records of a group.
#[derive(Hash)]
enum Added<'a> {
    Identifier(IdentifierKind, &'a str),
    BareCompany(&'a str),
    Content(&'a [u8; 16]),
    RecordId(&'a str),
}

impl Added<'_> {
    fn key(&self) -> u64 {
        FxBuildHasher.hash_one(self)
    }
}

impl Group {
    pub(super) fn add(&mut self, matched: Matched) {
        if let Matched::Company(company) = &matched {
            self.subjects.insert(company.subject_facts.subject);
            self.facts += company.subject_facts.facts.len();
            add_keys(&company.record, &mut |added| {
                self.added.insert(added.key());
            });
        }
        self.records.push(matched);
    }

    /// Whether no company waits to be saved.
    pub(super) fn is_empty(&self) -> bool {
        self.subjects.is_empty()
    }

    /// Whether the group should be saved before further companies are added, to limit the memory.
    pub(super) fn is_full(&self) -> bool {
        self.facts >= MOST_FACTS
    }

    /// Whether the group contains the company.
    pub(super) fn has(&self, company: SubjectId) -> bool {
        self.subjects.contains(&company)
    }

    /// Whether a record of the group may add an identifier to its company.
    pub(super) fn adds(&self, kind: IdentifierKind, key: &str) -> bool {
        self.added.contains(&Added::Identifier(kind, key).key())
    }

    /// Whether a record of the group may add a bare company with this name.
    pub(super) fn adds_bare_company(&self, name: &str) -> bool {
        self.added.contains(&Added::BareCompany(name).key())
    }

    /// Whether a record of the group may have the same content or the same id.
    pub(super) fn has_record(&self, origin: &Origin) -> bool {
        let has = |added: Added<'_>| self.added.contains(&added.key());
        has(Added::Content(&origin.content))
            || origin.id.as_deref().is_some_and(|id| has(Added::RecordId(id)))
    }

    /// Derives the data of all companies, and empties the group. Returns its records in order.
    pub(super) fn take_derived(&mut self) -> Vec<Matched> {
        let Self { mut records, .. } = std::mem::take(self);
        if records.len() <= FEWEST {
            derive(&mut records);
            return records;
        }
        let part = records.len().div_ceil(processors(usize::MAX)).max(FEWEST);
        in_parts(records.chunks_mut(part), derive, derive);
        records
    }
}

fn derive(records: &mut [Matched]) {
    for record in records {
        if let Matched::Company(company) = record {
            // Data that cannot be derived is derived again when the company is saved. Then the
            // error is reported.
            let facts = &company.subject_facts;
            company.derived = facts.is_changed().then(|| DerivedChange::of(facts).ok()).flatten();
        }
    }
}

fn add_keys(record: &CompanyRecord, add: &mut dyn FnMut(Added<'_>)) {
    use IdentifierKind::{CompanyDomain, CompanyId, CompanyName as ByName, CompanyPage};
    add(Added::Content(&record.origin.content));
    if let Some(id) = &record.origin.id {
        add(Added::RecordId(id));
    }
    for id in &record.ids {
        add(Added::Identifier(CompanyId, id.as_str()));
    }
    for (domain, _) in &record.sites {
        add(Added::Identifier(CompanyDomain, domain.as_str()));
    }
    for page in &record.pages {
        add(Added::Identifier(CompanyPage, page.key()));
    }
    let may_be_bare = record.seats.is_empty()
        && record.sites.is_empty()
        && record.pages.is_empty()
        && record.emails.is_empty()
        && record.phones.is_empty();
    let names = std::iter::once(&record.name).chain(&record.aliases).map(CompanyName::squashed);
    for name in names {
        add(Added::Identifier(ByName, name));
        if may_be_bare {
            add(Added::BareCompany(name));
        }
    }
}
