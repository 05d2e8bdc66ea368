//! The accounts that a lane (a task that decides charges) remembers: their last rows, and which
//! accounts others charge too. "Others" are other nodes, and the other lanes of this node.
//!
//! An account has one of three states. The state decides how a group of charges gets the last row
//! of the account:
//!
//! ```text
//! alone      the database checks that the remembered row is the last row    one round trip
//!   │  others have added a row, or have locked the account
//!   ▼
//! shared     the account is locked if it is free, and its last row is read  two round trips
//!   │  others had locked the account for four consecutive groups
//!   ▼
//! contended  the group waits for the lock, and then reads the last row      two round trips
//! ```
//!
//! A contended account becomes shared again after 2 to [`MAX_LOCKED_GROUPS`] groups. A shared
//! account becomes alone again after [`ALONE_AFTER`] consecutive reads, if others have added no
//! row.

use enrich_core::AccountId;
use enrich_ledger::LastRow;
use rustc_hash::FxHashMap;

/// Maximum number of accounts that a lane (a task that decides charges) remembers. If a further
/// account would exceed this number, the lane forgets all accounts.
const MAX_KNOWN: usize = 50_000;
/// A shared account is one that other nodes or lanes charge too. If this number of consecutive
/// reads show that no other node or lane has added a row, the account is no longer shared. From
/// then on, groups of charges use the remembered last row, without reading it from the database
/// first.
const ALONE_AFTER: u32 = 8;
/// If this number of consecutive groups of charges could not use a shared account, because another
/// node or lane used it, the account becomes contended: the next groups wait for its lock.
const CONTENDED_AFTER: u32 = 4;
/// Maximum number of consecutive groups of charges that wait for the lock of a contended account.
/// After these groups, the account is shared again.
const MAX_LOCKED_GROUPS: u32 = 32;

/// How a group of charges gets the last row of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// The lane remembers the account's last row, and the group of charges uses this row.
    Remembered,
    /// The group of charges locks the account if it is free, and then reads the account's last row
    /// from the database.
    Read,
    /// The group of charges waits until it has locked the account, and then reads the account's
    /// last row from the database.
    Locked,
}

/// The accounts that a lane (a task that decides charges) remembers, with their last rows. A
/// remembered row may be outdated. So before the database adds a row, it compares the remembered
/// row with the account's last row in its table.
#[derive(Debug, Default)]
pub(super) struct Heads {
    rows: FxHashMap<AccountId, LastRow>,
    /// The accounts that other nodes or lanes have charged recently.
    shared: FxHashMap<AccountId, Sharing>,
}

/// A shared account, as a lane knows it. Other nodes or lanes charge it too.
#[derive(Clone, Copy, Debug, Default)]
struct Sharing {
    /// The number of consecutive reads that found the remembered last row. So no other node or lane
    /// had added a row.
    unchanged: u32,
    /// The number of consecutive groups of charges that have left the account out, because another
    /// node or lane had locked the account.
    lost: u32,
    /// How many of the next groups of charges must wait for the account's lock; 0 if the account is
    /// not contended.
    locked_groups: u32,
    /// When the account becomes contended, `backoff` is doubled (to at least 2 and at most
    /// [`MAX_LOCKED_GROUPS`]) and then copied to `locked_groups`: for example first 2, then 4, then
    /// 8. Each group of charges that can use the account without waiting halves `backoff`.
    backoff: u32,
}

impl Heads {
    /// Returns how the next group of charges gets the account's last row. Call this exactly once
    /// for each group, because each call for a contended account lowers `locked_groups` by 1.
    pub(super) fn access(&mut self, account: AccountId) -> Access {
        match self.shared.get_mut(&account) {
            Some(sharing) if sharing.locked_groups > 0 => {
                sharing.locked_groups -= 1;
                Access::Locked
            }
            Some(_) => Access::Read,
            None if self.rows.contains_key(&account) => Access::Remembered,
            None => Access::Read,
        }
    }

    /// Returns the remembered last rows.
    pub(super) fn rows(&self) -> &FxHashMap<AccountId, LastRow> {
        &self.rows
    }

    /// Forgets all accounts if this number of further accounts would exceed [`MAX_KNOWN`].
    pub(super) fn reserve(&mut self, accounts: usize) {
        if self.rows.len().max(self.shared.len()) + accounts > MAX_KNOWN {
            self.rows.clear();
            self.shared.clear();
        }
    }

