//! Tests the interface's rules for `Idempotency-Key`: a repeated call gets the first answer again
//! and costs nothing.

use std::sync::{Arc, Barrier};
use std::thread;

use serde_json::json;

use crate::endpoints::endpoint;
use crate::server::text;
use crate::world::{Account, World, fields_of};
use enrich_testkit::http::{Call, Reply};

#[test]
fn a_repeat_gets_the_first_answer_in_every_encoding_and_with_every_key() {
    let world = World::new(&[]);
    let account = world.account(10);
    let key = account.key.as_str();
    let fields = [("companyDomain", "orbeval.example"), ("limit", "6")];
    let first = world.call("/v1/dte", key, &fields).header("Idempotency-Key", "one");
    let original = world.send(&first);
    world.same("the first is charged", &original.number("X-Credits-Used"), &Some(2));
    world.holds("the first is no repeat", replayed(&original).is_none(), &original);
    // This call lowers the balance. Nevertheless, the repeats of the first call must show the
    // balance after the first call.
    world.ask(&account, "/v1/cuf", &[("companyName", "Telefónica")]);

    let issued = world.json_of(&["key", "issue", &account.id]);
    let rotated = world.json_of(&["key", "rotate", &text(&issued, "key_id"), "--keep", "24h"]);
    let form = Call::post("/v1/dte").header("x-api-key", key).form(&fields);
    let number = Call::post("/v1/dte")
        .json(&json!({ "limit": 6, "companyDomain": "orbeval.example", "apiKey": key }));
    let repeats = [
        ("the same call", first.clone()),
        ("as a form", form.header("Idempotency-Key", "one")),
        ("with the limit as a number", number.header("Idempotency-Key", "one")),
        (
            "with another key of the account",
            world.call("/v1/dte", &text(&issued, "key"), &fields).header("Idempotency-Key", "one"),
        ),
        (
            "with a rotated key",
            world.call("/v1/dte", &text(&rotated, "key"), &fields).header("Idempotency-Key", "one"),
        ),
    ];
    for (what, call) in &repeats {
        is_repeat(&world, what, &original, &world.send(call), 7);
    }
    world.restart();
    is_repeat(&world, "after a restart", &original, &world.send(&first), 7);
    world.grant(&Account { balance: 7.into(), id: account.id.clone(), key: key.to_owned() }, -7);
    is_repeat(&world, "at an empty balance", &original, &world.send(&first), 0);
    world.finish();
}

#[test]
fn every_endpoint_keeps_its_answer_and_its_miss() {
    let world = World::new(&[]);
    let account = world.account(200);
    for endpoint in crate::endpoints::ENDPOINTS {
        for (kind, fields) in [("found", endpoint.found), ("miss", endpoint.missing)] {
            let what = format!("{} {kind}", endpoint.path);
            let call = world.call(endpoint.path, &account.key, fields);
            let call = call.header("Idempotency-Key", what.replace(' ', "-"));
            let original = world.send(&call);
            let left = original.number("X-Credits-Remaining").unwrap_or_default();
            is_repeat(&world, &what, &original, &world.send(&call), left);
        }
    }
    world.finish();
}

#[test]
fn a_kept_miss_stays_a_miss_though_the_record_has_come() {
    let world = World::new(&[]);
    let account = world.account(10);
    let fields = [("companyWebsite", "late-arrival.example")];
    let call = world.call("/v1/dtc", &account.key, &fields).header("Idempotency-Key", "late");
    let original = world.send(&call);
    world.same("a miss at first", &original.json()["url"], &json!(""));
    let company =
        r#"{"type":"company","name":"Late Arrival Ltd","domains":["late-arrival.example"]}"#;
    world.json_of(&["import", &world.file("late.jsonl", company)]);
    is_repeat(&world, "a kept miss", &original, &world.send(&call), 10);
    world.answers(
        &account,
        "/v1/dtc",
        &fields,
        r#"{"query":"late-arrival.example","url":"Late Arrival Ltd","credit_count":<balance>,"confidence_level":<confidence>}"#,
        1,
    );
    world.finish();
}

#[test]
fn errors_are_not_kept() {
    let world = World::new(&[]);
    let account = world.account(0);
    let answer = endpoint("/v1/cuf").answer;
    let keyed = |fields: &[(&str, &str)]| {
        world.call("/v1/cuf", &account.key, fields).header("Idempotency-Key", "errors")
    };
    world.has_status("faulty fields", &keyed(&[]), 422);
    let call = keyed(&[("companyName", "Telefónica")]);
    world.has_status("an empty balance", &call, 400);
    let unknown = world.call("/v1/cuf", "enr_live_x", &[("companyName", "Telefónica")]);
    world.has_status("an unknown key", &unknown.header("Idempotency-Key", "errors"), 401);
    world.grant(&account, 3);
    let reply = world.answers_to("after errors", &account, &call, answer, 1);
    world.holds("after errors it is the first", replayed(&reply).is_none(), &reply);

    // A found answer that the account can't pay for is an error, so it isn't stored.
    let fields = [("companyDomain", "orbeval.example")];
    let dear = world.call("/v1/dte", &account.key, &fields).header("Idempotency-Key", "dear");
    world.has_status("too dear", &dear, 400);
    world.grant(&account, 1);
    let reply = world.has_status("then affordable", &dear, 200);
    world.holds("it is the first", replayed(&reply).is_none(), &reply);
    world.same("and charged", &reply.number("X-Credits-Used"), &Some(3));
    world.finish();
}

