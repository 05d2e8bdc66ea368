//! Tests the rate limit of the API. Each answer has the headers `RateLimit-Policy` (the limit and
//! the length of a rate-limit window) and `RateLimit` (the state of the current window). Calls
//! beyond the limit are refused only if the operator enables this.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::endpoints::endpoint;
use crate::server::text;
use crate::world::{Account, World};
use enrich_testkit::http::Reply;

#[test]
fn the_window_is_shown_and_counts_down() {
    let world = World::new(&[]);
    let account = world.account(200);
    await_room(&world, &account);
    let other = world.account(10);
    for left in (95..=99).rev() {
        let reply = ask(&world, &account);
        let policy = reply.header("RateLimit-Policy").unwrap_or_default().to_owned();
        world.same("the policy", &policy.as_str(), &"\"default\";q=100;w=60");
        let (r, t) = rate(&world, &reply);
        // The account's key has already made one call, in `await_room`. So `left - 1` calls are
        // left.
        world.same("calls left", &r, &(left - 1));
        world.holds("the window ends within a minute", (0..=60).contains(&t), &reply);
    }
    let (r, t) = rate(&world, &ask(&world, &other));
    world.same("another key has a window of its own", &r, &99);
    let second = seconds_of_the_minute();
    let distance = (60 - second - t).rem_euclid(60);
    if distance > 1 && distance < 59 {
        world.note(format!("windows are whole minutes: at second {second} the header said t={t}"));
    }
    world.finish();
}

#[test]
fn both_versions_and_all_endpoints_share_a_keys_window() {
    let world = World::new(&[]);
    let account = world.account(200);
    await_room(&world, &account);
    let mut left = 98;
    for path in ["/v1/cuf", "/v2/services/domain_to_name", "/v1/dtpp", "/v1/cone"] {
        let endpoint = endpoint(path);
        let (r, _) = rate(&world, &world.ask(&account, path, endpoint.found));
        world.same(&format!("{path}: calls left"), &r, &left);
        left -= 1;
    }
    let second_key = world.json_of(&["key", "issue", &account.id]);
    let second_key = second_key["key"].as_str().unwrap();
    let call = world.call("/v1/cuf", second_key, endpoint("/v1/cuf").found);
    let (r, _) = rate(&world, &world.send(&call));
    world.same("a second key of the account", &r, &99);
    world.finish();
}

#[test]
fn observe_answers_beyond_the_limit() {
    let world = World::new(&["--rate-limit", "4"]);
    let account = world.account(20);
    await_room(&world, &account);
    for left in [2, 1, 0, 0, 0, 0] {
        let reply = ask(&world, &account);
        let policy = reply.header("RateLimit-Policy").unwrap_or_default().to_owned();
        world.same("the policy", &policy.as_str(), &"\"default\";q=4;w=60");
        world.same("observed", &reply.status, &200);
        world.same("used", &reply.number("X-Credits-Used"), &Some(1));
        world.same("calls left", &rate(&world, &reply).0, &left);
    }
    world.finish();
}

#[test]
fn reject_refuses_beyond_the_limit_and_charges_nothing() {
    let world = World::new(&["--rate-limit", "4", "--rate-policy", "reject"]);
    let account = world.account(20);
    await_room(&world, &account);
    for _ in 0..3 {
        let reply = ask(&world, &account);
        world.same("within the limit", &reply.status, &200);
    }
    for path in ["/v1/cuf", "/v2/services/domain_to_name"] {
        let call = world.call(path, &account.key, endpoint(path).found);
        let reply = world.has_status("beyond the limit", &call, 429);
        let (r, t) = rate(&world, &reply);
        world.same("no call left", &r, &0);
        let wait = reply.number("Retry-After").unwrap_or_default();
        let sensible = (1..=60).contains(&wait) && (wait - t).abs() <= 1;
        world.holds("`Retry-After` is the rest of the window", sensible, &reply);
        world.same("nothing deducted", &reply.number("X-Credits-Remaining"), &Some(17));
    }
    let other = world.account(5);
    world.same("another key isn't held up", &ask(&world, &other).status, &200);
    world.finish();
}

