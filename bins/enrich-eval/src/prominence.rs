//! Trains the weights of the features of prominence (how well known a company is) on well-known
//! names. All other weights keep the values that `enrich-eval train` has found.
//!
//! `enrich-eval train` uses look-up data without prominent companies. There, all features of
//! prominence are 0. So the weights of these features do not change its results.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use enrich_core::matching::{Feature, ScoredCandidate, Weights, likeliest};
use enrich_core::{Confidence, SubjectId};
use enrich_store::{Options, Store};
use enrich_text::{CompanyName, Country, fold, is_misspelt};

use crate::known::{self, KnownQuery, KnownSet, Names};
use crate::logit::{self, Choice, Example};
use crate::queries::number_of;
use crate::train::{choice, table};

/// Number of companies, the best-known ones, for which additional names are generated.
const BEST_KNOWN: usize = 1000;
/// The weight, in the training, of a query from the set of well-known names.
const ASKED_WEIGHT: f64 = 1.0;
/// The weight, in the training, of a generated name that still means the original company.
const MADE_WEIGHT: f64 = 0.2;
/// The weight, in the training, of a generated name that means no company in the look-up data.
const MADE_NEGATIVE_WEIGHT: f64 = 0.3;
/// The weight, in the training, of a word that only looks like the misspelt name of a company, such
/// as `Channel` for Chanel. There are few such words, so their weight is high.
const KNOWN_WORD_WEIGHT: f64 = 1.0;
/// If at least this number of names contain a word, the word is a real word, not a misspelling.
const LEAST_COMMON: usize = 4;
/// Words for a line of business, which are appended to a company's name: `Quill Foods`. Such a name
/// means another company, or no company.
const BUSINESS: [&str; 24] = [
    "Foods",
    "Insurance",
    "Coffee",
    "Hospital",
    "Airlines",
    "Bank",
    "Steel",
    "Hotels",
    "Motors",
    "Pharma",
    "Energy",
    "Records",
    "Press",
    "University",
    "Foundation",
    "Studios",
    "Logistics",
    "Furniture",
    "Mining",
    "Shipping",
    "Cosmetics",
    "Brewery",
    "Toys",
    "Consulting",
];
/// Places and other additions, which are appended to a company's name: `Quill London`, `Quill HQ`.
/// Such a name still means the same company. Real lists of names contain such additions.
const PLACES: [&str; 24] = [
    "London",
    "Berlin",
    "Chicago",
    "Paris",
    "HQ",
    "Group",
    "Headquarters",
    "Holding",
    "Seattle",
    "Milan",
    "Tokyo",
    "Deutschland",
    "UK",
    "France",
    "USA",
    "Atlanta",
    "Zurich",
    "Stuttgart",
    "Boston, MA",
    "Madrid",
    "Dublin, Ireland",
    "(Hamburg)",
    "(Houston)",
    "Toronto",
];

/// Trains the weights of prominence (how well known a company is) on the names of a set.
#[derive(Debug, Args)]
pub(crate) struct TrainProminence {
    #[command(flatten)]
    set: KnownSet,
    /// Uses the data folder as it is, without importing the set's files again
    #[arg(long)]
    keep: bool,
    /// Number of steps of the training
    #[arg(long, value_name = "N", default_value_t = 300)]
    rounds: u32,
    /// Number of parts of the cross-validation; all queries for a company are in the same part
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..))]
    folds: u64,
    /// File with the weights; those of prominence are replaced
    #[arg(long, value_name = "FILE")]
    write: PathBuf,
}

/// An example for the training: a name, and the companies that were found for it. The name is a
/// query from the set of well-known names, or was generated from the name of a well-known company.
struct Asked {
    /// The query from the set of well-known names; `None` for a generated name.
    query: Option<KnownQuery>,
    fold: u64,
    example: Example,
    candidates: Vec<ScoredCandidate>,
}

