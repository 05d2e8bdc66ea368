//! Tests the interface's rules for the body: how a body is decoded, which bodies are refused, and
//! where the key may be.

use serde_json::json;

use crate::endpoints::endpoint;
use crate::world::{Account, World, fields_of};
use enrich_testkit::http::Call;

const LIMIT: usize = 64 * 1024;
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

#[test]
fn a_body_that_starts_with_a_brace_is_json_whatever_the_header_says() {
    let world = World::new(&[]);
    let account = world.account(100);
    let object = json!({ "companyName": "Telefónica", "apiKey": account.key }).to_string();
    let indented = format!(" \r\n\t{object}\n");
    let types = [FORM, "text/plain", "application/xml", "nonsense", "application/octet-stream"];
    for content_type in types {
        found(&world, &account, Call::post("/v1/cuf").typed(content_type, object.as_str()));
        found(&world, &account, Call::post("/v1/cuf").typed(content_type, indented.as_str()));
    }
    found(&world, &account, Call::post("/v1/cuf").body(object.as_str()));
    for content_type in [JSON, "application/json; charset=utf-8", "Application/JSON"] {
        found(&world, &account, Call::post("/v1/cuf").typed(content_type, object.as_str()));
    }
    world.finish();
}

#[test]
fn a_body_of_any_other_type_is_read_as_a_form() {
    let world = World::new(&[]);
    let account = world.account(100);
    let fields = format!("companyName=Telef%C3%B3nica&apiKey={}", account.key);
    for content_type in
        [FORM, "application/x-www-form-urlencoded; charset=UTF-8", "text/plain", "x"]
    {
        found(&world, &account, Call::post("/v1/cuf").typed(content_type, fields.as_str()));
    }
    found(&world, &account, Call::post("/v1/cuf").body(fields.as_str()));
    // Some clients send the raw UTF-8 bytes in a form, without percent-encoding.
    let raw = format!("companyName=Telefónica&apiKey={}", account.key);
    found(&world, &account, Call::post("/v1/cuf").typed(FORM, raw));
    // If the content type is JSON, a form is refused, because it is not valid JSON.
    undecodable(&world, "a form under a JSON header", JSON, fields.as_bytes());
    world.finish();
}

#[test]
fn what_cannot_be_decoded_is_refused() {
    let world = World::new(&[]);
    let cases: &[(&str, &str, &[u8])] = &[
        ("broken JSON", JSON, b"{\"companyName\":"),
        ("text after the JSON", JSON, b"{\"companyName\":\"Acme\"} x"),
        ("two objects", JSON, b"{\"companyName\":\"Acme\"}{}"),
        ("a comma too many", JSON, b"{\"companyName\":\"Acme\",}"),
        ("an array", JSON, b"[\"companyName\"]"),
        ("a text", JSON, b"\"companyName\""),
        ("a number", JSON, b"7"),
        ("null", JSON, b"null"),
        ("no UTF-8 in JSON", JSON, b"{\"companyName\":\"Acm\xe9\"}"),
        ("half a surrogate pair", JSON, b"{\"companyName\":\"\\ud800\"}"),
        ("a raw control character in JSON", JSON, b"{\"companyName\":\"A\x01\"}"),
        ("no UTF-8 in a form", FORM, b"companyName=Acm\xe9"),
        ("no UTF-8 in a form, encoded", FORM, b"companyName=Acm%E9"),
        ("no UTF-8 in a form's name, encoded", FORM, b"company%FFName=Acme"),
        ("a field twice in JSON", JSON, b"{\"companyName\":\"A\",\"companyName\":\"B\"}"),
        ("the same twice", JSON, b"{\"companyName\":\"A\",\"companyName\":\"A\"}"),
        ("twice, once escaped", JSON, b"{\"companyName\":\"A\",\"company\\u004eame\":\"B\"}"),
        ("an unknown field twice", JSON, b"{\"companyName\":\"A\",\"zz\":1,\"zz\":2}"),
        ("the key twice", JSON, b"{\"apiKey\":\"a\",\"apiKey\":\"b\",\"companyName\":\"A\"}"),
        ("a field twice in a form", FORM, b"companyName=A&companyName=B"),
        ("twice in a form, once encoded", FORM, b"companyName=A&company%4eame=B"),
        ("an unknown field twice in a form", FORM, b"companyName=A&zz=1&zz=2"),
        ("broken JSON under a form header", FORM, b"{\"companyName\":"),
    ];
    for (what, content_type, body) in cases {
        undecodable(&world, what, content_type, body);
    }
    world.finish();
}

