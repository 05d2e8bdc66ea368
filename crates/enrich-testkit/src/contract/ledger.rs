//! Contract tests of the ledger, which every store must pass.

mod idempotency;

pub use idempotency::*;

use enrich_core::port::ledger::{Charge, ChargeError, Charged, Grant, Granted};
use enrich_core::{
    AccountId, BodyTemplate, ChargeId, Credits, DirectoryRevision, EntryKind, IdempotencyKey,
    IdempotencyRecord, KeyId, Price, StoredResponse, Timestamp,
};
use futures_util::future::join_all;

use super::{Harness, Ports, account_with_key, after_noon, new_charge, noon};

struct Customer {
    account: AccountId,
    key: KeyId,
}

impl Customer {
    /// Creates an account and grants it `credits`.
    async fn with(ports: &Ports, credits: i64) -> Self {
        let (account, key) = account_with_key(ports, "Northwind").await;
        let customer = Self { account, key: key.id };
        if credits > 0 {
            let granted = ports.ledger.grant(customer.grant(credits)).await.unwrap();
            let balance = Credits(credits.unsigned_abs());
            assert_eq!(granted, Granted::Written { balance });
        }
        customer
    }

    fn grant(&self, credits: i64) -> Grant {
        Grant {
            id: ChargeId::new(noon()),
            account: self.account,
            credits,
            note: "an invoice".to_owned(),
            corrects: None,
            at: noon(),
        }
    }

    /// Returns a charge for `items` items. The price is 1 credit for every 5 items, rounded up.
    fn charge(&self, items: u64) -> Charge {
        let (endpoint, price) = ("/v1/dte", Price::per_items::<5>());
        Charge { endpoint, items, price, ..new_charge(self.account, self.key) }
    }

    fn keyed(&self, items: u64, key: &str, asked: &str) -> Charge {
        self.keyed_at(items, key, asked, noon())
    }

    fn keyed_at(&self, items: u64, key: &str, asked: &str, at: Timestamp) -> Charge {
        let idempotency = IdempotencyRecord {
            key: IdempotencyKey::parse(key).unwrap(),
            request_bytes: asked.as_bytes().to_vec(),
            body: body_for(asked),
        };
        Charge { at, idempotency: Some(idempotency), ..self.charge(items) }
    }

    async fn balance(&self, ports: &Ports) -> u64 {
        ports.ledger.balance(self.account).await.unwrap().unwrap().0
    }

    async fn stored_response(
        &self,
        ports: &Ports,
        key: &str,
        asked: &str,
        at: Timestamp,
    ) -> Option<StoredResponse> {
        let key = IdempotencyKey::parse(key).unwrap();
        ports.ledger.stored_response(self.account, &key, asked.as_bytes(), at).await.unwrap()
    }
}

/// Returns the template of an answer to the request `asked`: the answer's text with a gap in the
/// middle, into which the balance is written later.
fn body_for(asked: &str) -> BodyTemplate {
    let begin = b"the answer, with ";
    BodyTemplate::new(
        [begin, &b" credits left, to "[..], asked.as_bytes()].concat(),
        Some(begin.len()),
    )
}

fn answer_to(asked: &str, balance: u64, items: u64) -> StoredResponse {
    let body = body_for(asked);
    StoredResponse::Answer { body, balance: Credits(balance), items }
}

fn taken(balance: u64) -> Charged {
    Charged::Taken { balance: Credits(balance) }
}

async fn assert_sound(ports: &Ports) {
    assert_eq!(ports.ledger.verify().await.unwrap().faults, [] as [String; 0]);
}

/// A new account has a balance of 0.
pub async fn a_new_account_has_no_credits(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, _) = account_with_key(&ports, "Northwind").await;
    assert_eq!(ports.ledger.balance(account).await.unwrap(), Some(Credits::ZERO));
    assert_eq!(ports.ledger.entries(account, 0, 10).await.unwrap(), []);
}