impl TrainProminence {
    pub(crate) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let least = Confidence::MIN;
        let store = if self.keep {
            Store::open_with(
                &self.set.data,
                &Options { min_name_confidence: least, ..Options::default() },
            )?
        } else {
            known::open(&self.set.set, &self.set.data, least)?
        };
        let mut all = Vec::new();
        for query in known::queries(&self.set.set)? {
            all.push(of_query(&store, query)?);
        }
        let made = made(&store, &known::names(&self.set.set)?)?;
        writeln!(out, "made {} names of the best-known companies", made.len())?;
        all.extend(made);
        let text = fs::read_to_string(&self.write)
            .with_context(|| format!("{} can't be read", self.write.display()))?;
        let start = Weights::parse(&text)?;
        self.cross_validate(&all, &start, out)?;
        let every: Vec<&Example> = all.iter().map(|one| &one.example).collect();
        let weights = self.fit(&every, &start);
        for feature in Feature::ALL.iter().filter(|feature| feature.is_of_prominence()) {
            writeln!(out, "{} {:.4}", feature.name(), weights[*feature as usize])?;
        }
        fs::write(&self.write, table(&weights, start.calibration()))
            .with_context(|| format!("{} can't be written", self.write.display()))?;
        writeln!(out, "wrote {}", self.write.display())?;
        Ok(())
    }

    fn fit(&self, examples: &[&Example], start: &Weights) -> Vec<f64> {
        let at_start = |feature: &Feature| match feature.is_of_prominence() {
            true => 0.0,
            false => start.of(*feature),
        };
        let start = Feature::ALL.iter().map(at_start).collect();
        let mut weights = logit::fit_some(examples, self.rounds, start, Feature::is_of_prominence);
        // If a query has a country, a candidate is less likely to be right if its country is
        // unknown or different. The set of well-known names does not show this: it has no query
        // with a country for which "not found" is the right answer. The training might even give
        // these two features a positive weight. To prevent this, their weights are at most 0.
        for feature in [Feature::CountryUnknown, Feature::CountryElsewhere] {
            let weight = &mut weights[feature as usize];
            *weight = weight.min(0.0);
        }
        weights
    }

    /// Cross-validation: counts how many queries get a right answer, a wrong answer or none, and
    /// reports the counts. The weights for a query are trained without the queries about the same
    /// company.
    fn cross_validate(
        &self,
        all: &[Asked],
        start: &Weights,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let mut counts: BTreeMap<u8, [u32; 3]> = BTreeMap::new();
        let (mut error, mut answers) = (BTreeMap::<u8, (f64, f64, f64)>::new(), 0.0);
        for fold in 0..self.folds {
            let (own, rest): (Vec<&Asked>, Vec<&Asked>) =
                all.iter().partition(|one| one.fold % self.folds == fold);
            let rest: Vec<&Example> = rest.into_iter().map(|one| &one.example).collect();
            let weights = Weights::new(self.fit(&rest, start), start.calibration().to_vec());
            for one in own {
                let Some(query) = &one.query else { continue };
                let judged = enrich_core::matching::weigh(one.candidates.clone(), &weights);
                let answer = likeliest(&judged).map(|(first, sure)| {
                    (first.company.domain().is_some_and(|domain| query.is_right(domain)), sure)
                });
                for least in [90, 80, 70] {
                    let count = counts.entry(least).or_default();
                    match answer.filter(|(_, sure)| sure.percent() >= least) {
                        Some((true, _)) => count[0] += 1,
                        Some((false, _)) => count[1] += 1,
                        None => count[2] += 1,
                    }
                }
                if let Some((is_right, sure)) = answer {
                    let band = error.entry(sure.percent() / 10).or_default();
                    let right = f64::from(u8::from(is_right));
                    *band =
                        (band.0 + 1.0, band.1 + right, band.2 + f64::from(sure.percent()) / 100.0);
                    answers += 1.0;
                }
            }
        }
        for (least, [right, wrong, missed]) in counts {
            writeln!(
                out,
                "cross-validated at {least}: right {right} wrong {wrong} missed {missed}"
            )?;
        }
        let error: f64 = error.values().map(|(_, right, mean)| (right - mean).abs()).sum();
        writeln!(out, "expected calibration error {:.3}", error / answers)?;
        Ok(())
    }
}

fn of_query(store: &Store, query: KnownQuery) -> anyhow::Result<Asked> {
    let candidates = store.directory.judged(&query.name()?, query.country())?;
    let right =
        |one: &ScoredCandidate| one.company.domain().is_some_and(|domain| query.is_right(domain));
    let choices: Vec<Choice> = candidates.iter().map(|one| choice(one, right(one))).collect();
    let fold = number_of(query.org.as_deref().unwrap_or(&query.id));
    let example = Example { weight: ASKED_WEIGHT, choices };
    Ok(Asked { query: Some(query), fold, example, candidates })
}

