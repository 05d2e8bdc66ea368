//! The facts of one subject (a company or a person), and the changes that a record or a removal
//! makes to them.

use std::collections::HashMap;

use enrich_core::{
    Attribute, ClaimedFact, Confidence, Fact, Origin, SubjectId, Timestamp, facts_in_order,
};
use enrich_text::Country;
use rustc_hash::FxHashMap;

/// If a company or person has at least this number of facts, a fact is found by a hash map
/// ([`Index`]). With fewer facts, it is faster to compare all of them.
const LONG: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Company,
    Person,
}

/// Identifies a record among the records of its source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum RecordMark {
    /// The id that the source gives the record.
    Id(String),
    /// The first eight bytes of the hash of the record's content, if the source gives no id.
    Content([u8; 8]),
    /// Nothing identifies the record. All facts of a source with this mark are treated as if one
    /// record had given them:
    ///
    /// - the facts from records of people or domains, if the record has no id;
    /// - the facts about the employer that a person's record names;
    /// - the facts that earlier versions stored without an id.
    #[default]
    Unknown,
}

impl RecordMark {
    /// Returns the id that the source gives the record.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            Self::Id(id) => Some(id),
            Self::Content(_) | Self::Unknown => None,
        }
    }
}

/// Where new facts come from: the record of a source, at the time of an import. These values are
/// stored with the facts.
#[derive(Clone, Debug)]
pub(crate) struct SourceClaim {
    /// The source's id.
    pub(crate) source: i64,
    pub(crate) record: RecordMark,
    /// The time of the import.
    pub(crate) at: Timestamp,
    /// The confidence of the source in this record.
    pub(crate) confidence: Confidence,
}

impl SourceClaim {
    /// Creates the claim (where new facts come from) for a source's record of a person or a domain.
    pub(crate) fn of(source: i64, origin: &Origin, at: Timestamp) -> Self {
        let record = origin.id.clone().map_or(RecordMark::Unknown, RecordMark::Id);
        Self { source, record, at, confidence: origin.confidence }
    }

    /// Creates the claim (where new facts come from) for a source's record of a company. If the
    /// record has no id, the hash of its content distinguishes it from other records of the source.
    pub(crate) fn of_company(source: i64, origin: &Origin, at: Timestamp) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = origin.content;
        let content = RecordMark::Content([a, b, c, d, e, f, g, h]);
        let record = origin.id.clone().map_or(content, RecordMark::Id);
        Self { source, record, at, confidence: origin.confidence }
    }

    /// Returns the claim for new facts about an employer. `self` is the claim for the person's
    /// record that names the employer. The result is a copy of `self`, but its record is
    /// [`RecordMark::Unknown`].
    pub(crate) fn of_employer(&self) -> Self {
        Self { record: RecordMark::Unknown, ..self.clone() }
    }
}

/// A record that gave facts, and the time at which it was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The source's id.
    pub(crate) source: i64,
    pub(crate) record: RecordMark,
    /// The time of the import.
    pub(crate) at: Timestamp,
}

impl Given {
    fn is_by(&self, claim: &SourceClaim) -> bool {
        self.at == claim.at && self.is_of_record(claim)
    }

    /// Whether the facts of `claim` come from this record, or from another version of it.
    fn is_of_record(&self, claim: &SourceClaim) -> bool {
        self.source == claim.source && self.record == claim.record
    }
}

/// The facts of one company or person, and the records that gave them. Each fact has the index of
/// its record in `given`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Unpacked {
    pub(crate) given: Vec<Given>,
    pub(crate) facts: Vec<(usize, Fact)>,
}

impl Unpacked {
    /// Adds a fact and the record that gave it.
    pub(crate) fn add(&mut self, given: Given, fact: Fact) {
        let at = match self.given.iter().rposition(|known| *known == given) {
            Some(at) => at,
            None => {
                self.given.push(given);
                self.given.len() - 1
            }
        };
        self.facts.push((at, fact));
    }
}

/// The facts of one company or person, sorted as its look-up data needs them: if several values
/// have the same confidence, the first one is used. The facts do not say here which record gave
/// them. So `has_name_alone`, which depends on the records, is stored beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MergedFacts {
    pub(crate) facts: Vec<Fact>,
    /// Whether a record of the company gives neither a domain nor a page on a social network.
    pub(crate) has_name_alone: bool,
}

