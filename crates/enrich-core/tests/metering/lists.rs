//! Tests of answers with a list: how much of the list is read, and which calls are refused because
//! the account cannot pay for them.

use std::num::NonZeroU64;
use std::sync::Arc;

use enrich_core::port::ledger::Charged;
use enrich_core::{
    Answer, Ask, BodyTemplate, Call, Credits, EntryKind, Found, Needed, Outcome, Price, Projection,
    Refusal, ResponseTemplate, Service,
};
use enrich_testkit::fake_clock::FakeClock;
use parking_lot::Mutex;

use crate::world::{NOW, World, ask, balance, call_at, call_with, send};

#[test]
fn a_setting_bounds_the_lists_of_answers_with_one_price_alone() {
    let world = World::new();
    let mut service = world.service();
    let seen = Mutex::new(Vec::new());
    let mut limits = |most: Option<u64>, price, limit| {
        service.max_enrichment_items = most.and_then(NonZeroU64::new);
        let write = |ask: &Ask, _: Option<&Found>| {
            seen.lock().push(ask.limit);
            ResponseTemplate { items: 1, body: BodyTemplate::default() }
        };
        let key = world.key.expose();
        let read = || Ok(Ask { limit, ..ask()? });
        send(&service, Call { key, ..call_at(price) }, &read, &write).result.unwrap();
    };
    limits(None, Price::PerAnswer(3), None);
    limits(Some(20), Price::PerAnswer(3), None);
    limits(Some(20), Price::per_items::<5>(), None);
    limits(Some(20), Price::per_items::<5>(), Some(50));
    assert_eq!(*seen.lock(), [None, Some(20), None, Some(50)]);
}

/// Makes a call that asks for all employees of a company. The company has `world.items`
/// employees.
fn call_for_all(world: &World, price: Price) -> Outcome {
    let read_limit = || match world.ports.projections.lock().last() {
        Some(Projection::Employees { limit: Some(most) }) => *most,
        wanted => unreachable!("employees are wanted up to some number, not {wanted:?}"),
    };
    let read = || Ok(Ask { projection: Projection::Employees { limit: None }, ..ask()? });
    let write = |_: &Ask, _: Option<&Found>| ResponseTemplate {
        items: world.items.min(read_limit()),
        body: balance(),
    };
    let key = world.key.expose();
    send(&world.service(), Call { key, ..call_at(price) }, &read, &write)
}

#[test]
fn no_more_of_a_list_is_read_than_can_be_paid() {
    let reads = [(Price::per_items::<5>(), 51), (Price::per_items::<500>(), 5_001)];
    for (price, most) in reads {
        let world = World::with(10, 10_000);
        let refusal = call_for_all(&world, price).result.unwrap_err();
        assert!(matches!(refusal, Refusal::NotEnoughCredits { needed: Needed::MoreThanLeft, .. }));
        assert!(!refusal.to_string().contains("10000"), "{refusal}");
        assert_eq!(*world.ports.projections.lock(), [Projection::Employees { limit: Some(most) }]);
        assert!(world.charges().is_empty());
    }
}

#[test]
fn a_list_that_was_cut_short_is_read_whole_where_credits_were_granted_since() {
    let world = World::with(10_000, 3_000);
    *world.ports.cached_balance.lock() = Some(Credits(1));
    let outcome = call_for_all(&world, Price::per_items::<5>());
    assert_eq!(outcome.result.unwrap().used, Credits(600));
    let reads = [6, 50_001].map(|most| Projection::Employees { limit: Some(most) });
    assert_eq!(*world.ports.projections.lock(), reads);
    let charges = world.charges();
    assert_eq!((charges.len(), charges[0].items), (1, 3_000));
}

fn ask_for(world: &World, service: &Service, limit: Option<u64>) -> Result<Answer, Refusal> {
    let read = || Ok(Ask { limit, ..ask()? });
    let key = world.key.expose();
    call_with(world, service, key, Price::per_items::<5>(), None, &read).result
}

/// Returns a service that has refused 100 calls of the account of `world` on one day, each after
/// its look-up. For the rest of the day, the service looks up nothing for a call that the account
/// may be unable to pay for, and refuses the call at once.
///
/// The account must have 2 credits, and the company 11 email addresses. Then the credits pay for
/// at most 10 addresses, so each of the 100 calls is refused.
fn probed(world: &World, clock: Arc<FakeClock>) -> Service {
    let service = world.ports.service(clock);
    for lookups in 1..=100 {
        let refusal = ask_for(world, &service, None).unwrap_err();
        assert!(refusal.to_string().contains("at most 10 items"), "{refusal}");
        assert_eq!(world.lookups(), lookups);
    }
    service
}

#[test]
fn after_a_hundred_refusals_in_a_day_nothing_is_looked_up_that_may_not_be_paid() {
    let world = World::with(2, 11);
    // The ledger refuses every charge, so the balance stays at 2 credits.
    world.ports.decide_charges(|_| Ok(Charged::Insufficient { balance: Credits(2) }));
    let clock = Arc::new(FakeClock::default());
    let service = probed(&world, Arc::clone(&clock));
    for limit in [None, Some(11)] {
        let refusal = ask_for(&world, &service, limit).unwrap_err();
        let needed = Needed::PerhapsMore;
        assert!(matches!(refusal, Refusal::NotEnoughCredits { needed: n, .. } if n == needed));
        assert!(refusal.to_string().contains("at most 10 items"), "{refusal}");
    }
    assert_eq!(world.lookups(), 100);
    // The account has reached the maximum of 100 refusals on this day. But a call for which its
    // balance is certainly sufficient is still looked up. On the next day, every call is looked up
    // again.
    let _ = ask_for(&world, &service, Some(10));
    let single = call_with(&world, &service, world.key.expose(), Price::PerAnswer(2), None, &ask);
    assert!(single.key.is_some());
    assert_eq!(world.lookups(), 102);
    clock.set(86_400);
    let refusal = ask_for(&world, &service, None).unwrap_err();
    let needed = Needed::MoreThanLeft;
    assert!(matches!(refusal, Refusal::NotEnoughCredits { needed: n, .. } if n == needed));
    assert_eq!(world.lookups(), 103);
}

#[test]
fn credits_end_the_refusals_before_the_look_up() {
    let world = World::with(2, 11);
    let service = probed(&world, Arc::default());
    assert!(ask_for(&world, &service, None).is_err());
    assert_eq!(world.lookups(), 100);
    world.ports.add_entry(world.account(), EntryKind::Grant, 1, NOW);
    let _ = ask_for(&world, &service, None);
    assert_eq!(world.lookups(), 101);
}
