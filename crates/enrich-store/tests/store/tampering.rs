//! Checks that a verification finds every change in the ledger's file, and says where the change
//! is.

use enrich_core::port::ledger::{Charge, ChargeError, Ledger as _};
use enrich_store::{OpenError, Store};
use futures_util::future::join_all;
use rusqlite::Connection;

use crate::customer::Customer;

/// Returns an account with a grant, three charges and another grant: rows 1 to 5.
fn five_rows() -> Customer {
    let customer = Customer::with(10);
    for _ in 0..3 {
        customer.take(customer.charge());
    }
    customer.grant(&customer.store, 5);
    assert_eq!(customer.faults(), [] as [&str; 0]);
    customer
}

/// Makes a change in the ledger's file. Returns the faults that a verification then finds. Asserts
/// that there is at least one, and that each fault names the account or the log of all rows.
fn faults_after(customer: &Customer, change: &str) -> Vec<String> {
    customer.file().execute_batch(change).unwrap();
    let faults = customer.faults();
    let account = customer.account.to_string();
    assert!(!faults.is_empty(), "{change}: unnoticed");
    let is_of_log = |fault: &String| fault.starts_with("the log");
    assert!(faults.iter().all(|fault| fault.contains(&account) || is_of_log(fault)), "{faults:?}");
    faults
}

#[test]
fn an_altered_row_is_named_whatever_is_altered() {
    for change in [
        "id = zeroblob(16)",
        "kind = 'grant'",
        "corrects = zeroblob(16)",
        "credits = 0",
        "balance = balance + 100",
        "endpoint = '/v1/other'",
        "items = items + 1",
        "price = 'answer/0'",
        "api_key = zeroblob(16)",
        "request_id = NULL",
        "generation = generation + 1",
        "note = 'nothing to see'",
        "at = at + 1",
        "chain = zeroblob(32)",
        "chain = zeroblob(3)",
        "secret = 7",
        "kind = 'gift'",
        "price = 'items/0'",
        "items = -1",
    ] {
        let customer = five_rows();
        let change = format!("UPDATE entry SET {change} WHERE sequence = 3");
        let faults = faults_after(&customer, &change);
        assert!(faults.iter().any(|fault| fault.contains("row 3:")), "{change}: {faults:?}");
        assert!(faults.len() <= 4, "{change}: {faults:?}");
    }
}

#[test]
fn a_row_taken_out_of_the_middle_is_named() {
    let customer = five_rows();
    let faults = faults_after(&customer, "DELETE FROM entry WHERE sequence = 3");
    assert!(faults[0].contains("the log, row 3: missing"), "{faults:?}");
    assert!(faults[1].contains(", row 3: missing, the next row is 4"), "{faults:?}");
    assert_eq!(faults.len(), 2, "what follows is as it was written");
}

#[test]
fn rows_moved_up_over_a_gap_are_named() {
    let customer = five_rows();
    let faults = faults_after(
        &customer,
        "DELETE FROM entry WHERE sequence = 3;
         UPDATE entry SET sequence = sequence - 1 WHERE sequence > 3;",
    );
    assert!(faults.iter().any(|fault| fault.contains("row 3:")), "{faults:?}");
}

#[test]
fn a_row_from_another_account_is_named() {
    let customer = five_rows();
    let other = uuid::Uuid::from_bytes([9; 16]);
    let file = customer.file();
    file.execute(
        "INSERT INTO account (id, name, created_at) VALUES (?1, 'Southwind', 0)",
        [other.as_bytes()],
    )
    .unwrap();
    file.execute("UPDATE entry SET account = ?1 WHERE sequence <= 2", [other.as_bytes()]).unwrap();
    let faults = customer.faults();
    assert!(faults.iter().any(|fault| fault.contains(&format!("{other}, row 1: is not as"))));
    let missing = format!("{}, row 1: missing", customer.account);
    assert!(faults.iter().any(|fault| fault.contains(&missing)), "{faults:?}");
}

#[test]
fn an_account_taken_away_is_named() {
    let customer = five_rows();
    let faults = faults_after(&customer, "DELETE FROM account");
    assert!(faults[0].contains("is not there"), "{faults:?}");
}

#[test]
fn the_newest_rows_cut_off_are_noticed() {
    for cut in ["sequence = 5", "sequence >= 4", "TRUE"] {
        let customer = five_rows();
        let faults = faults_after(&customer, &format!("DELETE FROM entry WHERE {cut}"));
        assert!(faults[0].contains("the rows up to 5 are not those"), "{cut}: {faults:?}");
    }
}

#[test]
fn an_accounts_newest_row_taken_out_before_the_rows_of_others_is_noticed() {
    let customer = five_rows();
    let other = customer.another_account();
    customer.grant_to(&customer.store, other, 7);
    customer.file().execute("DELETE FROM entry WHERE position = 5", []).unwrap();
    let faults = customer.faults();
    assert!(faults[0].contains("the log, row 5: missing"), "{faults:?}");
}