    /// Remembers the last row of an account, which was read from the database before a group of
    /// charges was decided. If [`ALONE_AFTER`] consecutive reads find the row that was already
    /// remembered, no other node or lane charges the account any more. So the account is no longer
    /// treated as shared.
    pub(super) fn read(&mut self, account: AccountId, last: LastRow) {
        let is_unchanged = self.rows.get(&account) == Some(&last);
        if let Some(sharing) = self.shared.get_mut(&account) {
            sharing.unchanged = if is_unchanged { sharing.unchanged + 1 } else { 0 };
            if sharing.unchanged >= ALONE_AFTER {
                self.shared.remove(&account);
            }
        }
        self.written(account, last);
    }

    /// Remembers the last row of an account, which this node has just written or read.
    pub(super) fn written(&mut self, account: AccountId, last: LastRow) {
        self.rows.insert(account, last);
    }

    /// Notes that a group of charges could use an account: its last row in the database was the
    /// expected one, or nobody else had locked the account. For a shared account, sets `lost` to 0,
    /// and halves `backoff`.
    pub(super) fn won(&mut self, account: AccountId) {
        if let Some(sharing) = self.shared.get_mut(&account) {
            sharing.lost = 0;
            sharing.backoff /= 2;
        }
    }

    /// Notes that a group of charges has left an account out, because another node or lane has
    /// added a row or has locked the account. If the account was not shared until now, it becomes
    /// shared. If [`CONTENDED_AFTER`] consecutive groups have left a shared account out, it becomes
    /// contended: the next groups wait for its lock.
    pub(super) fn lost(&mut self, account: AccountId) {
        self.rows.remove(&account);
        let Some(sharing) = self.shared.get_mut(&account) else {
            self.shared.insert(account, Sharing::default());
            return;
        };
        sharing.unchanged = 0;
        sharing.lost += 1;
        if sharing.lost >= CONTENDED_AFTER {
            sharing.lost = 0;
            sharing.backoff = (2 * sharing.backoff).clamp(2, MAX_LOCKED_GROUPS);
            sharing.locked_groups = sharing.backoff;
        }
    }

    /// Forgets all last rows. Call this before the lane uses another connection, because the new
    /// connection may lead to a database without these rows.
    pub(super) fn forget_rows(&mut self) {
        self.rows.clear();
    }
}

#[cfg(test)]
mod tests {
    use enrich_core::{Credits, Timestamp};

    use super::*;

    fn row(sequence: u64) -> LastRow {
        LastRow { sequence, balance: Credits(9), chain: [1; 32] }
    }

    #[test]
    fn an_account_is_read_only_while_other_nodes_charge_it() {
        let (mut heads, account) = (Heads::default(), AccountId::new(Timestamp::UNIX_EPOCH));
        assert_eq!(heads.access(account), Access::Read);
        heads.read(account, row(1));
        assert_eq!(heads.access(account), Access::Remembered);
        heads.lost(account);
        assert_eq!(heads.access(account), Access::Read);
        heads.read(account, row(2));
        for sequence in 3..=2 + u64::from(ALONE_AFTER) {
            assert_eq!(heads.access(account), Access::Read);
            heads.written(account, row(sequence));
            heads.won(account);
            heads.read(account, row(sequence));
        }
        assert_eq!(heads.access(account), Access::Remembered);
    }

    #[test]
    fn an_account_is_locked_after_groups_have_left_it_out() {
        let (mut heads, account) = (Heads::default(), AccountId::new(Timestamp::UNIX_EPOCH));
        heads.lost(account);
        for locked in [2, 4, 8, 16, 32, 32] {
            for sequence in 0..u64::from(CONTENDED_AFTER) {
                assert_eq!(heads.access(account), Access::Read);
                heads.read(account, row(sequence));
                heads.lost(account);
            }
            for _ in 0..locked {
                assert_eq!(heads.access(account), Access::Locked);
            }
        }
        heads.read(account, row(7));
        heads.won(account);
        assert_eq!(heads.access(account), Access::Read);
    }

    #[test]
    fn a_lane_remembers_a_limited_number_of_accounts() {
        let mut heads = Heads::default();
        for _ in 0..MAX_KNOWN + 1 {
            heads.reserve(1);
            heads.written(AccountId::new(Timestamp::UNIX_EPOCH), row(1));
        }
        assert_eq!(heads.rows().len(), 1);
    }
}
