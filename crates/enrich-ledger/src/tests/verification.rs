//! Tests of the faults that a verification finds in rows of the ledger.

use super::*;

/// The entries of an account: a grant of 7 credits, a charge of 3 credits, and an adjustment of the
/// charge.
struct Entries {
    secrets: Secrets,
    grant: Grant,
    charge: Charge,
    adjustment: Grant,
}

impl Entries {
    fn new() -> Self {
        let id = ChargeId(Uuid::from_u128(3));
        let grant = Grant { id, ..Grant::new(account(), 7, at()) };
        Self { secrets: secret_7(), grant, charge: charge(5), adjustment: adjustment() }
    }

    /// Returns the rows and their hashes. `alter` changes a row before its hash is computed, as an
    /// attacker who has the secret could do.
    fn rows(&self, alter: impl Fn(&mut Row<'_>)) -> Vec<(Row<'_>, Chain)> {
        let ChargeDecision::Row(charge) = decide_charge(&self.charge, Credits(7)) else { panic!() };
        let grant = decide_grant(&self.grant, Credits(0)).unwrap();
        let adjustment = decide_grant(&self.adjustment, Credits(4)).unwrap();
        let (mut last, mut rows) = (LastRow::NONE, Vec::new());
        for mut row in [grant, charge, adjustment] {
            last.append(&mut row, self.secrets.current());
            alter(&mut row);
            let chain = row.chain(&last.chain, self.secrets.current());
            last = LastRow { sequence: row.sequence, balance: row.balance, chain };
            rows.push((row, chain));
        }
        rows
    }

    fn verify(&self, rows: Vec<(Row<'_>, Chain)>) -> Verification {
        let (mut findings, mut state) = (Findings::default(), AccountCheck::START);
        for (row, chain) in rows {
            findings.count_row();
            let before = state.step_to(account(), row.sequence, &mut findings);
            if before.check_chain(&row, &chain, &self.secrets, &mut findings).is_some() {
                before.check_balance(&row, &mut findings);
            }
            let (after, correction) = before.after(row, &chain, &mut findings);
            if let Some(correction) = correction {
                correction.check(Some(2), &mut findings);
            }
            state = after;
        }
        findings.into_verification(1)
    }

    fn faults(&self, rows: Vec<(Row<'_>, Chain)>) -> Vec<String> {
        let account = account().to_string();
        let faults = self.verify(rows).faults.into_iter();
        faults.map(|fault| fault.replace(&account, "1")).collect()
    }
}

#[test]
fn whole_rows_add_up() {
    let entries = Entries::new();
    let verification = entries.verify(entries.rows(|_| {}));
    let expected = Verification {
        accounts: 1,
        entries: 3,
        granted: 10,
        charged: 3,
        charges: 1,
        faults: Vec::new(),
    };
    assert_eq!(verification, expected);
}

#[test]
fn a_missing_row_is_one_fault() {
    let entries = Entries::new();
    let mut rows = entries.rows(|_| {});
    rows.remove(1);
    assert_eq!(entries.faults(rows), ["account 1, row 2: missing, the next row is 3"]);
}

#[test]
fn a_row_that_cannot_be_read_is_one_fault() {
    let entries = Entries::new();
    let [(first, chain), (_, unreadable), (third, last)] =
        <[_; 3]>::try_from(entries.rows(|_| {})).unwrap();
    for known in [None, Some(unreadable)] {
        let mut findings = Findings::default();
        let (state, _) = AccountCheck::START.after(first.clone(), &chain, &mut findings);
        let state = state.after_unreadable(At(account(), 2), known, &mut findings);
        assert_eq!(state.last_row(), None);
        let state = state.step_to(account(), 3, &mut findings);
        assert!(state.check_chain(&third, &last, &entries.secrets, &mut findings).is_some());
        state.check_balance(&third, &mut findings);
        let (state, _) = state.after(third.clone(), &last, &mut findings);
        assert_eq!(state.last_row().map(|last| last.balance), Some(Credits(7)));
        assert_eq!(findings.into_verification(1).faults.len(), 1);
    }
}

#[test]
fn an_altered_row_is_found_by_its_hash() {
    let entries = Entries::new();
    let mut rows = entries.rows(|_| {});
    rows[0].0.note = "x".into();
    assert_eq!(entries.faults(rows), ["account 1, row 1: is not as it was written"]);
}

#[test]
fn a_row_is_checked_also_where_its_hash_fits() {
    let entries = Entries::new();
    let faults = |alter: fn(&mut Row<'_>)| {
        entries.faults(entries.rows(|row| {
            if row.sequence == 2 {
                alter(row);
            }
        }))
    };
    assert_eq!(
        faults(|row| row.balance = Credits(5)),
        [
            "account 1, row 2: 7 and -3 credits do not make the balance 5",
            "account 1, row 3: 5 and +3 credits do not make the balance 7",
        ]
    );
    assert_eq!(
        faults(|row| row.items = Some(1)),
        ["account 1, row 2: -3 credits for 1 items at 1 per 2 items"]
    );
    assert_eq!(faults(|row| row.items = None), ["account 1, row 2: is no row of its kind"]);
    assert_eq!(faults(|row| row.secret = 8), ["account 1, row 2: secret 8 is not in secret.key"]);
}

#[test]
fn an_adjustment_corrects_an_entry_before_it() {
    let correction = Correction { at: At(account(), 3), corrects: charge_id() };
    for (earlier, faults) in [(Some(2), 0), (Some(3), 1), (None, 1)] {
        let mut findings = Findings::default();
        correction.check(earlier, &mut findings);
        assert_eq!(findings.into_verification(1).faults.len(), faults, "{earlier:?}");
    }
}

#[test]
fn faults_have_an_end() {
    let mut findings = Findings::default();
    (0..1234).for_each(|number| findings.fault(number));
    let faults = findings.into_verification(0).faults;
    assert_eq!((faults.len(), faults[1000].as_str()), (1001, "and 234 more"));
}
