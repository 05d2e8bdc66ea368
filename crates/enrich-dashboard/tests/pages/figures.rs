//! Tests of the overview, the usage, the calls, and the CSV files of usage and calls.

use enrich_core::port::usage::{DayCount, UseOutcome};
use enrich_core::{
    AccountId, AccountStatus, Clock, Credits, DirectoryRevision, EntryKind, KeyId, Price, Timestamp,
};

use crate::world::{Owner, World};

const TODAY: i64 = 20_516;

fn world() -> (World, Owner) {
    let world = World::new();
    let owner = world.owner("Quill Ltd", "ada@quill.example");
    // The account is a year old, so that the pages show older days too.
    world.ports.accounts.lock()[0].created_at = "2025-03-04T00:00:00Z".parse().unwrap();
    let start = "2025-03-04T00:00:00Z".parse().unwrap();
    world.ports.entries.lock()[0].at = start;
    (world, owner)
}

#[test]
fn a_suspended_accounts_page_says_so_and_why() {
    let (world, owner) = world();
    let suspended = "This account is suspended.";
    assert!(!owner.browser.get(&world, "/account/").body.contains(suspended));
    let reason = "invoice <1042> is overdue".to_owned();
    world.ports.accounts.lock()[0].status = AccountStatus::Suspended { reason };
    for path in ["/account/", "/account/keys", "/account/playground"] {
        let seen = owner.browser.get(&world, path);
        assert!(seen.body.contains(suspended), "{path}: {}", seen.body);
        assert!(seen.body.contains("Reason: invoice &#60;1042&#62; is overdue"), "{}", seen.body);
    }
}

/// Grants the account 100,000 more credits, at the time at which the account was created.
fn grant(world: &World, owner: &Owner) {
    let start = "2025-03-04T00:00:00Z".parse().unwrap();
    world.ports.add_entry(owner.account, EntryKind::Grant, 100_000, start);
}

fn count(world: &World, owner: &Owner, day: i64, outcome: UseOutcome, calls: u64, credits: u64) {
    let endpoint = "/v1/cuf".to_owned();
    let credits = Credits(credits);
    let count = DayCount { day, key: owner.key, endpoint, outcome, calls, credits };
    world.ports.counts.lock().push((owner.account, count));
}

fn charge(world: &World, account: AccountId, key: KeyId, request_id: &str, at: Timestamp) {
    let kind = EntryKind::Charge {
        endpoint: "/v1/cuf".to_owned(),
        items: 1,
        price: Price::PerAnswer(1),
        key,
        request_id: request_id.to_owned(),
        revision: DirectoryRevision(7),
    };
    world.ports.add_entry(account, kind, -1, at);
}

#[test]
fn the_overview_adds_up_what_was_used() {
    let (world, owner) = world();
    count(&world, &owner, TODAY, UseOutcome::Found, 1_200, 1_200);
    count(&world, &owner, TODAY, UseOutcome::NotFound, 300, 0);
    count(&world, &owner, TODAY - 29, UseOutcome::Found, 1, 3);
    count(&world, &owner, TODAY - 30, UseOutcome::Found, 5_000, 5_000);
    let seen = owner.browser.get(&world, "/account/");
    let figure = |name: &str| seen.between(&format!("<dt>{name}</dt><dd>"), "<").to_owned();
    assert_eq!(figure("Credits left"), "1,000");
    assert_eq!(figure("Used today"), "1,200");
    assert_eq!(figure("Used in 30 days"), "1,203");
    assert_eq!(figure("Found in 30 days"), "80.0 %");
    assert_eq!(seen.body.matches("<th scope=\"row\">2026-").count(), 30);
    assert!(seen.body.contains("<td class=\"number\" data-value=\"1200\">1,200</td>"));
}

#[test]
fn usage_is_of_the_chosen_days_alone_and_says_the_share() {
    let (world, owner) = world();
    count(&world, &owner, TODAY - 100, UseOutcome::Found, 2, 2);
    count(&world, &owner, TODAY - 50, UseOutcome::NotFound, 1, 0);
    count(&world, &owner, TODAY, UseOutcome::Refused, 9, 0);
    let seen = owner.browser.get(&world, "/account/usage?from=2025-03-04&to=2026-03-03");
    let all = seen.between("<th scope=\"row\">All</th>", "</tr>");
    assert!(all.contains(">3<") && all.contains("66.7 %") && !all.contains(">9<"), "{all}");
    assert!(
        owner
            .browser
            .get(&world, "/account/usage?from=2020-01-01&to=2020-12-31")
            .body
            .contains("No calls were made")
    );
    assert_eq!(owner.browser.get(&world, "/account/usage?from=tomorrow").status, 422);
}

