//! The metrics, with their names and labels.
//!
//! No label contains an account, a key, or other text that a caller can choose. Finding a metric
//! takes time, because its labels are created, hashed and compared. So the most used metrics are
//! found once and then stored in [`Usual`].

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

use enrich_core::DirectoryRevision;
use enrich_wire::{CallOutcome, CallRecord};
use metrics::{Counter, Histogram, Unit, counter, gauge, histogram, with_local_recorder};
use metrics::{describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};

const REQUESTS: &str = "enrich_requests_total";
const DURATION: &str = "enrich_request_duration_seconds";
const CREDITS: &str = "enrich_credits_charged_total";
const LOOKUPS: &str = "enrich_lookups_total";
const REPLAYS: &str = "enrich_replays_total";
const OVERRUNS: &str = "enrich_rate_window_overruns_total";
const CHARGING: &str = "enrich_charging";
const REVISION: &str = "enrich_directory_generation";
const BUILD: &str = "enrich_build_info";

/// The upper bounds of the buckets for the durations of requests, in seconds. They range from a
/// fast look-up to a call that waits for a disk that does not respond.
const BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The HTTP status that most answers have.
const USUAL_STATUS: u16 = 200;

pub(crate) struct Metrics {
    recorder: PrometheusRecorder,
    usual: HashMap<&'static str, Usual>,
    overruns: Counter,
}

/// The metrics of one endpoint's answers with the status [`USUAL_STATUS`]. Each metric is
/// registered when it is first used.
#[derive(Default)]
struct Usual {
    answered: OnceLock<Counter>,
    took: OnceLock<Histogram>,
    credits: OnceLock<Counter>,
    found: OnceLock<Counter>,
    not_found: OnceLock<Counter>,
}

impl Metrics {
    /// Creates the metrics. For each path in `endpoints`, [`Usual`] stores the most used metrics.
    pub(crate) fn new(endpoints: impl Iterator<Item = &'static str>) -> Self {
        // The builder returns an error only for an empty list of buckets.
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
            describe_gauge!(REVISION, "The number of the directory's state.");
            describe_gauge!(BUILD, "Always 1; the label tells the version.");
            gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
        });
        let overruns = with_local_recorder(&recorder, || counter!(OVERRUNS));
        overruns.increment(0);
        Self { recorder, usual: endpoints.map(|name| (name, Usual::default())).collect(), overruns }
    }

    /// Counts an answer. `endpoint` is the path of an endpoint, the label of a page, or `other`.
    pub(crate) fn count(
        &self,
        endpoint: &'static str,
        status: u16,
        record: Option<&CallRecord>,
        took: Duration,
    ) {
        match self.usual.get(endpoint) {
            Some(usual) if status == USUAL_STATUS => {
                self.count_usual(usual, endpoint, record, took);
            }
            _ => self.recording(|| {
                let status = status.to_string();
                counter!(REQUESTS, "endpoint" => endpoint, "status" => status).increment(1);
                histogram!(DURATION, "endpoint" => endpoint).record(took);
            }),
        }
        let rate_limit_status = record.and_then(|record| record.rate_limit_status);
        if rate_limit_status.is_some_and(|status| status.is_over) {
            self.overruns.increment(1);
        }
    }

    fn count_usual(
        &self,
        usual: &Usual,
        endpoint: &'static str,
        record: Option<&CallRecord>,
        took: Duration,
    ) {
        let answered = || counter!(REQUESTS, "endpoint" => endpoint, "status" => "200");
        usual.answered.get_or_init(|| self.recording(answered)).increment(1);
        let duration = || histogram!(DURATION, "endpoint" => endpoint);
        usual.took.get_or_init(|| self.recording(duration)).record(took);
        let Some(record) = record else { return };
        let used = record.outcome.used().0;
        if used > 0 {
            let credits = || counter!(CREDITS, "endpoint" => endpoint);
            usual.credits.get_or_init(|| self.recording(credits)).increment(used);
        }
        let lookups = |found| counter!(LOOKUPS, "endpoint" => endpoint, "found" => found);
        let (known, found) = match record.outcome {
            CallOutcome::Found { .. } => (&usual.found, "true"),
            CallOutcome::NotFound => (&usual.not_found, "false"),
            CallOutcome::Replayed { .. } => {
                return self.recording(|| counter!(REPLAYS, "endpoint" => endpoint).increment(1));
            }
            CallOutcome::Refused(_) | CallOutcome::Unknown(_) => return,
        };
        known.get_or_init(|| self.recording(|| lookups(found))).increment(1);
    }

    /// Runs `record`. The metrics that it uses are stored in `self.recorder`.
    fn recording<T>(&self, record: impl FnOnce() -> T) -> T {
        with_local_recorder(&self.recorder, record)
    }

    /// Returns all metrics in the text format of Prometheus. `is_charging` says whether the ledger
    /// can charge calls now. `revision` is the revision of the directory (the look-up data). If it
    /// is `None`, the directory cannot be read, and the metric of the revision is NaN (not a
    /// number).
    pub(crate) fn render(&self, revision: Option<DirectoryRevision>, is_charging: bool) -> String {
        self.recording(|| {
            gauge!(CHARGING).set(if is_charging { 1.0 } else { 0.0 });
            let number = revision.map_or(f64::NAN, |revision| revision.0 as f64);
            gauge!(REVISION).set(number);
        });
        self.recorder.handle().render()
    }

    /// Sorts the durations that were counted since the last call of this function into buckets.
    /// Until then, each duration takes memory of its own.
    pub(crate) fn tidy(&self) {
        self.recorder.handle().run_upkeep();
    }
}
