//! Audits the ledger: reads its new rows through the trait `Ledger`, computes the sums again, and
//! compares them with the sums that the ledger itself has computed.

use anyhow::Result;
use enrich_core::port::ledger::Ledger as _;
use enrich_core::{AccountId, Entry, EntryKind};
use enrich_store::Store;

use crate::broken::Broken;
use crate::judge::Row;
use crate::world::World;

const PAGE_ROWS: u32 = 1000;

/// The sums over all rows of the ledger that were read so far.
#[derive(Debug)]
pub(crate) struct Audit {
    folds: Vec<Fold>,
}

/// The rows of the ledger that are new since it was last read, in the form that the judge needs.
#[derive(Debug, Default)]
pub(crate) struct NewRows {
    pub(crate) charges: Vec<Row>,
    /// The grants, each with the index of its account in `World::payers`, its note and its credits.
    pub(crate) grants: Vec<(usize, String, i64)>,
}

/// The sums over the ledger rows of one account, up to the row that was read last.
#[derive(Debug)]
struct Fold {
    account: AccountId,
    last: Option<Entry>,
    balance: i128,
    granted: i128,
    charged: u64,
    charges: u64,
    /// The inconsistencies that were found in the rows so far.
    faults: Vec<String>,
}

impl Audit {
    /// Returns an audit that has not read any row.
    pub(crate) fn new(world: &World) -> Self {
        let fold = |account| Fold {
            account,
            last: None,
            balance: 0,
            granted: 0,
            charged: 0,
            charges: 0,
            faults: Vec::new(),
        };
        Self { folds: world.payers.iter().map(|payer| fold(payer.account)).collect() }
    }

    /// Reads the new rows of every account. Checks that the last row that was read before still
    /// exists.
    ///
    /// # Errors
    ///
    /// [`Broken`] when the rows are inconsistent: a gap in a sequence, a changed or missing row, or
    /// a balance that is not the sum of the rows up to it. Other errors when the ledger cannot be
    /// read.
    pub(crate) fn read(&mut self, store: &Store) -> Result<NewRows> {
        let mut new_rows = NewRows::default();
        for (place, fold) in self.folds.iter_mut().enumerate() {
            fold.read(store, place, &mut new_rows)?;
        }
        let faults = self.folds.iter_mut().flat_map(|fold| fold.faults.drain(..));
        Broken::if_any(faults.collect())?;
        Ok(new_rows)
    }

    /// Returns the number of rows that were read so far.
    pub(crate) fn rows(&self) -> u64 {
        let last = |fold: &Fold| fold.last.as_ref().map_or(0, |entry| entry.sequence);
        self.folds.iter().map(last).sum()
    }

    /// Runs the ledger's own verification, and SQLite's integrity check of both databases. Compares
    /// the totals of the verification with the totals of this audit.
    ///
    /// # Errors
    ///
    /// [`Broken`] when a check finds a fault or the totals differ. Other errors when the databases
    /// cannot be read.
    pub(crate) fn prove(&self, store: &Store) -> Result<()> {
        let proof = pollster::block_on(store.ledger.verify())?;
        let check = store.check()?;
        let mut broken: Vec<String> = proof.faults.clone();
        broken.extend(check.ledger.problems);
        broken.extend(check.directory.problems);
        let sum = |of: fn(&Fold) -> i128| self.folds.iter().map(of).sum::<i128>();
        let ours = [
            self.folds.len() as i128,
            i128::from(self.rows()),
            sum(|fold| fold.granted),
            sum(|fold| fold.charged.into()),
            sum(|fold| fold.charges.into()),
        ];
        let theirs = [
            i128::from(proof.accounts),
            proof.entries.into(),
            proof.granted.into(),
            proof.charged.into(),
            proof.charges.into(),
        ];
        if ours != theirs {
            broken.push(format!(
                "accounts, rows, granted, charged and charges are {ours:?}; verify says {theirs:?}"
            ));
        }
        Broken::if_any(broken)
    }
}

