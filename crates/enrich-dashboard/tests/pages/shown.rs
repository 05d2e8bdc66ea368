//! Tests of the messages to the user: what was saved, what takes long, and what to do first.

use std::time::{Duration, Instant};

use enrich_core::port::usage::{DayCount, UseOutcome};
use enrich_core::{Credits, DirectoryRevision, EntryKind, Price, RateLimit, RatePolicy};
use enrich_dashboard::{Method, Settings};

use crate::bulk::{start, upload};
use crate::world::{Browser, Owner, PASSWORD, World};

fn world() -> (World, Owner) {
    let world = World::new();
    let owner = world.owner("Quill Ltd", "ada@quill.example");
    (world, owner)
}

#[test]
fn a_saved_label_and_a_saved_limit_say_so_once() {
    let (world, mut owner) = world();
    let path = format!("/account/keys/{}", owner.key);
    for (what, field, value) in [("label", "label", "web shop"), ("limit", "requests", "50")] {
        let seen = owner.browser.post(&world, &format!("{path}/{what}"), &[(field, value)]);
        let seen = owner.browser.get(&world, seen.header("location").unwrap());
        let done = seen.between("<p role=\"status\" class=\"done\">", "</p>");
        assert_eq!(done, format!("The {what} is saved."));
    }
    let refused = owner.browser.post(&world, &format!("{path}/limit"), &[("requests", "0")]);
    assert_eq!(refused.status, 422);
    assert!(!refused.body.contains("is saved"));
    assert!(!owner.browser.get(&world, &path).body.contains("is saved"));
}

#[test]
fn an_unused_account_sees_its_first_call_and_the_key_in_it_when_asked() {
    let (world, mut owner) = world();
    let secret = world.ports.keys.lock()[0].1.expose().to_owned();
    let seen = owner.browser.get(&world, "/account/");
    let call = seen.between("<textarea id=\"call\"", "</textarea>");
    assert!(call.contains("http://enrich.example/v1/cuf") && call.contains("enr_live_"), "{call}");
    assert!(!seen.body.contains(&secret));
    let seen = owner.browser.post(&world, "/account/first-call", &[]);
    let call = seen.between("<textarea id=\"call\"", "</textarea>");
    assert!(call.contains(&format!("apiKey&#34;:&#34;{secret}&#34;")), "{call}");
    // The page of a new key shows the suggested first call too, with the full key.
    let made = owner.browser.post(&world, "/account/keys", &[("label", "web shop")]);
    let seen = owner.browser.get(&world, made.header("location").unwrap());
    let call = seen.between("A call with this key\"><code>", "</code>");
    let secret = world.ports.keys.lock()[1].1.expose().to_owned();
    assert!(call.contains(&secret), "{call}");
    let (key, endpoint) = (owner.key, "/v1/cuf".to_owned());
    let (outcome, credits) = (UseOutcome::Found, Credits(1));
    let count = DayCount { day: 20_516, key, endpoint, outcome, calls: 1, credits };
    world.ports.counts.lock().push((owner.account, count));
    for seen in [
        owner.browser.get(&world, "/account/"),
        owner.browser.post(&world, "/account/first-call", &[]),
    ] {
        assert!(!seen.body.contains("id=\"call\""), "{}", seen.body);
    }
}

#[test]
fn an_account_without_a_key_is_led_to_its_first_one() {
    let (world, mut owner) = world();
    let path = format!("/account/keys/{}/revoke", owner.key);
    owner.browser.post(&world, &path, &[("sure", "yes")]);
    let seen = owner.browser.get(&world, "/account/");
    assert!(seen.body.contains("<button>Generate a key</button>"), "{}", seen.body);
}

#[test]
fn no_credits_and_few_credits_look_like_it() {
    for (spent, class, said) in [
        (0, "", "credits left</span>"),
        (901, "low", "left (low)"),
        (1000, "out", "no credits left"),
    ] {
        let (world, owner) = world();
        let now = "2026-03-04T12:00:30Z".parse().unwrap();
        world.ports.add_entry(owner.account, EntryKind::Grant, -spent, now);
        let seen = owner.browser.get(&world, "/account/");
        assert!(seen.body.contains(&format!("id=\"balance\" class=\"credits {class}\"")));
        assert!(seen.body.contains(said), "{said}: {}", seen.body);
        assert_eq!(seen.body.contains("class=\"hint"), !class.is_empty(), "{}", seen.body);
    }
}

#[test]
fn an_endpoint_comes_with_its_title_wherever_a_page_names_it() {
    let (world, mut owner) = world();
    let now = "2026-03-04T12:00:30Z".parse().unwrap();
    let kind = EntryKind::Charge {
        endpoint: "/v1/cuf".to_owned(),
        items: 1,
        price: Price::PerAnswer(1),
        key: owner.key,
        request_id: "one".to_owned(),
        revision: DirectoryRevision(7),
    };
    world.ports.add_entry(owner.account, kind, -1, now);
    let (key, endpoint) = (owner.key, "/v1/cuf".to_owned());
    let (outcome, credits) = (UseOutcome::Found, Credits(1));
    let count = DayCount { day: 20_516, key, endpoint, outcome, calls: 1, credits };
    world.ports.counts.lock().push((owner.account, count));
    let list = upload(&world, &owner, "leads.csv", "Company\nQuill\n");
    start(&world, &mut owner, &list, "");
    for path in ["/account/usage", "/account/calls", "/account/bulk", &list] {
        let seen = owner.browser.get(&world, path);
        let named = "<code>/v1/cuf</code> <small class=\"title\">Company name to website domain<";
        assert!(seen.body.contains(named), "{path}: {}", seen.body);
    }
}

