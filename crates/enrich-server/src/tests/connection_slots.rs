//! Tests with more connections than connection slots.

use super::{LIMITS, Site};
use enrich_testkit::http::Client;

/// Opens as many connections as there are connection slots, and returns them. They stay open.
fn full(site: &Site) -> Vec<Client> {
    let mut held = Vec::new();
    for _ in 0..LIMITS.connections.get() {
        let mut client = site.client();
        assert_eq!(client.request("GET", "/healthz", "", "").header("Connection"), None);
        held.push(client);
    }
    held
}

#[test]
fn the_health_pages_answer_when_every_place_is_taken() {
    let site = Site::open();
    let held = full(&site);
    for page in ["/healthz", "/readyz"] {
        let mut client = site.client();
        let answer = client.request("GET", page, "", "");
        assert_eq!((answer.status, answer.header("Connection")), (200, Some("close")), "{page}");
        assert_eq!(client.rest(), "");
    }
    for (method, path) in [("POST", "/v1/cuf"), ("GET", "/docs"), ("GET", "/account/sign-in")] {
        let mut client = site.client();
        let answer = client.request(method, path, "", "");
        assert_eq!((answer.status, answer.header("Retry-After")), (503, Some("1")), "{path}");
        assert_eq!((answer.header("Connection"), client.rest().as_str()), (Some("close"), ""));
    }
    drop(held);
    // The server needs a moment to notice that the connections are closed. So the request is
    // repeated until a connection gets a free slot.
    while site.client().request("POST", "/v1/cuf", "", &site.known()).status != 200 {}
}

#[test]
fn strangers_who_say_nothing_make_room_for_who_asks_whether_all_is_well() {
    let site = Site::open();
    let _held = full(&site);
    let guests = LIMITS.guests.get() * LIMITS.workers.get();
    let mut silent: Vec<Client> = (0..2 * guests + 2).map(|_| site.client()).collect();
    for _ in 0..3 {
        assert_eq!(site.client().request("GET", "/healthz", "", "").status, 200);
    }
    assert_eq!(silent[0].rest(), "", "the oldest has made no room");
}