#[test]
fn a_single_key_may_have_a_limit_and_a_window_of_its_own() {
    let world = World::new(&["--rate-policy", "reject"]);
    let account = world.account(20);
    let issued = world.json_of(&["key", "issue", &account.id]);
    let limits = ["--rate-limit", "2", "--rate-window", "120"];
    world.json_of(&[&["key", "set", &text(&issued, "key_id")], &limits[..]].concat());
    await_room(&world, &account);
    let telefonica = [("companyName", "Telefónica")];
    let call = world.call("/v1/cuf", &text(&issued, "key"), &telefonica);
    for status in [200, 200, 429] {
        let reply = world.has_status("a key with two calls", &call, status);
        let policy = reply.header("RateLimit-Policy").unwrap_or_default().to_owned();
        world.same("the key's policy", &policy.as_str(), &"\"default\";q=2;w=120");
    }
    let policy = ask(&world, &account).header("RateLimit-Policy").unwrap_or_default().to_owned();
    world.same("the server's policy", &policy.as_str(), &"\"default\";q=100;w=60");
    world.finish();
}

#[test]
fn a_new_window_starts_with_all_its_calls() {
    let world = World::new(&["--rate-limit", "3", "--rate-window", "2", "--rate-policy", "reject"]);
    let account = world.account(50);
    let mut seen: BTreeMap<u16, u32> = BTreeMap::new();
    let begun = Instant::now();
    for _ in 0..3 {
        for _ in 0..8 {
            let reply = ask(&world, &account);
            let policy = reply.header("RateLimit-Policy").unwrap_or_default().to_owned();
            world.same("the policy", &policy.as_str(), &"\"default\";q=3;w=2");
            let (_, t) = rate(&world, &reply);
            world.holds("the window ends within two seconds", (0..=2).contains(&t), &reply);
            *seen.entry(reply.status).or_default() += 1;
        }
        thread::sleep(Duration::from_millis(2100));
    }
    let allowed = seen.get(&200).copied().unwrap_or_default();
    // The calls were spread over at most this number of windows of two seconds. On a slow machine,
    // the calls take longer, so the number is larger.
    let windows = u32::try_from(begun.elapsed().as_secs() / 2 + 2).unwrap();
    if allowed < 9 || allowed > 3 * windows || seen.keys().any(|&status| status / 100 == 5) {
        world.note(format!("{windows} windows of three calls; statuses seen: {seen:?}"));
    }
    world.finish();
}

/// Waits, if necessary, until the rate-limit window (a minute of the clock) has at least ten
/// seconds left. So the next calls of a test are in one window. Then makes one call with this
/// account's key, which counts in the window too.
pub(crate) fn await_room(world: &World, account: &Account) {
    let second = u64::try_from(seconds_of_the_minute()).unwrap();
    if second > 50 {
        thread::sleep(Duration::from_millis((60 - second) * 1000 + 200));
    }
    let reply = world.ask(account, "/v1/dtc", &[("companyWebsite", "nobody-here.example")]);
    assert!(reply.status == 200 || reply.status == 400, "{reply:?}");
}

fn ask(world: &World, account: &Account) -> Reply {
    world.ask(account, "/v1/cuf", &[("companyName", "Telefónica")])
}

/// Returns `r` (the requests left) and `t` (the seconds until the window ends) of the `RateLimit`
/// header. The header's format is fixed: the name of the policy, then `r`, then `t`.
fn rate(world: &World, reply: &Reply) -> (i64, i64) {
    let read = reply.header("RateLimit").and_then(|value| {
        let (r, t) = value.strip_prefix("\"default\";r=")?.split_once(";t=")?;
        Some((r.parse().ok()?, t.parse().ok()?))
    });
    world.holds("the RateLimit header has its form", read.is_some(), reply);
    read.unwrap_or((-1, -1))
}

#[allow(clippy::disallowed_methods, reason = "the rule under test is about the server's clock")]
fn seconds_of_the_minute() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs() % 60).unwrap()
}
