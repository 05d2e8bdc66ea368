//! Companies to which records of a batch were added, and which are not saved yet.
//!
//! Deriving the look-up data of a company is the largest part of the work on its record, and needs
//! no stored data. So companies are divided into groups. Other threads derive the data of some
//! groups, while this thread matches the records of the next group and saves earlier groups.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use enrich_core::port::importer::ImportOutcome;
use enrich_core::{CompanyRecord, Origin, SubjectId};
use enrich_text::CompanyName;
use parking_lot::Mutex;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::derive::DerivedChange;
use super::subject_facts::{SourceClaim, SubjectFacts};
use super::threads::processors;
use crate::directory::codes::IdentifierKind;

/// A group is full when it has this many companies. Then another thread derives the look-up data of
/// these companies, and the next record begins a new group.
const MAX_COMPANIES: usize = if cfg!(test) { 1 } else { 128 };
/// Maximum number of groups whose data is derived at the same time, each on a thread of its own. If
/// there are fewer processors, their number is the maximum.
const MAX_DERIVING: usize = 4;
/// A group is also full when its companies have this many facts together. This limits the memory of
/// all groups to some hundred megabytes: for the facts, the copies of the facts before their
/// changes, and the derived data.
const MAX_FACTS: usize = 1 << 14;

/// The records of a batch that were matched (their companies were found) and are not saved yet.
/// While this thread matches the records of a group, other threads derive the data of the earlier
/// groups.
pub(super) struct Unsaved {
    /// Maximum number of groups in `deriving`.
    max_deriving: usize,
    /// The groups whose data other threads derive, the oldest first.
    deriving: VecDeque<Deriving>,
    /// The last group, to which records are added.
    matched: Group,
}

/// Records that were matched (their companies were found) one after the other. Their companies are
/// saved together.
#[derive(Default)]
struct Group {
    records: Vec<Matched>,
    changes: Changes,
    /// The number of facts of all companies in this group.
    facts: usize,
}

/// The changes that saving a group makes in the directory. If a record may depend on them, the
/// group is saved before the record is matched.
#[derive(Default)]
struct Changes {
    subjects: FxHashSet<SubjectId>,
    /// The hashes of the values that the records add ([`Added`]). Two values may have the same hash
    /// by chance. Then a group is only saved earlier than necessary.
    added: FxHashSet<u64>,
}

/// A group whose data another thread derives.
struct Deriving {
    changes: Changes,
    records: Arc<Mutex<Vec<Matched>>>,
    /// The thread that derives the data; `None` if the system could not start it. In this case,
    /// [`Self::finish`] derives the data.
    thread: Option<JoinHandle<()>>,
}

/// The result of matching a record with the stored companies.
pub(super) enum Matched {
    /// The record changes no company.
    NoChange(ImportOutcome),
    /// The record was added to the facts of a company.
    Company(Box<MatchedCompany>),
}

/// A company to which a record was added, and which is not saved yet.
pub(super) struct MatchedCompany {
    pub(super) record: CompanyRecord,
    pub(super) claim: SourceClaim,
    /// The facts of the company, including the facts of `record`.
    pub(super) subject_facts: SubjectFacts,
    /// The company that contains an earlier record of the same source with the same id; `None` if
    /// there is no such record.
    pub(super) earlier: Option<SubjectId>,
    /// Whether this record created the company.
    pub(super) is_new: bool,
    pub(super) suppressed_values: u32,
    /// The data that is derived from the facts; `None` until it is derived.
    pub(super) derived: Option<DerivedChange>,
}

/// A value that a record adds to the directory when it is saved. [`Changes`] contains only the hash
/// of the value.
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

impl Unsaved {
    pub(super) fn new() -> Self {
        let max_deriving = processors(MAX_DERIVING);
        Self { max_deriving, deriving: VecDeque::new(), matched: Group::default() }
    }

