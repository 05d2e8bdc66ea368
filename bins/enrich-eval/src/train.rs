//! Trains the weights of the name matching on the queries of an evaluation set, and computes the
//! calibration of the resulting probabilities.

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use enrich_core::matching::{Feature, ScoredCandidate, Weights};
use enrich_store::Store;
use enrich_text::{CompanyName, Country, contrasting, fold, name_words};

use crate::calibration;
use crate::catalogue::{self, Catalogue};
use crate::logit::{self, Choice, Example};
use crate::queries::{self, Query};

/// The query files to train on, each with the weight of its queries. Only the first two files are
/// used for calibration, because the company names in them were observed in real use. The other
/// files contain queries whose results must not get worse.
const FILES: [(&str, f64); 4] =
    [("observed", 1.0), ("negatives", 1.0), ("synth", 1.0), ("hardextra", 0.6)];
/// The kinds of queries that get a higher weight: misspelt, joined and reordered names. They are
/// rare among the observed names, so the training would otherwise learn too little from them. It
/// must learn to distinguish them from the names of other companies, which can look similar.
const RARE: [&str; 3] = ["typo", "rotated", "spaces"];
/// The factor for the weight of a query whose kind is in [`RARE`].
const RARE_WEIGHT: f64 = 6.0;
/// The value of [`Asked::file`] for made-up names that no company has. Such a name is made from an
/// observed name: one word is replaced by a contradicting word, such as another number, or south
/// instead of north. The training must learn that such a name does not mean the original company,
/// although it looks very similar. Few such names were observed.
const CONTRAST: &str = "contrast";
/// The weight of a query in which one word was replaced by a contradicting word ([`CONTRAST`]). The
/// weight is low, because there are many such queries and all are made up.
const CONTRAST_WEIGHT: f64 = 0.4;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich-eval train ../data/eval --write crates/enrich-core/data/name_weights.txt")]
pub(crate) struct Train {
    #[command(flatten)]
    catalogue: Catalogue,
    /// Half of the set on which the weights are trained
    #[arg(long, value_name = "HALF", default_value = "dev")]
    half: String,
    /// Number of steps of the training
    #[arg(long, value_name = "N", default_value_t = 800)]
    rounds: u32,
    /// Number of parts of the cross-validation; all queries for a company are in the same part
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..))]
    folds: u64,
    /// File for the cross-validated answers, in the format that the set's score.py reads
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// File for the weights
    #[arg(long, value_name = "FILE")]
    write: PathBuf,
}

struct Asked {
    qid: String,
    file: &'static str,
    fold: u64,
    example: Example,
    domains: Vec<Option<String>>,
}

impl Asked {
    /// Whether a candidate has exactly the name of the query, apart from spaces.
    fn has_exact_name(&self) -> bool {
        let same = Feature::SameSquashed as u8;
        let has = |choice: &Choice| choice.features.iter().any(|(at, _)| *at == same);
        self.example.choices.iter().any(has)
    }
}

