//! Tests the interface's rules for the values of headers. In every test, `world.rs` checks that
//! each answer has all its headers.

use std::collections::BTreeSet;

use crate::world::World;
use enrich_testkit::http::{Call, Reply};

#[test]
fn the_callers_request_id_comes_back() {
    let world = World::new(&[]);
    let account = world.account(100);
    let long = "x".repeat(128);
    for id in ["abc-123", "!", "~", "a\"b,c;d=e", "0189c5e0-0000-7000-8000-000000000000", &long] {
        for (what, call) in calls(&world, &account.key) {
            let reply = world.send(&call.header("X-Request-Id", id));
            let rule = format!("{what}: the caller's request id");
            world.same(&rule, &reply.header("X-Request-Id"), &Some(id));
        }
    }
    world.finish();
}

#[test]
fn a_request_id_that_cannot_be_one_is_replaced() {
    let world = World::new(&[]);
    let account = world.account(100);
    let long = "x".repeat(129);
    let cases: [&[u8]; 6] =
        [b"", b"two words", long.as_bytes(), b"caf\xc3\xa9", b"tab\there", b"\xff\xfe"];
    let mut made = BTreeSet::new();
    for id in cases {
        for (what, call) in calls(&world, &account.key) {
            let reply = world.send(&call.header("X-Request-Id", id));
            let given = reply.header("X-Request-Id").unwrap_or_default().to_owned();
            let rule = format!("{what}: a request id that can't be one");
            world.holds(&rule, given.as_bytes() != id && !given.is_empty(), &reply);
            world.holds(&format!("{what}: a new one each time"), made.insert(given), &reply);
        }
    }
    for (what, call) in calls(&world, &account.key) {
        let reply = world.send(&call);
        let given = reply.header("X-Request-Id").unwrap_or_default().to_owned();
        world.holds(&format!("{what}: a made request id"), made.insert(given), &reply);
    }
    world.finish();
}

#[test]
fn a_request_id_need_not_be_unique() {
    let world = World::new(&[]);
    let account = world.account(10);
    let answer = crate::endpoints::endpoint("/v1/cuf").answer;
    for _ in 0..3 {
        let call = world.call("/v1/cuf", &account.key, &[("companyName", "Telefónica")]);
        let call = call.header("X-Request-Id", "the-same");
        world.answers_to("the same request id", &account, &call, answer, 1);
    }
    world.finish();
}

#[test]
fn the_used_and_remaining_credits_are_those_of_the_call() {
    let world = World::new(&[]);
    let account = world.account(100);
    let used =
        |reply: &Reply| (reply.number("X-Credits-Used"), reply.number("X-Credits-Remaining"));
    let orbeval = [("companyDomain", "orbeval.example")];
    let reply = world.ask(&account, "/v1/dtpp", &orbeval);
    world.same("a list of eleven", &used(&reply), &(Some(3), Some(97)));
    let reply = world.ask(&account, "/v1/dtpp", &[("companyDomain", "sosnovy-mayak.example")]);
    world.same("a miss", &used(&reply), &(Some(0), Some(97)));
    let reply = world.ask(&account, "/v1/dtpp", &[("companyDomain", "localhost")]);
    world.same("a fault in the fields", &used(&reply), &(Some(0), Some(97)));
    let reply = world.ask(&account, "/v2/services/domain_to_name", &[("domain", "nestle.ch")]);
    world.same("version 2", &used(&reply), &(Some(1), Some(96)));
    let reply = world.send(&Call::post("/v1/dtpp"));
    world.same("no key", &used(&reply), &(Some(0), None));
    world.finish();
}

/// Returns one call for each kind of answer.
fn calls(world: &World, key: &str) -> Vec<(&'static str, Call)> {
    vec![
        ("found", world.call("/v1/dtc", key, &[("companyWebsite", "booking.com")])),
        ("not found", world.call("/v1/dtc", key, &[("companyWebsite", "nobody.example")])),
        ("fields", world.call("/v2/services/domain_to_name", key, &[])),
        ("no key", Call::post("/v1/dtc")),
        ("undecodable", Call::post("/v1/dtc").body("{")),
        ("too large", Call::post("/v1/dtc").body("x".repeat(70_000))),
        ("method", Call::new("GET", "/v1/dtc")),
        ("path", Call::post("/v2/nothing")),
    ]
}
