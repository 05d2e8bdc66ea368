//! A conditional logit model. For each query, it gives every candidate a probability. The rest of
//! the probability belongs to the outcome "no candidate is right". The model is fitted by gradient
//! ascent (Adam), on all examples in each step.

use std::thread;

use enrich_core::matching::Feature;

const WIDTH: usize = Feature::ALL.len();

/// The learning rate: the step size at the beginning. It decreases linearly to almost 0.
const RATE: f64 = 0.15;
/// The strength of the L2 penalty, which keeps the weights small.
const RIDGE: f64 = 2e-5;

pub(crate) struct Choice {
    /// The features of the candidate that are not 0: the index of each in [`Feature::ALL`], and its
    /// value.
    pub(crate) features: Vec<(u8, f32)>,
    /// Whether the candidate is a right answer to the query.
    pub(crate) is_right: bool,
}

/// A query with its candidates. One, several or none of the candidates are right.
pub(crate) struct Example {
    pub(crate) weight: f64,
    pub(crate) choices: Vec<Choice>,
}

/// Returns the weights for which the right choices are the most likely.
pub(crate) fn fit(examples: &[&Example], rounds: u32) -> Vec<f64> {
    fit_some(examples, rounds, vec![0.0; WIDTH], |_| true)
}

/// Fits only the weights for which `is_free` returns true; the other weights keep their values.
/// `weights` are the values at the beginning.
pub(crate) fn fit_some(
    examples: &[&Example],
    rounds: u32,
    mut weights: Vec<f64>,
    is_free: impl Fn(Feature) -> bool,
) -> Vec<f64> {
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    let free: Vec<bool> = Feature::ALL.iter().map(|feature| is_free(*feature)).collect();
    let (mut mean, mut spread) = (vec![0.0; WIDTH], vec![0.0; WIDTH]);
    for round in 1..=rounds {
        let slopes = slopes(examples, &weights);
        let steps = f64::from(round);
        let rate = RATE * (1.0 - steps / (f64::from(rounds) + 1.0));
        for at in (0..WIDTH).filter(|at| free[*at]) {
            let slope = slopes[at] / total - RIDGE * weights[at];
            mean[at] = 0.9 * mean[at] + 0.1 * slope;
            spread[at] = 0.99 * spread[at] + 0.01 * slope * slope;
            let mean = mean[at] / (1.0 - 0.9_f64.powf(steps));
            let spread = spread[at] / (1.0 - 0.99_f64.powf(steps));
            weights[at] += rate * mean / (spread.sqrt() + 1e-8);
        }
    }
    weights
}

/// Returns the score of a choice: the sum of its features, each multiplied by its weight.
pub(crate) fn score(choice: &Choice, weights: &[f64]) -> f64 {
    choice.features.iter().map(|(at, value)| f64::from(*value) * weights[usize::from(*at)]).sum()
}

/// Returns the gradient of the log-likelihood. It is computed on as many threads as there are
/// cores.
fn slopes(examples: &[&Example], weights: &[f64]) -> Vec<f64> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let size = examples.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let parts = examples.chunks(size).map(|part| scope.spawn(|| slopes_of(part, weights)));
        let parts: Vec<_> = parts.collect();
        let mut sum = vec![0.0; WIDTH];
        // The threads don't panic, so `join` returns the result of every thread.
        for part in parts.into_iter().filter_map(|part| part.join().ok()) {
            for (sum, slope) in sum.iter_mut().zip(part) {
                *sum += slope;
            }
        }
        sum
    })
}

fn slopes_of(examples: &[&Example], weights: &[f64]) -> Vec<f64> {
    let mut slopes = vec![0.0; WIDTH];
    for example in examples {
        let scores: Vec<f64> = example.choices.iter().map(|one| score(one, weights)).collect();
        let most = scores.iter().copied().fold(0.0, f64::max);
        let odds: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let all = (-most).exp() + odds.iter().sum::<f64>();
        let right = example.choices.iter().zip(&odds).filter(|(one, _)| one.is_right);
        let right: f64 = right.map(|(_, odds)| odds).sum();
        for (choice, odds) in example.choices.iter().zip(&odds) {
            let wanted = if choice.is_right { odds / right } else { 0.0 };
            let slope = example.weight * (wanted - odds / all);
            // A slope this small hardly changes the sum, so it is skipped to save time.
            if slope.abs() > 1e-6 {
                for (at, value) in &choice.features {
                    slopes[usize::from(*at)] += slope * f64::from(*value);
                }
            }
        }
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(value: f32, is_right: bool) -> Choice {
        Choice { features: vec![(0, 1.0), (1, value)], is_right }
    }

    #[test]
    fn what_is_right_more_often_weighs_more() {
        let example = |value, is_right| Example {
            weight: 1.0,
            choices: vec![choice(value, is_right), choice(0.0, false)],
        };
        let examples: Vec<Example> = (0..100)
            .map(|at| example(1.0, at % 10 != 0))
            .chain((0..100).map(|_| example(0.0, false)))
            .collect();
        let examples: Vec<&Example> = examples.iter().collect();
        let weights = fit(&examples, 400);
        let odds = score(&choice(1.0, true), &weights).exp();
        let share = odds / (1.0 + odds + score(&choice(0.0, false), &weights).exp());
        assert!((share - 0.9).abs() < 0.02, "{share}");
    }
}