impl Train {
    pub(crate) fn run(self, out: &mut dyn Write) -> anyhow::Result<()> {
        let store = catalogue::open(&self.catalogue)?;
        let mut all = Vec::new();
        for (file, weight) in FILES {
            for query in queries::read(&self.catalogue.set, &self.half, file)? {
                all.extend(asked(&store, query, file, weight)?);
            }
            writeln!(out, "asked {file}")?;
        }
        for query in queries::read(&self.catalogue.set, &self.half, "observed")? {
            if let Some(query) = contrasted(query) {
                all.extend(
                    asked(&store, query, CONTRAST, CONTRAST_WEIGHT)?
                        .filter(|one| !one.has_exact_name()),
                );
            }
        }
        writeln!(out, "asked names that contradict those observed")?;
        let found = all.iter().filter(|one| one.file == "observed");
        let (found, of) = found.fold((0, 0), |(found, of), one| {
            (found + u32::from(one.example.choices.iter().any(|choice| choice.is_right)), of + 1)
        });
        writeln!(
            out,
            "the right company is among the candidates of {found} of {of} observed names"
        )?;
        let held_out = self.cross_validated(&all, out)?;
        let answers = held_out.iter().filter(|one| is_calibrated_by(one.asked));
        let curve = calibration::curve(answers.map(|one| (one.raw, one.is_right)).collect());
        if let Some(path) = &self.answers {
            self.write_answers(&held_out, path)?;
            writeln!(out, "wrote the cross-validated answers to {}", path.display())?;
        }
        let every: Vec<&Example> = all.iter().map(|one| &one.example).collect();
        let mut weights = logit::fit(&every, self.rounds);
        // No company in this set is prominent, so the set cannot train the weights of prominence.
        // These weights keep their earlier values.
        for feature in Feature::ALL.iter().filter(|feature| feature.is_of_prominence()) {
            weights[*feature as usize] = Weights::trained().of(*feature);
        }
        fs::write(&self.write, table(&weights, &curve))
            .with_context(|| format!("{} can't be written", self.write.display()))?;
        writeln!(out, "wrote {}", self.write.display())?;
        Ok(())
    }

    /// Cross-validation: the queries are split into parts. For each query, returns the best answer
    /// with weights that were trained only on the other parts.
    fn cross_validated<'a>(
        &self,
        all: &'a [Asked],
        out: &mut dyn Write,
    ) -> anyhow::Result<Vec<HeldOut<'a>>> {
        let mut held_out = Vec::new();
        for fold in 0..self.folds {
            let (own, rest): (Vec<&Asked>, Vec<&Asked>) =
                all.iter().partition(|one| one.fold % self.folds == fold);
            let rest: Vec<&Example> = rest.into_iter().map(|one| &one.example).collect();
            let weights = Weights::new(logit::fit(&rest, self.rounds), Vec::new());
            held_out.extend(own.into_iter().filter_map(|one| first(one, &weights)));
            writeln!(out, "trained without part {} of {}", fold + 1, self.folds)?;
        }
        Ok(held_out)
    }

    /// Writes the answers in the format of the evaluation set's `score.py`. In each part of the
    /// cross-validation, the confidences are calibrated with the answers in the other parts.
    fn write_answers(&self, held_out: &[HeldOut<'_>], path: &Path) -> anyhow::Result<()> {
        let mut file = csv::Writer::from_path(path)
            .with_context(|| format!("{} can't be written", path.display()))?;
        file.write_record(["qid", "domain", "confidence"])?;
        for fold in 0..self.folds {
            let is_own = |one: &&HeldOut<'_>| one.asked.fold % self.folds == fold;
            let is_of_the_set = |one: &&HeldOut<'_>| one.asked.file != CONTRAST;
            let others = held_out.iter().filter(|one| !is_own(one) && is_calibrated_by(one.asked));
            let curve = calibration::curve(others.map(|one| (one.raw, one.is_right)).collect());
            let calibrated = Weights::new(Vec::new(), curve);
            for one in held_out.iter().filter(is_own).filter(is_of_the_set) {
                let percent = (calibrated.calibrated(one.raw) * 100.0).round();
                let domain = queries::in_unicode(one.domain.unwrap_or_default());
                file.write_record([&one.asked.qid, &domain, &percent.to_string()])?;
            }
        }
        file.flush()?;
        Ok(())
    }
}

/// The best answer to a query in the cross-validation. It was found with weights that were trained
/// without the part of the queries that contains this query.
struct HeldOut<'a> {
    asked: &'a Asked,
    domain: Option<&'a str>,
    /// The probability of the answer before calibration.
    raw: f64,
    is_right: bool,
}

fn is_calibrated_by(asked: &Asked) -> bool {
    matches!(asked.file, "observed" | "negatives")
}