#[test]
fn nesting_is_read_down_to_32_levels() {
    let world = World::new(&[]);
    let account = world.account(100);
    let nested = |arrays: usize| {
        format!(
            "{{\"companyName\":\"Telefónica\",\"apiKey\":\"{}\",\"extra\":{}{}}}",
            account.key,
            "[".repeat(arrays),
            "]".repeat(arrays)
        )
    };
    // The object itself is the first of the 32 allowed levels, so 31 arrays in it are allowed.
    found(&world, &account, Call::post("/v1/cuf").typed(JSON, nested(31)));
    for arrays in [32, 33, 200, 20_000] {
        let what = format!("{} levels", arrays + 1);
        undecodable(&world, &what, JSON, nested(arrays).as_bytes());
        undecodable(&world, &what, FORM, nested(arrays).as_bytes());
    }
    let objects = format!("{{\"a\":{}1{}}}", "{\"a\":".repeat(32), "}".repeat(32));
    undecodable(&world, "33 objects", JSON, objects.as_bytes());
    world.finish();
}

#[test]
fn a_body_may_have_64_kib_and_not_a_byte_more() {
    let world = World::new(&[]);
    let account = world.account(100);
    let json_of = |size: usize| {
        let start = format!(
            "{{\"companyName\":\"Telefónica\",\"apiKey\":\"{}\",\"filler\":\"",
            account.key
        );
        format!("{start}{}\"}}", "x".repeat(size - start.len() - 2))
    };
    let form_of = |size: usize| {
        let start = format!("companyName=Telef%C3%B3nica&apiKey={}&filler=", account.key);
        format!("{start}{}", "x".repeat(size - start.len()))
    };
    for path in ["/v1/cuf"] {
        let post = || Call::post(path);
        found(&world, &account, post().typed(JSON, json_of(LIMIT)));
        found(&world, &account, post().typed(FORM, form_of(LIMIT)));
        found(&world, &account, post().typed(JSON, json_of(LIMIT)).chunked());
        for size in [LIMIT + 1, LIMIT * 2, 1_000_000] {
            let what = format!("a body of {size} bytes");
            world.has_status(&what, &post().typed(JSON, json_of(size)), 413);
            world.has_status(&what, &post().typed(FORM, form_of(size)), 413);
            world.has_status(&what, &post().typed(JSON, json_of(size)).chunked(), 413);
        }
    }
    let second = Call::post("/v2/services/domain_to_name").header("x-api-key", account.key.clone());
    world.has_status("version 2", &second.typed(FORM, "x".repeat(LIMIT + 1)), 413);
    world.finish();
}

#[test]
fn the_key_is_taken_from_the_versions_own_place_first() {
    let world = World::new(&[]);
    let account = world.account(100);
    let good = account.key.as_str();
    let bad = "enr_live_nobody";
    let first = |body: &str, header: Option<&str>| {
        let call =
            Call::post("/v1/cuf").json(&json!({ "companyName": "Telefónica", "apiKey": body }));
        header.into_iter().fold(call, |call, key| call.header("x-api-key", key))
    };
    found(&world, &account, first(good, Some(bad)));
    found(&world, &account, first("", Some(good)));
    found(&world, &account, first("  ", Some(good)));
    found(&world, &account, first(&format!(" {good}\n"), None));
    world.has_status("version 1: the body counts", &first(bad, Some(good)), 401);

    let second = |header: Option<&str>, body: serde_json::Value| {
        let call = Call::post("/v2/services/domain_to_name")
            .json(&json!({ "domain": "nestle.ch", "apiKey": body }));
        header.into_iter().fold(call, |call, key| call.header("x-api-key", key))
    };
    let answer = endpoint("/v2/services/domain_to_name").answer;
    for (what, call) in [
        ("version 2, key in both places", second(Some(good), json!(good))),
        ("version 2, a bad key in the body", second(Some(good), json!(bad))),
        ("version 2, a number as key in the body", second(Some(good), json!(7))),
        ("version 2, key in the body alone", second(None, json!(good))),
        ("version 2, key in the body, empty header", second(Some(""), json!(good))),
    ] {
        world.answers_to(what, &account, &call, answer, 1);
    }
    world.has_status("version 2: the header counts", &second(Some(bad), json!(good)), 401);
    world.finish();
}

