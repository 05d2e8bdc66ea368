//! Decisions of an operator: which records are one company (merge), and which records never are
//! (split).
//!
//! A decision names records, and not companies. The id of a company exists only as long as the
//! company, but a record can be recognised again whenever its source is imported. So a decision
//! stays valid after further imports, and after a source was removed and imported again.

use std::collections::{BTreeMap, BTreeSet};

use enrich_text::CompanyName;
use rustc_hash::FxHashMap;

use super::claims::RecordClaims;

/// What an operator decides about two groups of records, the two sides of the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionKind {
    /// The operator has decided that all records of both sides are one company, even if their ids
    /// differ.
    Merge,
    /// The operator has decided that no record of one side describes the same company as a record
    /// of the other side, even if the two records have values in common.
    Split,
}

/// A record that an operator's decision names.
///
/// If the source gives an id to the record, the record is recognised by this id. Otherwise it is
/// recognised by its name, together with a host (domain) or, if it has no host, a page on a social
/// network. A digest of its content is not used, because its content may change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecidedRecord {
    /// The name of the source.
    pub source: String,
    /// The id that the source gives to the record; `None` if it gives none.
    pub id: Option<String>,
    /// The name in the record, as written.
    pub name: String,
    /// A host of the record. If the record has no host, this is one of its pages on social
    /// networks, in the form in which pages are compared, such as `linkedin:quill`. Empty if the
    /// record has neither a host nor a page.
    pub place: String,
}

/// An operator's decision that records are one company (merge), or never are (split).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The number of the decision. Merges with lower numbers are made first.
    pub number: u64,
    /// Whether the decision merges or splits the records.
    pub kind: DecisionKind,
    /// The records that the decision names, in two groups. A merge unites all of them. A split
    /// keeps the records of one group apart from those of the other.
    pub sides: [Vec<DecidedRecord>; 2],
}

/// All decisions of the operator (merges and splits). If decisions contradict each other, splits
/// have priority over merges, and merges with a lower number have priority over merges with a
/// higher number.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    all: Vec<Decision>,
    /// For each [`Identity`] by which a record can be named, the decisions that name this record.
    /// An element is the index of a decision in `all`, and the side of this decision (0 or 1) that
    /// contains the record.
    naming: FxHashMap<Identity, Vec<(usize, usize)>>,
}

/// The values by which an operator's decision names a record, and by which an import recognises
/// this record again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Identity {
    /// The source, and the id that it gives to the record.
    Id(String, String),
    /// The source, the name without spaces and legal form, and a host (`quill.example`) or a page
    /// on a social network (`linkedin:quill`). The last text is empty if the record has neither a
    /// host nor a page.
    Name(String, String, String),
}

impl DecidedRecord {
    /// Describes a record in the form in which an operator's decision names it: the record's
    /// source, id and name, and its first host. If it has no host, its first page on a social
    /// network is used instead.
    pub fn of(claims: &RecordClaims) -> Self {
        let place = claims.hosts().next().or_else(|| claims.pages().next());
        Self {
            source: claims.key().source.clone(),
            id: claims.key().id().map(str::to_owned),
            name: claims.display_name().unwrap_or_default().to_owned(),
            place: place.unwrap_or_default().to_owned(),
        }
    }

    fn identity(&self) -> Identity {
        match &self.id {
            Some(id) => Identity::Id(self.source.clone(), id.clone()),
            None => {
                let name = CompanyName::parse(&self.name);
                let name = name.map(|name| name.squashed().to_owned()).unwrap_or_default();
                Identity::Name(self.source.clone(), name, self.place.clone())
            }
        }
    }

    /// Whether `self` names the record whose values are in `claims`.
    pub fn is(&self, claims: &RecordClaims) -> bool {
        identities(claims).contains(&self.identity())
    }
}

/// Returns every [`Identity`] by which an operator's decision can name a record. `claims` are the
/// values of the record. A record with an id has one [`Identity`]. A record without an id has one
/// [`Identity`] for each pair of a name and a place. Its places are its hosts and its pages on
/// social networks. If it has neither, its only place is an empty text.
fn identities(claims: &RecordClaims) -> Vec<Identity> {
    let source = &claims.key().source;
    if let Some(id) = claims.key().id() {
        return vec![Identity::Id(source.clone(), id.to_owned())];
    }
    let mut places: Vec<&str> = claims.hosts().chain(claims.pages()).collect();
    if places.is_empty() {
        places.push("");
    }
    let of_name = |name: &str| {
        let of_place =
            |place: &&str| Identity::Name(source.clone(), name.to_owned(), (*place).to_owned());
        places.iter().map(of_place).collect::<Vec<_>>()
    };
    claims.names().flat_map(of_name).collect()
}

impl Decisions {
    /// Collects the decisions of an operator (merges and splits), in any order.
    pub fn new(mut all: Vec<Decision>) -> Self {
        all.sort_by_key(|decision| decision.number);
        let mut naming: FxHashMap<Identity, Vec<(usize, usize)>> = FxHashMap::default();
        for (at, decision) in all.iter().enumerate() {
            for (side, records) in decision.sides.iter().enumerate() {
                for record in records {
                    naming.entry(record.identity()).or_default().push((at, side));
                }
            }
        }
        Self { all, naming }
    }

