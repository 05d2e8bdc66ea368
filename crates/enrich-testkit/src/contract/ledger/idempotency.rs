//! Contract tests of idempotency keys and their stored responses.

use enrich_core::port::ledger::{ChargeError, Charged};
use enrich_core::{IdempotencyRecord, StoredResponse};
use futures_util::future::join_all;

use super::{Customer, answer_to, assert_sound, taken};
use crate::contract::{Harness, after_noon, noon};

/// If a call with an idempotency key finds nothing, its answer is stored for repeated calls. The
/// call adds no row to the ledger and costs nothing, even at a balance of 0.
pub async fn nothing_found_is_kept_and_costs_nothing(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 0).await;
    assert_eq!(ports.ledger.charge(customer.keyed(0, "k", "q")).await.unwrap(), taken(0));
    assert_eq!(
        customer.stored_response(&ports, "k", "q", noon()).await,
        Some(answer_to("q", 0, 0))
    );
    assert_eq!(ports.ledger.entries(customer.account, 0, 10).await.unwrap(), []);
    assert_sound(&ports).await;
}

/// A call with a used idempotency key gets the first answer, with the balance after the first call.
/// Nothing is charged again.
pub async fn a_repeat_is_replayed(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 10).await;
    assert_eq!(customer.stored_response(&ports, "k", "q", noon()).await, None);
    assert_eq!(ports.ledger.charge(customer.keyed(5, "k", "q")).await.unwrap(), taken(9));
    assert_eq!(ports.ledger.charge(customer.charge(5)).await.unwrap(), taken(8));
    assert_eq!(
        customer.stored_response(&ports, "k", "q", noon()).await,
        Some(answer_to("q", 9, 5))
    );
    let replayed = Charged::Replayed(answer_to("q", 9, 5));
    assert_eq!(ports.ledger.charge(customer.keyed(5, "k", "q")).await.unwrap(), replayed);
    assert_eq!(customer.balance(&ports).await, 8);
}

/// If several calls with the same idempotency key run at the same time, one is charged and the
/// others get its stored answer.
pub async fn repeats_at_once_are_charged_once(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 100).await;
    let race = (0..50).map(|_| ports.ledger.charge(customer.keyed(1, "k", "q")));
    let decided: Vec<_> = join_all(race).await.into_iter().map(Result::unwrap).collect();
    let replayed = Charged::Replayed(answer_to("q", 99, 1));
    assert_eq!(decided.iter().filter(|charged| **charged == taken(99)).count(), 1);
    assert_eq!(decided.iter().filter(|charged| **charged == replayed).count(), 49);
    assert_eq!(ports.ledger.entries(customer.account, 0, 10).await.unwrap().len(), 2);
}

/// A repeated call gets the stored answer also after a restart, and at a balance of 0.
pub async fn a_repeat_is_replayed_after_a_restart_and_without_credits(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 1).await;
    assert_eq!(ports.ledger.charge(customer.keyed(1, "k", "q")).await.unwrap(), taken(0));
    let ports = harness.reopen(ports).await;
    assert_eq!(customer.balance(&ports).await, 0);
    assert_eq!(
        customer.stored_response(&ports, "k", "q", noon()).await,
        Some(answer_to("q", 0, 1))
    );
    let replayed = Charged::Replayed(answer_to("q", 0, 1));
    assert_eq!(ports.ledger.charge(customer.keyed(1, "k", "q")).await.unwrap(), replayed);
}

/// A call is refused and costs nothing if its idempotency key was already used for another request.
pub async fn another_question_under_the_same_key_is_told_apart(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 10).await;
    ports.ledger.charge(customer.keyed(1, "k", "q")).await.unwrap();
    let other = Charged::Replayed(StoredResponse::OtherRequest);
    assert_eq!(ports.ledger.charge(customer.keyed(1, "k", "r")).await.unwrap(), other);
    assert_eq!(
        customer.stored_response(&ports, "k", "r", noon()).await,
        Some(StoredResponse::OtherRequest)
    );
    assert_eq!(customer.balance(&ports).await, 9);
}

/// Two accounts may use the same idempotency key independently.
pub async fn an_idempotency_key_is_the_accounts_own(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (one, other) = (Customer::with(&ports, 10).await, Customer::with(&ports, 20).await);
    assert_eq!(ports.ledger.charge(one.keyed(1, "k", "q")).await.unwrap(), taken(9));
    assert_eq!(ports.ledger.charge(other.keyed(1, "k", "r")).await.unwrap(), taken(19));
    assert_eq!(one.stored_response(&ports, "k", "q", noon()).await, Some(answer_to("q", 9, 1)));
}