/// The facts of one subject (a company or a person), in the order in which they were first seen.
#[derive(Debug)]
pub(crate) struct SubjectFacts {
    pub(crate) subject: SubjectId,
    pub(crate) kind: Kind,
    pub(crate) facts: Vec<Fact>,
    /// The records that gave the facts.
    pub(crate) given: Vec<Given>,
    /// For each element of `facts`, the index in `given` of the record that gave it first.
    given_by: Vec<usize>,
    is_changed: bool,
    /// The facts before the first change; `None` until there is a change. A new company or person
    /// had no facts before. So for a new one, this is an empty value from the beginning, not
    /// `None`.
    pub(crate) before: Option<Unpacked>,
    /// Finds a fact by its record, attribute and value; `None` until the first search among many
    /// facts.
    index: Option<Index>,
}

/// A map from a record and an attribute to a second map. The second map contains, for each value,
/// the position in `facts` of the fact with this value. The record is given by its number from
/// [`SubjectFacts::records`].
type Index = HashMap<(usize, Attribute), HashMap<String, usize>>;

impl SubjectFacts {
    pub(crate) fn new(subject: SubjectId, kind: Kind) -> Self {
        Self {
            subject,
            kind,
            facts: Vec::new(),
            given: Vec::new(),
            given_by: Vec::new(),
            is_changed: false,
            before: Some(Unpacked::default()),
            index: None,
        }
    }

    /// Creates this value from the stored facts of a company or person.
    pub(crate) fn held(subject: SubjectId, kind: Kind, held: Unpacked) -> Self {
        let (given_by, facts) = held.facts.into_iter().unzip();
        Self { before: None, given: held.given, given_by, facts, ..Self::new(subject, kind) }
    }

    /// Creates this value for a company or person whose facts `before` are replaced by the facts
    /// `now`. For a new company or person, `before` is empty.
    pub(crate) fn replaced(
        subject: SubjectId,
        kind: Kind,
        now: Unpacked,
        before: Unpacked,
    ) -> Self {
        Self { before: Some(before), is_changed: true, ..Self::held(subject, kind, now) }
    }

    /// Replaces the employer `from` of a person by the employer `to`.
    pub(crate) fn change_employer(&mut self, from: SubjectId, to: SubjectId) {
        let (from, to) = (from.0.to_string(), to.0.to_string());
        self.remember_before();
        self.index = None;
        for fact in &mut self.facts {
            if fact.attribute == Attribute::Employer && fact.value == from {
                fact.value.clone_from(&to);
            }
        }
    }

    /// Whether there are changes that must be written.
    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Returns the facts in their order. Each fact has the index in `given` of the record that gave
    /// it first.
    pub(crate) fn facts_with_given(&self) -> impl Iterator<Item = (usize, &Fact)> {
        self.given_by.iter().copied().zip(&self.facts)
    }

    /// Returns a copy of the facts, each with its record.
    pub(crate) fn unpacked(&self) -> Unpacked {
        let facts = self.facts_with_given().map(|(given, fact)| (given, fact.clone())).collect();
        Unpacked { given: self.given.clone(), facts }
    }

    /// Returns a copy of the facts, sorted as the look-up data needs them. The facts of a company
    /// are sorted by [`facts_in_order`], so that the order of imports does not matter. The facts of
    /// a person stay in the order in which they were first seen.
    pub(crate) fn merged(&self) -> MergedFacts {
        merge(self.kind, &self.given, self.facts_with_given())
    }

    /// Like [`merged`](Self::merged), but returns the facts from before the first change. Returns
    /// no facts for a new company or person. Also returns no facts if nothing was changed: the old
    /// facts are copied only before the first change.
    pub(crate) fn merged_before(&self) -> MergedFacts {
        self.before.as_ref().map_or_else(MergedFacts::default, |before| {
            merge(self.kind, &before.given, before.facts.iter().map(|(given, fact)| (*given, fact)))
        })
    }

    /// Returns a number for each element of `given`. Elements that are versions of one record get
    /// the same number: the index of the first of them.
    pub(crate) fn records(&self) -> Vec<usize> {
        record_numbers(&self.given)
    }

    /// Adds a fact that a record gives. If the record has given the same fact before, only raises
    /// the confidence of the stored fact, if the new confidence is higher.
    pub(crate) fn assert_fact(&mut self, claim: &SourceClaim, attribute: Attribute, value: &str) {
        self.assert_fact_for(claim, attribute, value, None);
    }

