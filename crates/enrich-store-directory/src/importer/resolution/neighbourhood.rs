//! Finds the neighbourhood of a company: the companies whose records can be linked with its
//! records, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use enrich_core::SubjectId;
use enrich_core::resolution::{
    Decisions, MOST_BEARERS, RecordClaims, RecordKey, SharedKeys, is_shared, may_link,
};
use enrich_store_sqlite::Statements;
use rusqlite::Connection;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::stored_decisions::stored_decisions;
use super::super::subject_facts::{Kind, RecordMark, SubjectFacts};
use super::super::writer::Writer;
use crate::directory::codes::{IdentifierKind, sql_id};
use crate::directory::holder::Holder;

/// Maximum number of records that are divided at once. A neighbourhood with more records is not
/// divided.
const MOST_RECORDS: usize = 4096;

/// A company and its records.
pub(in super::super) struct Loaded {
    pub(super) subject: SubjectId,
    pub(super) facts: SubjectFacts,
    /// The claims of each record, with the number of the record in `facts`.
    pub(in super::super) records: Vec<(usize, RecordClaims)>,
}

/// Companies whose records can be linked, directly or through others.
pub(super) struct Neighbourhood {
    /// The companies, ordered by their ids.
    pub(super) members: Vec<Rc<Loaded>>,
    /// The values that identify no company, because many organisations have them.
    pub(super) shared: SharedKeys,
}

/// Whether many organisations share a host, page or phone number, for the values that were asked
/// for. This does not change while records move between companies, so it is kept for all parts of
/// the stage.
pub(in super::super) type KnownSharing = FxHashMap<(IdentifierKind, String), bool>;

/// Finds neighbourhoods. Reads each company and each list of holders only once.
pub(in super::super) struct Explorer<'w, 'c> {
    pub(super) writer: &'w Writer<'c>,
    /// The decisions of the operator that are in force.
    pub(in super::super) decisions: Rc<Decisions>,
    pub(super) known_sharing: KnownSharing,
    sources: FxHashMap<i64, String>,
    loaded: FxHashMap<SubjectId, Option<Rc<Loaded>>>,
    holders: FxHashMap<(IdentifierKind, String), Rc<Vec<Holder>>>,
}

impl<'w, 'c> Explorer<'w, 'c> {
    pub(in super::super) fn new(writer: &'w Writer<'c>) -> rusqlite::Result<Self> {
        let decisions = stored_decisions(writer.connection)?.into_iter();
        Ok(Self {
            writer,
            decisions: Rc::new(Decisions::new(decisions.map(|stored| stored.decision).collect())),
            known_sharing: KnownSharing::default(),
            sources: source_names(writer.connection)?,
            loaded: FxHashMap::default(),
            holders: FxHashMap::default(),
        })
    }

    /// Finds the neighbourhood of a company. Returns `None` if the company does not exist, or if
    /// the neighbourhood has too many records.
    pub(super) fn around(&mut self, seed: SubjectId) -> rusqlite::Result<Option<Neighbourhood>> {
        let mut found: BTreeMap<SubjectId, Rc<Loaded>> = BTreeMap::new();
        let mut tested: FxHashSet<(SubjectId, SubjectId)> = FxHashSet::default();
        let mut shared = SharedKeys::default();
        let mut followed: FxHashSet<u64> = FxHashSet::default();
        let mut next = vec![seed];
        let mut records = 0;
        while let Some(subject) = next.pop() {
            if found.contains_key(&subject) {
                continue;
            }
            let Some(loaded) = self.load(subject)? else { continue };
            records += loaded.records.len();
            if records > MOST_RECORDS {
                return Ok(None);
            }
            for (kind, key) in keys(&loaded) {
                for holder in self.led_to(&loaded, kind, &key, &mut shared)?.iter() {
                    let pair = (subject.min(holder.subject), subject.max(holder.subject));
                    if holder.subject == subject || !tested.insert(pair) {
                        continue;
                    }
                    let Some(other) = self.load(holder.subject)? else { continue };
                    if may_be_linked(&loaded, &other) {
                        next.push(other.subject);
                    }
                }
            }
            next.extend(self.merged_with(&loaded, &mut followed)?);
            found.insert(subject, loaded);
        }
        if found.is_empty() {
            return Ok(None);
        }
        Ok(Some(Neighbourhood { members: found.into_values().collect(), shared }))
    }

    /// Returns the companies to which a key of a company leads: those that the key may link with
    /// it. If the key links no companies, because too many share it, adds it to `shared`.
    fn led_to(
        &mut self,
        loaded: &Loaded,
        kind: IdentifierKind,
        key: &str,
        shared: &mut SharedKeys,
    ) -> rusqlite::Result<Rc<Vec<Holder>>> {
        use IdentifierKind::{
            CompanyId, CompanyLinkableName, CompanyName, CompanyPage, CompanyPhone,
        };
        let linkable = match kind {
            CompanyName => Some(self.holders(CompanyLinkableName, key)?),
            _ => None,
        };
        if linkable.as_ref().is_some_and(|linkable| linkable.is_empty()) {
            return Ok(Rc::default());
        }
        let holders = self.holders(kind, key)?;
        let is_shared = holders.len() > MOST_BEARERS
            || (!matches!(kind, CompanyId | CompanyName)
                && self.is_shared(loaded, (kind, key), &holders)?);
        if is_shared {
            shared.add(key);
        }
        if let Some(linkable) = linkable {
            let leads_to_all = linkable.iter().any(|it| it.subject == loaded.subject);
            return Ok(match is_shared {
                true => Rc::default(),
                false if leads_to_all => holders,
                false => linkable,
            });
        }
        // A shared host still links records with equal names.
        let links_none = is_shared
            && (holders.len() > MOST_BEARERS || matches!(kind, CompanyPage | CompanyPhone));
        Ok(if links_none { Rc::default() } else { holders })
    }

