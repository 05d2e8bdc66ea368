//! Response times of requests.

use std::time::Duration;

/// Response times, in the order in which the answers arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the longest response time, in milliseconds; 0 if there are no answers.
    pub(crate) fn max_ms(&self) -> f64 {
        self.percentile_ms(100)
    }

    /// Returns a percentile of the response times, in milliseconds; 0 if there are no answers.
    pub(crate) fn percentile_ms(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100);
        sorted.get(rank.saturating_sub(1)).map_or(0.0, |took| took.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.max_ms(), 0.0);
        for millis in (1..=200).rev() {
            latencies.add(Duration::from_millis(millis));
        }
        let told = [50, 99, 100].map(|percent| latencies.percentile_ms(percent));
        assert_eq!(told, [100.0, 198.0, 200.0]);
    }
}