#[test]
fn the_usage_file_has_a_line_for_a_day_an_endpoint_and_a_key() {
    let (world, owner) = world();
    world.ports.keys.lock()[0].0.label = "=cmd()".to_owned();
    count(&world, &owner, TODAY - 1, UseOutcome::Found, 2, 2);
    count(&world, &owner, TODAY - 1, UseOutcome::NotFound, 1, 0);
    let seen = owner.browser.get(&world, "/account/usage.csv");
    let name = "attachment; filename=\"usage-2026-02-03-2026-03-04.csv\"";
    assert_eq!(seen.header("content-disposition"), Some(name));
    let lines: Vec<&str> = seen.body.lines().collect();
    let line = format!("2026-03-03,/v1/cuf,'=cmd(),{},2,1,0,0,2", owner.key);
    assert_eq!(lines[1..], [line.as_str()]);
}

#[test]
fn calls_are_newest_first_and_fifty_on_a_page() {
    let (world, owner) = world();
    for number in 0..120 {
        charge(&world, owner.account, owner.key, &format!("call-{number}"), world.clock.now());
    }
    let first = owner.browser.get(&world, "/account/calls");
    assert!(first.body.contains("call-119<") && first.body.contains("call-70<"));
    assert!(!first.body.contains("call-69<") && !first.body.contains(">Newest<"));
    let older = |body: &str| {
        let link = body.split("href=\"").find(|piece| piece.contains("before="));
        link.map(|link| link.split('"').next().unwrap().replace("&#38;", "&"))
    };
    let second = owner.browser.get(&world, &older(&first.body).unwrap());
    assert!(second.body.contains("call-69<") && second.body.contains(">Newest<"));
    let third = owner.browser.get(&world, &older(&second.body).unwrap());
    assert!(third.body.contains("call-0<"));
    // If there is a fourth page, it contains no call: the only entry left is the grant.
    let rest = older(&third.body).map(|rest| owner.browser.get(&world, &rest).body);
    assert!(rest.is_none_or(|rest| !rest.contains("call-")));
}

#[test]
fn a_search_says_how_far_it_looked_and_goes_on() {
    let (world, owner) = world();
    grant(&world, &owner);
    charge(&world, owner.account, owner.key, "wanted", world.clock.now());
    for _ in 0..25_000 {
        charge(&world, owner.account, owner.key, "other", world.clock.now());
    }
    let first = owner.browser.get(&world, "/account/calls?id=wanted");
    assert!(first.body.contains("20,000 rows were searched, back to 2026-03-04 12:00:30 UTC: 0"));
    let link = first.body.split("href=\"").find(|piece| piece.contains("before=")).unwrap();
    let link = link.split('"').next().unwrap().replace("&#38;", "&");
    assert!(first.body.contains("Continue the search"));
    let second = owner.browser.get(&world, &link);
    assert!(second.body.contains("The whole range was searched: 1 call"), "{}", second.body);
    assert!(second.body.contains(">wanted<"));
}

#[test]
fn the_file_of_calls_has_the_range_and_neutral_cells() {
    let (world, owner) = world();
    grant(&world, &owner);
    charge(&world, owner.account, owner.key, "too-early", "2026-03-01T23:59:59Z".parse().unwrap());
    for number in 0..2_500 {
        let at = "2026-03-02T00:00:00Z".parse().unwrap();
        charge(&world, owner.account, owner.key, &format!("=call-{number}"), at);
    }
    charge(&world, owner.account, owner.key, "too-late", "2026-03-03T00:00:00Z".parse().unwrap());
    let seen = owner.browser.get(&world, "/account/calls.csv?from=2026-03-02&to=2026-03-02");
    let lines: Vec<&str> = seen.body.lines().collect();
    assert_eq!(lines.len(), 2_501);
    assert!(lines[1].starts_with("2026-03-02 00:00:00,/v1/cuf,1,1,"), "{}", lines[1]);
    assert!(lines[1].contains(",first,'=call-2499,"), "{}", lines[1]);
    assert!(!seen.body.contains("too-"));
}

#[test]
fn what_no_page_bounds_is_read_on_threads_of_its_own() {
    let (world, owner) = world();
    charge(&world, owner.account, owner.key, "call", world.clock.now());
    count(&world, &owner, TODAY, UseOutcome::Found, 1, 1);
    for path in ["", "usage", "usage.csv", "calls", "calls?id=call", "calls.csv"] {
        world.ports.reading_threads.lock().clear();
        assert_eq!(owner.browser.get(&world, &format!("/account/{path}")).status, 200);
        let read_on: Vec<String> = world.ports.reading_threads.lock().iter().cloned().collect();
        assert_eq!(read_on, ["tokio-rt-worker"], "/account/{path}");
    }
}

#[test]
fn the_library_of_the_chart_comes_where_there_is_a_chart() {
    let world = World::new();
    let owner = world.owner("Quill Ltd", "ada@quill.example");
    for path in ["/account/", "/account/keys", "/account/usage", "/account/calls"] {
        let page = owner.browser.get(&world, path).body;
        let (has_chart, has_library) = (page.contains("data-chart-of"), page.contains("uplot"));
        assert_eq!(has_library, has_chart, "{path}");
        assert_eq!(has_chart, path == "/account/", "{path}");
    }
}
