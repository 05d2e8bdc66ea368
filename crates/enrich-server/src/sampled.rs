//! Metrics that another part of the process counts, such as the store. They are read whenever a
//! client requests `/metrics`.

use std::fmt::Write;
use std::sync::Arc;

/// The kind of a metric's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampledKind {
    /// Sums that are 0 when the process starts, and that only grow.
    Counter,
    /// Values that may grow and fall.
    Gauge,
}

/// A metric with its current values.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledMetric {
    /// The name, which begins with `enrich_`.
    pub name: &'static str,
    /// The description of the metric: one sentence on one line, without backslashes.
    pub help: &'static str,
    /// The kind of the values.
    pub kind: SampledKind,
    /// The values. A single value may have no label. If there are several values, all have the same
    /// label name, each with another label value.
    pub values: Vec<(Option<Label>, f64)>,
}

/// A label, with its name and its value. Neither contains a quotation mark, a backslash or a line
/// break.
pub type Label = (&'static str, &'static str);

/// A function that returns the metrics of another part of the process. It is called for each
/// request to `/metrics`, so it must not block.
pub type SampledMetrics = Arc<dyn Fn() -> Vec<SampledMetric> + Send + Sync>;

impl SampledMetric {
    /// Returns a counter without a label.
    pub fn counter(name: &'static str, help: &'static str, value: f64) -> Self {
        Self { name, help, kind: SampledKind::Counter, values: vec![(None, value)] }
    }

    /// Returns a gauge without a label.
    pub fn gauge(name: &'static str, help: &'static str, value: f64) -> Self {
        Self { name, help, kind: SampledKind::Gauge, values: vec![(None, value)] }
    }

    /// Returns a counter with a label. `values` has the label's values, each with its count.
    pub fn counters<const N: usize>(
        name: &'static str,
        help: &'static str,
        label: &'static str,
        values: [(&'static str, f64); N],
    ) -> Self {
        let values = values.map(|(text, value)| (Some((label, text)), value)).to_vec();
        Self { name, help, kind: SampledKind::Counter, values }
    }

    /// Adds the metric to a text in the format of Prometheus.
    pub(crate) fn write_to(&self, text: &mut String) {
        let Self { name, help, kind, values } = self;
        let kind = match kind {
            SampledKind::Counter => "counter",
            SampledKind::Gauge => "gauge",
        };
        // Writing to a string never fails.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (label, value) in values {
            let _ = match label {
                Some((key, of)) => writeln!(text, "{name}{{{key}=\"{of}\"}} {value}"),
                None => writeln!(text, "{name} {value}"),
            };
        }
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_written_with_and_without_a_label() {
        let mut text = String::new();
        let by = [("compared", 2.0), ("locked", 0.5)];
        SampledMetric::counters("enrich_groups_total", "Groups.", "path", by).write_to(&mut text);
        SampledMetric::gauge("enrich_age", "Age.", f64::NAN).write_to(&mut text);
        let expected = "# HELP enrich_groups_total Groups.\n# TYPE enrich_groups_total counter\n\
                        enrich_groups_total{path=\"compared\"} 2\n\
                        enrich_groups_total{path=\"locked\"} 0.5\n\n\
                        # HELP enrich_age Age.\n# TYPE enrich_age gauge\nenrich_age NaN\n\n";
        assert_eq!(text, expected);
    }
}