/// Generates names from the names of the best-known companies: the name alone, with a typing error,
/// with a place (`Quill London`), and with a line of business (`Quill Foods`). Adds real words that
/// only look like a misspelt name of such a company: `Channel` for Chanel.
fn made(store: &Store, names: &Names) -> anyhow::Result<Vec<Asked>> {
    let common = common_words(&names.all);
    let mut known: Vec<(f64, String, BTreeSet<SubjectId>)> = Vec::new();
    for text in &names.of_ranked {
        let Ok(name) = CompanyName::parse(text) else { continue };
        let judged = store.directory.judged(&name, None)?;
        let bearers = judged.iter().filter(|one| {
            one.evidence.of(Feature::SameStripped) > 0.0 && one.evidence.of(Feature::Alias) == 0.0
        });
        let best = bearers.max_by(|a, b| a.prominence.value().total_cmp(&b.prominence.value()));
        let Some(best) = best.filter(|best| best.prominence.value() > 0.25) else { continue };
        let same = judged.iter().filter(|one| one.organisation == best.organisation);
        let same = same.map(|one| one.company.id).collect();
        known.push((best.prominence.value(), text.clone(), same));
    }
    known.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    known.truncate(BEST_KNOWN);
    let mut all = Vec::new();
    for (at, (_, name, right)) in known.iter().enumerate() {
        let variants = [
            (name.clone(), MADE_WEIGHT, true),
            (misspelt(name, at), MADE_WEIGHT, true),
            (format!("{name} {}", PLACES[at % PLACES.len()]), MADE_WEIGHT, true),
            (format!("{name} {}", BUSINESS[at % BUSINESS.len()]), MADE_NEGATIVE_WEIGHT, false),
        ];
        let folded = fold(name);
        let near = common.iter().filter(|word| **word != folded && is_misspelt(word, &folded));
        let near: Vec<&String> = near.collect();
        let words = near.iter().map(|word| ((*word).clone(), KNOWN_WORD_WEIGHT, false));
        for (text, weight, is_there) in variants.into_iter().chain(words) {
            let Ok(parsed) = CompanyName::parse(&text) else { continue };
            let mut candidates = store.directory.judged(&parsed, None::<Country>)?;
            // If a company in the look-up data has the generated name, the name is not used: it is
            // neither a misspelling nor an unknown name.
            let has_exact =
                candidates.iter().any(|one| one.evidence.of(Feature::SameStripped) > 0.0);
            if has_exact && text != *name {
                continue;
            }
            if near.contains(&&text) {
                // The text is a real word, such as `Channel`, which only looks like a misspelling
                // of the well-known name (Chanel). So the well-known company, which `right`
                // contains, is a wrong answer here: `is_there` is `false`. The other candidates are
                // removed, because it is not known whether one of them is a right answer.
                candidates.retain(|one| right.contains(&one.company.id));
            }
            let is_right = |one: &ScoredCandidate| is_there && right.contains(&one.company.id);
            let choices = candidates.iter().map(|one| choice(one, is_right(one))).collect();
            let fold = number_of(name);
            all.push(Asked { query: None, fold, example: Example { weight, choices }, candidates });
        }
    }
    Ok(all)
}

/// Returns the words that at least [`LEAST_COMMON`] of the names have.
fn common_words(names: &BTreeSet<String>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        let folded = fold(name);
        let words: BTreeSet<&str> = folded.split(' ').collect();
        words.into_iter().for_each(|word| *counts.entry(word.to_owned()).or_default() += 1);
    }
    counts.retain(|_, count| *count >= LEAST_COMMON);
    counts.into_keys().collect()
}

/// Returns the name with one typing error. `at` selects the error.
fn misspelt(name: &str, at: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    let place = 1 + (at * 7) % letters.len().saturating_sub(2).max(1);
    let (before, after) = letters.split_at(place.min(letters.len()));
    let text = |parts: &[&[char]]| parts.concat().iter().collect::<String>();
    match (at % 4, after) {
        (0, [_, rest @ ..]) => text(&[before, rest]),
        (1, [one, next, rest @ ..]) => text(&[before, &[*next, *one], rest]),
        (2, [one, rest @ ..]) => text(&[before, &[*one, *one], rest]),
        (_, [_, rest @ ..]) => text(&[before, &['e'], rest]),
        _ => name.to_owned(),
    }
}
