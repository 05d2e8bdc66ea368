//! Tests the interface's rules for the errors of both API versions: the messages of errors, and
//! which API version's error format each path has.
//!
//! In all tests, also those of other files, `world.rs` compares the whole body of every error with
//! the expected text.

use serde_json::json;

use crate::world::World;
use enrich_testkit::http::Call;

#[test]
fn errors_take_the_form_of_the_version_whose_path_was_asked() {
    let world = World::new(&[]);
    let account = world.account(0);
    let big = "x".repeat(70_000);
    // `has_status` compares the whole body with the error format of the path's version.
    for path in ["/v1/nothing", "/nothing", "/", "/v3/cuf", "/v1", "/v2/nothing", "/v2/services/"] {
        world.has_status("an unknown path", &Call::post(path), 404);
    }
    for (path, field) in [("/v1/dtc", "companyWebsite"), ("/v2/services/domain_to_name", "domain")]
    {
        world.has_status("a wrong method", &Call::new("GET", path), 405);
        world.has_status("too large", &Call::post(path).body(big.as_str()), 413);
        let array = Call::post(path).typed("application/json", "[]");
        world.has_status("undecodable", &array, 422);
        world.has_status("no key", &Call::post(path), 401);
        world.refuses(&account, path, &[(field, "localhost")], &[field]);
        let call = world.call(path, &account.key, &[(field, "nestle.ch")]);
        world.has_status("no credits", &call, 400);
    }
    world.finish();
}

#[test]
fn messages_are_written_for_people() {
    let world = World::new(&[]);
    let account = world.account(0);
    let input = "hidden-person@quillmark-secret.example";
    let calls = [
        Call::post("/v1/nothing"),
        Call::new("GET", "/v1/cuf"),
        Call::post("/v1/cuf").body("x".repeat(70_000)),
        Call::post("/v1/cuf").typed("application/json", "{\"a\":"),
        Call::post("/v1/cuf"),
        Call::post("/v1/cuf").json(&json!({ "apiKey": "enr_live_wrong", "companyName": "x" })),
        world.call("/v1/cuf", &account.key, &[]),
        world.call("/v1/dtc", &account.key, &[("companyWebsite", input), ("limit", "0")]),
        world.call("/v1/mti", &account.key, &[("phoneNumber", "SELECT 1")]),
    ];
    for call in calls {
        let reply = world.send(&call);
        let message = reply.json()["message"].as_str().unwrap_or_default().to_owned();
        let sentence = message.contains(' ') && message.len() > 10;
        world.holds(&format!("{call:?}: a message is a sentence"), sentence, &reply);
        let inner = ["SELECT", "sqlite", "panicked", "src/", ".rs:", "/tmp", "enr_live_wrong"];
        let leaks = inner.iter().any(|word| message.contains(word));
        world.holds(&format!("{call:?}: nothing internal in a message"), !leaks, &reply);
    }
    world.finish();
}

#[test]
fn a_balance_too_low_for_a_list_names_what_is_left_and_the_largest_limit_but_no_price() {
    let world = World::new(&[]);
    for (path, fields, price, limit) in [
        ("/v1/dte", [("companyDomain", "orbeval.example")], 3, "10"),
        ("/v1/dtpp", [("companyDomain", "orbeval.example")], 3, "10"),
        ("/v1/nte", [("companyName", "Maison Orbeval SARL")], 3, "10"),
        ("/v1/ntp", [("companyName", "Maison Orbeval SARL")], 3, "10"),
        ("/v1/lcuf_employee", [("companyName", "Maison Orbeval SARL")], 3, "10"),
    ] {
        let account = world.account(price - 1);
        let call = world.call(path, &account.key, &fields);
        let reply = world.has_status(path, &call, 400);
        let message = reply.json()["message"].as_str().unwrap_or_default().to_owned();
        let left = format!("more than the {} credits that are left", price - 1);
        let names_left = message.contains(&left);
        world.holds(&format!("{path}: the message says what is left"), names_left, &reply);
        let way_out = message.contains(&format!("at most {limit} items with `limit`"));
        world.holds(&format!("{path}: the message says the largest `limit`"), way_out, &reply);
        let numbers: Vec<&str> =
            message.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty()).collect();
        let no_others = numbers == [(price - 1).to_string().as_str(), limit];
        world.holds(&format!("{path}: the message names no other figure"), no_others, &reply);
        let left = reply.number("X-Credits-Remaining");
        world.same(&format!("{path}: nothing deducted"), &left, &Some(price - 1));
        let limited = [fields[0], ("limit", limit)];
        let call = world.call(path, &account.key, &limited);
        let reply = world.has_status(&format!("{path} with a limit"), &call, 200);
        let left = reply.number("X-Credits-Remaining");
        world.same(&format!("{path}: the limit lowers the price"), &left, &Some(0));
    }
    world.finish();
}
