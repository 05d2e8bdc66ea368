//! The weights of the features, and the calibration of the probabilities.

use std::sync::LazyLock;

use super::evidence::Evidence;
use super::feature::Feature;

/// The table of trained weights: one line for each feature, and one line for each pair of the
/// calibration (a raw probability, and the share of answers at this probability that were right).
const TRAINED: &str = include_str!("../../data/name_weights.txt");

/// The weights of all features, in log-odds, and the calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// One weight for each feature, in the order of [`Feature::ALL`].
    weights: Vec<f64>,
    /// Pairs of a raw probability and the share of answers at this probability that were right.
    /// The pairs are sorted: both numbers grow from pair to pair.
    calibration: Vec<(f64, f64)>,
}

/// Why a table of weights is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWeights {
    /// The line with this number, counted from 1, is invalid for one of these reasons: it has
    /// neither the form `feature; weight` nor `calibration; raw; right`, it names an unknown
    /// feature, or a value is not a number.
    #[error("line {0} of the weights is neither a feature nor the calibration")]
    Line(usize),
    /// The feature with this name has no line.
    #[error("the feature {0} is missing from the weights")]
    Missing(&'static str),
}

impl Weights {
    /// Returns the weights that are built into the program.
    pub fn trained() -> &'static Self {
        #[expect(clippy::expect_used, reason = "the table is compiled in, and a test reads it")]
        static WEIGHTS: LazyLock<Weights> =
            LazyLock::new(|| Weights::parse(TRAINED).expect("a table of weights"));
        &WEIGHTS
    }

    /// Creates weights in the order of [`Feature::ALL`]. If there are fewer weights than
    /// features, the last features have the weight 0. `calibration` contains pairs of a raw
    /// probability and the share of answers at this probability that were right. Both numbers
    /// must grow from pair to pair.
    pub fn new(mut weights: Vec<f64>, calibration: Vec<(f64, f64)>) -> Self {
        weights.resize(Feature::ALL.len(), 0.0);
        Self { weights, calibration }
    }

    /// Parses a table. A line is `feature; weight` or `calibration; raw; right`. `raw` is a raw
    /// probability, and `right` is the share of answers at this probability that were right.
    /// Lines that begin with `#` are comments.
    ///
    /// # Errors
    ///
    /// When a line has another form, or a feature is missing.
    pub fn parse(table: &str) -> Result<Self, InvalidWeights> {
        let mut weights = vec![None; Feature::ALL.len()];
        let mut calibration = Vec::new();
        for (at, line) in table.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let columns: Vec<&str> = line.split(';').map(str::trim).collect();
            let number = |text: &str| text.parse::<f64>().map_err(|_| InvalidWeights::Line(at + 1));
            match columns.as_slice() {
                ["calibration", raw, right] => calibration.push((number(raw)?, number(right)?)),
                [name, weight] => {
                    let index = Feature::ALL.iter().position(|feature| feature.name() == *name);
                    let index = index.ok_or(InvalidWeights::Line(at + 1))?;
                    weights[index] = Some(number(weight)?);
                }
                _ => return Err(InvalidWeights::Line(at + 1)),
            }
        }
        let weights = weights
            .into_iter()
            .zip(Feature::ALL)
            .map(|(weight, feature)| weight.ok_or(InvalidWeights::Missing(feature.name())));
        Ok(Self { weights: weights.collect::<Result<_, _>>()?, calibration })
    }

    /// Returns the calibration: pairs of a raw probability and the share of answers at this
    /// probability that were right.
    pub fn calibration(&self) -> &[(f64, f64)] {
        &self.calibration
    }

    /// Returns the weight of a feature.
    pub fn of(&self, feature: Feature) -> f64 {
        self.weights.get(feature as usize).copied().unwrap_or(0.0)
    }

    /// Returns the sum of the weighted evidence: the log-odds that this candidate is meant, against
    /// the case that no candidate is meant.
    pub fn score(&self, evidence: &Evidence) -> f64 {
        evidence.features().iter().map(|(feature, value)| self.of(*feature) * value).sum()
    }

    /// Returns the raw (not yet calibrated) probability of each candidate from the scores of all
    /// candidates. The sum of these probabilities is below 1; the rest is the probability that no
    /// candidate is meant.
    pub fn chances(&self, scores: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
        let most = scores.clone().fold(0.0, f64::max);
        let none = (-most).exp();
        let sum: f64 = none + scores.clone().map(|score| (score - most).exp()).sum::<f64>();
        scores.map(|score| (score - most).exp() / sum).collect()
    }

    /// Returns the calibrated probability: the share of answers at this raw probability that were
    /// right. Between two pairs of the calibration, the share is interpolated.
    pub fn calibrated(&self, raw: f64) -> f64 {
        let (mut below, mut above) = ((0.0, 0.0), (1.0, 1.0));
        for &point in &self.calibration {
            if point.0 <= raw {
                below = point;
            } else {
                above = point;
                break;
            }
        }
        let width = above.0 - below.0;
        let share = if width > 0.0 { (raw - below.0) / width } else { 0.0 };
        (below.1 + share * (above.1 - below.1)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_that_comes_with_the_program_is_complete() {
        let weights = Weights::parse(TRAINED).unwrap();
        assert!(weights.calibration.is_sorted(), "{:?}", weights.calibration);
        assert!(weights.calibration.is_sorted_by_key(|(_, right)| *right));
    }

    #[test]
    fn a_calibration_is_read_between_its_points() {
        let weights = Weights::new(Vec::new(), vec![(0.5, 0.4), (0.9, 0.8)]);
        let read: Vec<f64> =
            [0.0, 0.25, 0.5, 0.7, 0.95, 1.0].map(|raw| weights.calibrated(raw)).into();
        for (read, wanted) in read.iter().zip([0.0, 0.2, 0.4, 0.6, 0.9, 1.0]) {
            assert!((read - wanted).abs() < 1e-9, "{read} {wanted}");
        }
    }

    #[test]
    fn candidates_that_are_alike_share_what_is_sure() {
        let weights = Weights::new(Vec::new(), Vec::new());
        let chances = weights.chances([5.0, 5.0].into_iter());
        assert!(chances.iter().all(|chance| *chance < 0.5));
        assert!(weights.chances([900.0].into_iter())[0] > 0.99);
    }

    #[test]
    fn a_table_names_what_is_wrong_with_it() {
        assert_eq!(Weights::parse("bias; x"), Err(InvalidWeights::Line(1)));
        assert_eq!(Weights::parse("\nnobody; 1"), Err(InvalidWeights::Line(2)));
        assert!(matches!(Weights::parse("bias; 1"), Err(InvalidWeights::Missing(_))));
    }
}
