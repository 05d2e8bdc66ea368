//! Sorts the facts of a company before they are merged, so that the result does not depend on
//! which record was imported first.
//!
//! The values of an attribute are ordered by their confidence, the highest first. If several
//! values have the same confidence, the value that more sources give comes first. Then the
//! position in the records decides, and then the text. Names and domains have rules of their own.
//! The company's name should have capital letters and contain no country. The main domain should
//! be the domain that most sources list first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use enrich_text::{CompanyName, Country, Domain};

use crate::confidence::Confidence;
use crate::merge::{Attribute, Fact};

/// A name in capitals only, such as `QUILL PENS`, is treated as badly written if it has at least
/// this number of letters. A shorter name in capitals is probably an abbreviation.
const FEWEST_SHOUTED: usize = 5;

/// A fact, and the record that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedFact {
    /// The number of the source. It only shows which facts have the same source.
    pub source: i64,
    /// The number of the record among the records of all sources. It only shows which facts are
    /// from the same record.
    pub record: usize,
    /// The fact.
    pub fact: Fact,
}

/// One value of an attribute, and what the data sources say about it.
struct Value {
    text: String,
    confidence: Confidence,
    country: Option<Country>,
    country_confidence: Option<Confidence>,
    sources: BTreeSet<i64>,
    /// The sources that list this value first: in at least one of their records, it is the first
    /// value of the attribute.
    first_in: BTreeSet<i64>,
    /// The position of this value among the values of the same attribute in a record, from 0. If
    /// several records have the value, this is the lowest of these positions.
    place: usize,
}

/// Sorts the facts of a company for the merge: the best value of each attribute comes first.
/// Several facts with the same attribute and value become one fact. In `claimed`, the facts of one
/// record must be in the same order as in the record. The order of the records does not matter.
pub fn facts_in_order(claimed: Vec<ClaimedFact>) -> Vec<Fact> {
    let mut attributes: BTreeMap<Attribute, Vec<Value>> = BTreeMap::new();
    let mut places: BTreeMap<(usize, Attribute), usize> = BTreeMap::new();
    let mut known: BTreeMap<(Attribute, String), usize> = BTreeMap::new();
    for ClaimedFact { source, record, fact } in claimed {
        let place = places.entry((record, fact.attribute)).or_default();
        let values = attributes.entry(fact.attribute).or_default();
        let at = *known.entry((fact.attribute, fact.value.clone())).or_insert_with(|| {
            values.push(Value::of(&fact));
            values.len() - 1
        });
        values[at].add(source, *place, &fact);
        *place += 1;
    }
    if let Some(names) = attributes.remove(&Attribute::Name) {
        let domains = attributes.get(&Attribute::Domain).map_or(&[][..], Vec::as_slice);
        let names = names_in_order(names, domains);
        attributes.insert(Attribute::Name, names);
    }
    let mut facts: Vec<Fact> = Vec::new();
    for (attribute, mut values) in attributes {
        match attribute {
            // The names are already sorted by `names_in_order`.
            Attribute::Name => {}
            // The rank of a domain depends on the company's name. The name is already in `facts`,
            // because `Attribute::Name` comes before `Attribute::Domain` in the map.
            Attribute::Domain => {
                let name = facts.first().filter(|fact| fact.attribute == Attribute::Name);
                sort_domains(&mut values, name.map(|fact| fact.value.as_str()));
            }
            _ => values.sort_by(|a, b| a.rank().cmp(&b.rank())),
        }
        facts.extend(values.into_iter().map(|value| value.into_fact(attribute)));
    }
    facts
}

impl Value {
    fn of(fact: &Fact) -> Self {
        Self {
            text: fact.value.clone(),
            confidence: fact.confidence,
            country: None,
            country_confidence: None,
            sources: BTreeSet::new(),
            first_in: BTreeSet::new(),
            place: usize::MAX,
        }
    }

    fn add(&mut self, source: i64, place: usize, fact: &Fact) {
        self.confidence = self.confidence.max(fact.confidence);
        self.sources.insert(source);
        if place == 0 {
            self.first_in.insert(source);
        }
        self.place = self.place.min(place);
        let Some(country) = fact.country else { return };
        let is_surer = self.country_confidence.is_none_or(|known| {
            (fact.confidence, Reverse(country.alpha2()))
                > (known, Reverse(self.country.map_or("", Country::alpha2)))
        });
        if is_surer {
            (self.country, self.country_confidence) = (Some(country), Some(fact.confidence));
        }
    }