#[test]
fn rows_put_in_another_order_are_noticed() {
    let customer = five_rows();
    let other = customer.another_account();
    customer.grant_to(&customer.store, other, 7);
    customer
        .file()
        .execute_batch(
            "UPDATE entry SET position = 99 WHERE position = 5;
             UPDATE entry SET position = 5 WHERE position = 6;
             UPDATE entry SET position = 6 WHERE position = 99;",
        )
        .unwrap();
    let faults = customer.faults();
    assert!(faults[0].contains("the rows up to 6 are not those"), "{faults:?}");
}

#[test]
fn an_altered_seal_is_noticed() {
    for change in [
        "position = position - 1",
        "digest = zeroblob(32)",
        "checkpoint = checkpoint + 1",
        "checkpoint_digest = randomblob(32)",
        "hash = zeroblob(32)",
        "digest = zeroblob(3)",
    ] {
        let customer = five_rows();
        let faults = faults_in(&customer, &format!("UPDATE seal SET {change}"));
        assert_eq!(faults, ["the log's seal is broken"], "{change}");
    }
    let faults = faults_in(&five_rows(), "UPDATE seal SET secret = 7");
    assert!(faults[0].contains("secret 7, which was not in secret.key"), "{faults:?}");
    let customer = five_rows();
    assert_eq!(faults_in(&customer, "DELETE FROM seal"), ["the log has no seal"]);
}

#[test]
fn a_ledger_that_is_not_as_it_was_written_is_not_opened_and_can_be_verified() {
    for change in [
        "DELETE FROM entry WHERE position = 5",
        "UPDATE entry SET balance = balance + 100 WHERE position = 5",
        "UPDATE seal SET position = position - 1",
    ] {
        let customer = five_rows();
        customer.file().execute_batch(change).unwrap();
        let Customer { store, folder, .. } = customer;
        drop(store);
        let refused = Store::open(folder.path()).unwrap_err();
        assert!(matches!(refused, OpenError::NotAsWritten { .. }), "{change}: {refused:?}");
        assert!(!Store::verify(folder.path()).unwrap().faults.is_empty(), "{change}");
    }
}

#[test]
fn a_ledger_that_is_changed_while_it_is_open_stops_charging() {
    let customer = five_rows();
    // A wrong seal (the keyed hash of the ledger) is noticed at the next charge. A removed ledger
    // row is noticed only when the ledger is opened or verified.
    customer.file().execute_batch("UPDATE seal SET digest = zeroblob(32)").unwrap();
    let ledger = &*customer.store.ledger;
    let refused = pollster::block_on(ledger.charge(customer.charge()));
    assert!(matches!(refused, Err(ChargeError::NotTaken(_))), "{refused:?}");
    assert!(!ledger.is_charging());
    let refused = pollster::block_on(ledger.charge(customer.charge()));
    assert!(matches!(refused, Err(ChargeError::Stopped)), "{refused:?}");
}

/// Returns an account with ledger rows after the last checkpoint of the ledger. The account also
/// has entries in the sequence index: the table `mark`, which has an entry for every 256th ledger
/// row.
fn beyond_a_checkpoint() -> Customer {
    let customer = Customer::with(100_000);
    let ledger = &*customer.store.ledger;
    for _ in 0..6 {
        let charges = (0..3_000).map(|_| ledger.charge(customer.charge()));
        for charged in pollster::block_on(join_all(charges)) {
            assert!(charged.is_ok(), "{charged:?}");
        }
    }
    // The last checkpoint may contain all of the 18,000 charges. So one more charge adds a row
    // after the checkpoint.
    customer.take(customer.charge());
    assert_eq!(customer.faults(), [] as [&str; 0]);
    customer
}

#[test]
fn an_altered_checkpoint_is_named_and_gives_no_balance() {
    for change in [
        "sequence = sequence - 1",
        "balance = balance + 1",
        "position = position - 1",
        "chain = zeroblob(32)",
        "hash = zeroblob(32)",
        "secret = 7",
    ] {
        let customer = beyond_a_checkpoint();
        let faults = faults_after(&customer, &format!("UPDATE head SET {change}"));
        assert!(faults[0].contains("its checkpoint is broken"), "{change}: {faults:?}");
        let Customer { store, folder, .. } = customer;
        drop(store);
        let refused = Store::open(folder.path()).unwrap_err();
        assert!(matches!(refused, OpenError::NotAsWritten { .. }), "{change}: {refused:?}");
    }
}

#[test]
fn a_checkpoint_taken_away_or_made_up_is_noticed() {
    let customer = beyond_a_checkpoint();
    let faults = faults_after(&customer, "DELETE FROM head");
    assert!(faults[0].contains("its checkpoint says 0 at row 0"), "{faults:?}");

    let customer = beyond_a_checkpoint();
    let other = customer.another_account();
    let file = customer.file();
    let copy =
        "INSERT INTO head SELECT ?1, sequence, balance, position, chain, secret, hash FROM head";
    file.execute(copy, [other.0.as_bytes()]).unwrap();
    let faults = customer.faults();
    assert!(faults[0].contains("1 accounts that have no rows"), "{faults:?}");
    assert!(pollster::block_on(customer.store.ledger.balance(other)).is_err(), "nothing is told");
}

