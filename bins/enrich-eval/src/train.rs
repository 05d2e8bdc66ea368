//! Trains the weights of the evidence on the queries of a set, and the calibration with them.

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use enrich_core::matching::{Feature, Weights};
use enrich_store::Store;
use enrich_text::{CompanyName, Country};

use crate::calibration;
use crate::catalogue::{self, Catalogue};
use crate::logit::{self, Choice, Example, WIDTH};
use crate::queries::{self, Query};

/// The files that are trained on and how much a query of each counts. Calibrated is by the first
/// two alone: they are as names come in, the others are what must not be lost.
const FILES: [(&str, f64); 4] =
    [("observed", 1.0), ("negatives", 1.0), ("synth", 1.0), ("hardextra", 0.6)];
/// Kinds of queries that count double: few names that were seen are misspelt or in another order.
const DOUBLE: [&str; 2] = ["typo", "rotated"];

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich-eval train ../data/eval --write crates/enrich-core/data/name_weights.txt")]
pub(crate) struct Train {
    #[command(flatten)]
    catalogue: Catalogue,
    /// Which half of the set is trained on
    #[arg(long, value_name = "HALF", default_value = "dev")]
    half: String,
    /// Steps of the training
    #[arg(long, value_name = "N", default_value_t = 800)]
    rounds: u32,
    /// Parts of the cross-validation, by company
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..))]
    folds: u64,
    /// Where the weights are written
    #[arg(long, value_name = "FILE")]
    write: PathBuf,
}

/// A query and its candidates.
struct Asked {
    file: &'static str,
    fold: u64,
    example: Example,
    domains: Vec<Option<String>>,
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
        let found = all.iter().filter(|one| one.file == "observed");
        let (found, of) = found.fold((0, 0), |(found, of), one| {
            (found + u32::from(one.example.choices.iter().any(|choice| choice.is_right)), of + 1)
        });
        writeln!(
            out,
            "the right company is among the candidates of {found} of {of} observed names"
        )?;
        let mut answers = Vec::new();
        for fold in 0..self.folds {
            let rest: Vec<&Example> = all
                .iter()
                .filter(|one| one.fold % self.folds != fold)
                .map(|one| &one.example)
                .collect();
            let weights = Weights::new(logit::fit(&rest, self.rounds), Vec::new());
            let held_out = all.iter().filter(|one| one.fold % self.folds == fold);
            answers.extend(
                held_out.filter(|one| is_calibrated_by(one)).filter_map(|one| first(one, &weights)),
            );
            writeln!(out, "trained without part {} of {}", fold + 1, self.folds)?;
        }
        let curve = calibration::curve(answers);
        let every: Vec<&Example> = all.iter().map(|one| &one.example).collect();
        let weights = logit::fit(&every, self.rounds);
        fs::write(&self.write, table(&weights, &curve))
            .with_context(|| format!("{} can't be written", self.write.display()))?;
        writeln!(out, "wrote {}", self.write.display())?;
        Ok(())
    }
}

fn is_calibrated_by(asked: &Asked) -> bool {
    matches!(asked.file, "observed" | "negatives")
}

/// Asks the directory for the candidates of a query.
fn asked(
    store: &Store,
    query: Query,
    file: &'static str,
    weight: f64,
) -> anyhow::Result<Option<Asked>> {
    let Ok(name) = CompanyName::parse(&query.query) else { return Ok(None) };
    let country = Country::from_code(&query.country).ok().filter(|_| file == "country");
    let is_double = DOUBLE.iter().any(|kind| query.kind.contains(kind));
    let (mut choices, mut domains) = (Vec::new(), Vec::new());
    for one in store.directory.judged(&name, country)? {
        let domain = one.company.domain().map(str::to_owned);
        let is_right = domain.as_deref().is_some_and(|domain| query.is_right(domain));
        let mut features = [0.0; WIDTH];
        for (feature, value) in one.evidence.features() {
            features[*feature as usize] = *value as f32;
        }
        choices.push(Choice { features, is_right });
        domains.push(domain);
    }
    let weight = if is_double { 6.0 * weight } else { weight };
    let fold = queries::number_of(&query.group);
    Ok(Some(Asked { file, fold, example: Example { weight, choices }, domains }))
}

/// How likely the first answer is, and whether it is right. Records of one domain count together.
fn first(asked: &Asked, weights: &Weights) -> Option<(f64, bool)> {
    let choices = &asked.example.choices;
    let values: Vec<f64> = Feature::ALL.iter().map(|feature| weights.of(*feature)).collect();
    let chances = weights.chances(choices.iter().map(|choice| logit::score(choice, &values)));
    let together = |at: usize| -> f64 {
        let same =
            asked.domains.iter().zip(&chances).filter(|(domain, _)| **domain == asked.domains[at]);
        same.map(|(_, chance)| chance).sum()
    };
    let best = (0..choices.len()).max_by(|a, b| together(*a).total_cmp(&together(*b)))?;
    Some((together(best), choices[best].is_right))
}

/// The table as `enrich-core` reads it.
fn table(weights: &[f64], curve: &[(f64, f64)]) -> String {
    let mut table = "\
# What each feature of the evidence weighs, in log-odds (crates/enrich-core/src/matching), and the
# calibration: raw probabilities and the share of such answers that were right in cross-validation.
# Written by `enrich-eval train` (docs/matching.md); not edited by hand.
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