/// The balance of an unknown account is `None`, not 0.
pub async fn an_unknown_account_has_no_balance(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let nobody = Customer { account: AccountId::new(noon()), key: KeyId::new(noon()) };
    assert_eq!(ports.ledger.balance(nobody.account).await.unwrap(), None);
    assert_eq!(ports.ledger.grant(nobody.grant(5)).await.unwrap(), Granted::NoAccount);
    let insufficient = Charged::Insufficient { balance: Credits::ZERO };
    assert_eq!(ports.ledger.charge(nobody.charge(1)).await.unwrap(), insufficient);
    assert_eq!(ports.ledger.entries(nobody.account, 0, 10).await.unwrap(), []);
}

/// Credits can be spent immediately after they were granted.
pub async fn a_grant_counts_at_once(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 10).await;
    assert_eq!(customer.balance(&ports).await, 10);
    assert_eq!(ports.ledger.charge(customer.charge(50)).await.unwrap(), taken(0));
    ports.ledger.grant(customer.grant(3)).await.unwrap();
    assert_eq!(ports.ledger.charge(customer.charge(1)).await.unwrap(), taken(2));
}

/// A negative grant takes credits back. It can take the whole balance, but no more.
pub async fn a_negative_grant_goes_as_far_as_the_balance(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 10).await;
    let refused = Granted::OutOfRange { balance: Credits(10) };
    assert_eq!(ports.ledger.grant(customer.grant(-11)).await.unwrap(), refused);
    assert_eq!(ports.ledger.grant(customer.grant(i64::MIN)).await.unwrap(), refused);
    let written = Granted::Written { balance: Credits::ZERO };
    assert_eq!(ports.ledger.grant(customer.grant(-10)).await.unwrap(), written);
    assert_sound(&ports).await;
}

/// A grant that would exceed the largest balance is refused.
pub async fn a_grant_beyond_the_most_credits_is_refused(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, i64::MAX).await;
    let refused = Granted::OutOfRange { balance: Credits::MAX };
    assert_eq!(ports.ledger.grant(customer.grant(1)).await.unwrap(), refused);
    assert_eq!(ports.ledger.charge(customer.charge(1)).await.unwrap(), taken(i64::MAX as u64 - 1));
    assert_sound(&ports).await;
}

/// A charge takes its price and returns the new balance.
pub async fn a_charge_takes_its_price(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 10).await;
    assert_eq!(ports.ledger.charge(customer.charge(6)).await.unwrap(), taken(8));
    assert_eq!(customer.balance(&ports).await, 8);
}

/// A charge above the balance is refused and takes nothing, however large the charge is.
pub async fn a_charge_beyond_the_balance_takes_nothing(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 2).await;
    let refused = Charged::Insufficient { balance: Credits(2) };
    assert_eq!(ports.ledger.charge(customer.keyed(11, "k", "q")).await.unwrap(), refused);
    let enormous = Charge { price: Price::PerAnswer(u64::MAX), ..customer.charge(1) };
    assert_eq!(ports.ledger.charge(enormous).await.unwrap(), refused);
    assert_eq!(customer.balance(&ports).await, 2);
    assert_eq!(
        customer.stored_response(&ports, "k", "q", noon()).await,
        None,
        "a refusal is not kept"
    );
    assert_eq!(ports.ledger.charge(customer.keyed(10, "k", "q")).await.unwrap(), taken(0));
}

/// If many charges need the last credit at the same time, exactly one succeeds.
pub async fn one_of_many_gets_the_last_credit(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 1).await;
    let race = (0..200).map(|_| ports.ledger.charge(customer.charge(1)));
    let decided: Vec<_> = join_all(race).await.into_iter().map(Result::unwrap).collect();
    let winners = decided.iter().filter(|charged| **charged == taken(0)).count();
    let refused = Charged::Insufficient { balance: Credits::ZERO };
    assert_eq!(winners, 1);
    assert_eq!(decided.iter().filter(|charged| **charged == refused).count(), 199);
    assert_eq!(customer.balance(&ports).await, 0);
    assert_sound(&ports).await;
}

