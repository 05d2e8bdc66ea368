//! Contract tests of the usage counters, which every store must pass.

use enrich_core::port::accounts::KeyStored;
use enrich_core::port::usage::{DayCount, Use, UseOutcome};
use enrich_core::{AccountId, Credits, KeyId, KeyLimit, Timestamp};

use super::{Harness, Ports, account_with_key, after_noon, new_key, noon};

fn used(account: AccountId, key: KeyId, at: Timestamp) -> Use {
    let (endpoint, outcome, credits) = ("/v1/cuf", UseOutcome::Found, Credits(1));
    Use { account, key, endpoint, outcome, credits, at }
}

/// The day of [`noon`], 2026-11-20, in days since 1970-01-01.
const TODAY: i64 = 20_777;

/// The number of seconds from [`noon`] to midnight.
const TO_MIDNIGHT: i64 = 12 * 60 * 60;

fn counted(day: i64, key: KeyId, outcome: UseOutcome, calls: u64, credits: u64) -> DayCount {
    let (endpoint, credits) = ("/v1/cuf".to_owned(), Credits(credits));
    DayCount { day, key, endpoint, outcome, calls, credits }
}

async fn days(ports: &Ports, account: AccountId) -> Vec<DayCount> {
    ports.usage.days(account, i64::MIN, i64::MAX).await.unwrap()
}

/// Calls are added up by day (UTC), account, key, endpoint and outcome.
pub async fn counts_add_up_by_what_they_are_of(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, key) = account_with_key(&ports, "Northwind").await;
    let (other, others) = account_with_key(&ports, "Southwind").await;
    let second = new_key(account, "second");
    let stored = ports.accounts.add_key(second.clone(), KeyLimit::PER_ACCOUNT).await;
    assert_eq!(stored.unwrap(), KeyStored::Stored);
    let call = used(account, key.id, noon());
    let (last, next) = (after_noon(TO_MIDNIGHT - 1), after_noon(TO_MIDNIGHT));
    let nothing = Credits::ZERO;
    let outcomes = [UseOutcome::NotFound, UseOutcome::Replayed, UseOutcome::Refused];
    for used in [call, Use { at: last, ..call }, Use { at: next, ..call }] {
        ports.usage.count(used);
    }
    for outcome in outcomes {
        ports.usage.count(Use { outcome, credits: nothing, ..call });
    }
    ports.usage.count(Use { key: second.id, ..call });
    ports.usage.count(Use { endpoint: "/v1/dte", credits: Credits(3), ..call });
    ports.usage.count(used(other, others.id, noon()));
    ports.usage.flush().await.unwrap();

    let mut expected = vec![
        counted(TODAY, key.id, UseOutcome::Found, 2, 2),
        counted(TODAY, key.id, UseOutcome::NotFound, 1, 0),
        counted(TODAY, key.id, UseOutcome::Refused, 1, 0),
        counted(TODAY, key.id, UseOutcome::Replayed, 1, 0),
        DayCount {
            endpoint: "/v1/dte".to_owned(),
            ..counted(TODAY, key.id, UseOutcome::Found, 1, 3)
        },
        counted(TODAY, second.id, UseOutcome::Found, 1, 1),
        counted(TODAY + 1, key.id, UseOutcome::Found, 1, 1),
    ];
    // The ids of the two keys were made at the same instant, so their order is random. The store
    // returns the counters in the order of days and key ids.
    expected.sort_by_key(|count| (count.day, count.key));
    assert_eq!(days(&ports, account).await, expected);
    assert_eq!(days(&ports, other).await, [counted(TODAY, others.id, UseOutcome::Found, 1, 1)]);
}

/// Only the counters of the requested days are returned. The first and the last day belong to the
/// range.
pub async fn counts_are_told_for_the_days_asked_for(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, key) = account_with_key(&ports, "Northwind").await;
    for day in 0..4 {
        ports.usage.count(used(account, key.id, after_noon(day * 2 * TO_MIDNIGHT)));
    }
    ports.usage.flush().await.unwrap();
    let told = ports.usage.days(account, TODAY + 1, TODAY + 2).await.unwrap();
    let told: Vec<_> = told.iter().map(|count| count.day).collect();
    assert_eq!(told, [TODAY + 1, TODAY + 2]);
    assert_eq!(ports.usage.days(account, TODAY + 2, TODAY + 1).await.unwrap(), []);
    assert_eq!(days(&ports, AccountId::new(noon())).await, [], "an account nobody knows");
}

/// Later calls are added to stored counters, also after a restart.
pub async fn later_counts_are_added(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, key) = account_with_key(&ports, "Northwind").await;
    ports.usage.count(used(account, key.id, noon()));
    ports.usage.flush().await.unwrap();
    ports.usage.count(used(account, key.id, after_noon(1)));
    ports.usage.flush().await.unwrap();
    assert_eq!(days(&ports, account).await, [counted(TODAY, key.id, UseOutcome::Found, 2, 2)]);
    let ports = harness.reopen(ports).await;
    ports.usage.count(used(account, key.id, noon()));
    ports.usage.flush().await.unwrap();
    assert_eq!(days(&ports, account).await, [counted(TODAY, key.id, UseOutcome::Found, 3, 3)]);
}

/// The time of a key's last use is the latest time of its calls, even if the calls are counted in
/// another order.
pub async fn the_last_use_of_a_key_shows(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, key) = account_with_key(&ports, "Northwind").await;
    for at in [after_noon(5), after_noon(9), after_noon(7)] {
        ports.usage.count(used(account, key.id, at));
    }
    ports.usage.flush().await.unwrap();
    ports.usage.count(used(account, key.id, after_noon(1)));
    ports.usage.flush().await.unwrap();
    let found = ports.accounts.key(key.id).await.unwrap().unwrap();
    assert_eq!(found.last_used_at, Some(after_noon(9)));
}

/// Counters survive an orderly shutdown of the process.
pub async fn counts_outlive_the_process(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, key) = account_with_key(&ports, "Northwind").await;
    ports.usage.count(used(account, key.id, noon()));
    let ports = harness.reopen(ports).await;
    let found = ports.accounts.key(key.id).await.unwrap().unwrap();
    assert_eq!(found.last_used_at, Some(noon()));
    assert_eq!(days(&ports, account).await, [counted(TODAY, key.id, UseOutcome::Found, 1, 1)]);
}

/// Counting a call with an unknown key succeeds.
pub async fn an_unknown_key_can_be_counted(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, key) = account_with_key(&ports, "Northwind").await;
    ports.usage.count(used(account, KeyId::new(noon()), noon()));
    ports.usage.count(used(account, key.id, noon()));
    ports.usage.flush().await.unwrap();
    let found = ports.accounts.key(key.id).await.unwrap().unwrap();
    assert_eq!(found.last_used_at, Some(noon()));
}

/// Defines one `#[test]` for each function of this contract. The test calls the function with
/// `$harness`, and waits for its end with `$run`.
#[macro_export]
macro_rules! usage_contract {
    ($harness:expr, $run:path) => {
        $crate::contract_tests!($harness, $run, usage: [
            counts_add_up_by_what_they_are_of,
            counts_are_told_for_the_days_asked_for,
            later_counts_are_added,
            the_last_use_of_a_key_shows,
            counts_outlive_the_process,
            an_unknown_key_can_be_counted,
        ]);
    };
}
