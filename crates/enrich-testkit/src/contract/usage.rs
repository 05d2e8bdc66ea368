//! Usage counters, in sentences. What they count is read by the store's own means and tested
//! there; the ports show the last use of a key.

use enrich_core::port::usage::{Use, UseOutcome};
use enrich_core::{AccountId, Credits, KeyId, Timestamp};

use super::{Harness, account_with_key, after_noon, noon};

fn used(account: AccountId, key: KeyId, at: Timestamp) -> Use {
    let (endpoint, outcome, credits) = ("/v1/cuf", UseOutcome::Found, Credits(1));
    Use { account, key, endpoint, outcome, credits, at }
}

/// The last use of a key is the latest one, in whatever order they were counted.
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

/// What was counted before the process ended in order is there afterwards.
pub async fn counts_outlive_the_process(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, key) = account_with_key(&ports, "Northwind").await;
    ports.usage.count(used(account, key.id, noon()));
    let ports = harness.reopen(ports).await;
    let found = ports.accounts.key(key.id).await.unwrap().unwrap();
    assert_eq!(found.last_used_at, Some(noon()));
}

/// Counting for a key that is not there harms nobody.
pub async fn an_unknown_key_can_be_counted(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, key) = account_with_key(&ports, "Northwind").await;
    ports.usage.count(used(account, KeyId::new(noon()), noon()));
    ports.usage.count(used(account, key.id, noon()));
    ports.usage.flush().await.unwrap();
    let found = ports.accounts.key(key.id).await.unwrap().unwrap();
    assert_eq!(found.last_used_at, Some(noon()));
}

/// Makes a test of each sentence on usage counters.
#[macro_export]
macro_rules! usage_contract {
    ($harness:expr, $run:path) => {
        $crate::contract_tests!($harness, $run, usage: [
            the_last_use_of_a_key_shows,
            counts_outlive_the_process,
            an_unknown_key_can_be_counted,
        ]);
    };
}
