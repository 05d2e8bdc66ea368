//! Tests of the usage counters.

use enrich_core::port::usage::{Usage as _, Use, UseOutcome};
use enrich_core::{Credits, Timestamp};
use pollster::block_on;

use crate::customer::{Customer, now, open};

/// The day 2026-11-20, in days since 1970-01-01.
const TODAY: i64 = 20_777;

fn used(customer: &Customer, outcome: UseOutcome, credits: u64, at: Timestamp) -> Use {
    let (account, key) = (customer.account, customer.key);
    Use { account, key, endpoint: "/v1/cuf", outcome, credits: Credits(credits), at }
}

fn counted(customer: &Customer) -> Vec<(i64, UseOutcome, u64, u64)> {
    let days = block_on(customer.store.usage.days(customer.account, 0, i64::MAX)).unwrap();
    days.into_iter().map(|day| (day.day, day.outcome, day.calls, day.credits.0)).collect()
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
    assert_eq!(counted(&customer), [(TODAY, UseOutcome::Found, 1, 1)]);
}

#[test]
fn counting_goes_on_from_several_processes() {
    let customer = Customer::with(1);
    let other = open(customer.folder.path());
    customer.store.usage.count(used(&customer, UseOutcome::Found, 1, now()));
    other.usage.count(used(&customer, UseOutcome::Found, 1, now()));
    block_on(customer.store.usage.flush()).unwrap();
    block_on(other.usage.flush()).unwrap();
    assert_eq!(counted(&customer), [(TODAY, UseOutcome::Found, 2, 2)]);
}

#[test]
fn an_outcome_that_nobody_wrote_is_an_error() {
    let customer = Customer::with(1);
    customer.store.usage.count(used(&customer, UseOutcome::Found, 1, now()));
    block_on(customer.store.usage.flush()).unwrap();
    customer.file().execute("UPDATE used SET outcome = 'lost'", []).unwrap();
    assert!(block_on(customer.store.usage.days(customer.account, TODAY, TODAY)).is_err());
}