/// Returns the query with one word replaced by a word that contradicts it, such as `3` for `2`. If
/// several words can be replaced, a word with a digit is preferred. Returns `None` if no word can
/// be replaced.
fn contrasted(query: Query) -> Option<Query> {
    let words: Vec<&str> = query.query.split_whitespace().collect();
    let other = |word: &&str| match name_words(&fold(word)).as_slice() {
        [only] => contrasting(only),
        _ => None,
    };
    let has_digit = |word: &str| word.contains(|sign: char| sign.is_ascii_digit());
    let places = (0..words.len()).filter(|at| other(&words[*at]).is_some());
    let at = places.min_by_key(|at| (!has_digit(words[*at]), *at))?;
    let other = other(&words[at])?;
    let text = [&words[..at], &[other.as_str()], &words[at + 1..]].concat().join(" ");
    let (qid, expected) = (format!("{}-{CONTRAST}", query.qid), String::new());
    Some(Query { qid, query: text, expected, ..query })
}

/// Returns a query with its candidates: the companies in the look-up data that it may mean. Returns
/// `None` if [`CompanyName::parse`] refuses the query's text, for example an empty text.
fn asked(
    store: &Store,
    query: Query,
    file: &'static str,
    weight: f64,
) -> anyhow::Result<Option<Asked>> {
    let Ok(name) = CompanyName::parse(&query.query) else { return Ok(None) };
    let country = Country::from_code(&query.country).ok().filter(|_| file == "country");
    let is_rare = RARE.iter().any(|kind| query.kind.contains(kind));
    let (mut choices, mut domains) = (Vec::new(), Vec::new());
    for one in store.directory.judged(&name, country)? {
        let domain = one.company.domain().map(str::to_owned);
        let is_right = domain.as_deref().is_some_and(|domain| query.is_right(domain));
        choices.push(choice(&one, is_right));
        domains.push(domain);
    }
    let weight = if is_rare { RARE_WEIGHT * weight } else { weight };
    let fold = queries::number_of(&query.group);
    Ok(Some(Asked { qid: query.qid, file, fold, example: Example { weight, choices }, domains }))
}

/// Returns a candidate in the form that the training needs. `is_right` says whether the candidate
/// is a right answer.
pub(crate) fn choice(candidate: &ScoredCandidate, is_right: bool) -> Choice {
    let features = candidate.evidence.features().iter();
    // There are fewer than 256 features, so the index of a feature fits into a `u8`.
    let features = features.map(|(feature, value)| (*feature as u8, *value as f32)).collect();
    Choice { features, is_right }
}

/// Returns the best answer to a query; `None` if the query has no candidates. If several candidates
/// have the same domain, their probabilities are added.
fn first<'a>(asked: &'a Asked, weights: &Weights) -> Option<HeldOut<'a>> {
    let choices = &asked.example.choices;
    let values: Vec<f64> = Feature::ALL.iter().map(|feature| weights.of(*feature)).collect();
    let chances = weights.chances(choices.iter().map(|choice| logit::score(choice, &values)));
    let together = |at: usize| -> f64 {
        let same = asked.domains.iter().zip(&chances);
        same.filter(|(domain, _)| **domain == asked.domains[at]).map(|(_, chance)| chance).sum()
    };
    let best = (0..choices.len()).max_by(|a, b| together(*a).total_cmp(&together(*b)))?;
    Some(HeldOut {
        asked,
        domain: asked.domains[best].as_deref(),
        raw: together(best),
        is_right: choices[best].is_right,
    })
}

/// Returns the table of weights in the format that `enrich-core` reads.
pub(crate) fn table(weights: &[f64], curve: &[(f64, f64)]) -> String {
    let mut table = "\
# The weight of each feature in log-odds (crates/enrich-core/src/matching), and the calibration: raw
# probabilities, each with the share of right answers in cross-validation.
# Written by `enrich-eval train` (docs/matching.md). Do not edit by hand.
"
    .to_owned();
    for (feature, weight) in Feature::ALL.iter().zip(weights) {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{}; {weight:.4}", feature.name());
    }
    for (raw, right) in curve {
        let _ = writeln!(table, "calibration; {raw:.4}; {right:.4}");
    }
    table
}
