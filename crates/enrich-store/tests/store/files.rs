//! Tests in which files of a ledger are removed or replaced while the ledger is open.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use enrich_core::AccountId;
use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::error::StoreError;
use enrich_core::port::ledger::{ChargeError, Ledger as _};
use enrich_sign_in::SignIns as _;
use enrich_store::{OpenError, Store};
use pollster::block_on;
use tempfile::TempDir;

use crate::customer::{Customer, now, open};

/// The files of a data folder, as a killed process leaves them: the `-wal` and `-shm` files remain.
const FILES: [&str; 7] = [
    "secret.key",
    "directory.sqlite",
    "directory.sqlite-wal",
    "directory.sqlite-shm",
    "ledger.sqlite",
    "ledger.sqlite-wal",
    "ledger.sqlite-shm",
];

fn file(customer: &Customer, name: &str) -> PathBuf {
    customer.folder.path().join(name)
}

fn copy(from: &Path, without: &[&str]) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    for name in FILES.iter().filter(|name| !without.contains(name)) {
        if from.join(name).exists() {
            fs::copy(from.join(name), to.path().join(name)).unwrap();
        }
    }
    to
}

/// Returns an open ledger whose write-ahead log is not empty.
fn charged() -> Customer {
    let customer = Customer::with(10);
    customer.take(customer.charge());
    assert!(fs::metadata(file(&customer, "ledger.sqlite-wal")).unwrap().len() > 0);
    customer
}

#[track_caller]
fn assert_it_stops(customer: &Customer) {
    let ledger = &*customer.store.ledger;
    let refused = block_on(ledger.charge(customer.charge()));
    assert!(matches!(refused, Err(ChargeError::NotTaken(_))), "{refused:?}");
    assert!(!ledger.is_charging());
    let refused = block_on(ledger.charge(customer.charge()));
    assert!(matches!(refused, Err(ChargeError::Stopped)), "{refused:?}");
    let Err(StoreError::Unavailable(cause)) = block_on(ledger.balance(AccountId::new(now())))
    else {
        panic!("the balance of an account that is not in memory cannot be known");
    };
    assert!(cause.to_string().contains("charging has stopped"), "{cause}");
}

#[test]
fn nothing_is_charged_into_a_log_that_was_unlinked() {
    let customer = charged();
    fs::remove_file(file(&customer, "ledger.sqlite-wal")).unwrap();
    assert_it_stops(&customer);
    let faults = customer.faults();
    assert!(faults.iter().any(|fault| fault.contains("ledger.sqlite-wal")), "{faults:?}");
}

#[test]
fn what_was_acknowledged_before_the_log_was_unlinked_is_there_after_a_kill() {
    let customer = charged();
    fs::remove_file(file(&customer, "ledger.sqlite-wal")).unwrap();
    assert_it_stops(&customer);
    let left = copy(customer.folder.path(), &["ledger.sqlite-wal", "ledger.sqlite-shm"]);
    let balance = block_on(open(left.path()).ledger.balance(customer.account)).unwrap();
    assert_eq!(balance.unwrap().0, 9);
}

#[test]
fn nothing_is_charged_into_files_that_were_replaced() {
    for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"] {
        let customer = charged();
        let (there, aside) = (file(&customer, name), file(&customer, "aside"));
        fs::rename(&there, &aside).unwrap();
        fs::copy(&aside, &there).unwrap();
        assert_it_stops(&customer);
    }
}

#[test]
fn nothing_is_charged_if_the_identity_of_a_file_cannot_be_read() {
    for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"] {
        let customer = charged();
        make_unreadable(&customer, name);
        assert_it_stops(&customer);
        let faults = customer.faults();
        assert!(faults.iter().any(|fault| fault.contains(name)), "{faults:?}");
    }
}

/// Replaces a file by a symbolic link to itself. Then even root cannot read the identity (device
/// and inode) of the file at this path.
fn make_unreadable(customer: &Customer, name: &str) {
    let there = file(customer, name);
    fs::rename(&there, file(customer, "aside")).unwrap();
    std::os::unix::fs::symlink(&there, &there).unwrap();
}

#[test]
fn a_ledger_that_nobody_charges_notices_too() {
    let unlink: fn(&Customer) = |customer| {
        fs::remove_file(file(customer, "ledger.sqlite-wal")).unwrap();
    };
    for harm in [unlink, |customer| make_unreadable(customer, "ledger.sqlite")] {
        let customer = charged();
        assert!(customer.store.ledger.check_charging());
        harm(&customer);
        assert!(customer.store.ledger.is_charging(), "this only reads");
        assert!(!customer.store.ledger.check_charging());
        assert!(!customer.store.ledger.is_charging());
    }
}

#[test]
fn a_key_is_not_said_to_be_revoked_in_a_log_that_was_unlinked() {
    let customer = charged();
    fs::remove_file(file(&customer, "ledger.sqlite-wal")).unwrap();
    assert!(block_on(customer.store.accounts.expire_key(customer.key, now(), now())).is_err());
    assert!(block_on(customer.store.sign_ins.end_sessions(customer.account, None)).is_err());
    assert!(!customer.store.ledger.check_charging());
}

#[test]
fn a_folder_whose_log_was_removed_under_a_process_is_refused() {
    for database in ["ledger.sqlite", "directory.sqlite"] {
        let customer = charged();
        let log = format!("{database}-wal");
        let left = copy(customer.folder.path(), &[&log]);
        let refused = Store::open(left.path()).unwrap_err();
        assert!(matches!(refused, OpenError::LogRemoved { .. }), "{refused:?}");
        assert!(refused.to_string().contains(&log), "{refused}");
        let refused = Store::verify(left.path()).unwrap_err();
        assert!(matches!(refused, OpenError::LogRemoved { .. }), "{refused:?}");
        // The operator does what the message says: removes the `-shm` file, which is the index of
        // the lost write-ahead log, and continues without the data of this log.
        fs::remove_file(left.path().join(format!("{database}-shm"))).unwrap();
        open(left.path());
    }
}
