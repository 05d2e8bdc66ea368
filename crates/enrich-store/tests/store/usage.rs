//! What the usage counters count.

use enrich_core::port::usage::{Usage as _, Use, UseOutcome};
use enrich_core::{Credits, Timestamp};
use pollster::block_on;

use crate::customer::{Customer, now, open};

fn used(customer: &Customer, outcome: UseOutcome, credits: u64, at: Timestamp) -> Use {
    let (account, key) = (customer.account, customer.key);
    Use { account, key, endpoint: "/v1/cuf", outcome, credits: Credits(credits), at }
}

fn counted(customer: &Customer) -> Vec<(i64, String, u64, u64)> {
    let days = customer.store.usage.days(customer.account, 0, i64::MAX).unwrap();
    days.into_iter().map(|day| (day.day, day.outcome, day.calls, day.credits)).collect()
}

#[test]
fn calls_are_counted_by_day_and_outcome() {
    let customer = Customer::with(1);
    let usage = &customer.store.usage;
    let midnight: Timestamp = "2026-11-21T00:00:00Z".parse().unwrap();
    for _ in 0..3 {
        usage.count(used(&customer, UseOutcome::Found, 2, now()));
    }
    usage.count(used(&customer, UseOutcome::NotFound, 0, now()));
    usage.count(used(&customer, UseOutcome::Found, 2, midnight));
    block_on(usage.flush()).unwrap();
    // 2026-11-20 is day 20777 since 1970-01-01.
    let found = |day, calls, credits| (day, "found".to_owned(), calls, credits);
    let not_found = (20_777, "not_found".to_owned(), 1, 0);
    assert_eq!(counted(&customer), [found(20_777, 3, 6), not_found, found(20_778, 1, 2)]);

    usage.count(used(&customer, UseOutcome::Found, 2, now()));
    block_on(usage.flush()).unwrap();
    assert_eq!(counted(&customer)[0], found(20_777, 4, 8), "later counts are added");
    let day = customer.store.usage.days(customer.account, 20_778, 20_778).unwrap();
    assert_eq!(day.len(), 1);
}

#[test]
fn what_cannot_be_written_now_is_written_later() {
    let customer = Customer::with(1);
    let usage = &customer.store.usage;
    let file = customer.file();
    file.execute_batch("ALTER TABLE used RENAME TO away").unwrap();
    usage.count(used(&customer, UseOutcome::Found, 1, now()));
    assert!(block_on(usage.flush()).is_err());
    file.execute_batch("ALTER TABLE away RENAME TO used").unwrap();
    block_on(usage.flush()).unwrap();
    assert_eq!(counted(&customer), [(20_777, "found".to_owned(), 1, 1)]);
}

#[test]
fn counting_goes_on_from_several_processes() {
    let customer = Customer::with(1);
    let other = open(customer.folder.path());
    customer.store.usage.count(used(&customer, UseOutcome::Found, 1, now()));
    other.usage.count(used(&customer, UseOutcome::Found, 1, now()));
    block_on(customer.store.usage.flush()).unwrap();
    block_on(other.usage.flush()).unwrap();
    assert_eq!(counted(&customer), [(20_777, "found".to_owned(), 2, 2)]);
}
