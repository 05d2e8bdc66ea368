//! Tests of calls with an idempotency key.

use enrich_core::port::ledger::Charged;
use enrich_core::port::usage::UseOutcome;
use enrich_core::{
    Ask, BodyTemplate, Call, Credits, Found, Price, Refusal, ResponseTemplate, StoredResponse,
};
use parking_lot::Mutex;

use crate::world::{World, ask, balance, call, call_at, call_with, send, template, text};

#[test]
fn a_repeat_is_answered_before_the_balance_is_looked_at() {
    let stored = StoredResponse::Answer { body: balance(), balance: Credits(5), items: 3 };
    let world = World::with(0, 1).reading([Some(stored)]);
    let outcome = call(&world, Price::PerAnswer(1), Some("k1"));
    assert_eq!(text(&outcome), "balance 5");
    assert_eq!(outcome.remaining, Some(Credits::ZERO));
    let answer = outcome.result.unwrap();
    assert!(answer.is_replayed && answer.used == Credits::ZERO);
    assert!(answer.is_found && answer.items == 3, "as the first answer was: {answer:?}");
    assert_eq!(answer.first_charge, Credits(1));
    assert_eq!(world.lookups(), 0);
    assert_eq!(world.first_outcome(), UseOutcome::Replayed);
}

#[test]
fn a_repeat_of_a_miss_is_a_miss() {
    let stored = StoredResponse::Answer {
        body: BodyTemplate::new(b"nothing".to_vec(), None),
        balance: Credits(5),
        items: 0,
    };
    let world = World::new().reading([Some(stored)]);
    let answer = call(&world, Price::PerAnswer(1), Some("k1")).result.unwrap();
    assert!(answer.is_replayed && !answer.is_found && answer.items == 0, "{answer:?}");
    assert_eq!(answer.first_charge, Credits::ZERO);
}

#[test]
fn a_repeat_of_what_was_forgotten_since_finds_nothing_and_costs_nothing() {
    let answer = |body| StoredResponse::Answer { body, balance: Credits(5), items: 1 };
    let stored = answer(template("{\"domain\":\"Shop.Inkwell.example\"} ", 34));
    let known = World::new().reading([Some(stored.clone())]);
    let later = World::with(0, 1).reading([None, Some(stored)]);
    let elsewhere = World::new();
    elsewhere.ports.decide_charges(move |_| {
        Ok(Charged::Replayed(answer(template("anybody@inkwell.example ", 24))))
    });
    for world in [known, later, elsewhere] {
        let outcome = call(&world.without_inkwell(), Price::PerAnswer(1), Some("k1"));
        assert_eq!(text(&outcome), "balance 5");
        let answer = outcome.result.unwrap();
        assert!(answer.is_replayed && answer.used == Credits::ZERO);
    }
}

#[test]
fn a_repeat_while_another_runs_is_answered_if_the_first_was_and_else_refused() {
    let stored = StoredResponse::Answer { body: balance(), balance: Credits(5), items: 3 };
    for (stored_later, is_answered) in [(Some(stored), true), (None, false)] {
        let world = World::new().reading([None, stored_later]);
        let (service, repeated) = (world.service(), Mutex::new(None));
        let key = world.key.expose();
        let again = || call_with(&world, &service, key, Price::PerAnswer(1), Some("k1"), &ask);
        // The second call runs while the first call writes its answer.
        let write = |_: &Ask, _: Option<&Found>| {
            *repeated.lock() = Some(again().result);
            ResponseTemplate { items: 1, body: balance() }
        };
        let call = Call { key, idempotency_key: Some("k1"), ..call_at(Price::PerAnswer(1)) };
        send(&service, call, &ask, &write).result.unwrap();
        match repeated.into_inner().unwrap() {
            Ok(answer) => assert!(is_answered && answer.is_replayed, "{answer:?}"),
            Err(refusal) => {
                assert!(!is_answered && matches!(refusal, Refusal::StillRunning), "{refusal:?}");
            }
        }
        assert_eq!(world.charges().len(), 1);
    }
}

#[test]
fn a_repeat_that_another_process_answered_is_not_charged_again() {
    let world = World::new();
    world.ports.decide_charges(|_| {
        let (body, balance) = (balance(), Credits(5));
        Ok(Charged::Replayed(StoredResponse::Answer { body, balance, items: 1 }))
    });
    let outcome = call(&world, Price::PerAnswer(1), Some("k1"));
    assert_eq!(text(&outcome), "balance 5");
    assert_eq!(outcome.result.unwrap().used, Credits::ZERO);
}

#[test]
fn a_repeat_whose_first_call_took_the_last_credits_meanwhile_is_answered() {
    let (body, balance) = (balance(), Credits::ZERO);
    let stored = StoredResponse::Answer { body, balance, items: 1 };
    let world = World::with(0, 1).reading([None, Some(stored)]);
    let outcome = call(&world, Price::PerAnswer(1), Some("k1"));
    assert_eq!(text(&outcome), "balance 0");
}

#[test]
fn a_keyed_miss_is_kept() {
    let world = World::with(10, 0);
    call(&world, Price::PerAnswer(1), Some("k1"));
    let charges = world.charges();
    assert_eq!(charges[0].credits(), Credits::ZERO);
    assert!(charges[0].idempotency.is_some());
}

#[test]
fn an_idempotency_key_for_another_question_is_refused() {
    let world = World::new().reading([Some(StoredResponse::OtherRequest)]);
    let outcome = call(&world, Price::PerAnswer(1), Some("k1"));
    assert!(matches!(outcome.result, Err(Refusal::IdempotencyKeyReused)));
    let outcome = call(&world, Price::PerAnswer(1), Some("no spaces"));
    assert!(matches!(outcome.result, Err(Refusal::BadIdempotencyKey(_))));
}
