//! Finds the neighbourhood of a company: the companies whose records can be linked with its
//! records, directly or through others.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use enrich_core::SubjectId;
use enrich_core::resolution::{
    Decisions, MAX_BEARERS, RecordClaims, RecordKey, SharedKeys, is_shared, may_link,
};
use enrich_store_sqlite::Statements;
use rusqlite::Connection;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::stored_decisions::stored_decisions;
use super::super::subject_facts::{Kind, RecordMark, SubjectFacts};
use super::super::unresolved::links_all_of_a_name;
use super::super::writer::Writer;
use crate::directory::codes::{IdentifierKind, sql_id};
use crate::directory::holder::Holder;

/// Maximum number of records in a neighbourhood (companies whose records can be linked). The
/// records of a larger neighbourhood are not divided into companies again: each record stays with
/// its company.
const MAX_RECORDS: usize = 4096;

/// A company and its records.
pub(in super::super) struct Loaded {
    pub(super) subject: SubjectId,
    pub(super) facts: SubjectFacts,
    /// For each record: its number in `facts`, and its claims (what it says of the company).
    pub(in super::super) records: Vec<(usize, RecordClaims)>,
    /// Maps each host, phone number and page on a social network to the records that have it. The
    /// records are given as indexes in `records`. The map is computed when first needed.
    bearers: OnceLock<FxHashMap<String, Vec<usize>>>,
}

/// Companies whose records can be linked, directly or through others.
pub(super) struct Neighbourhood {
    /// The companies, ordered by their ids.
    pub(super) members: Vec<Arc<Loaded>>,
    /// The values that many organisations have. So such a value does not identify one company.
    pub(super) shared: SharedKeys,
}

/// Whether many organisations share a value, for each value that was checked: a host, a phone
/// number or a page on a social network. A result depends only on the records with the value. So it
/// stays true while entity resolution moves records between companies.
pub(in super::super) type KnownSharing = FxHashMap<(IdentifierKind, String), bool>;

/// Finds neighbourhoods: companies whose records can be linked, directly or through others. Reads
/// each company only once, and also each list of the companies that have a value.
pub(in super::super) struct Explorer<'w, 'c> {
    pub(super) writer: &'w Writer<'c>,
    /// The decisions of the operator that are in force.
    pub(in super::super) decisions: Rc<Decisions>,
    pub(super) known_sharing: KnownSharing,
    sources: FxHashMap<i64, String>,
    loaded: FxHashMap<SubjectId, Option<Arc<Loaded>>>,
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