#[test]
fn an_altered_mark_is_noticed() {
    for change in ["DELETE FROM mark WHERE sequence = 512", "UPDATE mark SET position = 3"] {
        let customer = beyond_a_checkpoint();
        let faults = faults_after(&customer, change);
        assert!(faults[0].contains("is not marked"), "{change}: {faults:?}");
    }
}

#[test]
fn usage_beyond_what_was_charged_is_named() {
    let customer = five_rows();
    let counted = "INSERT INTO used SELECT id, 20777, id, '/v1/cuf', 'found', 9, 9 FROM account";
    let faults = faults_after(&customer, counted);
    assert!(faults[0].contains("9 credits are counted as used, 3 were charged"), "{faults:?}");
}

#[test]
fn the_charge_of_a_kept_answer_is_missed() {
    let customer = five_rows();
    let charge = customer.take(customer.keyed("k"));
    let faults = faults_after(&customer, "DELETE FROM entry WHERE sequence = 6");
    assert!(faults.iter().any(|fault| fault.contains(&charge.to_string())), "{faults:?}");
}

#[test]
fn a_kept_answer_with_another_balance_is_named() {
    let customer = five_rows();
    customer.take(customer.keyed("k"));
    let faults = faults_after(&customer, "UPDATE kept SET balance = 99");
    assert!(faults[0].contains("row 6:"), "{faults:?}");
}

#[test]
fn an_altered_kept_answer_is_named() {
    for change in [
        "sealed = zeroblob(80)",
        "asked_hash = zeroblob(32)",
        "key_hash = zeroblob(32)",
        "key_hash = zeroblob(3)",
        "at = at - 1",
        "secret = 7",
        "balance = 99",
        "charge = NULL",
        "charge = NULL, balance = 99",
    ] {
        let customer = five_rows();
        customer.take(customer.keyed("k"));
        let change = format!("PRAGMA foreign_keys = OFF; UPDATE kept SET {change}");
        let faults = faults_after(&customer, &change);
        let said = |fault: &String| fault.contains("a kept answer is not as it was written");
        assert!(faults.iter().any(said), "{change}: {faults:?}");
    }
}

#[test]
fn an_altered_answer_that_is_kept_for_a_miss_is_named() {
    let customer = five_rows();
    let miss = Charge { items: 0, ..customer.keyed("k") };
    pollster::block_on(customer.store.ledger.charge(miss)).unwrap();
    assert_eq!(customer.faults(), [] as [&str; 0]);
    let faults = faults_after(&customer, "UPDATE kept SET balance = 99");
    assert!(faults[0].contains("a kept answer is not as it was written"), "{faults:?}");
}

#[test]
fn a_count_of_kept_answers_that_is_not_theirs_is_named() {
    for change in [
        "UPDATE kept_count SET answers = 7",
        "DELETE FROM kept_count",
        "DELETE FROM kept_count;
         INSERT INTO kept_count SELECT zeroblob(16), 1",
    ] {
        let customer = five_rows();
        customer.take(customer.keyed("k"));
        assert_eq!(customer.faults(), [] as [&str; 0]);
        let faults = faults_in(&customer, change);
        assert!(faults.iter().any(|fault| fault.contains("are counted")), "{change}: {faults:?}");
    }
}

#[test]
fn an_altered_kept_answer_is_not_given_out() {
    for change in ["sealed = zeroblob(80)", "balance = 99", "charge = NULL"] {
        let customer = five_rows();
        customer.take(customer.keyed("k"));
        customer.file().execute_batch(&format!("UPDATE kept SET {change}")).unwrap();
        let repeat = pollster::block_on(customer.store.ledger.charge(customer.keyed("k")));
        assert!(repeat.is_err(), "{change}: {repeat:?}");
        assert_eq!(customer.balance(), 11, "{change}: nothing is taken for it");
    }
}

#[test]
fn a_ledger_full_of_faults_is_told_in_bounds() {
    let customer = Customer::with(5_000);
    let charges = (0..1_500).map(|_| customer.charge());
    let ledger = &*customer.store.ledger;
    let all = pollster::block_on(join_all(charges.map(|charge| ledger.charge(charge))));
    assert!(all.iter().all(Result::is_ok));
    let faults = faults_in(&customer, "UPDATE entry SET note = 'x'");
    assert_eq!(faults.len(), 1_001);
    assert_eq!(faults[1_000], "and 501 more");
}

fn faults_in(customer: &Customer, change: &str) -> Vec<String> {
    let file: Connection = customer.file();
    file.execute_batch(change).unwrap();
    customer.faults()
}
