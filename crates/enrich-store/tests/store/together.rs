//! Tests with several threads and several processes that use one folder. A second store simulates a
//! second process: two stores of one process share only the files, as two processes do.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use enrich_core::Credits;
use enrich_core::port::ledger::{ChargeError, Charged, Ledger as _};
use enrich_store::{Options, Store};
use futures_util::future::join_all;
use pollster::block_on;

use crate::customer::{Customer, open};

#[test]
fn another_process_s_grant_counts_for_the_next_charge() {
    let customer = Customer::with(1);
    customer.take(customer.charge());
    let command_line = open(customer.folder.path());
    customer.grant(&command_line, 5);
    assert_eq!(customer.balance(), 5);
    let charged = block_on(customer.store.ledger.charge(customer.charge())).unwrap();
    assert_eq!(charged, Charged::Taken { balance: Credits(4) });
    assert_eq!(customer.faults(), [] as [&str; 0]);
}

#[test]
fn another_process_s_grant_shows_at_a_glance_a_moment_later() {
    let customer = Customer::with(1);
    let cached_balance =
        || block_on(customer.store.ledger.cached_balance(customer.account)).unwrap();
    assert_eq!(cached_balance(), Some(Credits(1)));
    customer.grant(&open(customer.folder.path()), 5);
    let begun = Instant::now();
    while cached_balance() != Some(Credits(6)) {
        assert!(begun.elapsed() < Duration::from_secs(5), "it never shows");
    }
}

#[test]
fn more_rows_of_another_process_than_lie_between_checkpoints_are_taken_in() {
    let customer = Customer::with(20_000);
    let (idle, account) = (customer.another_account(), customer.account);
    customer.grant_to(&customer.store, idle, 7);
    let other = open(customer.folder.path());
    for round in 1..=3 {
        for _ in 0..5 {
            let charges = (0..1_000).map(|_| other.ledger.charge(customer.charge()));
            assert!(block_on(join_all(charges)).iter().all(Result::is_ok));
        }
        let left = Credits(20_000 - 5_001 * round);
        let charged = block_on(customer.store.ledger.charge(customer.charge())).unwrap();
        assert_eq!(charged, Charged::Taken { balance: left });
        assert_eq!(block_on(other.ledger.balance(account)).unwrap(), Some(left));
        assert_eq!(block_on(customer.store.ledger.balance(idle)).unwrap(), Some(Credits(7)));
    }
    assert_eq!(customer.faults(), [] as [&str; 0]);
    let again = open(customer.folder.path());
    assert_eq!(block_on(again.ledger.balance(account)).unwrap(), Some(Credits(4_997)));
}

#[test]
fn rows_are_read_in_order_wherever_reading_begins() {
    let customer = Customer::with(5_000);
    let other = customer.another_account();
    customer.grant_to(&customer.store, other, 9);
    let ledger = &*customer.store.ledger;
    let charges = (0..1_500).map(|_| ledger.charge(customer.charge()));
    assert!(block_on(join_all(charges)).iter().all(Result::is_ok));
    for (after, limit, read) in
        [(0, 3, 3), (0, 5_000, 1_501), (254, 4, 4), (256, 256, 256), (1_500, 9, 1), (1_501, 9, 0)]
    {
        let rows = block_on(ledger.entries(customer.account, after, limit)).unwrap();
        let numbers: Vec<u64> = rows.iter().map(|row| row.sequence).collect();
        let expected: Vec<u64> = (after + 1..=after + read).collect();
        assert_eq!(numbers, expected, "{limit} after {after}");
    }
    for (before, limit, last, read) in [
        (None, 3, 1_501, 3),
        (None, 5_000, 1_501, 1_501),
        (Some(1_502), 2, 1_501, 2),
        (Some(1_281), 4, 1_280, 4),
        (Some(258), 4, 257, 4),
        (Some(256), 5_000, 255, 255),
        (Some(2), 9, 1, 1),
        (Some(1), 9, 0, 0),
    ] {
        let rows = block_on(ledger.newest_entries(customer.account, before, limit)).unwrap();
        let numbers: Vec<u64> = rows.iter().map(|row| row.sequence).collect();
        let expected: Vec<u64> = (last + 1 - read..=last).rev().collect();
        assert_eq!(numbers, expected, "{limit} before {before:?}");
    }
}