impl Fold {
    fn read(&mut self, store: &Store, place: usize, new_rows: &mut NewRows) -> Result<()> {
        if let Some(last) = self.last.clone() {
            let before = last.sequence - 1;
            let page = pollster::block_on(store.ledger.entries(self.account, before, 1))?;
            if page.first() != Some(&last) {
                let now = page.first();
                self.fault(format!("row {} was {last:?}, it is {now:?}", last.sequence));
                return Ok(());
            }
        }
        loop {
            let after = self.last.as_ref().map_or(0, |entry| entry.sequence);
            let page = pollster::block_on(store.ledger.entries(self.account, after, PAGE_ROWS))?;
            if page.is_empty() {
                break;
            }
            for entry in page {
                self.take(entry, place, new_rows);
            }
        }
        let balance = pollster::block_on(store.ledger.balance(self.account))?;
        if balance.map(|credits| i128::from(credits.0)) != Some(self.balance) {
            self.fault(format!("the rows add up to {}, the balance is {balance:?}", self.balance));
        }
        Ok(())
    }

    fn take(&mut self, entry: Entry, place: usize, new_rows: &mut NewRows) {
        let expected = self.last.as_ref().map_or(0, |last| last.sequence) + 1;
        if (entry.account, entry.sequence) != (self.account, expected) {
            self.fault(format!("row {expected} is {entry:?}"));
        }
        self.balance += i128::from(entry.credits);
        if self.balance < 0 || self.balance != i128::from(entry.balance.0) {
            self.fault(format!("the rows add up to {} at {entry:?}", self.balance));
        }
        match &entry.kind {
            EntryKind::Charge { endpoint, request_id, .. } => {
                if entry.credits >= 0 {
                    self.fault(format!("a charge that takes nothing: {entry:?}"));
                }
                self.charges += 1;
                self.charged += entry.credits.unsigned_abs();
                new_rows.charges.push(Row {
                    account: place,
                    id: entry.id,
                    endpoint: endpoint.clone(),
                    request_id: request_id.clone(),
                    credits: entry.credits.unsigned_abs(),
                    balance: entry.balance.0,
                });
            }
            EntryKind::Grant => {
                self.granted += i128::from(entry.credits);
                new_rows.grants.push((place, entry.note.clone(), entry.credits));
            }
            EntryKind::Adjustment { .. } => {
                self.fault(format!("an adjustment that nobody made: {entry:?}"));
            }
        }
        self.last = Some(entry);
    }

    fn fault(&mut self, what: String) {
        self.faults.push(format!("account {}: {what}", self.account));
    }
}

#[cfg(test)]
mod tests {
    use enrich_core::{ChargeId, Clock as _, Credits, Timestamp};
    use enrich_store::SystemClock;

    use super::*;

    fn fold() -> Fold {
        let account = AccountId::new(SystemClock.now());
        let world = World {
            data: "unused".into(),
            payers: vec![crate::world::Payer { account, key: String::new() }],
            questions: Vec::new(),
        };
        Audit::new(&world).folds.remove(0)
    }

    fn grant(fold: &Fold, sequence: u64, credits: i64, balance: u64) -> Entry {
        let at = Timestamp::UNIX_EPOCH;
        Entry {
            account: fold.account,
            sequence,
            id: ChargeId::new(at),
            kind: EntryKind::Grant,
            credits,
            balance: Credits(balance),
            note: String::new(),
            at,
        }
    }

    /// Returns the number of faults that the audit finds in rows with these sequences, credits and
    /// balances.
    fn faults(rows: &[(u64, i64, u64)]) -> usize {
        let mut fold = fold();
        for (sequence, credits, balance) in rows {
            let entry = grant(&fold, *sequence, *credits, *balance);
            fold.take(entry, 0, &mut NewRows::default());
        }
        fold.faults.len()
    }

    #[test]
    fn rows_that_add_up_are_taken() {
        assert_eq!(faults(&[(1, 10, 10), (2, -4, 6), (3, -6, 0)]), 0);
    }

    #[test]
    fn gaps_wrong_sums_and_negative_balances_are_seen() {
        assert_eq!(faults(&[(1, 10, 10), (3, -4, 6)]), 1, "a gap");
        assert_eq!(faults(&[(1, 10, 10), (1, 1, 11)]), 1, "a sequence number twice");
        assert_eq!(faults(&[(1, 10, 10), (2, -4, 7)]), 1, "a wrong sum");
        assert_eq!(faults(&[(1, 10, 10), (2, -11, 0)]), 1, "below zero");
    }
}
