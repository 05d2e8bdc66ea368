//! The measurements of one server, or of several servers together, under load for some seconds.

use serde::Serialize;

/// One set of measurements, the medians of several sets, or ratios between two sets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Part {
    pub(crate) requests_per_second: f64,
    /// The median latency, in microseconds.
    pub(crate) p50_micros: f64,
    /// The 99th percentile of the latencies, in microseconds.
    pub(crate) p99_micros: f64,
    /// The 99.9th percentile of the latencies, in microseconds.
    pub(crate) p99_9_micros: f64,
    /// The processor time per request, of all servers' processes together, in microseconds.
    pub(crate) processor_micros: f64,
    /// The private memory of all servers' processes at the end of the measurement, in bytes.
    pub(crate) private_bytes: f64,
}

impl Part {
    /// Returns the median of each measure over `parts`, or `None` if `parts` is empty.
    pub(crate) fn median(parts: &[Self]) -> Option<Self> {
        let of = |measure: fn(&Self) -> f64| median(parts.iter().map(measure).collect());
        Some(Self {
            requests_per_second: of(|part| part.requests_per_second)?,
            p50_micros: of(|part| part.p50_micros)?,
            p99_micros: of(|part| part.p99_micros)?,
            p99_9_micros: of(|part| part.p99_9_micros)?,
            processor_micros: of(|part| part.processor_micros)?,
            private_bytes: of(|part| part.private_bytes)?,
        })
    }

    /// Returns the ratio of each measure to the same measure of `other`.
    pub(crate) fn over(&self, other: &Self) -> Self {
        Self {
            requests_per_second: self.requests_per_second / other.requests_per_second,
            p50_micros: self.p50_micros / other.p50_micros,
            p99_micros: self.p99_micros / other.p99_micros,
            p99_9_micros: self.p99_9_micros / other.p99_9_micros,
            processor_micros: self.processor_micros / other.processor_micros,
            private_bytes: self.private_bytes / other.private_bytes,
        }
    }
}

/// Returns the median of the numbers; `None` if there are no numbers.
pub(crate) fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let upper = *numbers.get(middle)?;
    if numbers.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *numbers.get(middle.checked_sub(1)?)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        assert_eq!(median(vec![9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(vec![9.0, 1.0, 5.0, 6.0]), Some(5.5));
        assert_eq!(median(vec![2.0]), Some(2.0));
        assert_eq!(median(vec![]), None);
    }

    #[test]
    fn each_measure_has_its_own_median_and_ratio() {
        let part = |number: f64| Part {
            requests_per_second: number,
            p50_micros: 10.0 - number,
            p99_micros: number * 2.0,
            p99_9_micros: 1.0,
            processor_micros: number,
            private_bytes: 4.0,
        };
        let median = Part::median(&[part(1.0), part(3.0), part(2.0)]).unwrap();
        assert_eq!(median, part(2.0));
        let ratio = part(4.0).over(&part(2.0));
        assert_eq!((ratio.requests_per_second, ratio.p50_micros), (2.0, 0.75));
        assert_eq!(Part::median(&[]), None);
    }
}