#[test]
fn two_processes_share_one_balance() {
    let customer = Customer::with(300);
    let other = open(customer.folder.path());
    let taken: usize = thread::scope(|scope| {
        let charging: Vec<_> = (0..8)
            .map(|n| {
                let ledger = if n % 2 == 0 { &customer.store.ledger } else { &other.ledger };
                let customer = &customer;
                scope.spawn(move || {
                    (0..50)
                        .map(|_| block_on(ledger.charge(customer.charge())).unwrap())
                        .filter(|charged| matches!(charged, Charged::Taken { .. }))
                        .count()
                })
            })
            .collect();
        charging.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(taken, 300, "of 400 charges");
    assert_eq!(customer.balance(), 0);
    assert_eq!(customer.faults(), [] as [&str; 0]);
}

#[test]
fn two_processes_charge_one_idempotency_key_once() {
    let customer = Customer::with(100);
    let other = open(customer.folder.path());
    let race = (0..20).map(|n| {
        let ledger = if n % 2 == 0 { &customer.store.ledger } else { &other.ledger };
        ledger.charge(customer.keyed("k"))
    });
    let decided: Vec<_> = block_on(join_all(race)).into_iter().map(Result::unwrap).collect();
    let taken = decided.iter().filter(|one| matches!(one, Charged::Taken { .. })).count();
    assert_eq!(taken, 1);
    assert_eq!(customer.balance(), 99);
}

#[test]
fn what_is_queued_is_decided_before_the_ledger_ends() {
    let customer = Customer::with(500);
    let ledger = std::sync::Arc::clone(&customer.store.ledger);
    let charges: Vec<_> = (0..400).map(|_| customer.charge()).collect();
    let (started, waiting) = mpsc::channel();
    let asking = thread::spawn(move || {
        let mut charges: Vec<_> = charges.into_iter().map(|c| Box::pin(ledger.charge(c))).collect();
        // Each future is polled once, which puts its charge into the queue. Then the futures are
        // dropped, so nobody waits for the results.
        block_on(poll_fn(|context| {
            for charge in &mut charges {
                let _ = charge.as_mut().poll(context);
            }
            Poll::Ready(())
        }));
        drop(charges);
        drop(ledger);
        started.send(()).unwrap();
    });
    waiting.recv().unwrap();
    asking.join().unwrap();
    let Customer { folder, store, account, .. } = customer;
    drop(store);
    let again = open(folder.path());
    assert_eq!(block_on(again.ledger.balance(account)).unwrap(), Some(Credits(100)));
}

#[test]
fn a_full_queue_refuses_and_takes_nothing() {
    let customer = Customer::with(1_000);
    let options = Options { charge_queue: 4, charge_group: 1, ..Options::default() };
    let narrow = Store::open_with(customer.folder.path(), &options).unwrap();
    // This connection takes SQLite's write lock. So the thread that writes charges takes only the
    // first charge from the queue, and then waits for the lock.
    let file = customer.file();
    file.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (asked, all_asked) = mpsc::channel();
    let mut race = pin!(join_all((0..100).map(|_| narrow.ledger.charge(customer.charge()))));
    let decided = thread::scope(|scope| {
        scope.spawn(move || {
            all_asked.recv().unwrap();
            file.execute_batch("ROLLBACK").unwrap();
        });
        block_on(poll_fn(|context| {
            let polled = race.as_mut().poll(context);
            let _ = asked.send(());
            polled
        }))
    });
    let taken = decided.iter().filter(|one| one.is_ok()).count() as u64;
    assert!(taken == 4 || taken == 5, "{taken}");
    let overloaded = |one: &&Result<Charged, _>| matches!(one, Err(ChargeError::Overloaded));
    assert_eq!(decided.iter().filter(overloaded).count() as u64, 100 - taken);
    assert_eq!(customer.balance(), 1_000 - taken);
}