#[test]
fn signing_in_again_returns_to_the_page_that_was_asked_for() {
    let (world, _) = world();
    let mut browser = Browser::default();
    let page = "/account/usage?from=2026-01-01&to=2026-02-01";
    let asked = browser.get(&world, page).header("location").unwrap().to_owned();
    let form = browser.get(&world, &asked);
    let to = form.between("name=\"to\" value=\"", "\"").replace("&#38;", "&");
    assert_eq!(to, page);
    let wrong = [("email", "ada@quill.example"), ("password", "wrong"), ("to", &to)];
    let refused = browser.post(&world, "/account/sign-in", &wrong);
    assert!(refused.body.contains("name=\"to\""), "{}", refused.body);
    let right = [("email", "ada@quill.example"), ("password", PASSWORD), ("to", &to)];
    let welcome = browser.post(&world, "/account/sign-in", &right);
    let seen = browser.get(&world, welcome.header("location").unwrap());
    assert_eq!(seen.header("location"), Some(page));
}

#[test]
fn signing_in_leads_to_no_other_place_and_changes_nothing() {
    let (world, _) = world();
    let posted = Browser::default().post(&world, "/account/bulk/abc/delete", &[("sure", "yes")]);
    assert_eq!(posted.header("location"), Some("/account/sign-in?ended"));
    for to in ["https://evil.example/", "//evil.example", "/account/../x", "/account/sign-out"] {
        let mut browser = Browser::default();
        let fields = [("email", "ada@quill.example"), ("password", PASSWORD), ("to", to)];
        let welcome = browser.post(&world, "/account/sign-in", &fields);
        assert_eq!(welcome.header("location"), Some("/account/welcome"), "{to}");
        let query =
            url::form_urlencoded::Serializer::new(String::new()).append_pair("to", to).finish();
        let seen = browser.get(&world, &format!("/account/welcome?{query}"));
        assert_eq!(seen.header("location"), Some("/account/"), "{to}");
    }
}

#[test]
fn a_page_that_refreshes_its_figures_does_not_keep_its_session_alive() {
    let settings = Settings::default();
    let idle = settings.session_idle;
    let world = World::with(settings);
    let owner = world.owner("Quill Ltd", "ada@quill.example");
    for path in ["/account/", "/account/usage"] {
        let seen = owner.browser.get(&world, path);
        assert!(seen.body.contains("hx-trigger=\"every 15s\""), "{path}: {}", seen.body);
    }
    let old = owner.browser.get(&world, "/account/usage?from=2025-01-01&to=2025-01-02");
    assert!(!old.body.contains("hx-trigger"), "{}", old.body);
    world.clock.pass(idle.as_secs() / 2);
    let mut refresh = owner.browser.request(Method::Get, "/account/");
    refresh.is_from_script = true;
    assert_eq!(world.send(refresh).status, 200);
    world.clock.pass(idle.as_secs() / 2);
    assert_eq!(owner.browser.get(&world, "/account/").status, 303);
}

#[test]
fn a_list_that_the_rate_limit_slows_says_so_and_how_long_yet() {
    let world = World::serving(Settings::default(), |service| {
        service.rate_limit = RateLimit::new(1, 60).unwrap();
        service.rate_policy = RatePolicy::Reject;
    });
    let mut owner = world.owner("Quill Ltd", "ada@quill.example");
    let path = upload(&world, &owner, "leads.csv", "Company\nQuill\nLedger\nNobody\n");
    start(&world, &mut owner, &path, "");
    let begun = Instant::now();
    let seen = loop {
        let seen = owner.browser.get(&world, &path);
        if seen.body.contains("id=\"held-up\"") {
            break seen;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", seen.body);
        std::thread::sleep(Duration::from_millis(20));
    };
    let said = seen.between("id=\"held-up\">", "</p>");
    assert!(said.contains("rate limit of the API key, 1 request in 60 seconds"), "{said}");
    assert!(said.contains("continues in ") && said.contains(" seconds"), "{said}");
    assert!(said.contains("take about ") && said.contains(" minutes"), "{said}");
}

#[test]
fn delete_is_there_when_a_list_is_done_and_comes_with_what_the_page_fetches() {
    let (world, mut owner) = world();
    let path = upload(&world, &owner, "leads.csv", "Company\nQuill\n");
    start(&world, &mut owner, &path, "");
    let seen = crate::bulk::ended(&world, &owner, &path);
    let (_, fetched) = seen.body.split_once("<div id=\"job\"").unwrap();
    assert!(fetched.contains("Delete the list"), "{}", seen.body);
}
