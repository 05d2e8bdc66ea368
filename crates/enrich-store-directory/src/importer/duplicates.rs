//! Finds companies that look like one company, but are stored as several companies.
//!
//! Companies that look alike share an identifier. So the identifiers are read in the order of their
//! keys, up to 1,000 in one read. The companies with the same key are then compared in pairs. This
//! limits the memory: at any time, only the companies of one key and the pairs that are returned
//! are in memory. If two companies share several keys, their pair is counted only once: at the key
//! that [`Resemblance::of`] selects.

use std::collections::BTreeMap;
use std::path::Path;

use enrich_core::resolution::{Alike, RecordClaims, Resemblance, WhyApart};
use enrich_core::{Company, SubjectId, Timestamp};
use enrich_secrets::Secrets;
use enrich_store_sqlite::{self as sqlite, Statements};
use rusqlite::{Connection, params};

use super::resolution::Explorer;
use super::writer::Writer;
use crate::directory::codes::IdentifierKind;
use crate::directory::view::View;

/// Maximum number of keys (domains, names, …) that one read returns.
const PART: i64 = 1000;
/// Maximum number of companies with the same value, such as a name, that are compared with each
/// other. If more companies have the value, it is too common to show that two of them are the same
/// company.
const MAX_COMPARED: usize = 256;

/// The settings of a search: which pairs of companies are searched for, and how many are returned.
#[derive(Clone, Copy, Debug, Default)]
pub struct DuplicateSearch {
    /// If a company is given, only pairs with this company are searched for.
    pub company: Option<SubjectId>,
    /// If a kind is given, only pairs of this kind are searched for.
    pub kind: Option<Resemblance>,
    /// Maximum number of pairs of each kind that are returned. Further pairs are only counted.
    pub most: usize,
}

/// The companies that look alike.
#[derive(Clone, Debug, Default)]
pub struct Duplicates {
    /// The counts for each kind of resemblance that was searched for, the strongest kind first.
    pub counts: BTreeMap<Resemblance, DuplicateCount>,
    /// The first pairs of each kind, in the order of their kinds and shared values.
    pub pairs: Vec<DuplicatePair>,
    /// The number of values that more than 256 companies share, such as a common name. The
    /// companies with such a value were not compared.
    pub crowded: u64,
}

/// The number of companies that look alike, for one kind of resemblance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DuplicateCount {
    /// The number of shared values: a phone number by which three companies look alike counts once.
    pub groups: u64,
    /// The number of pairs of companies that look alike: three companies can be three pairs.
    pub pairs: u64,
}

/// Two companies that look alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicatePair {
    /// The strongest resemblance of the two companies.
    pub kind: Resemblance,
    /// The value that both companies have: an id, a host, a social-media page, a phone number or a
    /// name.
    pub shared: String,
    /// The two companies, in the order of their names. For [`Resemblance::NameAlone`], the first
    /// company is the one with neither a domain nor a social-media page.
    pub companies: [Company; 2],
    /// Why the two companies were not united into one.
    pub why: WhyApart,
}

/// The kinds of identifiers that are read, each with the resemblances that it can show.
const SCANS: [(IdentifierKind, &[Resemblance]); 5] = [
    (IdentifierKind::CompanyId, &[Resemblance::Id]),
    (IdentifierKind::CompanyDomain, &[Resemblance::HostAndName, Resemblance::Host]),
    (
        IdentifierKind::CompanyName,
        &[Resemblance::DomainAndName, Resemblance::LabelAndName, Resemblance::NameAlone],
    ),
    (IdentifierKind::CompanyPage, &[Resemblance::Page]),
    (IdentifierKind::CompanyPhone, &[Resemblance::Phone]),
];

