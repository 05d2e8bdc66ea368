//! Tests of API keys and rate limits, which the service checks before the input fields of a
//! request.

use std::sync::Arc;

use enrich_core::{
    ApiKey, InvalidFields, KeyId, KeyInfo, MemoryWindows, Outcome, Price, RateLimit, RatePolicy,
    RateScope, Refusal, Timestamp,
};

use crate::world::{NOW, World, ask, call, call_with};

#[test]
fn a_caller_without_a_key_learns_nothing_about_the_fields() {
    let world = World::new();
    let read = || unreachable!("fields are read after the key is known");
    let keys = ["", "enr_live_wrong"];
    let service = world.service();
    for key in keys {
        let outcome = call_with(&world, &service, key, Price::PerAnswer(1), None, &read);
        assert!(matches!(outcome.result, Err(Refusal::InvalidKey)));
        assert_eq!((outcome.remaining, outcome.rate_limit_status), (None, None));
    }
    assert!(world.ports.counts.lock().is_empty());
}

#[test]
fn an_expired_key_is_an_unknown_key() {
    let world = World::new();
    world.change_key(|key| key.expires_at = Some(NOW));
    let outcome = call(&world, Price::PerAnswer(1), None);
    assert!(matches!(outcome.result, Err(Refusal::InvalidKey)));
}

#[test]
fn a_call_after_the_end_of_its_key_makes_nothing_final() {
    let world = World::new();
    world.change_key(|key| key.expires_at = Some(NOW));
    let outcome = call(&world, Price::PerAnswer(1), None);
    assert!(matches!(outcome.result, Err(Refusal::InvalidKey)));
    assert!(!world.ports.keys.lock()[0].0.has_ended, "the clock may be wrong");
}

#[test]
fn a_key_that_was_revoked_under_a_clock_ahead_is_refused() {
    let world = World::new();
    let ahead = Timestamp::from_second(7_200).unwrap();
    world.change_key(|key| (key.expires_at, key.has_ended) = (Some(ahead), true));
    let outcome = call(&world, Price::PerAnswer(1), None);
    assert!(matches!(outcome.result, Err(Refusal::InvalidKey)));
}

#[test]
fn a_key_of_a_suspended_account_is_an_unknown_key_whatever_the_time() {
    let world = World::new();
    world.change_key(|key| {
        (key.is_account_active, key.expires_at) = (false, Some(Timestamp::MAX));
    });
    let outcome = call(&world, Price::PerAnswer(1), None);
    assert!(matches!(outcome.result, Err(Refusal::InvalidKey)));
}

#[test]
fn the_window_is_counted_before_the_fields_are_read() {
    let world = World::new();
    let mut service = world.service();
    service.rate_limit = RateLimit::new(1, 60).unwrap();
    service.rate_policy = RatePolicy::Reject;
    let bad = || Err(InvalidFields(vec![("name", "is required".to_owned())]));
    let key = world.key.expose();
    let send = || call_with(&world, &service, key, Price::PerAnswer(1), None, &bad).result;
    assert!(matches!(send(), Err(Refusal::Fields(_))));
    assert!(matches!(send(), Err(Refusal::OverRate(_))));
}

#[test]
fn the_observing_policy_answers_beyond_the_limit_and_tells_once() {
    let world = World::new();
    let mut service = world.service();
    service.rate_limit = RateLimit::new(1, 60).unwrap();
    let key = world.key.expose();
    let send = || call_with(&world, &service, key, Price::PerAnswer(1), None, &ask);
    let outcomes = [send(), send(), send()];
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
    let told = outcomes.map(|outcome| outcome.rate_limit_status.unwrap().is_first_over);
    assert_eq!(told, [false, true, false]);
}

#[test]
fn the_keys_of_an_account_share_its_limit() {
    let world = World::new();
    let info = KeyInfo { id: KeyId::new(NOW), ..world.ports.keys.lock()[0].0.clone() };
    let second = ApiKey::generate().unwrap();
    world.ports.keys.lock().push((info, second.clone()));
    let mut service = world.service();
    service.rate_limit = RateLimit::new(5, 60).unwrap();
    service.account_rate_limit = RateLimit::new(3, 60);
    for policy in [RatePolicy::Observe, RatePolicy::Reject] {
        service.rate_policy = policy;
        service.rate_limiter = Arc::new(MemoryWindows::default());
        let send = |key: &ApiKey| {
            call_with(&world, &service, key.expose(), Price::PerAnswer(1), None, &ask)
        };
        let (one, two) = (&world.key, &second);
        let outcomes = [one, two, two, one, two].map(send);
        let statuses = outcomes.each_ref().map(|outcome| outcome.rate_limit_status.unwrap());
        assert_eq!(statuses.map(|status| status.remaining), [2, 1, 0, 0, 0]);
        assert!(statuses.iter().all(|status| status.scope == RateScope::Account));
        let first_over = statuses.map(|status| status.is_first_over);
        assert_eq!(first_over, [false, false, false, true, false]);
        let is_refused = |outcome: &Outcome| matches!(outcome.result, Err(Refusal::OverRate(_)));
        let refused = outcomes.each_ref().map(is_refused);
        let is_rejecting = policy == RatePolicy::Reject;
        assert_eq!(refused, [false, false, false, is_rejecting, is_rejecting]);
    }
}

#[test]
fn a_limit_of_the_account_that_leaves_more_does_not_show() {
    let world = World::new();
    let mut service = world.service();
    service.account_rate_limit = RateLimit::new(1_000, 60);
    let key = world.key.expose();
    let outcome = call_with(&world, &service, key, Price::PerAnswer(1), None, &ask);
    let rate_limit_status = outcome.rate_limit_status.unwrap();
    assert_eq!((rate_limit_status.scope, rate_limit_status.remaining), (RateScope::Key, 99));
}