    /// Whether there are no decisions.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns all decisions in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Decision> {
        self.all.iter()
    }

    /// Returns the decisions of the operator that name a record. Each comes with the number of the
    /// side, 0 or 1, that contains the record. A decision with the record on both sides is left
    /// out.
    pub fn naming(&self, claims: &RecordClaims) -> Vec<(&Decision, usize)> {
        self.sides_of(claims).into_iter().map(|(at, side)| (&self.all[at], side)).collect()
    }

    /// Returns the decisions of the operator that name a record: the index of each decision in
    /// `self.all`, and the number of the side, 0 or 1, that contains the record. A decision with
    /// the record on both sides is left out.
    fn sides_of(&self, claims: &RecordClaims) -> Vec<(usize, usize)> {
        if self.is_empty() {
            return Vec::new();
        }
        let named = identities(claims).into_iter().filter_map(|it| self.naming.get(&it)).flatten();
        let mut sides: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        named.for_each(|(at, side)| {
            sides.entry(*at).or_default().insert(*side);
        });
        let one_side = |(at, sides): (usize, BTreeSet<usize>)| match sides.len() {
            1 => sides.first().map(|side| (at, *side)),
            _ => None,
        };
        sides.into_iter().filter_map(one_side).collect()
    }

    /// Returns a decision of the operator that two companies must not be merged; `None` if there is
    /// none. `one` and `other` are the records of the two companies.
    pub fn keeping_apart<'a>(
        &self,
        one: impl IntoIterator<Item = &'a RecordClaims>,
        other: impl IntoIterator<Item = &'a RecordClaims>,
    ) -> Option<&Decision> {
        if self.is_empty() {
            return None;
        }
        let these: BTreeSet<_> = one.into_iter().flat_map(|it| self.sides_of(it)).collect();
        let those: BTreeSet<_> = other.into_iter().flat_map(|it| self.sides_of(it)).collect();
        let is_between = |(at, side): &&(usize, usize)| {
            self.all[*at].kind == DecisionKind::Split && those.contains(&(*at, 1 - *side))
        };
        these.iter().find(is_between).map(|(at, _)| &self.all[*at])
    }

    /// Returns the number of a stored decision that `new` contradicts; `None` if there is none. If
    /// `new` is a merge, the returned number is that of a split. If `new` is a split, it is that of
    /// a merge.
    ///
    /// A merge contradicts a split if the merge, alone or together with other merges, unites a
    /// record of one side of the split with a record of its other side.
    pub fn contradicted_by(&self, new: &Decision) -> Option<u64> {
        let mut all: Vec<&Decision> = self.all.iter().collect();
        all.push(new);
        let classes = Classes::of(all.iter().copied().filter(|it| it.kind == DecisionKind::Merge));
        let broken = all.iter().filter(|it| it.kind == DecisionKind::Split).find_map(|split| {
            let [these, those] = split.sides.each_ref().map(|side| classes.of_side(side));
            let class = these.intersection(&those).next().cloned();
            class.map(|class| (split.number, class))
        });
        let (split, class) = broken?;
        if new.kind == DecisionKind::Merge {
            return Some(split);
        }
        let merges = self.all.iter().filter(|it| it.kind == DecisionKind::Merge);
        let mut of_class =
            merges.filter(|it| it.sides.iter().any(|side| classes.of_side(side).contains(&class)));
        of_class.next().map(|merge| merge.number)
    }

    /// Returns what the decisions of the operator say about these records: for each record, the
    /// splits that name it; for each merge, the records that it names.
    pub(super) fn applied(&self, records: &[&RecordClaims]) -> Applied {
        let mut applied =
            Applied { sides: vec![BTreeSet::new(); records.len()], merges: Vec::new() };
        if self.is_empty() {
            return applied;
        }
        let mut merges: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, record) in records.iter().enumerate() {
            for (at, side) in self.sides_of(record) {
                match self.all[at].kind {
                    DecisionKind::Merge => merges.entry(at).or_default().push(number),
                    DecisionKind::Split => {
                        applied.sides[number].insert((at, side));
                    }
                }
            }
        }
        applied.merges = merges.into_values().collect();
        applied
    }
}

/// What the decisions of the operator say about a list of records. Records are given by their
/// indexes in this list.
pub(super) struct Applied {
    /// For each record, the decisions that keep it apart from other records. An element is the
    /// index of the decision, and the number of its side, 0 or 1, that contains the record.
    pub(super) sides: Vec<BTreeSet<(usize, usize)>>,
    /// For each decision that records are one company (merge), the indexes of the records that it
    /// names. The merges are in the order of their numbers.
    pub(super) merges: Vec<Vec<usize>>,
}

/// Classes of records, in a union-find structure. Two records are in one class if an operator's
/// merge decisions unite them, directly or through other records. The map leads from the
/// [`Identity`] of a record to a smaller [`Identity`] of the same class. The smallest [`Identity`]
/// of a class has no entry in the map, and represents the class.
struct Classes(BTreeMap<Identity, Identity>);

impl Classes {
    fn of<'a>(merges: impl Iterator<Item = &'a Decision>) -> Self {
        let mut classes = Self(BTreeMap::new());
        for merge in merges {
            let mut records = merge.sides.iter().flatten().map(DecidedRecord::identity);
            let Some(first) = records.next() else { continue };
            records.for_each(|record| classes.unite(&first, &record));
        }
        classes
    }

    fn class(&self, record: &Identity) -> Identity {
        let mut class = record;
        while let Some(next) = self.0.get(class) {
            class = next;
        }
        class.clone()
    }

    fn unite(&mut self, one: &Identity, other: &Identity) {
        let (one, other) = (self.class(one), self.class(other));
        if one != other {
            let (first, last) = if one < other { (one, other) } else { (other, one) };
            self.0.insert(last, first);
        }
    }

    fn of_side(&self, side: &[DecidedRecord]) -> BTreeSet<Identity> {
        side.iter().map(|record| self.class(&record.identity())).collect()
    }
}

#[cfg(test)]
mod tests;