#[test]
fn the_same_key_for_something_else_is_refused() {
    let world = World::new(&[]);
    let account = world.account(10);
    let fields = [("companyName", "Telefónica")];
    let keyed = |path: &str, fields: &[(&str, &str)]| {
        world.call(path, &account.key, fields).header("Idempotency-Key", "reuse")
    };
    world.has_status("the first", &keyed("/v1/cuf", &fields), 200);
    account.balance.set(9);
    for (what, call) in [
        ("other fields", keyed("/v1/cuf", &[("companyName", "Nestlé")])),
        ("another path", keyed("/v1/lcuf", &fields)),
        (
            "the other version",
            keyed("/v2/services/name_to_domain", &[("company_name", "Telefónica")]),
        ),
    ] {
        let reply = world.has_status(what, &call, 422);
        let rule = format!("{what}: no field is at fault");
        world.holds(&rule, fields_of(&reply).is_empty(), &reply);
        let left = reply.number("X-Credits-Remaining");
        world.same(&format!("{what}: nothing deducted"), &left, &Some(9));
    }
    // A call with a `limit` and the same call without it are two different calls. So they may not
    // have the same `Idempotency-Key`.
    let list = [("companyDomain", "orbeval.example"), ("limit", "1")];
    let limited = world.call("/v1/dte", &account.key, &list).header("Idempotency-Key", "limit");
    world.has_status("with a limit", &limited, 200);
    let whole = world.call("/v1/dte", &account.key, &list[..1]).header("Idempotency-Key", "limit");
    world.has_status("without the limit", &whole, 422);
    world.finish();
}

#[test]
fn a_key_is_scoped_to_its_account() {
    let world = World::new(&[]);
    let answer = endpoint("/v1/cuf").answer;
    for _ in 0..3 {
        let account = world.account(1);
        let call = world.call("/v1/cuf", &account.key, &[("companyName", "Telefónica")]);
        let call = call.header("Idempotency-Key", "shared");
        let reply = world.answers_to("a key of its own", &account, &call, answer, 1);
        world.holds("no repeat of a stranger's", replayed(&reply).is_none(), &reply);
    }
    world.finish();
}

#[test]
fn an_idempotency_key_is_1_to_255_visible_characters() {
    let world = World::new(&[]);
    let account = world.account(10);
    let fields = [("companyName", "Telefónica")];
    let keyed =
        |key: &[u8]| world.call("/v1/cuf", &account.key, &fields).header("Idempotency-Key", key);
    for key in ["!".to_owned(), "~".to_owned(), "x".repeat(255), "a\"b,c;d".to_owned()] {
        world.has_status(&format!("the key {key:?}"), &keyed(key.as_bytes()), 200);
    }
    let long = "x".repeat(256);
    let bad: [&[u8]; 5] = [b"", long.as_bytes(), b"caf\xc3\xa9", b"a\tb", b"\xff"];
    for key in bad {
        let what = format!("the key {:?}", String::from_utf8_lossy(key));
        let reply = world.has_status(&what, &keyed(key), 422);
        world.holds(&format!("{what}: no field"), fields_of(&reply).is_empty(), &reply);
        let left = reply.number("X-Credits-Remaining");
        world.same(&format!("{what}: the balance is told"), &left, &Some(6));
    }
    world.finish();
}

#[test]
fn of_many_at_once_one_is_charged() {
    let world = World::new(&[]);
    let account = world.account(100);
    for round in 0..8 {
        let fields = [("companyDomain", "orbeval.example")];
        let call = world.call("/v1/dte", &account.key, &fields);
        let call = call.header("Idempotency-Key", format!("at-once-{round}"));
        let replies = at_once(&world, &call, 32);
        let mut originals = Vec::new();
        for reply in &replies {
            match (reply.status, replayed(reply)) {
                (200, None) => originals.push(reply),
                (200, Some("true")) => {
                    world.same("a repeat costs nothing", &reply.number("X-Credits-Used"), &Some(0));
                }
                (409, None) => {
                    let wait = reply.header("Retry-After").is_some();
                    world.holds("409 says when to come again", wait, reply);
                }
                _ => world.holds("at once: 200 or 409", false, reply),
            }
        }
        world.same(&format!("round {round}: one original"), &originals.len(), &1);
        let bodies = replies.iter().filter(|reply| reply.status == 200);
        for reply in bodies {
            let first = originals.first().map(|reply| reply.body.as_str());
            world.same("all got the same answer", &Some(reply.body.as_str()), &first);
        }
        let left = world.send(&call).number("X-Credits-Remaining");
        world.same("charged once", &left, &Some(100 - 3 * (round + 1)));
    }
    world.finish();
}

fn at_once(world: &World, call: &Call, times: usize) -> Vec<Reply> {
    let barrier = Arc::new(Barrier::new(times));
    let threads: Vec<_> = (0..times)
        .map(|_| {
            let (barrier, call, address) = (Arc::clone(&barrier), call.clone(), world.address());
            thread::spawn(move || {
                barrier.wait();
                call.send(address).unwrap()
            })
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

fn replayed(reply: &Reply) -> Option<&str> {
    reply.header("Idempotency-Replayed")
}

fn is_repeat(world: &World, what: &str, original: &Reply, repeat: &Reply, balance: i64) {
    world.same(&format!("{what}: the first was answered"), &original.status, &200);
    world.same(&format!("{what}: status"), &repeat.status, &200);
    world.same(&format!("{what}: body"), &repeat.body, &original.body);
    world.same(&format!("{what}: marked"), &replayed(repeat), &Some("true"));
    world.same(&format!("{what}: used"), &repeat.number("X-Credits-Used"), &Some(0));
    let left = repeat.number("X-Credits-Remaining");
    world.same(&format!("{what}: remaining"), &left, &Some(balance));
}
