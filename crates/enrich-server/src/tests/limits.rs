//! Tests of the limits on the size and the duration of requests.

use std::time::{Duration, Instant};

use enrich_wire::MAX_BODY_BYTES;

use super::{LIMITS, Site};
use crate::connection::LINGER;
use enrich_testkit::http::request;

#[test]
fn a_body_of_the_largest_size_is_read_and_one_byte_more_is_not() {
    let site = Site::open();
    let known = site.known();
    let filled = known.clone() + &" ".repeat(MAX_BODY_BYTES - known.len());
    let answer = site.client().request("POST", "/v1/cuf", "", &filled);
    assert_eq!(answer.status, 200, "{answer:?}");

    let mut client = site.client();
    let answer = client.request("POST", "/v1/cuf", "", &format!("{filled} "));
    assert_eq!((answer.status, answer.header("Connection")), (413, Some("close")));
    assert_eq!(answer.json()["type"], "invalid_request");
    assert_eq!(client.rest(), "");
}

#[test]
fn a_declared_size_is_enough_to_be_refused() {
    let site = Site::open();
    let mut client = site.client();
    let path = "/v2/services/name_to_domain";
    client.send(format!(
        "POST {path} HTTP/1.1\r\nHost: enrich.example\r\nContent-Length: 18446744073709551615\r\n\r\n"
    ));
    let answer = client.next_answer();
    assert_eq!((answer.status, answer.json()["code"].as_u64()), (413, Some(1413)));
    assert_eq!(client.rest(), "");
}

#[test]
fn chunks_are_counted_as_they_come() {
    let site = Site::open();
    let mut client = site.client();
    client.send(
        "POST /v1/cuf HTTP/1.1\r\nHost: enrich.example\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    for _ in 0..17 {
        client.try_send(&chunk);
    }
    let answer = client.next_answer();
    assert_eq!((answer.status, answer.header("Connection")), (413, Some("close")));
    client.try_send("0\r\n\r\n");
    client.try_send(request("POST", "/v1/cuf", "", &site.known()));
    assert_eq!(client.rest(), "");
}

#[test]
fn an_endless_body_is_not_listened_to_for_ever() {
    let site = Site::open();
    let mut client = site.client();
    client.send(
        "POST /nothing HTTP/1.1\r\nHost: enrich.example\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    assert_eq!(client.next_answer().status, 404);
    let started = Instant::now();
    while client.try_send("1\r\nx\r\n") {
        assert!(started.elapsed() < 3 * LINGER, "it is still listened to");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_body_that_drips_is_cut_off() {
    let site = Site::open();
    let mut client = site.client();
    client.send("POST /v2/services/name_to_domain HTTP/1.1\r\nHost: enrich.example\r\n");
    client.send("Content-Length: 1000\r\n\r\n");
    let started = Instant::now();
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(300));
        client.try_send("x");
    }
    let answer = client.next_answer();
    assert_eq!((answer.status, answer.json()["code"].as_u64()), (408, Some(1408)));
    assert_eq!(answer.header("Connection"), Some("close"));
    assert!(started.elapsed() < Duration::from_secs(3));
    assert_eq!(client.rest(), "");
}

#[test]
fn a_body_that_stalls_behind_another_request_is_cut_off() {
    let site = Site::open();
    let mut client = site.client();
    let first = request("POST", "/v1/cuf", "", &site.known());
    let stalled = "POST /v1/cuf HTTP/1.1\r\nHost: enrich.example\r\nContent-Length: 9\r\n\r\n{";
    client.send(first + stalled);
    let started = Instant::now();
    assert_eq!(client.next_answer().status, 200);
    assert_eq!(client.next_answer().status, 408);
    assert!(
        started.elapsed() < LIMITS.stall_timeouts.answer,
        "it was not the body's time that ended"
    );
    assert_eq!(client.rest(), "");
}

#[test]
fn a_head_that_drips_is_cut_off_on_a_new_connection() {
    let site = Site::open();
    let mut client = site.client();
    client.send("POST /v1/cuf HTTP/1.1\r\n");
    assert_eq!(client.next_answer().status, 408);
    assert_eq!(client.rest(), "");
}

#[test]
fn a_head_that_drips_is_cut_off_on_a_used_connection_as_well() {
    let site = Site::open();
    let mut client = site.client();
    assert_eq!(client.request("GET", "/healthz", "", "").status, 200);
    client.send("POST /v1/cuf HTTP/1.1\r\n");
    let started = Instant::now();
    while client.try_send("X-Drip: 1\r\n") {
        assert!(started.elapsed() < 2 * LIMITS.stall_timeouts.answer, "it is still listened to");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(started.elapsed() >= LIMITS.stall_timeouts.answer - Duration::from_millis(500));
}

#[test]
fn a_connection_that_says_nothing_is_cut_off() {
    let site = Site::open();
    let mut client = site.client();
    let rest = client.rest();
    assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 408 "), "{rest}");
}

#[test]
fn a_head_that_is_too_large_is_answered_by_the_http_layer() {
    let site = Site::open();
    let mut client = site.client();
    client.send("GET /healthz HTTP/1.1\r\nHost: enrich.example\r\n");
    for _ in 0..20 {
        client.try_send(format!("X-Large: {}\r\n", "x".repeat(8000)));
    }
    assert_eq!(client.next_answer().status, 431);
}

#[test]
fn an_answer_nobody_takes_is_given_up() {
    let site = Site::open();
    let mut client = site.client();
    let asked = request("GET", "/metrics", "", "").repeat(50);
    let started = Instant::now();
    // The client sends more and more requests and never reads an answer, until the buffers on both
    // sides are full.
    while client.try_send(&asked) && started.elapsed() < 5 * LIMITS.stall_timeouts.write {}
    assert!(started.elapsed() < 5 * LIMITS.stall_timeouts.write, "it is still written to");
}
