//! Tests the rules of the HTTP interface for API keys and for accounts.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::endpoints::endpoint;
use crate::server::{command, text};
use crate::world::World;
use enrich_testkit::http::Call;

const WITHIN_A_SECOND: Duration = Duration::from_millis(1000);

#[test]
fn a_key_has_its_form() {
    let world = World::new(&[]);
    for _ in 0..5 {
        let account = world.account(0);
        let rest = account.key.strip_prefix("enr_live_").unwrap_or_default();
        let formed = rest.len() == 32 + 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !formed {
            world.note("a key is `enr_live_`, 32 random characters and 6 of a checksum".to_owned());
        }
    }
    world.finish();
}

#[test]
fn what_is_no_key_of_ours_is_unauthorised() {
    let world = World::new(&[]);
    let account = world.account(10);
    let elsewhere = World::new(&[]);
    let stranger = elsewhere.account(10);
    let good = account.key.as_str();
    let middle = good.len() / 2;
    let swapped = if good.as_bytes()[middle] == b'A' { 'B' } else { 'A' };
    let typo = format!("{}{swapped}{}", &good[..middle], &good[middle + 1..]);
    let long = format!("{good}{}", "x".repeat(600));
    let lower = good.to_lowercase();
    let keys = [
        json!(typo),
        json!(long),
        json!(&good[..good.len() - 1]),
        json!(format!("{good}A")),
        json!(good.replace("live", "test")),
        json!(good.replace("enr_live_", "")),
        json!(stranger.key),
        json!("enr_live_"),
        json!("\u{7}"),
        json!("ключ"),
        json!(7),
        json!(true),
        json!([good]),
        json!({ "key": good }),
        if lower == good { json!("x") } else { json!(lower) },
    ];
    for (number, key) in keys.iter().enumerate() {
        let body = json!({ "apiKey": key, "companyName": "Telefónica" });
        let call = Call::post("/v1/cuf").json(&body);
        world.has_status(&format!("bad key {number} in the body"), &call, 401);
        let body = json!({ "apiKey": key, "domain": "nestle.ch" });
        let call = Call::post("/v2/services/domain_to_name").json(&body);
        world.has_status(&format!("bad key {number} in version 2's body"), &call, 401);
        if let Some(key) = key.as_str().filter(|key| key.bytes().all(|byte| byte > 31)) {
            let call = Call::post("/v1/cuf").header("x-api-key", key);
            let call = call.json(&json!({ "companyName": "Telefónica" }));
            world.has_status(&format!("bad key {number} in the header"), &call, 401);
        }
    }
    for path in ["/v1/cuf", "/v2/services/domain_to_name"] {
        world.has_status("no key", &Call::post(path), 401);
        let call = Call::post(path).header("x-api-key", &b"\xff\xfe"[..]);
        world.has_status("a key that is no text", &call, 401);
        let call = Call::post(path).header("x-api-key", "").form(&[("apiKey", "")]);
        world.has_status("an empty key", &call, 401);
    }
    elsewhere.finish();
    world.finish();
}

#[test]
fn an_account_may_have_any_number_of_keys_and_its_credits_are_one() {
    let world = World::new(&[]);
    let account = world.account(5);
    let answer = endpoint("/v1/cuf").answer;
    for _ in 0..3 {
        let issued = world.json_of(&["key", "issue", &account.id]);
        let call = world.call("/v1/cuf", &text(&issued, "key"), &[("companyName", "Telefónica")]);
        world.answers_to("an issued key", &account, &call, answer, 1);
    }
    world.answers(&account, "/v1/cuf", &[("companyName", "Telefónica")], answer, 1);
    let namesake = world.account(1);
    if namesake.id == account.id || namesake.key == account.key {
        world.note("two accounts of one name are two accounts".to_owned());
    }
    world.answers(&namesake, "/v1/cuf", &[("companyName", "Telefónica")], answer, 1);
    world.finish();
}

