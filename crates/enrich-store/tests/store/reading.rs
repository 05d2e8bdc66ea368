//! Tests of caches: what readers keep in memory, and when they notice a change in the database.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use enrich_core::port::accounts::{Accounts as _, KeyStored};
use enrich_core::port::directory::Directory as _;
use enrich_core::port::importer::{ImportOptions, Importer as _};
use enrich_core::{
    CompanyRecord, CompanyRef, KeyLimit, NewKey, Origin, Projection, Question, Record,
};
use enrich_store::Store;
use enrich_text::{CompanyName, Domain};
use pollster::block_on;

use crate::customer::{Customer, now, open};

#[test]
fn another_process_s_end_of_a_key_shows_within_a_second() {
    let customer = Customer::with(1);
    let found = || block_on(customer.store.accounts.find_key(&customer.secret)).unwrap().unwrap();
    let command_line = open(customer.folder.path());
    assert!(found().is_active(now()));
    assert!(block_on(command_line.accounts.expire_key(customer.key, now(), now())).unwrap());
    let ended = Instant::now();
    // The loop reads the key every 5 ms, so most reads get it from the cache.
    while found().is_active(now()) {
        assert!(ended.elapsed() < Duration::from_secs(1), "the key still works");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn this_process_s_end_of_a_key_shows_at_once() {
    let customer = Customer::with(1);
    let accounts = &customer.store.accounts;
    let found = || block_on(accounts.find_key(&customer.secret)).unwrap().unwrap();
    assert!(found().is_active(now()));
    assert!(block_on(accounts.expire_key(customer.key, now(), now())).unwrap());
    assert!(!found().is_active(now()));
}

#[test]
fn another_process_s_new_key_works_at_once() {
    let customer = Customer::with(1);
    let command_line = open(customer.folder.path());
    let key = NewKey::generate(customer.account, "second", now()).unwrap();
    let found = || block_on(customer.store.accounts.find_key(&key.key)).unwrap();
    assert_eq!(found(), None);
    let added = command_line.accounts.add_key(key.clone(), KeyLimit::PER_ACCOUNT);
    assert_eq!(block_on(added).unwrap(), KeyStored::Stored);
    assert_eq!(found().map(|info| info.id), Some(key.id));
}

#[test]
fn what_another_process_imports_is_found_while_others_read() {
    const LOADS: usize = 20;
    const IN_A_LOAD: usize = 200;
    let customer = Customer::with(1);
    let command_line = open(customer.folder.path());
    let (committed, is_done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let find = |number: usize| {
        let domain = domain(number);
        let question = Question::Company(CompanyRef::Domain(domain));
        let found =
            block_on(customer.store.directory.find(&question, Projection::Profile)).unwrap();
        found.map(|found| found.company().unwrap().name.clone())
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut number = 0;
                while !is_done.load(Ordering::SeqCst) {
                    let there = committed.load(Ordering::SeqCst);
                    number = (number + 1) % (there + 1);
                    // All records with a number below `there` were committed before this look-up,
                    // so each of them must be found. Records with higher numbers may be committed
                    // at this moment, so they are not checked. The record that the last line looks
                    // up is never imported.
                    if number < there {
                        assert_eq!(find(number), Some(named(number)));
                    }
                    assert_eq!(find(LOADS * IN_A_LOAD), None);
                }
            });
        }
        let importing = scope.spawn(|| {
            for load in 0..LOADS {
                import(&command_line, load * IN_A_LOAD..(load + 1) * IN_A_LOAD);
                committed.store((load + 1) * IN_A_LOAD, Ordering::SeqCst);
            }
        });
        let imported = importing.join();
        is_done.store(true, Ordering::SeqCst);
        imported.unwrap();
    });
    assert_eq!(find(LOADS * IN_A_LOAD - 1), Some(named(LOADS * IN_A_LOAD - 1)));
}

fn named(number: usize) -> String {
    format!("quill{number}")
}

fn domain(number: usize) -> Domain {
    Domain::parse(&format!("{}.example", named(number))).unwrap()
}

/// Imports records. They are committed when this function returns.
fn import(store: &Store, numbers: Range<usize>) {
    let options = ImportOptions::new("by hand", now()).unwrap();
    let records = numbers.map(|number| {
        let name = named(number);
        let origin = Origin::of(name.as_bytes());
        let mut company = CompanyRecord::named(CompanyName::parse(&name).unwrap(), origin);
        company.sites.push((domain(number), None));
        Record::Company(company)
    });
    let mut session = block_on(store.importer.begin(options)).unwrap();
    block_on(session.import_batch(records.collect())).unwrap();
    block_on(session.finish()).unwrap();
}
