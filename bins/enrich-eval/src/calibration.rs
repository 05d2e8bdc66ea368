//! Calibrates raw probabilities: maps them to shares of correct answers.

/// Minimum number of answers in a group. At first, each group has exactly this number. Then some
/// neighbouring groups are joined. Only the last group may have fewer answers.
const FEWEST: usize = 120;

/// Returns the points of a rising curve, which maps a raw probability to a share of correct
/// answers.
///
/// Sorts the answers by probability, and puts them into groups of [`FEWEST`] answers. Then joins
/// neighbouring groups until the share of correct answers rises from group to group (pool adjacent
/// violators). Each group gives a point.
pub(crate) fn curve(mut answers: Vec<(f64, bool)>) -> Vec<(f64, f64)> {
    answers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut pools: Vec<(f64, f64, f64)> = Vec::new();
    for group in answers.chunks(FEWEST) {
        let count = group.len() as f64;
        let raw: f64 = group.iter().map(|(raw, _)| raw).sum();
        let right = group.iter().filter(|(_, right)| *right).count() as f64;
        pools.push((count, raw, right));
        while let [.., before, last] = pools.as_mut_slice()
            && before.2 / before.0 >= last.2 / last.0
        {
            *before = (before.0 + last.0, before.1 + last.1, before.2 + last.2);
            pools.pop();
        }
    }
    pools.into_iter().map(|(count, raw, right)| (raw / count, right / count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_rises_whatever_was_observed() {
        let answers = (0..3000).map(|at| {
            let raw = f64::from(at) / 3000.0;
            (raw, at % 10 < if at < 1500 { 4 } else { 8 })
        });
        let curve = curve(answers.collect());
        assert!(curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "{curve:?}");
        let (_, last) = curve[curve.len() - 1];
        assert!((last - 0.8).abs() < 0.05, "{last}");
    }
}
