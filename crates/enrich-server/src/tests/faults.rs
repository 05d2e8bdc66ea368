//! Tests of failures of the server: what callers see, what is logged, what is counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use actix_web::rt::time::sleep;
use enrich_core::port::ledger::ChargeError;
use enrich_testkit::http::request;

use super::Site;
use super::log::{keep_log, logged};

/// Returns the only log line of a request besides its access log line.
fn only_complaint(request_id: &str) -> String {
    let mut lines = logged(request_id);
    lines.retain(|line| !line.contains("\"message\":\"answered\""));
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}

#[test]
fn a_charge_that_fails_is_logged_once_with_its_cause_and_without_inputs() {
    keep_log();
    let site = Site::open();
    site.ports.decide_charges(|_| Err(ChargeError::NotTaken("database is full".into())));
    let id = "X-Request-Id: failing-charge\r\n";
    let answer = site.client().request("POST", "/v1/cuf", id, &site.known());
    assert_eq!((answer.status, &answer.json()["type"]), (500, &"api_error".into()));
    assert_eq!(answer.header("X-Credits-Used"), Some("0"));
    assert!(!answer.body.contains("database"), "{answer:?}");
    let line = only_complaint("failing-charge");
    assert!(line.contains("ERROR") && line.contains("database is full"), "{line}");
    assert!(!line.contains("Quill") && !line.contains(&site.key), "{line}");
}

#[test]
fn a_store_that_cannot_be_reached_is_logged_with_its_cause() {
    keep_log();
    let site = Site::open();
    site.ports.ledger_is_away.store(true, Ordering::SeqCst);
    let id = "X-Request-Id: away\r\n";
    let answer = site.client().request("POST", "/v1/cuf", id, &site.known());
    assert_eq!((answer.status, answer.header("Retry-After")), (503, Some("1")));
    assert_eq!(answer.json()["type"], "api_error");
    assert!(!answer.body.contains("waiting") && !answer.body.contains("login"), "{answer:?}");
    let line = only_complaint("away");
    assert!(line.contains("WARN") && line.contains("the login was refused"), "{line}");
}

#[test]
fn an_unknown_outcome_is_told_as_such() {
    keep_log();
    let site = Site::open();
    site.ports.decide_charges(|_| Err(ChargeError::Unknown("disk I/O error".into())));
    let id = "X-Request-Id: unknown-outcome\r\n";
    let answer = site.client().request("POST", "/v1/cuf", id, &site.known());
    assert_eq!((answer.status, answer.header("Retry-After")), (503, Some("30")));
    assert!(only_complaint("unknown-outcome").contains("disk I/O error"));
}

#[test]
fn a_panic_is_answered_and_the_server_goes_on() {
    keep_log();
    let site = Site::open();
    site.ports.decide_charges(|charge| panic!("a panic that quotes {:?}", charge.endpoint));
    let mut client = site.client();
    let id = "X-Request-Id: panicking\r\n";
    let answer = client.request("POST", "/v1/cuf", id, &site.known());
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(only_complaint("panicking").contains("the code that answers panicked"));
    *site.ports.decide_charge.lock() = None;
    assert_eq!(client.request("POST", "/v1/cuf", "", &site.known()).status, 200);
}

#[test]
fn a_request_is_logged_in_one_line_that_repeats_nothing_of_it() {
    keep_log();
    let site = Site::open();
    let mut client = site.client();
    let id = "X-Request-Id: one-line\r\n";
    client.request("POST", "/v1/cuf", id, &site.known());
    let lines = logged("one-line");
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["method"], &line["endpoint"]), (&"POST".into(), &"/v1/cuf".into()));
    assert_eq!((&line["status"], line["micros"].is_u64()), (&200.into(), true));
    assert!(line["key"].as_str().is_some_and(|id| id.len() == 36), "{line}");
    for input in ["Quill", "quill.example", site.key.as_str()] {
        assert!(!line.to_string().contains(input), "{line}");
    }

    let id = "X-Request-Id: nowhere\r\n";
    client.request("SECRETMETHOD", "/secret-path", id, "");
    let lines = logged("nowhere");
    assert_eq!(lines.len(), 1);
    assert!(!lines[0].contains("secret-path") && !lines[0].contains("SECRETMETHOD"), "{lines:?}");
}

#[test]
fn a_key_over_its_limit_is_logged_once_a_window() {
    keep_log();
    let site = Site::open();
    let mut client = site.client();
    for number in 0..103 {
        let id = format!("X-Request-Id: overrun-{number}\r\n");
        let answer = client.request("POST", "/v1/cuf", &id, &site.known());
        assert_eq!(answer.status, 200, "observed, not refused");
    }
    let over = "a key is over its rate limit";
    let complained: Vec<u32> = (0..103)
        .filter(|number| logged(&format!("overrun-{number}")).iter().any(|l| l.contains(over)))
        .collect();
    assert_eq!(complained, [100]);
    let metrics = client.request("GET", "/metrics", "", "").body;
    assert!(metrics.contains("enrich_rate_window_overruns_total 3"), "{metrics}");
}

#[test]
fn a_call_whose_caller_hangs_up_is_charged_and_counted_all_the_same() {
    let site = Site::open();
    let may_charge = Arc::new(AtomicBool::new(false));
    let is_free = Arc::clone(&may_charge);
    *site.ports.decide_charge.lock() = Some(Box::new(move |_| {
        let is_free = Arc::clone(&is_free);
        Box::pin(async move {
            while !is_free.load(Ordering::SeqCst) {
                sleep(Duration::from_millis(5)).await;
            }
            None
        })
    }));
    let mut client = site.client();
    let first = request("GET", "/healthz", "", "");
    client.send(first + &request("POST", "/v1/cuf", "", &site.known()));
    std::thread::sleep(Duration::from_millis(200));
    // The client has not read the answer to `/healthz` when it closes the connection. Therefore its
    // operating system sends a TCP reset. The reset arrives while the second call, `/v1/cuf`, waits
    // for its charge.
    drop(client);
    std::thread::sleep(Duration::from_millis(200));
    may_charge.store(true, Ordering::SeqCst);
    let counted = r#"enrich_credits_charged_total{endpoint="/v1/cuf"} 1"#;
    let started = Instant::now();
    while !site.client().request("GET", "/metrics", "", "").body.contains(counted) {
        assert!(started.elapsed() < Duration::from_secs(5), "it was not counted");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(site.charged(), 1);
}