/// Concurrent charges of different accounts don't affect each other's balances.
pub async fn accounts_do_not_share_credits(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (one, other) = (Customer::with(&ports, 30).await, Customer::with(&ports, 50).await);
    let both =
        (0..60).map(|n| ports.ledger.charge(if n % 3 == 0 { &one } else { &other }.charge(1)));
    assert!(
        join_all(both).await.iter().all(|decided| matches!(decided, Ok(Charged::Taken { .. })))
    );
    assert_eq!((one.balance(&ports).await, other.balance(&ports).await), (10, 10));
    assert_sound(&ports).await;
}

/// The ledger rows of an account are listed in order, with all their values. Two consecutive parts
/// of the list have no gap and no overlap.
pub async fn entries_come_back_as_they_were_made(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 10).await;
    let charge = customer.charge(6);
    ports.ledger.charge(charge.clone()).await.unwrap();
    let back = Grant { corrects: Some(charge.id), at: after_noon(1), ..customer.grant(2) };
    let written = Granted::Written { balance: Credits(10) };
    assert_eq!(ports.ledger.grant(back.clone()).await.unwrap(), written);
    let ports = harness.reopen(ports).await;

    let entries = ports.ledger.entries(customer.account, 0, 2).await.unwrap();
    let rest = ports.ledger.entries(customer.account, 2, 2).await.unwrap();
    let entries = [entries, rest].concat();
    let told: Vec<_> = entries.iter().map(|e| (e.sequence, e.credits, e.balance.0)).collect();
    assert_eq!(told, [(1, 10, 10), (2, -2, 8), (3, 2, 10)]);
    assert_eq!((&entries[0].kind, entries[0].note.as_str()), (&EntryKind::Grant, "an invoice"));
    let kind = EntryKind::Charge {
        endpoint: charge.endpoint.to_owned(),
        items: 6,
        price: charge.price,
        key: customer.key,
        request_id: "a-request".to_owned(),
        revision: DirectoryRevision(7),
    };
    assert_eq!((entries[1].id, &entries[1].kind), (charge.id, &kind));
    assert_eq!((entries[1].account, entries[1].at), (customer.account, noon()));
    assert_eq!(entries[2].kind, EntryKind::Adjustment { corrects: charge.id });
    assert_eq!((entries[2].id, entries[2].at), (back.id, after_noon(1)));
    assert_eq!(ports.ledger.entries(customer.account, 3, 10).await.unwrap(), []);
    assert_eq!(ports.ledger.entries(customer.account, u64::MAX, 10).await.unwrap(), []);
}

/// The ledger rows of an account can be listed with the newest first. The rows are the same as in a
/// list with the oldest first.
pub async fn the_newest_entries_come_first(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (customer, other) = (Customer::with(&ports, 5).await, Customer::with(&ports, 5).await);
    for _ in 0..2 {
        ports.ledger.charge(customer.charge(1)).await.unwrap();
        ports.ledger.charge(other.charge(1)).await.unwrap();
    }
    ports.ledger.grant(customer.grant(7)).await.unwrap();
    let ports = harness.reopen(ports).await;
    let newest = async |before, limit| {
        let entries = ports.ledger.newest_entries(customer.account, before, limit).await.unwrap();
        entries.into_iter().map(|entry| entry.sequence).collect::<Vec<_>>()
    };
    assert_eq!(newest(None, 3).await, [4, 3, 2]);
    assert_eq!(newest(Some(2), 3).await, [1]);
    assert_eq!(newest(Some(4), 2).await, [3, 2]);
    assert_eq!(newest(Some(u64::MAX), u32::MAX).await, [4, 3, 2, 1]);
    for (before, limit) in [(None, 0), (Some(1), 3), (Some(0), 3)] {
        assert_eq!(newest(before, limit).await, [0_u64; 0], "{limit} before {before:?}");
    }
    let mut all = ports.ledger.entries(customer.account, 0, 10).await.unwrap();
    all.reverse();
    let newest = ports.ledger.newest_entries(customer.account, None, 10).await.unwrap();
    assert_eq!(newest, all);
    let nobody = AccountId::new(noon());
    assert_eq!(ports.ledger.newest_entries(nobody, None, 10).await.unwrap(), []);
}

