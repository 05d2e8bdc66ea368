//! The facts of one subject, and the changes that a record or a removal makes to them.

use std::collections::HashMap;

use enrich_core::{Attribute, Confidence, Fact, Origin, SubjectId};
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
    /// The confidence of the source in this record.
    pub(crate) confidence: Confidence,
}

impl<'a> SourceClaim<'a> {
    /// Creates the claim that a source makes with a record.
    pub(crate) fn of(source: i64, origin: &'a Origin) -> Self {
        Self { source, record: origin.id.as_deref(), confidence: origin.confidence }
    }
}

/// A fact's row in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FactRow {
    pub(crate) ordinal: i64,
    pub(crate) source: i64,
    pub(crate) state: State,
}

/// What must be written for a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing: the fact is stored as it is.
    Held,
    /// The country and the confidence: the stored fact has another country or confidence.
    Raised,
    /// The whole fact: it is not stored yet.
    New,
}

/// The facts of one subject, in the order in which they were first seen.
#[derive(Debug)]
pub(crate) struct SubjectFacts {
    pub(crate) subject: SubjectId,
    pub(crate) kind: Kind,
    pub(crate) facts: Vec<Fact>,
    /// The row of each of `facts`.
    pub(crate) rows: Vec<FactRow>,
    /// The ordinals of stored facts that are to be deleted.
    pub(crate) removed: Vec<i64>,
    /// The facts before the first change; `None` until there is a change.
    pub(crate) before: Option<Vec<Fact>>,
    next_ordinal: i64,
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
            rows: Vec::new(),
            removed: Vec::new(),
            before: Some(Vec::new()),
            next_ordinal: 0,
            index: None,
        }
    }

    /// Creates the facts of a subject from its stored facts, in order. Each element of `held` is
    /// the ordinal, the source and the fact.
    pub(crate) fn held(subject: SubjectId, kind: Kind, held: Vec<(i64, i64, Fact)>) -> Self {
        let next_ordinal = held.last().map_or(0, |(ordinal, _, _)| ordinal + 1);
        let mut subject_facts = Self { before: None, next_ordinal, ..Self::new(subject, kind) };
        for (ordinal, source, fact) in held {
            subject_facts.rows.push(FactRow { ordinal, source, state: State::Held });
            subject_facts.facts.push(fact);
        }
        subject_facts
    }

    /// Whether anything must be written.
    pub(crate) fn is_changed(&self) -> bool {
        !self.removed.is_empty() || self.rows.iter().any(|row| row.state != State::Held)
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
                self.rows.push(FactRow {
                    ordinal: self.next_ordinal,
                    source: claim.source,
                    state: State::New,
                });
                self.facts.push(Fact {
                    attribute,
                    value: value.to_owned(),
                    country,
                    confidence: claim.confidence,
                });
                self.next_ordinal += 1;
            }
        }
    }

    /// Removes every fact that `is_to_go` selects. Returns the number of removed facts.
    pub(crate) fn remove(&mut self, is_to_go: impl Fn(&Fact, i64) -> bool) -> u64 {
        let is_any = self.facts.iter().zip(&self.rows).any(|(fact, at)| is_to_go(fact, at.source));
        if !is_any {
            return 0;
        }
        self.remember_before();
        self.index = None;
        let (facts, rows) = (std::mem::take(&mut self.facts), std::mem::take(&mut self.rows));
        let mut gone = 0;
        for (fact, row) in facts.into_iter().zip(rows) {
            if !is_to_go(&fact, row.source) {
                self.facts.push(fact);
                self.rows.push(row);
                continue;
            }
            if row.state != State::New {
                self.removed.push(row.ordinal);
            }
            gone += 1;
        }
        gone
    }

    /// Returns the position of the fact with this value, if this source gave it.
    fn position_of(&mut self, source: i64, attribute: Attribute, value: &str) -> Option<usize> {
        let mut facts = self.facts.iter().zip(&self.rows);
        if self.facts.len() < LONG {
            return facts.position(|(fact, row)| {
                row.source == source && fact.attribute == attribute && fact.value == value
            });
        }
        let index = self.index.get_or_insert_with(|| {
            let mut index = Index::new();
            for (at, (fact, row)) in facts.enumerate() {
                let values = index.entry((row.source, fact.attribute)).or_default();
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
        let row = &mut self.rows[at];
        if row.state == State::Held {
            row.state = State::Raised;
        }
    }

    fn remember_before(&mut self) {
        if self.before.is_none() {
            self.before = Some(self.facts.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: SourceClaim<'static> =
        SourceClaim { source: 1, record: None, confidence: Confidence::FULL };

    fn subject_facts() -> SubjectFacts {
        let fact = Fact {
            attribute: Attribute::Name,
            value: "Quill".into(),
            country: None,
            confidence: Confidence::clamped(50),
        };
        SubjectFacts::held(SubjectId(1), Kind::Company, vec![(4, 1, fact)])
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
        assert_eq!(subject_facts.rows[0].state, State::Raised);
    }

    #[test]
    fn another_source_has_a_fact_of_its_own() {
        let mut subject_facts = subject_facts();
        subject_facts.assert_fact(&SourceClaim { source: 2, ..FULL }, Attribute::Name, "Quill");
        assert_eq!(subject_facts.rows[1], FactRow { ordinal: 5, source: 2, state: State::New });
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
        let ordinals: std::collections::HashSet<_> =
            subject_facts.rows.iter().map(|row| row.ordinal).collect();
        assert_eq!(ordinals.len(), 61, "no ordinal is given twice");
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

    #[test]
    fn what_was_never_written_leaves_no_row_to_delete() {
        let mut subject_facts = subject_facts();
        subject_facts.assert_fact(&FULL, Attribute::Alias, "Quill Ltd");
        assert_eq!(subject_facts.remove(|fact, _| fact.attribute == Attribute::Alias), 1);
        assert!(subject_facts.removed.is_empty());
        assert_eq!(subject_facts.remove(|_, source| source == 1), 1);
        assert_eq!(subject_facts.removed, [4]);
    }
}