    /// Like [`assert_fact`](Self::assert_fact), but for a domain with the country of its website.
    pub(crate) fn assert_fact_for(
        &mut self,
        claim: &SourceClaim,
        attribute: Attribute,
        value: &str,
        country: Option<Country>,
    ) {
        match self.position_of(claim, attribute, value) {
            Some(at) => self.assert_again(at, country, claim.confidence),
            None => {
                self.remember_before();
                let given = self.given_with(claim);
                if let Some(index) = &mut self.index {
                    let of_record = |it: &Given| it.is_of_record(claim);
                    let record = self.given.iter().position(of_record).unwrap_or(given);
                    let values = index.entry((record, attribute)).or_default();
                    values.insert(value.to_owned(), self.facts.len());
                }
                self.given_by.push(given);
                self.facts.push(Fact {
                    attribute,
                    value: value.to_owned(),
                    country,
                    confidence: claim.confidence,
                });
            }
        }
    }

    /// Removes every fact for which `is_to_go` returns `true`; its second argument is the id of the
    /// fact's source. Returns the number of removed facts.
    pub(crate) fn remove(&mut self, is_to_go: impl Fn(&Fact, i64) -> bool) -> u64 {
        let is_to_go = |given: usize, fact: &Fact| is_to_go(fact, self.given[given].source);
        let stays: Vec<bool> =
            self.facts_with_given().map(|(given, fact)| !is_to_go(given, fact)).collect();
        let gone = stays.iter().filter(|stays| !**stays).count();
        if gone == 0 {
            return 0;
        }
        self.remember_before();
        self.index = None;
        let (mut of_facts, mut of_given) = (stays.iter().copied(), stays.iter().copied());
        self.facts.retain(|_| of_facts.next().unwrap_or(true));
        self.given_by.retain(|_| of_given.next().unwrap_or(true));
        gone as u64
    }

    /// Finds the fact with this attribute and value that the record of `claim` has given. Returns
    /// the position of the fact in `facts`.
    fn position_of(
        &mut self,
        claim: &SourceClaim,
        attribute: Attribute,
        value: &str,
    ) -> Option<usize> {
        let record = self.given.iter().position(|given| given.is_of_record(claim))?;
        if self.facts.len() < LONG {
            return self.facts_with_given().position(|(given, fact)| {
                fact.attribute == attribute
                    && fact.value == value
                    && self.given[given].is_of_record(claim)
            });
        }
        if self.index.is_none() {
            let mut index = Index::new();
            let records = self.records();
            for (at, (given, fact)) in self.facts_with_given().enumerate() {
                let values = index.entry((records[given], fact.attribute)).or_default();
                values.entry(fact.value.clone()).or_insert(at);
            }
            self.index = Some(index);
        }
        self.index.as_ref()?.get(&(record, attribute))?.get(value).copied()
    }

    fn assert_again(&mut self, at: usize, country: Option<Country>, confidence: Confidence) {
        let held = &self.facts[at];
        let is_higher = confidence > held.confidence;
        let fills_country =
            country.is_some() && held.country != country && (is_higher || held.country.is_none());
        if !is_higher && !fills_country {
            return;
        }
        self.remember_before();
        let fact = &mut self.facts[at];
        if fills_country {
            fact.country = country;
        }
        fact.confidence = fact.confidence.max(confidence);
    }

    /// Returns the position in `given` of the element with the source, record and time of `claim`.
    /// Adds this element if there is none.
    fn given_with(&mut self, claim: &SourceClaim) -> usize {
        if let Some(at) = self.given.iter().rposition(|given| given.is_by(claim)) {
            return at;
        }
        let SourceClaim { source, record, at, .. } = claim.clone();
        self.given.push(Given { source, record, at });
        self.given.len() - 1
    }

    fn remember_before(&mut self) {
        self.is_changed = true;
        if self.before.is_none() {
            self.before = Some(self.unpacked());
        }
    }
}

/// Numbers the elements of `given`; see [`SubjectFacts::records`].
fn record_numbers(given: &[Given]) -> Vec<usize> {
    let mut numbers = FxHashMap::default();
    let mut all = Vec::with_capacity(given.len());
    for (at, Given { source, record, .. }) in given.iter().enumerate() {
        all.push(*numbers.entry((*source, record)).or_insert(at));
    }
    all
}