/// Charges one credit at each of `times`, in this order. At most 100 charges are sent at once,
/// because a store may change the order of very many charges that arrive together.
async fn charge_in_order(ports: &Ports, customer: &Customer, times: &[Timestamp]) {
    for some in times.chunks(100) {
        let charges = some.iter().map(|at| Charge { at: *at, ..customer.charge(1) });
        let charges = charges.map(|charge| ports.ledger.charge(charge));
        assert!(join_all(charges).await.iter().all(Result::is_ok));
    }
}

/// The first row at or after a given time is found, also among more than a thousand rows.
pub async fn the_first_entry_at_a_time_is_found(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 2_000).await;
    // The grant at noon is row 1. Every ten seconds, two rows follow: rows 2 and 3, rows 4 and 5,
    // and so on.
    let times: Vec<_> = (0..1_300).map(|n| after_noon(10 + n / 2 * 10)).collect();
    charge_in_order(&ports, &customer, &times).await;
    let first_at = async |seconds| {
        let first = ports.ledger.first_entry_at(customer.account, after_noon(seconds)).await;
        first.unwrap()
    };
    for (seconds, first) in [(-1, 1), (0, 1), (1, 2), (10, 2), (11, 4), (20, 4), (6_491, 1_300)] {
        assert_eq!(first_at(seconds).await, first, "{seconds} s after noon");
    }
    for pair in 0..650_u64 {
        assert_eq!(first_at(10 + pair as i64 * 10).await, 2 + 2 * pair);
    }
    assert_eq!(first_at(6_501).await, 1_302, "all are earlier");
    let (new, _) = account_with_key(&ports, "Southwind").await;
    for account in [new, AccountId::new(noon())] {
        assert_eq!(ports.ledger.first_entry_at(account, noon()).await.unwrap(), 1);
    }
}

/// `first_entry_at` returns the number of an account's first ledger row at or after a time.
/// `end_of_entries_before` returns the number of the last row before a time, plus 1. Together, they
/// give a range of rows that contains all rows of a period, even if the clock was set back.
pub async fn no_entry_of_a_time_is_missed_where_the_clock_was_set_back(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 2_000).await;
    // There is one charge a second. The clock runs from second 1 to 900. Then it jumps forward, for
    // three charges from second 7,201 to 7,203. Then it is set back, and runs from second 241 to
    // 700.
    let seconds = (1..=900).chain(7_201..=7_203).chain(241..=700);
    let times: Vec<_> = seconds.map(after_noon).collect();
    charge_in_order(&ports, &customer, &times).await;
    let all: Vec<_> = [noon()].into_iter().chain(times).collect();
    let ports = harness.reopen(ports).await;
    for seconds in (-1..=910).chain(7_199..=7_205) {
        let at = after_noon(seconds);
        let first = ports.ledger.first_entry_at(customer.account, at).await.unwrap();
        let expected = all.iter().position(|time| *time >= at).unwrap_or(all.len());
        assert_eq!(first, expected as u64 + 1, "the first at {seconds} s");
        let end = ports.ledger.end_of_entries_before(customer.account, at).await.unwrap();
        let expected = all.iter().rposition(|time| *time < at).map_or(0, |last| last + 1);
        assert_eq!(end, expected as u64 + 1, "the end before {seconds} s");
    }
    assert_sound(&ports).await;
}

/// An adjustment can correct only a row of its own account.
pub async fn a_correction_needs_a_row_of_the_account(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (one, other) = (Customer::with(&ports, 10).await, Customer::with(&ports, 10).await);
    let charge = other.charge(1);
    ports.ledger.charge(charge.clone()).await.unwrap();
    for corrects in [charge.id, ChargeId::new(noon())] {
        let grant = Grant { corrects: Some(corrects), ..one.grant(1) };
        assert_eq!(ports.ledger.grant(grant).await.unwrap(), Granted::NoSuchEntry);
    }
    assert_eq!(one.balance(&ports).await, 10);
}

