//! The latencies of look-ups, grouped by the second in which the answer arrived.

use serde::Serialize;

/// The latencies of all look-ups, in microseconds. The outer index is the second of the run in
/// which the answer arrived. Second 0 begins with the first look-up.
#[derive(Debug, Default)]
pub(crate) struct Seconds(Vec<Vec<u32>>);

/// A part of the run. The 99th percentile of the latencies is computed for each second of this
/// part. `median_p99_millis` and `worst_p99_millis` are the median and the maximum of these
/// percentiles.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Window {
    /// What the nodes did in this part of the run, as a text for the report: `nothing changed` or
    /// `a snapshot was published`.
    pub(crate) what: &'static str,
    /// The number of seconds with look-ups in this part of the run.
    pub(crate) seconds: usize,
    pub(crate) median_p99_millis: f64,
    pub(crate) worst_p99_millis: f64,
}

impl Seconds {
    pub(crate) fn add(&mut self, second: u64, micros: u32) {
        let at = usize::try_from(second).unwrap_or(usize::MAX).min(100_000);
        if self.0.len() <= at {
            self.0.resize_with(at + 1, Vec::new);
        }
        self.0[at].push(micros);
    }

    pub(crate) fn append(&mut self, other: Self) {
        for (second, latencies) in other.0.into_iter().enumerate() {
            for micros in latencies {
                self.add(second as u64, micros);
            }
        }
    }

    /// Summarises the latencies of a part of the run. `from` and `to` are the times, in seconds
    /// since the run began, at which the part begins and ends. If a part begins or ends within a
    /// second, the whole second is included.
    pub(crate) fn window(&self, what: &'static str, from: f64, to: f64) -> Window {
        let (from, to) = (from.max(0.0).floor() as usize, to.ceil());
        let seconds = self.0.iter().enumerate().skip(from);
        let seconds = seconds.take_while(|(second, _)| (*second as f64) < to);
        let mut p99s: Vec<f64> = seconds.filter_map(|(_, latencies)| p99(latencies)).collect();
        p99s.sort_by(f64::total_cmp);
        let millis = |at: usize| p99s.get(at).map_or(f64::NAN, |micros| micros / 1000.0);
        Window {
            what,
            seconds: p99s.len(),
            median_p99_millis: millis(p99s.len() / 2),
            worst_p99_millis: millis(p99s.len().saturating_sub(1)),
        }
    }
}

fn p99(latencies: &[u32]) -> Option<f64> {
    let mut sorted = latencies.to_vec();
    sorted.sort_unstable();
    sorted.get((sorted.len() * 99).div_ceil(100).checked_sub(1)?).map(|micros| f64::from(*micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_the_seconds_between_two_times() {
        let mut seconds = Seconds::default();
        for second in 0..4_u32 {
            for micros in 1..=100 {
                seconds.add(second.into(), 1000 * (second + 1) * micros);
            }
        }
        let window = seconds.window("waiting", 1.2, 2.5);
        assert_eq!((window.seconds, window.worst_p99_millis), (2, 297.0));
        let mut all = Seconds::default();
        all.append(seconds);
        let window = all.window("waiting", 0.0, f64::MAX);
        assert_eq!((window.seconds, window.median_p99_millis), (4, 297.0));
        assert!(all.window("later", 9.0, f64::MAX).worst_p99_millis.is_nan());
    }
}