    fn rank(&self) -> impl Ord + '_ {
        (Reverse(self.confidence), Reverse(self.sources.len()), self.place, self.text.as_str())
    }

    fn into_fact(self, attribute: Attribute) -> Fact {
        let Self { text: value, confidence, country, .. } = self;
        Fact { attribute, value, country, confidence }
    }
}

/// Sorts domains; the first becomes the main domain. Of two domains, the first of these rules that
/// distinguishes them decides which comes first:
///
/// 1. the domain with the higher confidence;
/// 2. the domain that more sources list first;
/// 3. a domain for which no record gives a country;
/// 4. the domain that more sources give;
/// 5. the domain that is nearer to the beginning of a record's list; if several records list a
///    domain, its best position counts;
/// 6. the domain whose label is the company's name, such as `quill` of `quill.com`;
/// 7. a domain whose top-level domain belongs to no country.
fn sort_domains(values: &mut [Value], name: Option<&str>) {
    if values.len() < 2 {
        return;
    }
    let name = name.map(|name| key_of(name, CompanyName::parse(name).ok().as_ref()));
    values.sort_by(|a, b| {
        let rank = |value: &'_ Value| {
            let (first_in, sources) = (value.first_in.len(), value.sources.len());
            let is_of_country = Domain::parse(&value.text).is_ok_and(|it| it.country().is_some());
            let is_of_name = Some(label_of(&value.text)) == name;
            let votes = (Reverse(first_in), value.country.is_some(), Reverse(sources));
            (Reverse(value.confidence), votes, value.place, Reverse(is_of_name), is_of_country)
        };
        // If two domains have the same rank, the shorter one comes first, because a longer domain
        // often belongs to a part of the company.
        let shape = |value: &'_ Value| (value.text.len(), value.text.clone());
        rank(a).cmp(&rank(b)).then_with(|| shape(a).cmp(&shape(b)))
    });
}

/// Sorts names; the first becomes the company's name. Of two names, the first of these rules that
/// distinguishes them decides which comes first:
///
/// 1. the name with the higher confidence;
/// 2. a name that has capitals, or no lowercase letters;
/// 3. the name that more sources give, in any spelling;
/// 4. a name that is the label of a domain of the company;
/// 5. the name with fewer points from [`faults`], for a country in the name or for capitals only;
/// 6. the name that more sources give in exactly this spelling.
fn names_in_order(values: Vec<Value>, domains: &[Value]) -> Vec<Value> {
    if values.len() < 2 {
        return values;
    }
    let labels: Vec<String> = domains.iter().map(|domain| label_of(&domain.text)).collect();
    // For each name, the sources that give the name in any spelling.
    let mut votes: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    let mut names = Vec::with_capacity(values.len());
    for value in values {
        let name = CompanyName::parse(&value.text).ok();
        let key = key_of(&value.text, name.as_ref());
        votes.entry(key.clone()).or_default().extend(&value.sources);
        let faults = faults(&value.text, name.as_ref());
        names.push((key, faults, value));
    }
    names.sort_by_cached_key(|(key, (is_small, faults), value)| {
        let (votes, is_label) = (votes[key].len(), labels.contains(key));
        let confidence = (Reverse(value.confidence), *is_small);
        let votes = (Reverse(votes), Reverse(is_label), *faults, Reverse(value.sources.len()));
        (confidence, votes, value.text.clone())
    });
    names.into_iter().map(|(_, _, value)| value).collect()
}

/// Returns two values that show how badly a name is written:
///
/// - Whether the name has lowercase letters and no capitals, such as `quill pens`.
/// - A number of points: 2 if the name contains a country, plus 1 if it has only capitals and at
///   least [`FEWEST_SHOUTED`] letters. More points are worse.
fn faults(text: &str, name: Option<&CompanyName>) -> (bool, u8) {
    let letters = || text.chars().filter(|letter| letter.is_alphabetic());
    let is_small = letters().any(char::is_lowercase) && !letters().any(char::is_uppercase);
    let is_shouted = letters().count() >= FEWEST_SHOUTED
        && letters().any(char::is_uppercase)
        && !letters().any(char::is_lowercase);
    let names_country = name.is_some_and(|name| name.country().is_some());
    (is_small, u8::from(names_country) * 2 + u8::from(is_shouted))
}