#[test]
fn a_bearer_token_is_a_key_where_no_other_place_holds_one() {
    let world = World::new(&[]);
    let account = world.account(100);
    let (good, bad) = (account.key.as_str(), "enr_live_nobody");
    let name = json!({ "companyName": "Telefónica" });
    let bearer = |call: Call, key: &str| call.header("Authorization", format!("Bearer {key}"));
    found(&world, &account, bearer(Call::post("/v1/cuf"), good).json(&name));
    let both = bearer(Call::post("/v1/cuf").header("x-api-key", good), bad);
    found(&world, &account, both.json(&name));
    let domain = json!({ "domain": "nestle.ch" });
    let second = "/v2/services/domain_to_name";
    let call = bearer(Call::post(second), good).json(&domain);
    world.answers_to("version 2", &account, &call, endpoint(second).answer, 1);
    for path in ["/v1/cuf", second] {
        let call = bearer(Call::post(path), bad).json(&name);
        world.has_status("a bad token", &call, 401);
        let call = Call::post(path).header("Authorization", "Basic YWRhOmI=").json(&name);
        world.has_status("another scheme is no key", &call, 401);
    }
    world.finish();
}

#[test]
fn a_call_without_a_key_is_told_where_it_goes() {
    let world = World::new(&[]);
    for (path, place) in
        [("/v1/cuf", "the field `apiKey`"), ("/v2/services/name_to_domain", "`x-api-key`")]
    {
        let reply = world.has_status("no key", &Call::post(path).json(&json!({})), 401);
        world.holds("where the key goes", reply.body.contains(place), &reply);
        let says_bearer = reply.body.contains("Authorization: Bearer");
        world.holds("the other way", says_bearer, &reply);
    }
    world.finish();
}

#[test]
fn an_unknown_field_is_named_where_a_required_one_is_missing() {
    let world = World::new(&[]);
    let account = world.account(1);
    for (path, sent, wanted) in [
        ("/v1/cuf", "company_name", "companyName"),
        ("/v2/services/name_to_domain", "companyName", "company_name"),
    ] {
        let call = world.call(path, &account.key, &[(sent, "Telefónica")]);
        let reply = world.has_status("a field under another name", &call, 422);
        let hint = format!("unknown field `{sent}`; did you mean `{wanted}`?");
        world.holds("the unknown field is named", reply.body.contains(&hint), &reply);
        world.holds("no value is repeated", !reply.body.contains("Telef"), &reply);
    }
    world.finish();
}

#[test]
fn unknown_fields_are_ignored() {
    let world = World::new(&[]);
    let account = world.account(10);
    let body = json!({
        "companyName": "Telefónica", "apiKey": account.key, "limit": [], "x": "y".repeat(600),
        "companyDomain": 7, "": null, "nested": { "apiKey": true }, "bell": "\u{7}",
    });
    found(&world, &account, Call::post("/v1/cuf").json(&body));
    world.finish();
}

fn found(world: &World, account: &Account, call: Call) {
    world.answers_to(&format!("{call:?}"), account, &call, endpoint("/v1/cuf").answer, 1);
}

/// Checks that the server refuses this body, which it can't decode. Sends the body to both API
/// versions without an API key, because the body is checked before the key.
fn undecodable(world: &World, what: &str, content_type: &str, body: &[u8]) {
    for path in ["/v1/cuf", "/v2/services/name_to_domain"] {
        let call = Call::post(path).typed(content_type, body);
        let reply = world.has_status(&format!("{what}: {path}"), &call, 422);
        let rule = format!("{what}: an undecodable body has no fields at fault");
        world.holds(&rule, fields_of(&reply).is_empty(), &reply);
        let rule = format!("{what}: an undecodable body comes before the key");
        world.holds(&rule, reply.header("X-Credits-Remaining").is_none(), &reply);
    }
}
