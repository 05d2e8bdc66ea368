//! Tests of API keys: creation, display, labels, limits, rotation, revocation.

use enrich_core::RateOverride;

use crate::world::{Owner, World};

fn world() -> (World, Owner) {
    let world = World::new();
    let owner = world.owner("Quill Ltd", "ada@quill.example");
    (world, owner)
}

fn secret(world: &World, label: &str) -> String {
    let keys = world.ports.keys.lock();
    let key = keys.iter().rfind(|(info, _)| info.label == label);
    key.unwrap().1.expose().to_owned()
}

#[test]
fn a_new_key_shows_for_ten_minutes_and_later_when_asked_for() {
    let (world, mut owner) = world();
    let seen = owner.browser.post(&world, "/account/keys", &[("label", " web shop ")]);
    let place = seen.header("location").unwrap().to_owned();
    let (path, query) = place.split_once('?').unwrap();
    assert_eq!(query, "new");
    let secret = secret(&world, "web shop");
    assert!(owner.browser.get(&world, &place).body.contains(&secret));
    assert!(!owner.browser.get(&world, path).body.contains(&secret));
    world.clock.pass(601);
    assert!(!owner.browser.get(&world, &place).body.contains(&secret));
    let shown = owner.browser.post(&world, &format!("{path}/reveal"), &[]);
    assert!(shown.body.contains(&secret));
    assert_eq!(shown.header("cache-control"), Some("no-store"));
    assert!(!owner.browser.get(&world, "/account/keys").body.contains(&secret));
}

#[test]
fn a_label_is_one_line_of_at_most_200_characters() {
    let (world, mut owner) = world();
    let path = format!("/account/keys/{}/label", owner.key);
    let label = |world: &World| world.ports.keys.lock()[0].0.label.clone();
    assert_eq!(owner.browser.post(&world, &path, &[("label", "a\nb")]).status, 422);
    assert_eq!(owner.browser.post(&world, &path, &[("label", &"x".repeat(201))]).status, 422);
    assert_eq!(label(&world), "first");
    assert_eq!(owner.browser.post(&world, &path, &[("label", "web shop")]).status, 303);
    assert_eq!(label(&world), "web shop");
}

#[test]
fn a_limit_goes_up_to_the_services_own_or_to_what_the_operator_gave() {
    let (world, mut owner) = world();
    let path = format!("/account/keys/{}/limit", owner.key);
    let rate = |world: &World| world.ports.keys.lock()[0].0.rate;
    for wrong in ["0", "101", "-1", "1.5", "many"] {
        let seen = owner.browser.post(&world, &path, &[("requests", wrong)]);
        assert_eq!(seen.status, 422, "{wrong}");
    }
    assert_eq!(rate(&world), RateOverride::default());
    owner.browser.post(&world, &path, &[("requests", "7")]);
    assert_eq!(rate(&world).requests, Some(7));
    owner.browser.post(&world, &path, &[("requests", "")]);
    assert_eq!(rate(&world), RateOverride::default());
    let given = RateOverride { requests: Some(600), window_seconds: Some(10) };
    world.ports.keys.lock()[0].0.rate = given;
    assert_eq!(owner.browser.post(&world, &path, &[("requests", "601")]).status, 422);
    owner.browser.post(&world, &path, &[("requests", "500")]);
    assert_eq!(rate(&world), RateOverride { requests: Some(500), ..given });
}

#[test]
fn a_limit_with_a_window_of_its_own_lets_no_more_through_than_the_services() {
    let (world, mut owner) = world();
    let path = format!("/account/keys/{}", owner.key);
    let mut set = |requests, window_seconds, typed: &str| {
        let given = RateOverride { requests, window_seconds: Some(window_seconds) };
        world.ports.keys.lock()[0].0.rate = given;
        let seen = owner.browser.post(&world, &format!("{path}/limit"), &[("requests", typed)]);
        let rate = world.ports.keys.lock()[0].0.rate;
        assert_eq!(rate.window_seconds, Some(window_seconds));
        assert!(seen.status == 303 || rate == given, "{seen:?}");
        (seen.status, rate.requests)
    };
    // The service's limit is 100 requests in 60 seconds. For a window of 1 second, this is 1
    // request. But the key already has a limit of 5 requests, so the owner may set up to 5.
    for typed in ["100", "6", ""] {
        assert_eq!(set(Some(5), 1, typed), (422, Some(5)), "{typed}");
    }
    assert_eq!(set(Some(5), 1, "5"), (303, Some(5)));
    assert_eq!(set(Some(5), 1, "3"), (303, Some(3)));
    assert_eq!(set(Some(5), 30, "50"), (303, Some(50)));
    assert_eq!(set(Some(5), 30, "51"), (422, Some(5)));
    // If the key's window is an hour, the owner may set up to 100 requests, although the service
    // allows 100 requests in each minute. With a limit of 6,000 requests in an hour, the key could
    // send all of them within one minute.
    assert_eq!(set(Some(5), 3600, "101"), (422, Some(5)));
    assert_eq!(set(Some(5), 3600, "100"), (303, Some(100)));
    assert_eq!(set(None, 1, ""), (303, None));
    assert_eq!(set(None, 1, "101"), (422, None));
    set(Some(5), 1, "5");
    let seen = owner.browser.get(&world, &path);
    assert!(seen.body.contains("5 requests in 1 second (own limit)"), "{}", seen.body);
    assert!(seen.body.contains(">Requests in 1 second</label>"), "{}", seen.body);
    assert!(seen.body.contains("only the service's operator can raise the limit"), "{}", seen.body);
}

#[test]
fn a_rotated_key_has_a_successor_with_its_label_and_lives_on_as_chosen() {
    let (world, mut owner) = world();
    let path = format!("/account/keys/{}/rotate", owner.key);
    assert_eq!(owner.browser.post(&world, &path, &[("overlap", "9y")]).status, 422);
    let seen = owner.browser.post(&world, &path, &[("overlap", "24h")]);
    let place = seen.header("location").unwrap().to_owned();
    assert!(owner.browser.get(&world, &place).body.contains(&secret(&world, "first")));
    let keys = world.ports.keys.lock();
    assert_eq!((keys.len(), keys[1].0.label.as_str()), (2, "first"));
    let overlap = keys[0].0.created_at.duration_until(keys[0].0.expires_at.unwrap());
    assert_eq!(overlap.as_hours(), 24);
}

#[test]
fn a_key_is_revoked_when_one_is_sure_and_cannot_be_rotated_after() {
    let (world, mut owner) = world();
    let path = format!("/account/keys/{}", owner.key);
    assert_eq!(owner.browser.post(&world, &format!("{path}/revoke"), &[]).status, 422);
    let sure = [("sure", "yes")];
    assert_eq!(owner.browser.post(&world, &format!("{path}/revoke"), &sure).status, 303);
    assert!(world.ports.keys.lock()[0].0.expires_at.is_some());
    let rotate = owner.browser.post(&world, &format!("{path}/rotate"), &[("overlap", "0")]);
    assert_eq!(rotate.status, 422);
    let secret = secret(&world, "first");
    assert!(!owner.browser.post(&world, &format!("{path}/reveal"), &[]).body.contains(&secret));
}

#[test]
fn an_account_has_no_more_keys_than_it_can_look_after() {
    let (world, mut owner) = world();
    let mut made = (0..60).map(|_| owner.browser.post(&world, "/account/keys", &[]).status);
    assert_eq!(made.position(|status| status == 422), Some(49));
    let path = format!("/account/keys/{}/rotate", owner.key);
    assert_eq!(owner.browser.post(&world, &path, &[("overlap", "7d")]).status, 422);
}