/// Finds the companies of the directory at `path` that look alike.
///
/// # Errors
///
/// When the file cannot be read.
pub fn find_duplicates(
    path: &Path,
    secrets: &Secrets,
    search: &DuplicateSearch,
) -> rusqlite::Result<Duplicates> {
    let connection = sqlite::mapped_reader(path)?;
    // Nothing is written, so the timestamp is not used.
    let writer = Writer::new(&connection, secrets, Timestamp::UNIX_EPOCH)?;
    let mut finder = Finder {
        connection: &connection,
        explorer: Explorer::new(&writer)?,
        search: *search,
        shown: BTreeMap::new(),
        found: Duplicates::default(),
    };
    for (kind, resemblances) in SCANS {
        let is_wanted = |it: &&Resemblance| search.kind.is_none_or(|kind| kind == **it);
        let wanted: Vec<Resemblance> = resemblances.iter().filter(is_wanted).copied().collect();
        if wanted.is_empty() {
            continue;
        }
        for kind in &wanted {
            finder.found.counts.entry(*kind).or_default();
        }
        match search.company {
            Some(company) => finder.of_company(kind, &wanted, company)?,
            None => finder.of_all(kind, &wanted)?,
        }
    }
    let mut found = finder.found;
    // The pairs are grouped by kind, because one scan finds pairs of several kinds. The sort is
    // stable, so the pairs of one kind stay in the order in which they were found.
    found.pairs.sort_by_key(|pair| pair.kind);
    Ok(found)
}

struct Finder<'w, 'c> {
    connection: &'c Connection,
    explorer: Explorer<'w, 'c>,
    search: DuplicateSearch,
    /// The number of pairs of each kind in `found`.
    shown: BTreeMap<Resemblance, usize>,
    found: Duplicates,
}

/// One of the companies that have the same key, such as a domain, and are compared with each other.
struct Bearer {
    company: Company,
    claims: RecordClaims,
}

/// Two companies that look alike and have the same key, such as a domain. `one` and `other` are
/// their indexes in the list of all companies with this key.
struct Pair {
    kind: Resemblance,
    one: usize,
    other: usize,
    /// The number of companies that have the key. For [`Resemblance::NameAlone`], only the
    /// companies with a domain or a social-media page are counted.
    bearers: usize,
}

impl Finder<'_, '_> {
    /// Reads all keys of a kind that several companies have, and compares the companies of each
    /// key.
    fn of_all(&mut self, kind: IdentifierKind, wanted: &[Resemblance]) -> rusqlite::Result<()> {
        let shared = "SELECT key FROM identifier WHERE kind = ?1 AND key > ?2
                      GROUP BY key HAVING count(*) > 1 ORDER BY key LIMIT ?3";
        let mut last = String::new();
        loop {
            let part = params![kind, last, PART];
            let keys: Vec<String> = self.connection.list(shared, part, |row| row.get(0))?;
            let Some(end) = keys.last() else { return Ok(()) };
            last.clone_from(end);
            for key in &keys {
                self.of_key(kind, key, wanted)?;
            }
        }
    }

    /// Compares a company with the other companies that have one of its keys of this kind.
    fn of_company(
        &mut self,
        kind: IdentifierKind,
        wanted: &[Resemblance],
        company: SubjectId,
    ) -> rusqlite::Result<()> {
        let Some(company) = View::of(self.connection).company(company)? else { return Ok(()) };
        let claims = RecordClaims::of_company(&company);
        let mut keys: Vec<&str> = match kind {
            IdentifierKind::CompanyId => claims.ids().collect(),
            IdentifierKind::CompanyDomain => claims.hosts().collect(),
            IdentifierKind::CompanyPage => claims.pages().collect(),
            IdentifierKind::CompanyPhone => claims.phones().collect(),
            _ => claims.names().chain(claims.aliases()).collect(),
        };
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().try_for_each(|key| self.of_key(kind, key, wanted))
    }

