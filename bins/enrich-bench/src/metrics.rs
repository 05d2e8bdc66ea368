//! Reads the service's counters from `/metrics`.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::Context;

use crate::client;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Answers with status 200.
    pub(crate) answered: u64,
    /// Answers with another status than 200.
    pub(crate) refused: u64,
    /// Look-ups that found something.
    pub(crate) found: u64,
    /// Look-ups that found nothing.
    pub(crate) missed: u64,
    /// Stored answers that were sent again, because the request repeated an `Idempotency-Key`.
    pub(crate) replayed: u64,
    pub(crate) credits: u64,
}

/// The counters since the service started, by the endpoint's path. Requests to the admin pages are
/// not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally(pub(crate) BTreeMap<String, Counts>);

/// The admin pages. Requests to them are not counted, because these pages are not endpoints.
const PAGES: [&str; 3] = ["/metrics", "/healthz", "/readyz"];

impl Tally {
    /// Reads the counters of the servers at `addresses`. Returns their sums.
    pub(crate) fn of_all(addresses: &[SocketAddr]) -> anyhow::Result<Self> {
        let mut all = Self::default();
        for address in addresses {
            for (endpoint, counts) in Self::read(&client::get(*address, "/metrics")?)?.0 {
                let sum = all.0.entry(endpoint).or_default();
                *sum = sum.plus(&counts);
            }
        }
        Ok(all)
    }

    /// Parses counters in Prometheus' text format.
    pub(crate) fn read(text: &str) -> anyhow::Result<Self> {
        let mut tally = Self::default();
        for line in text.lines().filter(|line| line.starts_with("enrich_")) {
            let series = Series::read(line).with_context(|| format!("the metric `{line}`"))?;
            tally.add(&series).with_context(|| format!("the metric `{line}`"))?;
        }
        Ok(tally)
    }

    fn add(&mut self, series: &Series<'_>) -> anyhow::Result<()> {
        let counters = [
            "enrich_requests_total",
            "enrich_lookups_total",
            "enrich_replays_total",
            "enrich_credits_charged_total",
        ];
        if !counters.contains(&series.name) {
            return Ok(());
        }
        let endpoint = series.label("endpoint").context("no endpoint")?;
        if PAGES.contains(&endpoint) {
            return Ok(());
        }
        let counts = self.0.entry(endpoint.to_owned()).or_default();
        let place = match series.name {
            "enrich_requests_total" if series.label("status") == Some("200") => {
                &mut counts.answered
            }
            "enrich_requests_total" => &mut counts.refused,
            "enrich_lookups_total" if series.label("found") == Some("true") => &mut counts.found,
            "enrich_lookups_total" => &mut counts.missed,
            "enrich_replays_total" => &mut counts.replayed,
            _ => &mut counts.credits,
        };
        *place += series.value.parse::<u64>()?;
        Ok(())
    }

    /// Returns these counters minus the counters `earlier`, which were read before. Leaves out
    /// endpoints whose counters have not changed.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let none = Counts::default();
        let difference = self.0.iter().map(|(endpoint, counts)| {
            let before = earlier.0.get(endpoint).unwrap_or(&none);
            (endpoint.clone(), counts.minus(before))
        });
        Self(difference.filter(|(_, counts)| *counts != none).collect())
    }

    pub(crate) fn sum(&self) -> Counts {
        self.0.values().fold(Counts::default(), |sum, counts| sum.plus(counts))
    }
}

impl Counts {
    fn plus(&self, other: &Self) -> Self {
        Self {
            answered: self.answered + other.answered,
            refused: self.refused + other.refused,
            found: self.found + other.found,
            missed: self.missed + other.missed,
            replayed: self.replayed + other.replayed,
            credits: self.credits + other.credits,
        }
    }

    /// Returns these counters minus the counters `earlier`, which are never larger.
    fn minus(&self, earlier: &Self) -> Self {
        Self {
            answered: self.answered.saturating_sub(earlier.answered),
            refused: self.refused.saturating_sub(earlier.refused),
            found: self.found.saturating_sub(earlier.found),
            missed: self.missed.saturating_sub(earlier.missed),
            replayed: self.replayed.saturating_sub(earlier.replayed),
            credits: self.credits.saturating_sub(earlier.credits),
        }
    }
}

/// A line of the text format: `name{label="value",…} number`.
struct Series<'a> {
    name: &'a str,
    labels: Vec<(&'a str, &'a str)>,
    value: &'a str,
}

impl<'a> Series<'a> {
    fn read(line: &'a str) -> anyhow::Result<Self> {
        let (series, value) = line.rsplit_once(' ').context("no value")?;
        let Some((name, labels)) = series.split_once('{') else {
            return Ok(Self { name: series, labels: Vec::new(), value });
        };
        let labels = labels.strip_suffix('}').context("no end of its labels")?;
        // The values of these labels contain no comma and no quotation mark, so the labels can be
        // split at commas.
        let read = |label: &'a str| {
            let (name, value) = label.split_once('=')?;
            Some((name, value.strip_prefix('"')?.strip_suffix('"')?))
        };
        let labels: Option<Vec<_>> = labels.split(',').map(read).collect();
        Ok(Self { name, labels: labels.context("labels that cannot be read")?, value })
    }

    fn label(&self, name: &str) -> Option<&'a str> {
        self.labels.iter().find(|(there, _)| *there == name).map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
# HELP enrich_requests_total Requests answered, by endpoint and status.
# TYPE enrich_requests_total counter
enrich_requests_total{endpoint="/v1/dtc",status="200"} 30
enrich_requests_total{endpoint="/v1/dtc",status="400"} 2
enrich_requests_total{endpoint="/metrics",status="200"} 4
enrich_requests_total{endpoint="other",status="404"} 1
enrich_lookups_total{endpoint="/v1/dtc",found="true"} 20
enrich_lookups_total{endpoint="/v1/dtc",found="false"} 7
enrich_replays_total{endpoint="/v1/dtc"} 3
enrich_credits_charged_total{endpoint="/v1/dtc"} 20
enrich_request_duration_seconds_bucket{endpoint="/v1/dtc",le="0.0005"} 30
enrich_charging 1
enrich_directory_generation NaN
"#;

    fn dtc() -> Counts {
        Counts { answered: 30, refused: 2, found: 20, missed: 7, replayed: 3, credits: 20 }
    }

    #[test]
    fn counters_are_read_by_endpoint_and_pages_are_left_out() {
        let tally = Tally::read(TEXT).unwrap();
        assert_eq!(tally.0.keys().collect::<Vec<_>>(), ["/v1/dtc", "other"]);
        assert_eq!(tally.0["/v1/dtc"], dtc());
        assert_eq!(tally.sum(), Counts { refused: 3, ..dtc() });
    }

    #[test]
    fn only_what_changed_is_counted_since() {
        let earlier = Tally::read(TEXT).unwrap();
        let later = Tally::read(&TEXT.replace("200\"} 30", "200\"} 42")).unwrap();
        let since = later.since(&earlier);
        let expected = Counts { answered: 12, ..Counts::default() };
        assert_eq!(since.0.into_iter().collect::<Vec<_>>(), [("/v1/dtc".to_owned(), expected)]);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_no_zero() {
        assert!(Tally::read("enrich_replays_total{endpoint=\"/v1/dtc\"} many").is_err());
        assert!(Tally::read("enrich_replays_total{endpoint=/v1/dtc} 1").is_err());
        assert!(Tally::read("enrich_replays_total 1").is_err());
    }
}