    pub(super) fn add(&mut self, matched: Matched) {
        let Group { records, changes, facts } = &mut self.matched;
        if let Matched::Company(company) = &matched {
            changes.subjects.insert(company.subject_facts.subject);
            *facts += company.subject_facts.facts.len();
            add_keys(&company.record, &mut |added| {
                changes.added.insert(added.key());
            });
        }
        records.push(matched);
    }

    /// Whether no company waits to be saved.
    pub(super) fn is_empty(&self) -> bool {
        self.changes().all(|changes| changes.subjects.is_empty())
    }

    /// Whether the last group has enough companies or facts. If so, the caller must end the group
    /// before it adds further records.
    pub(super) fn is_full(&self) -> bool {
        self.matched.changes.subjects.len() >= MAX_COMPANIES || self.matched.facts >= MAX_FACTS
    }

    /// Whether `company` waits to be saved.
    pub(super) fn has(&self, company: SubjectId) -> bool {
        self.changes().any(|changes| changes.subjects.contains(&company))
    }

    /// Whether saving the unsaved records may add this identifier to a company.
    pub(super) fn adds(&self, kind: IdentifierKind, key: &str) -> bool {
        self.adds_any(&Added::Identifier(kind, key))
    }

    /// Whether saving the unsaved records may add a bare company (known only by names) with this
    /// name.
    pub(super) fn adds_bare_company(&self, name: &str) -> bool {
        self.adds_any(&Added::BareCompany(name))
    }

    /// Whether an unsaved record may have the same content or the same id as the record of
    /// `origin`.
    pub(super) fn has_record(&self, origin: &Origin) -> bool {
        self.adds_any(&Added::Content(&origin.content))
            || origin.id.as_deref().is_some_and(|id| self.adds_any(&Added::RecordId(id)))
    }

    /// Starts a thread that derives the data of the last group. If the data of too many groups is
    /// being derived already, waits until the oldest of these groups is done and returns its
    /// records, in order. In other cases, returns no records.
    pub(super) fn end_group(&mut self) -> Vec<Matched> {
        let is_full = self.deriving.len() >= self.max_deriving;
        let first = if is_full { self.deriving.pop_front().map(Deriving::finish) } else { None };
        self.deriving.push_back(Deriving::begin(std::mem::take(&mut self.matched)));
        first.unwrap_or_default()
    }

    /// Waits until the data of all records is derived. Removes and returns all records, in order.
    pub(super) fn take_all(&mut self) -> Vec<Matched> {
        let mut last = std::mem::take(&mut self.matched).records;
        derive(&mut last);
        let mut records: Vec<Matched> =
            self.deriving.drain(..).flat_map(Deriving::finish).collect();
        records.append(&mut last);
        records
    }

    fn changes(&self) -> impl Iterator<Item = &Changes> {
        let deriving = self.deriving.iter().map(|deriving| &deriving.changes);
        deriving.chain([&self.matched.changes])
    }

    fn adds_any(&self, added: &Added<'_>) -> bool {
        let key = added.key();
        self.changes().any(|changes| changes.added.contains(&key))
    }
}

impl Deriving {
    fn begin(group: Group) -> Self {
        let Group { records, changes, .. } = group;
        let records = Arc::new(Mutex::new(records));
        let shared = Arc::clone(&records);
        let thread = thread::Builder::new().name("enrich-derive".to_owned());
        let thread = thread.spawn(move || derive(&mut shared.lock())).ok();
        Self { changes, records, thread }
    }

    /// Waits until the data is derived, and returns the records.
    fn finish(self) -> Vec<Matched> {
        match self.thread.map(JoinHandle::join) {
            Some(Ok(())) => {}
            Some(Err(panic)) => resume_unwind(panic),
            None => derive(&mut self.records.lock()),
        }
        std::mem::take(&mut *self.records.lock())
    }
}

fn derive(records: &mut [Matched]) {
    for record in records {
        if let Matched::Company(company) = record {
            // If the data cannot be derived, `derived` stays `None`. Saving the company then
            // derives the data again and reports the error.
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