    /// Compares the companies that have this key.
    fn of_key(
        &mut self,
        kind: IdentifierKind,
        key: &str,
        wanted: &[Resemblance],
    ) -> rusqlite::Result<()> {
        let view = View::of(self.connection);
        let holders = view.holders(kind, key, MAX_COMPARED + 1)?;
        if holders.len() > MAX_COMPARED {
            self.found.crowded += 1;
            return Ok(());
        }
        let mut bearers = Vec::new();
        for holder in holders {
            let Some(company) = view.company(holder.subject)? else { continue };
            let claims = RecordClaims::of_company(&company);
            bearers.push(Bearer { company, claims });
        }
        bearers.sort_by(|a, b| in_order(&a.company).cmp(&in_order(&b.company)));
        let mut groups: BTreeMap<Resemblance, u64> = BTreeMap::new();
        for pair in pairs(&bearers, key, self.search.company) {
            if wanted.contains(&pair.kind) {
                *groups.entry(pair.kind).or_default() += 1;
                self.add(&pair, key, &bearers)?;
            }
        }
        for (kind, pairs) in groups {
            let count = self.found.counts.entry(kind).or_default();
            count.groups += 1;
            count.pairs += pairs;
        }
        Ok(())
    }

    /// Adds a pair to the result, unless the result already has the maximum number of pairs of its
    /// kind.
    fn add(&mut self, pair: &Pair, key: &str, bearers: &[Bearer]) -> rusqlite::Result<()> {
        let kind = pair.kind;
        let shown = self.shown.entry(kind).or_default();
        if *shown >= self.search.most {
            return Ok(());
        }
        *shown += 1;
        let both = [pair.one, pair.other].map(|at| &bearers[at]);
        let mut records = Vec::new();
        for bearer in both {
            let loaded = self.explorer.load(bearer.company.id)?;
            let loaded = loaded.as_ref().map(|loaded| loaded.records.as_slice());
            let claims = loaded.unwrap_or_default().iter().map(|(_, claims)| claims.clone());
            records.push(claims.collect::<Vec<_>>());
        }
        let alike = |at: usize| Alike { company: &both[at].claims, records: &records[at] };
        let decisions = &self.explorer.decisions;
        let why = WhyApart::of(kind, (alike(0), alike(1)), (key, pair.bearers), decisions);
        self.found.pairs.push(DuplicatePair {
            kind,
            shared: key.to_owned(),
            companies: both.map(|bearer| bearer.company.clone()),
            why,
        });
        Ok(())
    }
}

/// Returns the sort key of a company. Its id comes last, because ids depend on the order of
/// imports.
fn in_order(company: &Company) -> (&str, Option<&str>, &[String], SubjectId) {
    (&company.name, company.domain(), &company.ids, company.id)
}

/// Returns the pairs of companies in `bearers` that look alike. All companies in `bearers` have the
/// value `key`. If `company` is given, returns only pairs with this company.
///
/// Two companies may share several values, such as a host and a phone number. This function is
/// called once for each value, but must return their pair only once. So it returns the pair only if
/// `key` is the value that [`Resemblance::of`] selects for the two companies.
///
/// A company with neither a domain nor a social-media page is in at most one pair of the kind
/// [`Resemblance::NameAlone`], even if many companies have its name.
fn pairs(bearers: &[Bearer], key: &str, company: Option<SubjectId>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut namesakes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let is_wanted = |at: usize| company.is_none_or(|wanted| bearers[at].company.id == wanted);
    for (one, a) in bearers.iter().enumerate() {
        for (other, b) in bearers.iter().enumerate().skip(one + 1) {
            match Resemblance::of(&a.claims, &b.claims) {
                Some((Resemblance::NameAlone, at)) if at == key => {
                    let (alone, named) =
                        if a.claims.is_name_alone() { (one, other) } else { (other, one) };
                    namesakes.entry(alone).or_default().push(named);
                }
                Some((kind, at)) if at == key && (is_wanted(one) || is_wanted(other)) => {
                    pairs.push(Pair { kind, one, other, bearers: bearers.len() });
                }
                _ => {}
            }
        }
    }
    for (alone, named) in namesakes {
        let wanted = named.iter().find(|at| is_wanted(alone) || is_wanted(**at));
        if let Some(other) = wanted {
            let kind = Resemblance::NameAlone;
            pairs.push(Pair { kind, one: alone, other: *other, bearers: named.len() });
        }
    }
    pairs
}
