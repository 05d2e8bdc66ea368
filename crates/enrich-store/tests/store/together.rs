//! Several threads and several processes on one folder; a second store stands for a second
//! process, since nothing is shared between two of them but the files.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc;
use std::task::Poll;
use std::thread;

use enrich_core::Credits;
use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{ChargeError, Charged, Ledger as _};
use enrich_store::{Options, Store};
use futures_util::future::join_all;
use pollster::block_on;

use crate::customer::{Customer, now, open};

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
fn another_process_s_end_of_a_key_shows_at_once() {
    let customer = Customer::with(1);
    let found = || block_on(customer.store.accounts.find_key(&customer.secret)).unwrap().unwrap();
    assert!(found().is_active(now()));
    let command_line = open(customer.folder.path());
    assert!(block_on(command_line.accounts.expire_key(customer.key, now())).unwrap());
    assert!(!found().is_active(now()));
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
        // Asked once, each is in the queue; nobody waits for the answers.
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
    let narrow = Store::open(customer.folder.path(), options).unwrap();
    // While it is held from here, nothing leaves the queue but the one that waits for the lock.
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
