//! Tests the order of the checks in docs/api-design.md. Each test case breaks two rules. The answer
//! must be the error of the rule that is checked first.

use serde_json::json;

use crate::world::{World, fields_of};
use enrich_testkit::http::Call;

const CUF: &str = "/v1/cuf";
const NAME_TO_DOMAIN: &str = "/v2/services/name_to_domain";

#[test]
fn path_method_size_and_decoding_come_before_the_key() {
    let world = World::new(&[]);
    let big = || "[".repeat(70_000);
    let broken = "{\"companyName\":";
    for (path, unknown) in [(CUF, "/v1/nothing"), (NAME_TO_DOMAIN, "/v2/services/nothing")] {
        for method in ["GET", "PUT", "DELETE", "PATCH", "HEAD"] {
            let call = Call::new(method, unknown);
            world.has_status("an unknown path before the method", &call, 404);
            let call = Call::new(method, path);
            let reply = world.has_status("the method before the key", &call, 405);
            world.same("405 says what is allowed", &reply.header("Allow"), &Some("POST"));
        }
        let json = |call: Call, body: String| call.typed("application/json", body);
        let call = json(Call::post(unknown), big());
        world.has_status("an unknown path before the size", &call, 404);
        let call = json(Call::post(unknown), broken.to_owned());
        world.has_status("an unknown path before decoding", &call, 404);
        let call = json(Call::new("PUT", path), big());
        world.has_status("the method before the size", &call, 405);
        let call = json(Call::new("PUT", path), broken.to_owned());
        world.has_status("the method before decoding", &call, 405);
        let call = json(Call::post(path), big());
        world.has_status("the size before decoding", &call, 413);
        let call = Call::post(path).body("x".repeat(70_000));
        world.has_status("the size before the key", &call, 413);
        let call = json(Call::post(path), broken.to_owned());
        world.has_status("decoding before the key", &call, 422);
        let call = json(Call::post(path).header("x-api-key", "enr_live_x"), "[]".to_owned());
        world.has_status("decoding before the key", &call, 422);
        let reply = world.has_status("the key before the fields", &Call::post(path), 401);
        world.holds("401 tells nothing of fields", fields_of(&reply).is_empty(), &reply);
        let call = Call::post(path).json(&json!({ "companyName": 7, "apiKey": "no" }));
        world.has_status("the key before the fields", &call, 401);
        let call = Call::post(path)
            .header("Idempotency-Key", "x".repeat(256))
            .json(&json!({ "companyName": "Telefónica", "company_name": "Telefónica" }));
        world.has_status("the key before the Idempotency-Key", &call, 401);
    }
    world.finish();
}

#[test]
fn what_cannot_be_decoded_and_who_is_unknown_is_not_counted_in_the_window() {
    let world = World::new(&["--rate-limit", "5", "--rate-policy", "reject"]);
    let account = world.account(100);
    await_fresh_window(&world);
    let broken = Call::post(CUF).header("x-api-key", account.key.as_str());
    let broken = broken.typed("application/json", "{\"companyName\":");
    for _ in 0..10 {
        world.has_status("undecodable", &broken, 422);
    }
    let reply = world.ask(&account, CUF, &[("companyName", "Telefónica")]);
    let left = reply.header("RateLimit").unwrap_or_default().to_owned();
    world.holds("what can't be decoded isn't counted", left.contains(";r=4;"), &reply);
    for _ in 0..10 {
        let call = Call::post(CUF).json(&json!({ "apiKey": "enr_live_unknown" }));
        world.has_status("an unknown key has no window", &call, 401);
    }
    world.finish();
}

#[test]
fn the_window_is_counted_between_the_key_and_the_fields() {
    let world = World::new(&["--rate-limit", "3", "--rate-policy", "reject"]);
    let account = world.account(0);
    await_fresh_window(&world);
    for left in [2, 1, 0] {
        let reply = world.ask(&account, CUF, &[]);
        world.same("within the limit: the fields", &reply.status, &422);
        let shown = reply.header("RateLimit").unwrap_or_default().to_owned();
        let counted = shown.starts_with(&format!("\"default\";r={left};t="));
        world.holds("a call with faulty fields is counted", counted, &reply);
    }
    let call = world.call(CUF, &account.key, &[]);
    world.has_status("the window before the fields", &call, 429);
    let call = world.call(CUF, &account.key, &[("companyName", "Telefónica")]);
    world.has_status("the window before the balance", &call, 429);
    let call = call.header("Idempotency-Key", "x".repeat(256));
    world.has_status("the window before the Idempotency-Key", &call, 429);
    world.finish();
}

#[test]
fn the_window_comes_before_a_repeat() {
    let world = World::new(&["--rate-limit", "2", "--rate-policy", "reject"]);
    let account = world.account(10);
    await_fresh_window(&world);
    let call = world.call(CUF, &account.key, &[("companyName", "Telefónica")]);
    let call = call.header("Idempotency-Key", "window");
    world.has_status("the first call", &call, 200);
    world.has_status("the repeat", &call, 200);
    world.has_status("the repeat beyond the limit", &call, 429);
    world.finish();
}

#[test]
fn fields_come_before_a_repeat_and_a_repeat_before_the_balance() {
    let world = World::new(&[]);
    let account = world.account(1);
    let keyed = |key: &str, fields: &[(&str, &str)]| {
        world.call(CUF, &account.key, fields).header("Idempotency-Key", key)
    };
    let first = keyed("order", &[("companyName", "Telefónica")]);
    world.has_status("the last credit is spent", &first, 200);
    account.balance.set(0);

    world.refuses_call("fields before a repeat", &account, &keyed("order", &[]), &["companyName"]);
    let long = "x".repeat(256);
    let both = keyed(&long, &[("companyName", "\u{7}")]);
    world.refuses_call("fields before the Idempotency-Key", &account, &both, &["companyName"]);
    let bad = keyed("new", &[]);
    world.refuses_call("fields before the balance", &account, &bad, &["companyName"]);

    world.has_status("a repeat before the balance", &first, 200);
    let other = keyed("order", &[("companyName", "Nestlé")]);
    world.has_status("other fields under the same key before the balance", &other, 422);
    let malformed = keyed(&long, &[("companyName", "Nestlé")]);
    world.has_status("a malformed Idempotency-Key before the balance", &malformed, 422);
    let fresh = keyed("new", &[("companyName", "Nestlé")]);
    world.has_status("the balance of a new call", &fresh, 400);
    world.finish();
}

#[test]
fn the_balance_comes_before_the_look_up() {
    let world = World::new(&[]);
    for endpoint in crate::endpoints::ENDPOINTS {
        let account = world.account(endpoint.least - 1);
        for fields in [endpoint.found, endpoint.missing] {
            let what = format!("{} {fields:?} with {} credits", endpoint.path, endpoint.least - 1);
            let call = world.call(endpoint.path, &account.key, fields);
            let reply = world.has_status(&what, &call, 400);
            let left = reply.number("X-Credits-Remaining");
            world.same(&format!("{what}: balance"), &left, &Some(endpoint.least - 1));
        }
        let account = world.account(endpoint.least);
        world.answers(&account, endpoint.path, endpoint.missing, endpoint.miss, 0);
    }
    world.finish();
}

/// Waits, if necessary, until the rate-limit window has at least ten seconds left for the calls of
/// a test.
fn await_fresh_window(world: &World) {
    let probe = world.account(0);
    crate::rate::await_room(world, &probe);
}