/// A response is stored for 24 hours. After that, its idempotency key can be used again.
pub async fn a_kept_answer_expires_after_24_hours(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 10).await;
    ports.ledger.charge(customer.keyed(1, "k", "q")).await.unwrap();
    let (last, over) =
        (after_noon(IdempotencyRecord::SECONDS - 1), after_noon(IdempotencyRecord::SECONDS));
    let replayed = Charged::Replayed(answer_to("q", 9, 1));
    let again = customer.keyed_at(1, "k", "q", last);
    assert_eq!(ports.ledger.charge(again).await.unwrap(), replayed);
    assert_eq!(customer.stored_response(&ports, "k", "q", over).await, None);
    let anew = customer.keyed_at(1, "k", "r", over);
    assert_eq!(ports.ledger.charge(anew).await.unwrap(), taken(8));
    assert_eq!(customer.stored_response(&ports, "k", "r", over).await, Some(answer_to("r", 8, 1)));
    assert_sound(&ports).await;
}

/// A stored response is returned again even if the clock was set back, so that nothing is charged
/// twice.
pub async fn a_kept_answer_is_given_again_where_the_clock_was_set_back(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 10).await;
    let first = customer.keyed_at(1, "k", "q", after_noon(7_200));
    assert_eq!(ports.ledger.charge(first).await.unwrap(), taken(9));
    let again = ports.ledger.charge(customer.keyed_at(1, "k", "q", noon())).await.unwrap();
    assert_eq!(again, Charged::Replayed(answer_to("q", 9, 1)));
    assert_eq!(
        customer.stored_response(&ports, "k", "q", noon()).await,
        Some(answer_to("q", 9, 1))
    );
    // A day later, the call is charged again, and its new answer is stored.
    let a_day = 7_200 + IdempotencyRecord::SECONDS;
    let later = customer.keyed_at(1, "k", "q", after_noon(a_day));
    assert_eq!(ports.ledger.charge(later).await.unwrap(), taken(8));
    assert_eq!(
        customer.stored_response(&ports, "k", "q", after_noon(7_201)).await,
        Some(answer_to("q", 8, 1))
    );
}

/// One account can store at most half of the maximum number of responses, so other accounts can
/// still store theirs. An account with one credit can fill its half with calls that cost nothing.
/// Then a call of this account is refused if it has a new idempotency key. The account's other
/// calls still work.
pub async fn one_account_leaves_room_for_the_kept_answers_of_others(harness: &dyn Harness) {
    let ports = harness.fresh_keeping(160).await;
    let greedy = Customer::with(&ports, 1).await;
    let others = [Customer::with(&ports, 50).await, Customer::with(&ports, 50).await];
    let charge = async |charge| ports.ledger.charge(charge).await;
    let mut kept = 0;
    for number in 0..200 {
        let charged = charge(greedy.keyed(0, &format!("k{number}"), "q")).await;
        let is_full = matches!(charged, Err(ChargeError::IdempotencyStoreFull));
        assert!(is_full || charged.is_ok(), "{charged:?}");
        kept += u32::from(!is_full);
    }
    assert_eq!(kept, 80, "half of the room");
    for other in &others {
        for number in 0..10 {
            let charged = charge(other.keyed(1, &format!("k{number}"), "q")).await.unwrap();
            assert!(matches!(charged, Charged::Taken { .. }), "{number}: {charged:?}");
        }
        let full = charge(other.keyed(1, "k10", "q")).await;
        assert!(
            matches!(full, Err(ChargeError::IdempotencyStoreFull)),
            "its share is 10: {full:?}"
        );
    }
    let refused = charge(greedy.keyed(0, "new", "q")).await;
    assert!(matches!(refused, Err(ChargeError::IdempotencyStoreFull)), "{refused:?}");
    let repeat = charge(greedy.keyed(0, "k0", "q")).await.unwrap();
    assert_eq!(repeat, Charged::Replayed(answer_to("q", 1, 0)));
    assert_eq!(charge(greedy.charge(1)).await.unwrap(), taken(0), "without a key");
    // A day later, each call of the account deletes some expired responses. After some calls, the
    // account has room again.
    let mut later = Err(ChargeError::IdempotencyStoreFull);
    for _ in 0..10 {
        let new = greedy.keyed_at(0, "new", "q", after_noon(IdempotencyRecord::SECONDS));
        later = if later.is_err() { charge(new).await } else { later };
    }
    assert_eq!(later.unwrap(), taken(0));
    assert_sound(&ports).await;
}

/// The number of stored responses of all accounts together has a limit, even if each account stores
/// only one response. No response is deleted before it expires.
pub async fn shared_room_has_an_end_and_nothing_in_it_goes_early(harness: &dyn Harness) {
    let ports = harness.fresh_keeping(32).await;
    let mut customers = Vec::new();
    for _ in 0..40 {
        customers.push(Customer::with(&ports, 1).await);
    }
    let mut kept = Vec::new();
    for customer in &customers {
        match ports.ledger.charge(customer.keyed(1, "k", "q")).await {
            Ok(charged) => kept.push((customer, charged)),
            Err(error) => assert!(matches!(error, ChargeError::IdempotencyStoreFull), "{error:?}"),
        }
    }
    assert_eq!(kept.len(), 32);
    let just_before = after_noon(IdempotencyRecord::SECONDS - 1);
    for (customer, _) in kept {
        let answer = customer.stored_response(&ports, "k", "q", just_before).await;
        assert_eq!(answer, Some(answer_to("q", 0, 1)));
    }
    assert_sound(&ports).await;
}