#[test]
fn a_revoked_key_stops_within_a_second() {
    let world = World::new(&[]);
    let account = world.account(10);
    let issued = world.json_of(&["key", "issue", &account.id]);
    let call = world.call("/v1/cuf", &text(&issued, "key"), &[("companyName", "Telefónica")]);
    world.has_status("before", &call, 200);
    world.json_of(&["key", "revoke", &text(&issued, "key_id")]);
    thread::sleep(WITHIN_A_SECOND);
    world.has_status("a second after it was revoked", &call, 401);
    let other = world.call("/v1/cuf", &account.key, &[("companyName", "Telefónica")]);
    world.has_status("the account's other key", &other, 200);
    world.restart();
    world.has_status("after a restart", &call, 401);
    world.finish();
}

#[test]
fn rotation_issues_a_key_and_keeps_the_old_one_as_long_as_told() {
    let world = World::new(&[]);
    let account = world.account(20);
    let telefonica = [("companyName", "Telefónica")];
    let first = world.json_of(&["key", "issue", &account.id]);
    let kept = world.json_of(&["key", "rotate", &text(&first, "key_id"), "--keep", "24h"]);
    let second = text(&kept, "key");
    thread::sleep(WITHIN_A_SECOND);
    let old = world.call("/v1/cuf", &text(&first, "key"), &telefonica);
    world.has_status("the old key, kept", &old, 200);
    let new = world.call("/v1/cuf", &second, &telefonica);
    world.has_status("the new key", &new, 200);
    let replaced = world.json_of(&["key", "rotate", &key_id(&kept)]);
    thread::sleep(WITHIN_A_SECOND);
    world.has_status("rotated without `--keep`", &new, 401);
    let third = world.call("/v1/cuf", &text(&replaced, "key"), &telefonica);
    world.has_status("the newest key", &third, 200);
    world.has_status("the first is kept still", &old, 200);
    let short = world.json_of(&["key", "rotate", &key_id(&replaced), "--keep", "1s"]);
    thread::sleep(WITHIN_A_SECOND * 2);
    world.has_status("kept for a second", &third, 401);
    let fourth = world.call("/v1/cuf", &text(&short, "key"), &telefonica);
    world.has_status("its successor", &fourth, 200);
    world.finish();
}

#[test]
fn the_operator_can_show_a_key_again() {
    let world = World::new(&[]);
    let account = world.account(1);
    let issued = world.json_of(&["key", "issue", &account.id]);
    let shown = world.json_of(&["key", "show", &text(&issued, "key_id")]);
    world.same("the key shown", &shown["key"], &issued["key"]);
    world.finish();
}

#[test]
fn a_charge_keeps_the_callers_request_id_beside_its_own() {
    let world = World::new(&[]);
    let account = world.account(5);
    let call = world.call("/v1/cuf", &account.key, &[("companyName", "Telefónica")]);
    for _ in 0..2 {
        world.has_status("charged", &call.clone().header("X-Request-Id", "invoice-7"), 200);
    }
    let output = command(&world.data(), &["ledger", "export", &account.id]);
    let exported = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows: Vec<&str> = exported.lines().filter(|line| line.contains("invoice-7")).collect();
    world.same("two charges under one request id", &rows.len(), &2);
    if rows.first() == rows.last() {
        world.note(format!("each charge has an id of its own: {exported}"));
    }
    world.finish();
}

#[test]
fn neither_keys_nor_kept_answers_lie_readable_in_the_data() {
    let world = World::new(&[]);
    let account = world.account(10);
    let call = world.call("/v1/cuf", &account.key, &[("companyName", "Telefónica")]);
    let call = call.header("Idempotency-Key", "at-rest");
    world.has_status("a kept answer", &call, 200);
    let issued = world.json_of(&["key", "issue", &account.id]);
    let data = world.data();
    let secrets = [account.key.clone(), text(&issued, "key"), "confidence_level".to_owned()];
    world.restart();
    for file in files(&data) {
        let bytes = fs::read(&file).unwrap();
        for secret in &secrets {
            if bytes.windows(secret.len()).any(|window| window == secret.as_bytes()) {
                world.note(format!("{} holds a key or a kept answer in plain", file.display()));
            }
        }
    }
    world.has_status("and it is kept", &call, 200);
    world.finish();
}

/// Returns the id of the new key. `said` is the output of `enrich key rotate`.
fn key_id(said: &Value) -> String {
    text(said, "key_id")
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}
