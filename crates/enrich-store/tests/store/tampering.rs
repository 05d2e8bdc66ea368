//! Whatever is changed in the ledger behind its back, walking it tells where.

use rusqlite::Connection;

use crate::customer::Customer;

/// An account with a grant, three charges and a grant: rows 1 to 5.
fn five_rows() -> Customer {
    let customer = Customer::with(10);
    for _ in 0..3 {
        customer.take(customer.charge());
    }
    customer.grant(&customer.store, 5);
    assert_eq!(customer.faults(), [] as [&str; 0]);
    customer
}

/// What is said after `change`; each fault names the account.
fn faults_after(customer: &Customer, change: &str) -> Vec<String> {
    customer.file().execute_batch(change).unwrap();
    let faults = customer.faults();
    let account = customer.account.to_string();
    assert!(!faults.is_empty(), "{change}: unnoticed");
    assert!(faults.iter().all(|fault| fault.contains(&account)), "{faults:?}");
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
    assert!(faults[0].contains("row 3: missing"), "{faults:?}");
    assert_eq!(faults.len(), 1, "what follows is as it was written");
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
    file.execute("INSERT INTO account VALUES (?1, 'Southwind', 0)", [other.as_bytes()]).unwrap();
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
fn the_last_row_cut_off_is_named_while_its_answer_is_kept() {
    let customer = five_rows();
    let charge = customer.take(customer.keyed("k"));
    let faults = faults_after(&customer, "DELETE FROM entry WHERE sequence = 6");
    assert!(faults[0].contains(&charge.to_string()), "{faults:?}");
}

#[test]
fn a_kept_answer_with_another_balance_is_named() {
    let customer = five_rows();
    customer.take(customer.keyed("k"));
    let faults = faults_after(&customer, "UPDATE kept SET balance = 99");
    assert!(faults[0].contains("row 6:"), "{faults:?}");
}

#[test]
fn an_altered_kept_answer_is_not_given_out() {
    let customer = five_rows();
    customer.take(customer.keyed("k"));
    customer.file().execute_batch("UPDATE kept SET sealed = zeroblob(80)").unwrap();
    let repeat = pollster::block_on(enrich_core::port::ledger::Ledger::charge(
        &*customer.store.ledger,
        customer.keyed("k"),
    ));
    assert!(repeat.is_err(), "{repeat:?}");
    assert_eq!(customer.balance(), 11, "and nothing is taken for it");
}

#[test]
fn a_ledger_full_of_faults_is_told_in_bounds() {
    let customer = Customer::with(5_000);
    let charges = (0..1_500).map(|_| customer.charge());
    let ledger = &*customer.store.ledger;
    let charges = charges.map(|charge| enrich_core::port::ledger::Ledger::charge(ledger, charge));
    let all = pollster::block_on(futures_util::future::join_all(charges));
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