/// Sorts the facts of a company or person ([`SubjectFacts::merged`]). Each fact comes with the
/// index of its record in `given`.
fn merge<'f>(
    kind: Kind,
    given: &[Given],
    facts: impl Iterator<Item = (usize, &'f Fact)>,
) -> MergedFacts {
    if kind == Kind::Person {
        return MergedFacts {
            facts: facts.map(|(_, fact)| fact.clone()).collect(),
            has_name_alone: false,
        };
    }
    let records = record_numbers(given);
    let mut has_place = vec![None; given.len()];
    let mut claimed = Vec::new();
    for (at, fact) in facts {
        let is_place = matches!(fact.attribute, Attribute::Domain | Attribute::Page(_));
        let has_place = &mut has_place[records[at]];
        *has_place = Some(is_place || *has_place == Some(true));
        claimed.push(ClaimedFact {
            source: given[at].source,
            record: records[at],
            fact: fact.clone(),
        });
    }
    MergedFacts { facts: facts_in_order(claimed), has_name_alone: has_place.contains(&Some(false)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: SourceClaim = SourceClaim {
        source: 1,
        record: RecordMark::Unknown,
        at: Timestamp::UNIX_EPOCH,
        confidence: Confidence::FULL,
    };

    fn subject_facts() -> SubjectFacts {
        let fact = Fact {
            attribute: Attribute::Name,
            value: "Quill".into(),
            country: None,
            confidence: Confidence::clamped(50),
        };
        let given = Given { source: 1, record: RecordMark::Unknown, at: Timestamp::UNIX_EPOCH };
        let held = Unpacked { given: vec![given], facts: vec![(0, fact)] };
        SubjectFacts::held(SubjectId(1), Kind::Company, held)
    }

    #[test]
    fn saying_the_same_again_changes_nothing() {
        let mut subject_facts = subject_facts();
        let claim = SourceClaim { confidence: Confidence::clamped(50), ..FULL };
        subject_facts.assert_fact(&claim, Attribute::Name, "Quill");
        assert!(!subject_facts.is_changed());
    }

    #[test]
    fn saying_it_with_more_trust_raises_it() {
        let mut subject_facts = subject_facts();
        subject_facts.assert_fact(&FULL, Attribute::Name, "Quill");
        assert_eq!(subject_facts.facts[0].confidence, Confidence::FULL);
        assert!(subject_facts.is_changed());
    }

    #[test]
    fn another_source_has_a_fact_of_its_own() {
        let mut subject_facts = subject_facts();
        subject_facts.assert_fact(&SourceClaim { source: 2, ..FULL }, Attribute::Name, "Quill");
        let sources = subject_facts.given_by.iter().map(|given| subject_facts.given[*given].source);
        assert!(sources.eq([1, 2]) && subject_facts.facts.len() == 2);
    }

    #[test]
    fn many_facts_are_found_as_few_are() {
        let mut subject_facts = subject_facts();
        let say_all = |subject_facts: &mut SubjectFacts| {
            for number in 0..100 {
                subject_facts.assert_fact(
                    &FULL,
                    Attribute::Alias,
                    &format!("Quill {}", number % 60),
                );
            }
        };
        say_all(&mut subject_facts);
        assert_eq!(subject_facts.facts.len(), 61);
        assert_eq!(subject_facts.remove(|fact, _| fact.value.ends_with('0')), 6);
        say_all(&mut subject_facts);
        assert_eq!(subject_facts.facts.len(), 61);
    }

    #[test]
    fn many_facts_are_found_by_the_index_and_removed_in_one_pass() {
        let mut subject_facts = subject_facts();
        for number in 0..1_000 {
            subject_facts.assert_fact(&FULL, Attribute::Alias, &number.to_string());
        }
        let indexed: usize = subject_facts.index.iter().flatten().map(|(_, at)| at.len()).sum();
        assert_eq!(indexed, subject_facts.facts.len());
        let looked_at = std::cell::Cell::new(0);
        let is_to_go = |fact: &Fact, _| {
            looked_at.set(looked_at.get() + 1);
            fact.value.ends_with('7')
        };
        assert_eq!(subject_facts.remove(is_to_go), 100);
        // `remove` looks at each fact a fixed number of times, however many facts it removes.
        assert!(looked_at.get() <= 2 * 1_001, "{}", looked_at.get());
    }
}