/// A second charge with the same charge id takes nothing, and doesn't affect charges that run at
/// the same time.
pub async fn a_charge_id_is_charged_once(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let customer = Customer::with(&ports, 10).await;
    let charge = customer.charge(1);
    let three = [charge.clone(), charge, customer.charge(1)];
    let decided = join_all(three.map(|charge| ports.ledger.charge(charge))).await;
    assert!(matches!(decided[0], Ok(Charged::Taken { .. })));
    assert!(matches!(decided[1], Err(ChargeError::NotTaken(_))), "{:?}", decided[1]);
    assert!(matches!(decided[2], Ok(Charged::Taken { .. })), "{:?}", decided[2]);
    assert_eq!(customer.balance(&ports).await, 8);
    assert!(ports.ledger.is_charging());
    assert_sound(&ports).await;
}

/// Verification of a correct ledger finds no fault and returns the totals.
pub async fn the_ledger_adds_up(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (one, other) = (Customer::with(&ports, 100).await, Customer::with(&ports, 5).await);
    account_with_key(&ports, "Southwind").await;
    let charges = (1..=20).map(|items| ports.ledger.charge(one.charge(items)));
    assert!(join_all(charges).await.iter().all(Result::is_ok));
    ports.ledger.charge(other.keyed(3, "k", "q")).await.unwrap();
    ports.ledger.grant(other.grant(-2)).await.unwrap();
    let found = ports.ledger.verify().await.unwrap();
    // The price is 1 credit for every 5 items, rounded up. So the first account pays 5 × (1 + 2 + 3
    // + 4) credits for calls of 1 to 20 items. The second account pays 1 credit for three items.
    assert_eq!((found.charged, found.charges, found.granted), (51, 21, 103));
    assert_eq!((found.accounts, found.entries), (3, 24));
    assert_eq!(found.faults, [] as [String; 0]);
    assert_eq!((one.balance(&ports).await, other.balance(&ports).await), (50, 2));
}

/// `is_charging` returns `true` for a new ledger, because no commit has failed.
pub async fn an_open_ledger_is_charging(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    assert!(ports.ledger.is_charging());
}

/// Defines one `#[test]` for each function of this contract. The test calls the function with
/// `$harness`, and runs the returned future to its end with `$run`.
#[macro_export]
macro_rules! ledger_contract {
    ($harness:expr, $run:path) => {
        $crate::contract_tests!($harness, $run, ledger: [
            a_new_account_has_no_credits,
            an_unknown_account_has_no_balance,
            a_grant_counts_at_once,
            a_negative_grant_goes_as_far_as_the_balance,
            a_grant_beyond_the_most_credits_is_refused,
            a_charge_takes_its_price,
            a_charge_beyond_the_balance_takes_nothing,
            one_of_many_gets_the_last_credit,
            accounts_do_not_share_credits,
            nothing_found_is_kept_and_costs_nothing,
            a_repeat_is_replayed,
            repeats_at_once_are_charged_once,
            a_repeat_is_replayed_after_a_restart_and_without_credits,
            another_question_under_the_same_key_is_told_apart,
            an_idempotency_key_is_the_accounts_own,
            a_kept_answer_expires_after_24_hours,
            entries_come_back_as_they_were_made,
            the_newest_entries_come_first,
            the_first_entry_at_a_time_is_found,
            no_entry_of_a_time_is_missed_where_the_clock_was_set_back,
            a_kept_answer_is_given_again_where_the_clock_was_set_back,
            one_account_leaves_room_for_the_kept_answers_of_others,
            shared_room_has_an_end_and_nothing_in_it_goes_early,
            a_correction_needs_a_row_of_the_account,
            a_charge_id_is_charged_once,
            the_ledger_adds_up,
            an_open_ledger_is_charging,
        ]);
    };
}
