//! Tests of charges: what an answer costs, and when an answer is refused instead of being
//! charged.

use enrich_core::port::ledger::{ChargeError, Charged};
use enrich_core::port::usage::UseOutcome;
use enrich_core::{Credits, DirectoryRevision, Needed, Price, Refusal};

use crate::world::{World, call, text};

#[test]
fn an_answer_leaves_with_the_balance_after_its_charge() {
    let world = World::new();
    let outcome = call(&world, Price::PerAnswer(1), None);
    assert_eq!(text(&outcome), "balance 9");
    assert_eq!(outcome.remaining, Some(Credits(9)));
    assert_eq!(outcome.result.unwrap().used, Credits(1));
    let charges = world.charges();
    assert_eq!((charges.len(), charges[0].credits()), (1, Credits(1)));
    assert_eq!(charges[0].revision, DirectoryRevision(7));
    assert_eq!(world.first_outcome(), UseOutcome::Found);
}

#[test]
fn nothing_found_is_not_charged() {
    let world = World::with(10, 0);
    let outcome = call(&world, Price::PerAnswer(3), None);
    assert_eq!(text(&outcome), "balance 10");
    assert!(world.charges().is_empty());
    assert_eq!(world.first_outcome(), UseOutcome::NotFound);
}

#[test]
fn an_empty_account_cannot_probe_what_exists() {
    let world = World::with(2, 1);
    let outcome = call(&world, Price::PerAnswer(3), None);
    assert!(matches!(
        outcome.result,
        Err(Refusal::NotEnoughCredits { needed: Needed::Least(Credits(3)), .. })
    ));
    assert_eq!(world.lookups(), 0);
}

#[test]
fn a_balance_too_low_for_what_was_found_gives_no_answer() {
    let world = World::with(10, 11);
    world.ports.decide_charges(|_| Ok(Charged::Insufficient { balance: Credits(1) }));
    let outcome = call(&world, Price::per_items::<5>(), None);
    let refusal = outcome.result.unwrap_err();
    assert!(matches!(refusal, Refusal::NotEnoughCredits { needed: Needed::MoreThanLeft, .. }));
    let left = "the 1 credit that is left; ask for at most 5 items with `limit`";
    assert!(refusal.to_string().contains(left), "{refusal}");
    assert!(!refusal.to_string().contains('3'), "what there is costs 3: {refusal}");
    assert_eq!(outcome.remaining, Some(Credits(1)));
}

#[test]
fn a_charge_that_failed_or_cannot_be_told_gives_no_answer() {
    type Decide = fn() -> Result<Charged, ChargeError>;
    let cases: [(Decide, &str); 5] = [
        (|| Err(ChargeError::NotTaken("disk".into())), "nothing was charged"),
        (|| Err(ChargeError::Overloaded), "too many requests"),
        (|| Err(ChargeError::IdempotencyStoreFull), "Idempotency-Key"),
        (|| Err(ChargeError::Unknown("fsync".into())), "will not be charged twice"),
        (|| Err(ChargeError::Stopped), "charging is stopped"),
    ];
    for (charge, said) in cases {
        let world = World::new();
        world.ports.decide_charges(move |_| charge());
        let refusal = call(&world, Price::PerAnswer(1), None).result.unwrap_err();
        let message = refusal.to_string();
        assert!(message.contains(said), "{message}");
        assert!(!message.contains("disk") && !message.contains("fsync"), "{message}");
        assert_eq!(world.first_outcome(), UseOutcome::Refused);
    }
}
