//! Divides records into clusters. Each cluster contains the records of one company.

use std::collections::{BTreeMap, BTreeSet};

use enrich_text::CompanyName;
use rustc_hash::FxHashMap;

use crate::identity::differing_ids;

use super::claims::RecordClaims;
use super::decisions::Decisions;
use super::links::{Link, MAX_BEARERS, SharedKeys, has_compatible_seats, link, shares_seat};

/// Divides records into companies. Returns a number for each record; records with the same number
/// are one company. The numbers begin at 0 and are assigned in the order of the records' keys.
///
/// `shared` contains the values that identify no company, because many organisations share them.
/// `decisions` come from an operator, and have priority over all other evidence. A merge unites
/// records even if their ids differ. A split keeps records apart even if they have common values.
pub fn clusters(
    records: &[&RecordClaims],
    shared: &SharedKeys,
    decisions: &Decisions,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by(|&a, &b| records[a].canonical_cmp(records[b]));
    let sorted: Vec<&RecordClaims> = order.iter().map(|&at| records[at]).collect();
    let applied = decisions.applied(&sorted);
    let mut clusters = Clusters::of(&sorted, applied.sides);
    for of_merge in applied.merges {
        of_merge.windows(2).for_each(|pair| clusters.unite_by_decision(pair[0], pair[1]));
    }
    let mut links: Vec<(Link, usize, usize)> = pairs(&sorted)
        .into_iter()
        .filter_map(|(a, b)| Some((link(sorted[a], sorted[b], shared)?, a, b)))
        .collect();
    links.sort_unstable();
    for (_, a, b) in links {
        clusters.unite(a, b);
    }
    join_only_namesakes(&sorted, &mut clusters, shared);
    let mut numbers = vec![0; records.len()];
    let mut known: FxHashMap<usize, usize> = FxHashMap::default();
    for (at, &original) in order.iter().enumerate() {
        let next = known.len();
        numbers[original] = *known.entry(clusters.root(at)).or_insert(next);
    }
    numbers
}