    /// Finds the neighbourhood of a company: the companies whose records can be linked with its
    /// records, directly or through others. Returns `None` if the company does not exist, or if the
    /// neighbourhood has too many records.
    pub(super) fn around(&mut self, seed: SubjectId) -> rusqlite::Result<Option<Neighbourhood>> {
        let mut found: BTreeMap<SubjectId, Arc<Loaded>> = BTreeMap::new();
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
            if records > MAX_RECORDS {
                return Ok(None);
            }
            for holder in self.reachable(&loaded, &mut shared)? {
                let pair = (subject.min(holder), subject.max(holder));
                if holder == subject || !tested.insert(pair) {
                    continue;
                }
                let Some(other) = self.load(holder)? else { continue };
                if may_be_linked(&loaded, &other) {
                    next.push(other.subject);
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

    /// Returns the companies that have a value in common with the company `loaded`, so that their
    /// records may be linked. Ignores a value that too many companies have. Adds to `shared` the
    /// values of `loaded` that many organisations have.
    fn reachable(
        &mut self,
        loaded: &Loaded,
        shared: &mut SharedKeys,
    ) -> rusqlite::Result<BTreeSet<SubjectId>> {
        let Keys { values, names, registrable } = keys(loaded);
        let mut reachable = BTreeSet::new();
        let mut has_crowded = false;
        for (kind, key) in values {
            let holders = self.holders(kind, &key)?;
            let is_crowded = holders.len() > MAX_BEARERS;
            if is_crowded || self.is_shared(loaded, (kind, &key), &holders)? {
                shared.add(&key);
            }
            has_crowded |= is_crowded && links_all_of_a_name(kind);
            // If many organisations share a phone number or a page on a social network, it links no
            // records. If they share a host, it still links records with equal names. So a host is
            // ignored here only if more than `MAX_BEARERS` companies have it. For an id, the limit
            // is the same. If a host or an id is ignored, `namesakes` below finds the companies
            // with equal names.
            let may_link = match kind {
                IdentifierKind::CompanyPage | IdentifierKind::CompanyPhone => !shared.has(&key),
                _ => !is_crowded,
            };
            reachable.extend(holders.iter().filter(|_| may_link).map(|holder| holder.subject));
        }
        for host in registrable {
            let holders = self.holders(IdentifierKind::CompanyDomain, &host)?;
            if holders.len() <= MAX_BEARERS {
                reachable.extend(holders.iter().map(|holder| holder.subject));
            }
        }
        for name in names {
            reachable.extend(self.namesakes(loaded, &name, has_crowded, shared)?);
        }
        for (number, _) in &loaded.records {
            let given = &loaded.facts.given[*number];
            if let Some(id) = given.record.id() {
                // Another version of this record (with the same source and the same id) may have
                // been imported into another company. Then that company is added.
                reachable.extend(self.writer.company_of_record(given.source, id)?);
            }
        }
        Ok(reachable)
    }

    /// Returns the companies with the name `name` that may be linked with the company `loaded`,
    /// which has this name too.
    ///
    /// Some companies are linkable by name: an equal name is enough to link them with another
    /// company ([`IdentifierKind::CompanyLinkableName`]). Usually, this function returns only those
    /// companies with the name that are linkable by name. It returns all companies with the name in
    /// two cases, unless there are more than [`MAX_BEARERS`]:
    ///
    /// - `loaded` itself is linkable by name.
    /// - `has_crowded` is `true`: `loaded` has a host or an id that too many companies share. Such
    ///   a value still links companies with equal names.
    ///
    /// If the result would have more than [`MAX_BEARERS`] companies, it is empty.
    fn namesakes(
        &mut self,
        loaded: &Loaded,
        name: &str,
        has_crowded: bool,
        shared: &mut SharedKeys,
    ) -> rusqlite::Result<Vec<SubjectId>> {
        let linkable = self.holders(IdentifierKind::CompanyLinkableName, name)?;
        if linkable.is_empty() && !has_crowded {
            return Ok(Vec::new());
        }
        let all = self.holders(IdentifierKind::CompanyName, name)?;
        let is_crowded = all.len() > MAX_BEARERS;
        if is_crowded {
            shared.add(name);
        }
        let leads_to_all =
            has_crowded || linkable.iter().any(|holder| holder.subject == loaded.subject);
        let namesakes = if leads_to_all && !is_crowded { all } else { linkable };
        let are_few = namesakes.len() <= MAX_BEARERS;
        Ok(namesakes.iter().filter(|_| are_few).map(|holder| holder.subject).collect())
    }

    /// Whether many organisations share a value of a company: a host, a phone number or a page on a
    /// social network. Returns `false` for an id. `holders` are all companies that have the value.
    fn is_shared(
        &mut self,
        loaded: &Loaded,
        (kind, key): (IdentifierKind, &str),
        holders: &[Holder],
    ) -> rusqlite::Result<bool> {
        if kind == IdentifierKind::CompanyId {
            return Ok(false);
        }
        if let [_] = holders {
            return Ok(is_shared(&loaded.bearers(key)));
        }
        if let Some(known) = self.known_sharing.get(&(kind, key.to_owned())) {
            return Ok(*known);
        }
        let mut companies = Vec::new();
        for holder in holders {
            companies.extend(self.load(holder.subject)?);
        }
        let bearers: Vec<_> = companies.iter().flat_map(|company| company.bearers(key)).collect();
        let is_shared = is_shared(&bearers);
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
    ) -> rusqlite::Result<Option<Arc<Loaded>>> {
        if let Some(loaded) = self.loaded.get(&subject) {
            return Ok(loaded.clone());
        }
        let facts = self.writer.subject_facts(subject, Kind::Company)?;
        let loaded = (!facts.facts.is_empty()).then(|| {
            let records = self.records_of(&facts);
            Arc::new(Loaded { subject, facts, records, bearers: OnceLock::new() })
        });
        self.loaded.insert(subject, loaded.clone());
        Ok(loaded)
    }

    /// Groups the facts of a company by the records that gave them. Returns two values for each
    /// record: the record's number, and its claims (what it says of the company).
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
        let holders = Rc::new(self.writer.view().holders(kind, key, MAX_BEARERS + 1)?);
        self.holders.insert((kind, key.to_owned()), holders.clone());
        Ok(holders)
    }
}

/// The values of a company by which other companies are found. Companies with a common value may be
/// the same company.
struct Keys {
    /// The hosts, phone numbers, ids and pages on social networks.
    values: BTreeSet<(IdentifierKind, String)>,
    /// The names and aliases. Aliases are included, because a record of another company may have
    /// the alias as its own name.
    names: BTreeSet<String>,
    /// The registrable domains of the company's hosts: `quill.example` for `shop.quill.example`.
    /// Domains that are also in `values` are left out.
    registrable: BTreeSet<String>,
}

fn keys(loaded: &Loaded) -> Keys {
    use IdentifierKind::{CompanyDomain, CompanyId, CompanyPage, CompanyPhone};
    let (mut values, mut names) = (BTreeSet::new(), BTreeSet::new());
    let mut registrable = BTreeSet::new();
    for (_, claims) in &loaded.records {
        let mut add = |kind, key: &str| {
            values.insert((kind, key.to_owned()));
        };
        claims.ids().for_each(|id| add(CompanyId, id));
        claims.hosts().for_each(|host| add(CompanyDomain, host));
        claims.pages().for_each(|page| add(CompanyPage, page));
        claims.phones().for_each(|phone| add(CompanyPhone, phone));
        names.extend(claims.names().chain(claims.aliases()).map(str::to_owned));
        registrable.extend(claims.registrable_domains().map(str::to_owned));
    }
    registrable.retain(|domain| !values.contains(&(CompanyDomain, domain.clone())));
    Keys { values, names, registrable }
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
    /// Returns the records of this company that have `value`: a host, a phone number or a page on a
    /// social network.
    fn bearers(&self, value: &str) -> Vec<&RecordClaims> {
        let of_value = self.bearers.get_or_init(|| {
            let mut of_value: FxHashMap<String, Vec<usize>> = FxHashMap::default();
            for (at, (_, claims)) in self.records.iter().enumerate() {
                for value in claims.hosts().chain(claims.pages()).chain(claims.phones()) {
                    let records = of_value.entry(value.to_owned()).or_default();
                    if records.last() != Some(&at) {
                        records.push(at);
                    }
                }
            }
            of_value
        });
        let records = of_value.get(value).map_or(&[][..], Vec::as_slice);
        records.iter().map(|at| &self.records[*at].1).collect()
    }

    /// Returns the id of the company as SQLite stores it.
    pub(super) fn id(&self) -> i64 {
        sql_id(self.subject)
    }
}
