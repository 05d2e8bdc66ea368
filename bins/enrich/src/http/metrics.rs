//! The metrics: what is counted, under which names and labels.
//!
//! No label holds an account, a key or anything else a caller can make up.

use std::time::Duration;

use enrich_core::Generation;
use enrich_wire::Response;
use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram};
use metrics::{gauge, histogram, with_local_recorder};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};

const REQUESTS: &str = "enrich_requests_total";
const DURATION: &str = "enrich_request_duration_seconds";
const CREDITS: &str = "enrich_credits_charged_total";
const LOOKUPS: &str = "enrich_lookups_total";
const REPLAYS: &str = "enrich_replays_total";
const OVERRUNS: &str = "enrich_rate_window_overruns_total";
const CHARGING: &str = "enrich_charging";
const GENERATION: &str = "enrich_directory_generation";
const BUILD: &str = "enrich_build_info";

/// Upper bounds of the durations' buckets, in seconds: from a point read to a stuck disk.
const BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Counts what was answered.
pub(super) struct Metrics(PrometheusRecorder);

impl Metrics {
    /// Metrics that have counted nothing yet.
    pub(super) fn new() -> Self {
        // The builder refuses an empty list of buckets, which this one is not.
        let builder = PrometheusBuilder::new();
        let builder = builder
            .set_buckets_for_metric(Matcher::Full(DURATION.to_owned()), &BUCKETS)
            .unwrap_or_default();
        let recorder = builder.build_recorder();
        with_local_recorder(&recorder, || {
            describe_counter!(REQUESTS, "Requests answered, by endpoint and status.");
            describe_histogram!(
                DURATION,
                Unit::Seconds,
                "From a request's head to its answer, its body's arrival included."
            );
            describe_counter!(CREDITS, "Credits charged.");
            describe_counter!(LOOKUPS, "Look-ups made, by whether something was found.");
            describe_counter!(REPLAYS, "Answers given once more for an Idempotency-Key.");
            describe_counter!(OVERRUNS, "Requests beyond their key's rate limit.");
            describe_gauge!(CHARGING, "1 while charges are decided, 0 once that has stopped.");
            describe_gauge!(GENERATION, "The number of the directory's state.");
            describe_gauge!(BUILD, "Always 1; the label tells the version.");
            counter!(OVERRUNS).increment(0);
            gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
        });
        Self(recorder)
    }

    /// Counts an answer of `endpoint`, which is a path of the tables, a page's, or `other`.
    pub(super) fn count(&self, endpoint: &'static str, response: &Response, took: Duration) {
        with_local_recorder(&self.0, || {
            let status = response.status.to_string();
            counter!(REQUESTS, "endpoint" => endpoint, "status" => status).increment(1);
            histogram!(DURATION, "endpoint" => endpoint).record(took.as_secs_f64());
            if response.used.0 > 0 {
                counter!(CREDITS, "endpoint" => endpoint).increment(response.used.0);
            }
            if let Some(is_found) = response.is_found {
                let found = if is_found { "true" } else { "false" };
                counter!(LOOKUPS, "endpoint" => endpoint, "found" => found).increment(1);
            } else if response.key.is_some() && response.refusal.is_none() {
                counter!(REPLAYS, "endpoint" => endpoint).increment(1);
            }
            if response.standing.is_some_and(|standing| standing.is_over) {
                counter!(OVERRUNS).increment(1);
            }
        });
    }

    /// All of it in Prometheus' text format. `generation` is absent while it cannot be read.
    pub(super) fn render(&self, generation: Option<Generation>, is_charging: bool) -> String {
        with_local_recorder(&self.0, || {
            gauge!(CHARGING).set(if is_charging { 1.0 } else { 0.0 });
            let number = generation.map_or(f64::NAN, |generation| generation.0 as f64);
            gauge!(GENERATION).set(number);
        });
        self.0.handle().render()
    }

    /// Sorts the durations recorded since the last time into their buckets; until then each is
    /// kept by itself.
    pub(super) fn tidy(&self) {
        self.0.handle().run_upkeep();
    }
}