/// A value that records have in common. All records with the same value form a block. Two records
/// are compared only if they are in the same block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum BlockKey<'a> {
    /// The name of the source, and the id of the record in this source.
    Record(&'a str, &'a str),
    Id(&'a str),
    Host(&'a str),
    Page(&'a str),
    Phone(&'a str),
    Name(&'a str),
    /// A name, and the registrable domain of a host of the same record: `quill.example` of
    /// `eu.quill.example`.
    NameAt(&'a str, &'a str),
    /// A name, and the label of a domain of the same record: `quill` of `quill.example`.
    NameAsLabel(&'a str, &'a str),
    NameAlone(&'a str),
}

/// Returns the pairs of records that must be compared, as indexes in `records`. Each pair is
/// returned once, the lower index first.
fn pairs(records: &[&RecordClaims]) -> BTreeSet<(usize, usize)> {
    let mut blocks: FxHashMap<BlockKey<'_>, Vec<usize>> = FxHashMap::default();
    for (at, record) in records.iter().enumerate() {
        let mut add = |key| {
            let block = blocks.entry(key).or_default();
            if block.last() != Some(&at) {
                block.push(at);
            }
        };
        if record.key.is_known() {
            add(BlockKey::Record(&record.key.source, &record.key.record));
        }
        record.ids().for_each(|id| add(BlockKey::Id(id)));
        record.hosts().for_each(|host| add(BlockKey::Host(host)));
        record.pages().for_each(|page| add(BlockKey::Page(page)));
        record.phones().for_each(|phone| add(BlockKey::Phone(phone)));
        for name in record.names().chain(record.aliases()) {
            add(BlockKey::Name(name));
            for host in &record.hosts {
                add(BlockKey::NameAt(name, &host.registrable));
                add(BlockKey::NameAsLabel(name, &host.label));
            }
            if record.is_name_alone() {
                add(BlockKey::NameAlone(name));
            }
        }
    }
    let mut pairs = BTreeSet::new();
    for (key, block) in blocks {
        let is_crowded = block.len() > MAX_BEARERS;
        let is_narrow = !matches!(key, BlockKey::Host(_) | BlockKey::Page(_) | BlockKey::Phone(_))
            && !matches!(key, BlockKey::Name(_));
        for (number, &a) in block.iter().enumerate() {
            match (is_crowded, is_narrow) {
                (false, _) => pairs.extend(block[number + 1..].iter().map(|&b| (a, b))),
                // The records of the block have the same key, such as a host. They are too many to
                // compare all pairs. If the key is narrow, such as an id, or a name together with a
                // host, the records are almost certainly one company. Then each record is compared
                // only with the first record of the block, and with the record before it. With any
                // other key, no pair is compared: so many records with the same host, page, phone
                // number or name belong to many organisations.
                (true, true) if number > 0 => {
                    pairs.extend([(block[0], a), (block[number - 1], a)]);
                }
                (true, _) => {}
            }
        }
    }
    pairs
}

/// Unites each cluster that is known only by its name with the only other cluster that has this
/// name. A cluster is known only by its name if none of its records has a domain or a page.
///
/// - The clusters that have the name as their own name are considered first. If none of them fits
///   ([`is_namesake`]), the clusters that have it as an alias are considered.
/// - If several clusters fit, nothing is united.
/// - The aliases of the cluster that is known only by its name are ignored, because they may be
///   brands.
fn join_only_namesakes(
    records: &[&RecordClaims],
    clusters: &mut Clusters<'_>,
    shared: &SharedKeys,
) {
    let (alone, named) = alone_and_named(records, clusters);
    let mut joins = Vec::new();
    for (root, members) in alone {
        let mut found = |used_as: NameUse| {
            let mut roots = BTreeSet::new();
            for record in members.iter().map(|at| records[*at]) {
                for name in record.own_names().filter(|name| !shared.has(name.squashed())) {
                    let others = named.get(&(used_as, name.squashed())).into_iter().flatten();
                    let fit = others.filter(|at| is_namesake(record, name, records[**at], used_as));
                    roots.extend(fit.map(|at| clusters.root(*at)));
                }
            }
            roots.retain(|other| clusters.may_unite(root, *other));
            roots
        };
        let mut namesakes = found(NameUse::Name);
        if namesakes.is_empty() {
            namesakes = found(NameUse::Alias);
        }
        if let (1, Some(&only)) = (namesakes.len(), namesakes.first()) {
            joins.push((root, only));
        }
    }
    for (alone, namesake) in joins {
        clusters.unite(alone, namesake);
    }
}

/// Whether the record `alone`, which has only a name, can describe the same company as `other`,
/// which has the same name. Both conditions must be met:
///
/// - The seats (countries of the head offices) are compatible: [`has_compatible_seats`].
/// - The name is clear enough. A name of one word that is only an alias in `other` is often the own
///   name of another company. With such a name, the two records must also have a common seat.
fn is_namesake(
    alone: &RecordClaims,
    name: &CompanyName,
    other: &RecordClaims,
    used_as: NameUse,
) -> bool {
    let is_clear =
        used_as == NameUse::Name || name.stripped().contains(' ') || shares_seat(alone, other);
    is_clear && has_compatible_seats(alone, other)
}

/// How a record uses a name: as its own name or as an alias.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum NameUse {
    Name,
    Alias,
}

fn names_of(record: &RecordClaims, of: NameUse) -> Box<dyn Iterator<Item = &str> + '_> {
    match of {
        NameUse::Name => Box::new(record.names()),
        NameUse::Alias => Box::new(record.aliases()),
    }
}

type Members = Vec<usize>;
/// For each name, the indexes of the records that have the name: one list for records that have it
/// as their own name, and one list for records that have it as an alias.
type Named<'a> = FxHashMap<(NameUse, &'a str), Members>;

/// Divides the clusters into those that are known only by their names, and all others. Returns two
/// maps:
///
/// - for each cluster that is known only by its name, the indexes of its records; the key is the
///   cluster's root (the record that represents the cluster);
/// - for each name, the indexes of the records that have this name as their own name or as an alias
///   ([`Named`]). The map contains only records of all other clusters.
fn alone_and_named<'a>(
    records: &[&'a RecordClaims],
    clusters: &mut Clusters<'_>,
) -> (BTreeMap<usize, Members>, Named<'a>) {
    let mut alone: BTreeMap<usize, Members> = BTreeMap::new();
    for at in 0..records.len() {
        alone.entry(clusters.root(at)).or_default().push(at);
    }
    let mut named = Named::default();
    alone.retain(|_, members| {
        let is_alone = members.iter().all(|at| records[*at].is_name_alone());
        for at in members.iter().copied().filter(|_| !is_alone) {
            for of in [NameUse::Name, NameUse::Alias] {
                for name in names_of(records[at], of) {
                    named.entry((of, name)).or_default().push(at);
                }
            }
        }
        is_alone
    });
    (alone, named)
}

/// Clusters of records, in a union-find structure. The records of a cluster describe one company.
/// The root of a cluster is one of its records, and represents the cluster.
struct Clusters<'a> {
    parents: Vec<usize>,
    /// The external ids of each cluster. The index is the cluster's root: the record that
    /// represents the cluster.
    ids: Vec<BTreeSet<&'a str>>,
    /// For each cluster, the split decisions that name a record of the cluster. A split is an
    /// operator's decision that the records on its side 0 and the records on its side 1 are
    /// different companies.
    ///
    /// The index in the `Vec` is the cluster's root: the record that represents the cluster. Each
    /// pair in a set is the index of a split decision, and the side (0 or 1) that names a record of
    /// the cluster.
    sides: Vec<BTreeSet<(usize, usize)>>,
}

impl<'a> Clusters<'a> {
    fn of(records: &[&'a RecordClaims], sides: Vec<BTreeSet<(usize, usize)>>) -> Self {
        let ids = records.iter().map(|record| record.ids().collect()).collect();
        Self { parents: (0..records.len()).collect(), ids, sides }
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    /// Unites the clusters of two records, unless the clusters have different ids of one scheme
    /// (such as two LEIs), or an operator's decision keeps them apart.
    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if self.may_unite(a, b) {
            self.join(a, b);
        }
    }

    /// Unites the clusters of two records, because an operator has decided that the records are one
    /// company. Does nothing if another decision keeps these clusters apart.
    fn unite_by_decision(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if !self.are_split(a, b) {
            self.join(a, b);
        }
    }

    /// Unites two clusters, without any check. `a` and `b` are the roots of the clusters: the
    /// records that represent them.
    fn join(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let (root, other) = (a.min(b), a.max(b));
        self.parents[other] = root;
        let ids = std::mem::take(&mut self.ids[other]);
        self.ids[root].extend(ids);
        let sides = std::mem::take(&mut self.sides[other]);
        self.sides[root].extend(sides);
    }

    /// Whether two clusters may be united: their ids do not contradict each other, and no decision
    /// of an operator keeps them apart. `a` and `b` are the roots of the clusters: the records that
    /// represent them.
    fn may_unite(&self, a: usize, b: usize) -> bool {
        !self.differ(a, b) && !self.are_split(a, b)
    }

    /// Whether an operator's decision keeps two clusters apart: one side of the decision names a
    /// record of one cluster, and the other side names a record of the other cluster. `a` and `b`
    /// are the roots of the clusters: the records that represent them.
    fn are_split(&self, a: usize, b: usize) -> bool {
        self.sides[a].iter().any(|(split, side)| self.sides[b].contains(&(*split, 1 - *side)))
    }

    /// Whether two clusters contradict each other: both have ids of the same scheme, such as `lei`,
    /// but no common id of this scheme. `a` and `b` are the roots of the clusters: the records that
    /// represent them.
    fn differ(&self, a: usize, b: usize) -> bool {
        let of = |root: usize| self.ids[root].iter().copied();
        differing_ids(of(a), of(b)).is_some()
    }
}
