//! Tests of the pages that are not part of the API.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Site;
use crate::{SampledMetric, Serves, SharedStore};

#[test]
fn readiness_says_what_is_missing() {
    let site = Site::open();
    let mut client = site.client();
    let answer = client.request("GET", "/readyz", "", "");
    assert_eq!((answer.status, &answer.json()["ready"]), (200, &true.into()));

    site.ports.has_stopped_charging.store(true, Ordering::SeqCst);
    let answer = client.request("GET", "/readyz", "", "");
    let said = answer.json();
    assert_eq!((answer.status, &said["ready"]), (503, &false.into()));
    assert_eq!((&said["charging"], &said["directory"]), (&false.into(), &true.into()));

    site.ports.has_stopped_charging.store(false, Ordering::SeqCst);
    site.ports.directory_fails.store(true, Ordering::SeqCst);
    let answer = client.request("GET", "/readyz", "", "");
    assert_eq!((answer.status, &answer.json()["directory"]), (503, &false.into()));
    assert_eq!(client.request("GET", "/healthz", "", "").status, 200);

    site.ports.directory_fails.store(false, Ordering::SeqCst);
    site.app.begin_closing();
    let answer = client.request("GET", "/readyz", "", "");
    assert_eq!((answer.status, &answer.json()["shutting_down"]), (503, &true.into()));
}

#[test]
fn while_the_process_ends_calls_are_refused_and_their_connections_closed() {
    let site = Site::open();
    site.app.begin_closing();
    let mut client = site.client();
    let answer = client.request("POST", "/v2/services/name_to_domain", "", "{}");
    assert_eq!((answer.status, answer.json()["code"].as_u64()), (503, Some(1503)));
    assert_eq!(answer.header("Retry-After"), Some("1"));
    assert_eq!(answer.header("Connection"), Some("close"));
    assert_eq!(client.rest(), "");
}

#[test]
fn a_listener_serves_its_own_side_alone() {
    let pages = Site::serving(Serves::Admin);
    assert_eq!(pages.client().request("GET", "/metrics", "", "").status, 200);
    assert_eq!(pages.client().request("POST", "/v1/cuf", "", "{}").status, 404);
    let endpoints = Site::serving(Serves::Interface);
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(endpoints.client().request("GET", path, "", "").status, 404, "{path}");
    }
    assert_eq!(endpoints.client().request("POST", "/v1/cuf", "", "{}").status, 401);
}

#[test]
fn metrics_tell_what_was_answered_and_never_who_asked() {
    let site = Site::open();
    let mut client = site.client();
    let unknown = format!(r#"{{"apiKey":"{}","companyName":"Nobody"}}"#, site.key);
    client.request("POST", "/v1/cuf", "", &site.known());
    client.request("POST", "/v1/cuf", "", &unknown);
    client.request("POST", "/v1/cuf", "", "{}");
    for path in ["/made-up-1", "/made-up-2"] {
        client.request("GET", path, "", "");
    }
    let answer = client.request("GET", "/metrics", "", "");
    assert_eq!(answer.header("Content-Type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let metrics = answer.body;
    let lines = [
        r#"enrich_requests_total{endpoint="/v1/cuf",status="200"} 2"#,
        r#"enrich_requests_total{endpoint="/v1/cuf",status="401"} 1"#,
        r#"enrich_requests_total{endpoint="other",status="404"} 2"#,
        r#"enrich_request_duration_seconds_count{endpoint="/v1/cuf"} 3"#,
        r#"enrich_request_duration_seconds_bucket{endpoint="/v1/cuf",le="+Inf"} 3"#,
        r#"enrich_credits_charged_total{endpoint="/v1/cuf"} 1"#,
        r#"enrich_lookups_total{endpoint="/v1/cuf",found="true"} 1"#,
        r#"enrich_lookups_total{endpoint="/v1/cuf",found="false"} 1"#,
        "enrich_rate_window_overruns_total 0",
        "enrich_charging 1",
        "enrich_directory_generation 7",
    ];
    for line in lines {
        assert!(metrics.lines().any(|there| there == line), "{line} is not in\n{metrics}");
    }
    assert!(metrics.contains("enrich_build_info{version="), "{metrics}");
    for secret in [site.key.as_str(), "made-up", "Quill", "Nobody"] {
        assert!(!metrics.contains(secret), "{secret} is in\n{metrics}");
    }
}

#[test]
fn durations_are_gathered_into_buckets_between_scrapes() {
    let site = Site::open();
    let mut client = site.client();
    client.request("GET", "/healthz", "", "");
    site.app.tidy_metrics();
    client.request("GET", "/healthz", "", "");
    site.app.tidy_metrics();
    let metrics = client.request("GET", "/metrics", "", "").body;
    let line = r#"enrich_request_duration_seconds_count{endpoint="/healthz"} 2"#;
    assert!(metrics.contains(line), "{metrics}");
}

#[test]
fn readiness_needs_a_shared_store_that_can_be_used() {
    let site = Site::open();
    let answer = site.client().request("GET", "/readyz", "", "");
    assert!(answer.json().get("store").is_none(), "a folder is not shared");

    let is_lost = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_lost);
    let lost = move || asked.load(Ordering::SeqCst).then(|| "the database is away".to_owned());
    let metrics =
        || vec![SampledMetric::gauge("enrich_store_nodes", "Processes that use the store.", 3.0)];
    let site = Site::with_store(SharedStore {
        unready_reason: Arc::new(lost),
        metrics: Arc::new(metrics),
    });
    let mut client = site.client();
    let answer = client.request("GET", "/readyz", "", "");
    assert_eq!((answer.status, &answer.json()["store"]), (200, &true.into()));
    is_lost.store(true, Ordering::SeqCst);
    let answer = client.request("GET", "/readyz", "", "");
    let said = answer.json();
    assert_eq!(
        (answer.status, &said["ready"], &said["store"]),
        (503, &false.into(), &false.into())
    );
    assert_eq!(said["reason"], "the database is away");
    let metrics = client.request("GET", "/metrics", "", "").body;
    assert!(metrics.lines().any(|line| line == "enrich_store_nodes 3"), "{metrics}");
}
