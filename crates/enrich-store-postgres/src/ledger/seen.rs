//! Remembers the last ledger row of each account that this process has read or written. The rows of
//! an account are numbered; a row's number is its sequence. So it is enough to remember the highest
//! sequence of each account. If the last row of an account in the database has a lower sequence,
//! the database is outdated: it may be a restored backup, or an old primary. Then charging stops.
//!
//! All lanes (tasks that decide charges) share these sequences, because each lane may charge any
//! account.

use std::sync::atomic::{AtomicBool, Ordering};

use enrich_core::AccountId;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use uuid::Uuid;

/// Maximum number of accounts whose highest sequence (number of a ledger row) is remembered. If a
/// further account would exceed this maximum, the sequences of all accounts are forgotten.
const MAX_KNOWN: usize = 100_000;

#[derive(Debug, Default)]
pub(super) struct SeenRows {
    known: Mutex<Known>,
    /// Whether the database has fewer rows than this process has seen.
    is_outdated: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    /// For each account: the highest sequence (number of a ledger row) that this process has read
    /// or written.
    sequences: FxHashMap<AccountId, u64>,
    /// The accounts whose rows must be checked before charging resumes; empty while charging goes
    /// on. Charges are written in groups. If the database lacks rows of an account in a group, the
    /// group is refused, and all its accounts are added here.
    outdated: Vec<AccountId>,
    /// The lineage of the database when this process read or wrote the rows. The lineage is a UUID
    /// that changes when an operator accepts a loss of data.
    lineage: Option<Uuid>,
}

impl SeenRows {
    /// Notes rows that this process has read or written. Each element of `rows` is an account, and
    /// the sequence (number) of one of the account's ledger rows.
    pub(super) fn note(&self, rows: impl ExactSizeIterator<Item = (AccountId, u64)>) {
        let sequences = &mut self.known.lock().sequences;
        if sequences.len() + rows.len() > MAX_KNOWN {
            sequences.clear();
        }
        for (account, sequence) in rows {
            let highest = sequences.entry(account).or_default();
            *highest = (*highest).max(sequence);
        }
    }

    /// Whether the database still has all ledger rows of `account` that this process has read or
    /// written. `sequence` is the sequence (number) of the account's last row in the database.
    pub(super) fn has_all(&self, account: AccountId, sequence: u64) -> bool {
        self.known.lock().sequences.get(&account).is_none_or(|seen| sequence >= *seen)
    }

    pub(super) fn is_outdated(&self) -> bool {
        self.is_outdated.load(Ordering::Acquire)
    }

    /// Stops charging, because the database lacks rows of at least one of these accounts. Returns
    /// whether charging was possible until now.
    pub(super) fn stop(&self, accounts: impl Iterator<Item = AccountId>) -> bool {
        let mut known = self.known.lock();
        known.outdated.extend(accounts);
        !self.is_outdated.swap(true, Ordering::AcqRel)
    }

    /// Returns the accounts whose rows must be checked before charging resumes; none while charging
    /// goes on.
    pub(super) fn outdated(&self) -> Vec<AccountId> {
        self.known.lock().outdated.clone()
    }

    /// Lets charging resume, because the database has the missing rows now.
    pub(super) fn resume(&self) {
        let mut known = self.known.lock();
        known.outdated.clear();
        self.is_outdated.store(false, Ordering::Release);
    }

    /// If the database has a new lineage, forgets all sequences and lets charging resume. The
    /// lineage is a UUID that changes when an operator accepts a loss of data.
    pub(super) fn follow(&self, lineage: Uuid) {
        let mut known = self.known.lock();
        if known.lineage != Some(lineage) {
            *known = Known { lineage: Some(lineage), ..Known::default() };
            self.is_outdated.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use enrich_core::Timestamp;

    use super::*;

    #[test]
    fn rows_are_known_until_their_loss_is_accepted() {
        let (seen, account) = (SeenRows::default(), AccountId::new(Timestamp::UNIX_EPOCH));
        seen.follow(Uuid::from_u128(1));
        seen.note([(account, 7)].into_iter());
        seen.note([(account, 5)].into_iter());
        seen.follow(Uuid::from_u128(1));
        assert!(seen.has_all(account, 7) && !seen.has_all(account, 6));
        assert!(seen.stop([account].into_iter()) && !seen.stop([account].into_iter()));
        seen.follow(Uuid::from_u128(2));
        assert!(seen.has_all(account, 0) && !seen.is_outdated() && seen.outdated().is_empty());
    }

    #[test]
    fn a_limited_number_of_accounts_is_known() {
        let (seen, first) = (SeenRows::default(), AccountId(Uuid::from_u128(0)));
        let accounts = |count: u32| (0..count).map(|n| (AccountId(Uuid::from_u128(n.into())), 1));
        seen.note(accounts(u32::try_from(MAX_KNOWN).unwrap()));
        assert!(!seen.has_all(first, 0));
        seen.note([(AccountId(Uuid::from_u128(u128::MAX)), 1)].into_iter());
        assert!(seen.has_all(first, 0));
    }
}