    /// Whether many organisations share a host, page or phone number of a company. `holders` are
    /// all companies that have it.
    fn is_shared(
        &mut self,
        loaded: &Loaded,
        (kind, key): (IdentifierKind, &str),
        holders: &[Holder],
    ) -> rusqlite::Result<bool> {
        if holders.len() == 1 {
            return Ok(is_shared(&bearers(kind, key, [loaded])));
        }
        if let Some(known) = self.known_sharing.get(&(kind, key.to_owned())) {
            return Ok(*known);
        }
        let mut all = Vec::new();
        for holder in holders {
            all.extend(self.load(holder.subject)?);
        }
        let is_shared = is_shared(&bearers(kind, key, all.iter().map(Rc::as_ref)));
        self.known_sharing.insert((kind, key.to_owned()), is_shared);
        Ok(is_shared)
    }

    /// Returns the number of the source with this name.
    pub(super) fn source(&self, name: &str) -> Option<i64> {
        self.sources.iter().find(|(_, it)| *it == name).map(|(number, _)| *number)
    }

    pub(in super::super) fn load(
        &mut self,
        subject: SubjectId,
    ) -> rusqlite::Result<Option<Rc<Loaded>>> {
        if let Some(loaded) = self.loaded.get(&subject) {
            return Ok(loaded.clone());
        }
        let facts = self.writer.subject_facts(subject, Kind::Company)?;
        let loaded = (!facts.facts.is_empty()).then(|| {
            let records = self.records_of(&facts);
            Rc::new(Loaded { subject, facts, records })
        });
        self.loaded.insert(subject, loaded.clone());
        Ok(loaded)
    }

    /// Divides the facts of a company by the records that gave them.
    fn records_of(&self, facts: &SubjectFacts) -> Vec<(usize, RecordClaims)> {
        let numbers = facts.records();
        let mut of_records: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for (given, fact) in facts.facts_with_given() {
            of_records.entry(numbers[given]).or_default().push(fact);
        }
        let record = |(number, facts_of): (usize, Vec<_>)| {
            let given = &facts.given[number];
            let source = self.sources.get(&given.source).cloned().unwrap_or_default();
            let key = match &given.record {
                RecordMark::Id(id) => RecordKey::of_id(source, id),
                RecordMark::Content(content) => {
                    let record = format!("{:016x}", u64::from_be_bytes(*content));
                    RecordKey { source, record }
                }
                RecordMark::Unknown => RecordKey { source, record: String::new() },
            };
            (number, RecordClaims::of(key, facts_of))
        };
        of_records.into_iter().map(record).collect()
    }

    fn holders(&mut self, kind: IdentifierKind, key: &str) -> rusqlite::Result<Rc<Vec<Holder>>> {
        if let Some(holders) = self.holders.get(&(kind, key.to_owned())) {
            return Ok(holders.clone());
        }
        let holders = Rc::new(self.writer.view().holders(kind, key, MOST_BEARERS + 1)?);
        self.holders.insert((kind, key.to_owned()), holders.clone());
        Ok(holders)
    }
}

/// Returns the keys by which companies are found that may be the same company as `loaded`. Each key
/// is returned once. Aliases are keys too: an alias may be the own name in a record of the other
/// company.
fn keys(loaded: &Loaded) -> BTreeSet<(IdentifierKind, String)> {
    use IdentifierKind::{CompanyDomain, CompanyId, CompanyName, CompanyPage, CompanyPhone};
    let mut keys = BTreeSet::new();
    for (_, claims) in &loaded.records {
        let mut add = |kind, key: &str| {
            keys.insert((kind, key.to_owned()));
        };
        claims.ids().for_each(|id| add(CompanyId, id));
        claims.hosts().for_each(|host| add(CompanyDomain, host));
        claims.pages().for_each(|page| add(CompanyPage, page));
        claims.phones().for_each(|phone| add(CompanyPhone, phone));
        claims.names().for_each(|name| add(CompanyName, name));
        claims.aliases().for_each(|name| add(CompanyName, name));
    }
    keys
}

/// Returns the records of companies that have a host, page or phone number.
fn bearers<'a>(
    kind: IdentifierKind,
    key: &str,
    companies: impl IntoIterator<Item = &'a Loaded>,
) -> Vec<&'a RecordClaims> {
    let has = |claims: &&RecordClaims| match kind {
        IdentifierKind::CompanyPage => claims.pages().any(|page| page == key),
        IdentifierKind::CompanyPhone => claims.phones().any(|phone| phone == key),
        _ => claims.hosts().any(|host| host == key),
    };
    let records = companies.into_iter().flat_map(|loaded| &loaded.records);
    records.map(|(_, claims)| claims).filter(has).collect()
}

fn may_be_linked(one: &Loaded, other: &Loaded) -> bool {
    one.records.iter().any(|(_, a)| other.records.iter().any(|(_, b)| may_link(a, b)))
}

fn source_names(connection: &Connection) -> rusqlite::Result<FxHashMap<i64, String>> {
    let mut names = FxHashMap::default();
    connection.each("SELECT id, name FROM source", [], |row| {
        names.insert(row.get(0)?, row.get(1)?);
        Ok(())
    })?;
    Ok(names)
}

impl Loaded {
    /// Returns the id of the company as SQLite stores it.
    pub(super) fn id(&self) -> i64 {
        sql_id(self.subject)
    }
}
