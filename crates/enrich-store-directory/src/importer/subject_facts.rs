//! The facts of one subject, and the changes that a record or a removal makes to them.

use std::collections::HashMap;

use enrich_core::{Attribute, Confidence, Fact, Origin, SubjectId, Timestamp};
use enrich_text::Country;

/// If there are at least this many facts, an index is used. With fewer facts, a linear search is
/// faster.
const LONG: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Company,
    Person,
}

/// What one source says at one time. All facts of the claim have these values in their rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceClaim<'a> {
    /// The source's id.
    pub(crate) source: i64,
    /// The id that the source gives the record.
    pub(crate) record: Option<&'a str>,
    /// The time of the import.
    pub(crate) at: Timestamp,
    /// The confidence of the source in this record.
    pub(crate) confidence: Confidence,
}

impl<'a> SourceClaim<'a> {
    /// Creates the claim that a source makes with a record.
    pub(crate) fn of(source: i64, origin: &'a Origin, at: Timestamp) -> Self {
        Self { source, record: origin.id.as_deref(), at, confidence: origin.confidence }
    }
}

/// The record that gave facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    /// The source's id.
    pub(crate) source: i64,
    /// The id that the source gives the record.
    pub(crate) record: Option<String>,
    /// The time of the import.
    pub(crate) at: Timestamp,
}

impl Given {
    fn is_by(&self, claim: &SourceClaim<'_>) -> bool {
        self.source == claim.source && self.at == claim.at && self.record.as_deref() == claim.record
    }
}

/// The facts of one subject, each with the number of the record that gave it in `given`.
#[derive(Debug, Default, PartialEq)]
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

/// The facts of one subject, in the order in which they were first seen.
#[derive(Debug)]
pub(crate) struct SubjectFacts {
    pub(crate) subject: SubjectId,
    pub(crate) kind: Kind,
    pub(crate) facts: Vec<Fact>,
    /// The records that gave the facts.
    pub(crate) given: Vec<Given>,
    /// For each of `facts`, which of `given` gave it first.
    given_by: Vec<usize>,
    is_changed: bool,
    /// The facts before the first change; `None` until there is a change.
    pub(crate) before: Option<Vec<Fact>>,
    /// An index of the facts; `None` until the first search among many facts.
    index: Option<Index>,
}

/// The position of each value in the facts, for each source and attribute.
type Index = HashMap<(i64, Attribute), HashMap<String, usize>>;

impl SubjectFacts {
    pub(crate) fn new(subject: SubjectId, kind: Kind) -> Self {
        Self {
            subject,
            kind,
            facts: Vec::new(),
            given: Vec::new(),
            given_by: Vec::new(),
            is_changed: false,
            before: Some(Vec::new()),
            index: None,
        }
    }

    /// Creates the facts of a subject from its stored facts.
    pub(crate) fn held(subject: SubjectId, kind: Kind, held: Unpacked) -> Self {
        let (given_by, facts) = held.facts.into_iter().unzip();
        Self { before: None, given: held.given, given_by, facts, ..Self::new(subject, kind) }
    }

    /// Whether anything must be written.
    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Returns the facts in their order, each with the position in `given` of the record that gave
    /// it first.
    pub(crate) fn facts_with_given(&self) -> impl Iterator<Item = (usize, &Fact)> {
        self.given_by.iter().copied().zip(&self.facts)
    }

    /// Adds a fact that a source gives. If the source has given it before, changes nothing, or only
    /// raises the fact's confidence.
    pub(crate) fn assert_fact(
        &mut self,
        claim: &SourceClaim<'_>,
        attribute: Attribute,
        value: &str,
    ) {
        self.assert_fact_for(claim, attribute, value, None);
    }

    /// Like [`assert_fact`](Self::assert_fact), but for a domain with the country of its website.
    pub(crate) fn assert_fact_for(
        &mut self,
        claim: &SourceClaim<'_>,
        attribute: Attribute,
        value: &str,
        country: Option<Country>,
    ) {
        match self.position_of(claim.source, attribute, value) {
            Some(at) => self.assert_again(at, country, claim.confidence),
            None => {
                self.remember_before();
                if let Some(index) = &mut self.index {
                    let values = index.entry((claim.source, attribute)).or_default();
                    values.insert(value.to_owned(), self.facts.len());
                }
                let given = self.given_with(claim);
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

    /// Removes every fact that `is_to_go` selects. Returns the number of removed facts.
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

    /// Returns the position of the fact with this value, if this source gave it.
    fn position_of(&mut self, source: i64, attribute: Attribute, value: &str) -> Option<usize> {
        let sources = self.given_by.iter().map(|given| self.given[*given].source);
        let mut facts = self.facts.iter().zip(sources);
        if self.facts.len() < LONG {
            return facts.position(|(fact, by)| {
                by == source && fact.attribute == attribute && fact.value == value
            });
        }
        let index = self.index.get_or_insert_with(|| {
            let mut index = Index::new();
            for (at, (fact, by)) in facts.enumerate() {
                let values = index.entry((by, fact.attribute)).or_default();
                values.entry(fact.value.clone()).or_insert(at);
            }
            index
        });
        index.get(&(source, attribute))?.get(value).copied()
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

    /// Returns the position of a claim's record in `given`; adds the record if it is new.
    fn given_with(&mut self, claim: &SourceClaim<'_>) -> usize {
        if let Some(at) = self.given.iter().rposition(|given| given.is_by(claim)) {
            return at;
        }
        let record = claim.record.map(str::to_owned);
        self.given.push(Given { source: claim.source, record, at: claim.at });
        self.given.len() - 1
    }

    fn remember_before(&mut self) {
        self.is_changed = true;
        if self.before.is_none() {
            self.before = Some(self.facts.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: SourceClaim<'static> = SourceClaim {
        source: 1,
        record: None,
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
        let given = Given { source: 1, record: None, at: Timestamp::UNIX_EPOCH };
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
        // `remove` first looks for one fact to remove, and then looks at each fact once.
        assert!(looked_at.get() <= 2 * 1_001, "{}", looked_at.get());
    }
}