/// Returns a form of the name that is the same for all its spellings: `quill` for `Quill Ltd` and
/// for `QUILL`. `name` is the parsed text; `None` if it cannot be parsed.
fn key_of(text: &str, name: Option<&CompanyName>) -> String {
    name.map_or(text, CompanyName::squashed).to_owned()
}

fn label_of(domain: &str) -> String {
    Domain::parse(domain).map_or_else(|_| String::new(), |domain| domain.label().replace('-', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes one fact of each row (source, attribute, value, confidence), and returns the facts
    /// sorted by `facts_in_order`. Each row is a record of its own. Also checks that the order of
    /// the records does not change the result.
    fn merged(rows: &[(i64, Attribute, &str, u8)]) -> Vec<Fact> {
        let claimed =
            |(record, (source, attribute, value, percent)): (usize, &(_, _, &str, u8))| {
                let confidence = Confidence::clamped(*percent);
                let value = (*value).to_owned();
                let fact = Fact { attribute: *attribute, value, country: None, confidence };
                ClaimedFact { source: *source, record, fact }
            };
        let forwards = facts_in_order(rows.iter().enumerate().map(claimed).collect());
        let backwards = facts_in_order(rows.iter().enumerate().rev().map(claimed).collect());
        assert_eq!(forwards, backwards);
        forwards
    }

    fn first(rows: &[(i64, Attribute, &str, u8)]) -> String {
        merged(rows)[0].value.clone()
    }

    #[test]
    fn the_name_is_what_most_sources_call_the_company() {
        let names = |texts: &[&'static str]| -> Vec<(i64, Attribute, &'static str, u8)> {
            (1..).zip(texts).map(|(source, text)| (source, Attribute::Name, *text, 100)).collect()
        };
        for (given, shown) in [
            (&["Quill Group", "Quill", "Quill Ltd"][..], "Quill"),
            (&["quill", "Quill Films"], "Quill Films"),
            (&["quill", "quill", "QUILL"], "QUILL"),
            (&["Quill (Portugal)", "Quill"], "Quill"),
            (&["QUILLS CORP", "Quills"], "Quills"),
            (&["QI", "Quill"], "QI"),
        ] {
            assert_eq!(first(&names(given)), shown, "{given:?}");
        }
        let label = [(1, Attribute::Name, "Ink", 100), (2, Attribute::Name, "Quill", 100)];
        let label = [&label[..], &[(1, Attribute::Domain, "quill.example", 100)]].concat();
        assert_eq!(first(&label), "Quill");
    }

    #[test]
    fn confidence_decides_before_anything_else() {
        let rows = [
            (1, Attribute::Name, "Quill", 90),
            (2, Attribute::Name, "Quill", 90),
            (3, Attribute::Name, "ink", 91),
        ];
        assert_eq!(first(&rows), "ink");
    }

    #[test]
    fn the_main_domain_is_the_one_that_most_sources_name_first() {
        let on = Attribute::Domain;
        let rows =
            [(1, on, "a.example", 100), (2, on, "b.example", 100), (3, on, "b.example", 100)];
        assert_eq!(first(&rows), "b.example");
        assert_eq!(first(&rows[..2]), "a.example");
    }

    #[test]
    fn a_domain_that_a_record_marks_for_a_country_is_not_the_main_domain() {
        let claimed = |source, record, value: &str, country: Option<&str>| {
            let country = country.and_then(|code| Country::from_code(code).ok());
            let (attribute, confidence) = (Attribute::Domain, Confidence::FULL);
            let fact = Fact { attribute, value: value.to_owned(), country, confidence };
            ClaimedFact { source, record, fact }
        };
        let facts = facts_in_order(vec![
            claimed(1, 0, "quill.com", None),
            claimed(1, 0, "quill.de", Some("DE")),
            claimed(2, 1, "quill.de", None),
        ]);
        assert_eq!(facts[0].value, "quill.com");
    }

    #[test]
    fn the_values_of_one_record_keep_their_order() {
        let values = ["b@x.example", "a@x.example", "c@x.example"];
        let claimed = values.map(|value| {
            let confidence = Confidence::FULL;
            let (attribute, value) = (Attribute::Email, value.to_owned());
            let fact = Fact { attribute, value, country: None, confidence };
            ClaimedFact { source: 1, record: 0, fact }
        });
        let facts = facts_in_order(claimed.to_vec());
        assert!(facts.iter().map(|fact| fact.value.as_str()).eq(values));
    }
}
