//! Tests of invitations, passwords and sessions.

use enrich_dashboard::{Method, Settings};
use enrich_sign_in::PasswordHash;
use jiff::SignedDuration;

use crate::world::{Browser, PASSWORD, World};

const ADA: &str = "ada@quill.example";

fn signs_in(world: &World, email: &str, password: &str) -> (Browser, u16, String) {
    let mut browser = Browser::default();
    let seen = browser.post(world, "/account/sign-in", &[("email", email), ("password", password)]);
    (browser, seen.status, seen.body.replace(email, "…"))
}

#[test]
fn an_invitation_sets_the_password_once_and_signs_in() {
    let world = World::new();
    let (_, _, token) = world.invited("Quill Ltd", ADA);
    let path = format!("/account/invitation/{}", token.expose());
    let mut browser = Browser::default();
    let shown = browser.get(&world, &path);
    assert_eq!(shown.status, 200);
    assert!(shown.body.contains(ADA));
    let short = browser.post(&world, &path, &[("password", "short"), ("again", "short")]);
    assert_eq!(short.status, 422);
    assert!(short.body.contains("at least 12 characters"), "{}", short.body);
    let good = [("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(browser.post(&world, &path, &good).status, 303);
    assert!(browser.get(&world, "/account/").body.contains("Quill Ltd"));
    assert_eq!(browser.post(&world, &path, &good).status, 404);
    assert_eq!(browser.get(&world, &path).status, 404);
}

#[test]
fn an_invitation_that_has_ended_or_never_was_is_not_good() {
    let world = World::new();
    let (_, _, token) = world.invited("Quill Ltd", ADA);
    let path = format!("/account/invitation/{}", token.expose());
    world.clock.pass(24 * 60 * 60);
    let mut browser = Browser::default();
    for path in [path.as_str(), "/account/invitation/abc"] {
        assert_eq!(browser.get(&world, path).status, 404);
        let fields = [("password", PASSWORD), ("again", PASSWORD)];
        assert_eq!(browser.post(&world, path, &fields).status, 404);
    }
    assert!(browser.cookie.is_none());
}

#[test]
fn a_wrong_password_and_an_unknown_address_look_the_same() {
    let world = World::new();
    world.owner("Quill Ltd", ADA);
    world.invited("Without a password", "ben@quill.example");
    let wrong = signs_in(&world, ADA, "wrong horse battery");
    assert_eq!(wrong.1, 422);
    for email in ["eve@quill.example", "ben@quill.example", "no address"] {
        let other = signs_in(&world, email, "wrong horse battery");
        assert_eq!((wrong.1, &wrong.2), (other.1, &other.2), "{email}");
        assert!(other.0.cookie.is_none());
    }
    assert_eq!(signs_in(&world, " Ada@QUILL.example ", PASSWORD).1, 303);
}

#[test]
fn who_tries_on_is_slowed_whether_the_account_is_there_or_not() {
    let world = World::new();
    world.owner("Quill Ltd", ADA);
    for email in [ADA, "eve@quill.example"] {
        let tried: Vec<u16> = (0..11).map(|_| signs_in(&world, email, "wrong horse").1).collect();
        assert_eq!(tried[..10], [422; 10], "{email}");
        assert_eq!(tried[10], 429, "{email}");
    }
    assert_eq!(signs_in(&world, ADA, PASSWORD).1, 429);
    world.clock.pass(31);
    assert_eq!(signs_in(&world, ADA, PASSWORD).1, 303);
}

#[test]
fn signing_in_makes_a_new_id_and_ends_the_old_one() {
    let world = World::new();
    let owner = world.owner("Quill Ltd", ADA);
    let mut browser = owner.browser.clone();
    let fields = [("email", ADA), ("password", PASSWORD)];
    let seen = browser.post(&world, "/account/sign-in", &fields);
    assert!(seen.header("set-cookie").unwrap().contains("; HttpOnly; SameSite=Lax; Secure"));
    assert_ne!(browser.cookie, owner.browser.cookie);
    assert_eq!(browser.get(&world, "/account/").status, 200);
    assert_eq!(owner.browser.get(&world, "/account/").status, 303);
}

#[test]
fn a_session_that_somebody_else_made_up_is_none() {
    let world = World::new();
    let mut owner = world.owner("Quill Ltd", ADA);
    owner.browser.cookie = Some(format!("__Host-enrich={}", "0".repeat(64)));
    assert_eq!(owner.browser.get(&world, "/account/").status, 303);
}

#[test]
fn a_session_ends_when_it_is_not_used_and_when_its_time_is_over() {
    let settings = Settings {
        session_idle: SignedDuration::from_hours(1),
        session_lifetime: SignedDuration::from_hours(3),
        ..Settings::default()
    };
    let world = World::with(settings.clone());
    let owner = world.owner("Quill Ltd", ADA);
    for _ in 0..3 {
        world.clock.pass(3599);
        assert_eq!(owner.browser.get(&world, "/account/").status, 200);
    }
    world.clock.pass(3);
    assert_eq!(owner.browser.get(&world, "/account/").status, 303);
    let world = World::with(settings);
    let owner = world.owner("Quill Ltd", ADA);
    world.clock.pass(3600);
    assert_eq!(owner.browser.get(&world, "/account/").status, 303);
    assert!(world.ports.sessions.lock().is_empty());
}

#[test]
fn signing_out_ends_the_session_on_our_side() {
    let world = World::new();
    let mut owner = world.owner("Quill Ltd", ADA);
    let before = owner.browser.clone();
    let seen = owner.browser.post(&world, "/account/sign-out", &[]);
    assert!(seen.header("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(before.get(&world, "/account/").status, 303);
}

#[test]
fn a_script_is_told_to_go_to_the_sign_in() {
    let world = World::new();
    let mut request = Browser::default().request(Method::Get, "/account/keys");
    request.is_from_script = true;
    let seen = world.send(request);
    assert_eq!(
        (seen.status, seen.header("hx-redirect")),
        (401, Some("/account/sign-in?ended&to=%2Faccount%2Fkeys"))
    );
}

#[test]
fn a_cookie_that_did_not_come_back_is_explained() {
    let seen = Browser::default().get(&World::new(), "/account/welcome");
    assert!(seen.body.contains("did not return the session cookie"), "{}", seen.body);
}

#[test]
fn another_password_ends_all_other_sessions() {
    let world = World::new();
    let mut owner = world.owner("Quill Ltd", ADA);
    let (other, ..) = signs_in(&world, ADA, PASSWORD);
    let new = "another horse battery";
    let mut change = |present: &str, chosen: &str| {
        let fields = [("present", present), ("password", chosen), ("again", chosen)];
        owner.browser.post(&world, "/account/settings/password", &fields).status
    };
    assert_eq!(change("wrong horse battery", new), 422);
    assert_eq!(change(PASSWORD, "short"), 422);
    assert_eq!(other.get(&world, "/account/").status, 200);
    assert_eq!(change(PASSWORD, new), 303);
    assert_eq!(owner.browser.get(&world, "/account/").status, 200);
    assert_eq!(other.get(&world, "/account/").status, 303);
    assert_eq!(signs_in(&world, ADA, PASSWORD).1, 422);
    assert_eq!(signs_in(&world, ADA, new).1, 303);
}

#[test]
fn no_session_begins_with_a_password_that_was_replaced_meanwhile() {
    let world = World::new();
    let owner = world.owner("Quill Ltd", ADA);
    let another = || Some(PasswordHash::new("another"));
    *world.ports.password_before_session.lock() = another();
    let (browser, status, _) = signs_in(&world, ADA, PASSWORD);
    assert_eq!((status, browser.cookie), (422, None));
    assert!(world.ports.sessions.lock().is_empty());
    assert_eq!(owner.browser.get(&world, "/account/").status, 303);

    let (_, _, token) = world.invited("Ledger & Sons", "ben@quill.example");
    *world.ports.password_before_session.lock() = another();
    let path = format!("/account/invitation/{}", token.expose());
    let mut browser = Browser::default();
    let seen = browser.post(&world, &path, &[("password", PASSWORD), ("again", PASSWORD)]);
    assert_eq!(seen.header("location"), Some("/account/sign-in"), "{seen:?}");
    assert!(browser.cookie.is_none() && world.ports.sessions.lock().is_empty());
}

#[test]
fn a_password_of_blanks_is_none() {
    let world = World::new();
    let (_, _, token) = world.invited("Quill Ltd", ADA);
    let path = format!("/account/invitation/{}", token.expose());
    let blanks = " ".repeat(12);
    let fields = [("password", blanks.as_str()), ("again", &blanks)];
    let seen = Browser::default().post(&world, &path, &fields);
    assert_eq!(seen.status, 422);
    assert!(seen.body.contains("cannot consist of spaces only"), "{}", seen.body);
}

#[test]
fn all_other_sessions_can_be_ended() {
    let world = World::new();
    let mut owner = world.owner("Quill Ltd", ADA);
    let (other, ..) = signs_in(&world, ADA, PASSWORD);
    owner.browser.post(&world, "/account/settings/sessions", &[]);
    assert_eq!(owner.browser.get(&world, "/account/").status, 200);
    assert_eq!(other.get(&world, "/account/").status, 303);
}

#[test]
fn behind_a_proxy_the_address_it_names_is_slowed() {
    let settings =
        Settings { public_url: Some("https://enrich.example".to_owned()), ..Settings::default() };
    let world = World::with(settings);
    let tries = |forwarded: &str, number: u32| {
        let mut request = Browser::default().request(Method::Post, "/account/sign-in");
        request.forwarded_for = Some(forwarded.to_owned());
        let email = format!("{number}@quill.example");
        request.body = crate::world::body(&[("email", &email), ("password", "wrong horse")]);
        world.send(request).status
    };
    for number in 0..20 {
        assert_eq!(tries("203.0.113.1, 198.51.100.1", number), 422);
    }
    assert_eq!(tries("203.0.113.2, 198.51.100.1", 20), 429);
    assert_eq!(tries("198.51.100.1, 198.51.100.2", 21), 422);
    // Some proxies put the client's port after its address in `X-Forwarded-For`. The port is
    // different for each connection, so it is ignored.
    assert_eq!(tries("203.0.113.2, 198.51.100.1:4431", 22), 429);
    for number in 0..20 {
        assert_eq!(tries(&format!("[2001:db8::7]:{}", 4000 + number), 100 + number), 422);
    }
    for again in ["[2001:db8::7]:5000", "[2001:db8::7]", "2001:db8::7"] {
        assert_eq!(tries(again, 200), 429, "{again}");
    }
}

#[test]
fn sessions_are_listed_and_can_be_ended_one_by_one() {
    let world = World::new();
    let mut owner = world.owner("Quill Ltd", "ada@quill.example");
    world.clock.pass(60);
    let mut elsewhere = Browser::default();
    let fields = [("email", "ada@quill.example"), ("password", PASSWORD)];
    elsewhere.post(&world, "/account/sign-in", &fields);
    let seen = owner.browser.get(&world, "/account/settings");
    assert!(seen.body.contains("2026-03-04 12:00:30") && seen.body.contains("2026-03-04 12:01:30"));
    assert_eq!(seen.body.matches("this session").count(), 1, "{}", seen.body);
    let path = seen.between("action=\"/account/settings/sessions/", "\"").to_owned();
    let path = format!("/account/settings/sessions/{path}");
    assert!(path.ends_with("/end"), "{path}");
    let ended = owner.browser.post(&world, &path, &[]);
    assert_eq!(ended.header("location"), Some("/account/settings?done=session"));
    assert_eq!(elsewhere.get(&world, "/account/").status, 303);
    assert_eq!(owner.browser.get(&world, "/account/").status, 200);
    assert_eq!(owner.browser.post(&world, &path, &[]).status, 404);
}

#[test]
fn a_foreign_host_is_refused_and_the_setting_named() {
    let listens_on = Some("127.0.0.1:8080".parse().unwrap());
    let at = |public_url: Option<&str>, host: &str, path: &str| {
        let public_url = public_url.map(str::to_owned);
        let world = World::with(Settings { public_url, listens_on, ..Settings::default() });
        let mut request = Browser::default().request(Method::Get, path);
        request.host = Some(host.to_owned());
        world.send(request)
    };
    for path in ["/account/sign-in", "/account/", "/account/nothing"] {
        let seen = at(None, "evil.example:8080", path);
        assert_eq!(seen.status, 421, "{path}");
        assert!(seen.body.contains("--public-url"), "{}", seen.body);
        assert!(!seen.body.contains("evil.example"), "{}", seen.body);
    }
    assert_eq!(at(None, "127.0.0.1:8080", "/account/sign-in").status, 200);
    assert_eq!(at(None, "localhost:8080", "/account/sign-in").status, 200);
    // With a public URL, any `Host` is accepted, because the proxy may change it.
    let public_url = Some("https://enrich.example");
    assert_eq!(at(public_url, "upstream", "/account/sign-in").status, 200);
}
