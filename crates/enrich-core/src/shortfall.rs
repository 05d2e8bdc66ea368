//! Counts the shortfalls of each account by day (UTC). A shortfall is an answer that was looked
//! up, but that the balance did not pay for.
//!
//! A call with a shortfall is refused and free. But its refusal shows that an answer exists. So
//! an account has a daily maximum of shortfalls, [`MAX_PER_DAY`]. After that, a call whose answer
//! may cost more than the balance is refused before the look-up. The count starts again at zero
//! when the account receives credits, and on the next day. The counts are only in memory, so a
//! restart also sets them to zero.

use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::account::AccountId;
use crate::credits::Credits;
use crate::day::day_of;

/// Maximum number of shortfalls of one account in a day (UTC). A shortfall is an answer that was
/// looked up, but that the balance did not pay for.
pub(crate) const MAX_PER_DAY: u32 = 100;
/// Counts of earlier days are removed from memory only if at least this number of accounts has a
/// count.
const SWEEP_FROM: usize = 4096;

/// The number of shortfalls of each account today. A shortfall is an answer that was looked up,
/// but that the balance did not pay for. The map may also contain counts of earlier days; they
/// are ignored.
#[derive(Debug, Default)]
pub(crate) struct Shortfalls {
    accounts: Mutex<FxHashMap<AccountId, Shortfall>>,
    /// Whether any account has had a shortfall (an answer that its balance did not pay for) since
    /// the start of the process. Every charge reads this flag first: while it is `false`, the
    /// charge needs no lock.
    are_any: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct Shortfall {
    day: i64,
    refusals: u32,
    /// The lowest balance since the last shortfall (an answer that the balance did not pay for). If
    /// the present balance is higher, the account has received credits.
    balance: Credits,
}

impl Shortfalls {
    /// Counts a shortfall: an answer that was looked up for the account, but that `balance` did
    /// not pay for.
    pub(crate) fn count(&self, account: AccountId, balance: Credits, now: Timestamp) {
        let today = day_of(now);
        let mut known = self.accounts.lock();
        self.are_any.store(true, Ordering::Release);
        let is_full = known.len() >= SWEEP_FROM && known.len() == known.capacity();
        if is_full && !known.contains_key(&account) {
            known.retain(|_, shortfall| shortfall.day == today);
        }
        let new = Shortfall { day: today, refusals: 0, balance };
        let shortfall = known.entry(account).or_insert(new);
        if shortfall.day != today {
            *shortfall = new;
        }
        shortfall.refusals = shortfall.refusals.saturating_add(1);
        shortfall.balance = balance;
    }

    /// Takes note of the present balance of an account. Only the lowest balance since the account's
    /// last shortfall (an answer that the balance did not pay for) is stored. A later, higher
    /// balance shows that the account received credits.
    pub(crate) fn note(&self, account: AccountId, balance: Credits) {
        if !self.are_any.load(Ordering::Acquire) {
            return;
        }
        let mut known = self.accounts.lock();
        if let Some(shortfall) = known.get_mut(&account) {
            shortfall.balance = shortfall.balance.min(balance);
        }
    }

    /// Returns `None` if the account has not reached the daily maximum of shortfalls (answers that
    /// its balance did not pay for). If it has, returns the account's lowest balance since its last
    /// shortfall. The caller compares this with the present balance: if the present balance is
    /// higher, the account has received credits, and its count must start again.
    pub(crate) fn used_up(&self, account: AccountId, now: Timestamp) -> Option<Credits> {
        let known = self.accounts.lock();
        let shortfall = known.get(&account)?;
        let is_used_up = shortfall.day == day_of(now) && shortfall.refusals >= MAX_PER_DAY;
        is_used_up.then_some(shortfall.balance)
    }

    /// Sets the count of an account to zero, because the account has received credits.
    pub(crate) fn forget(&self, account: AccountId) {
        self.accounts.lock().remove(&account);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::day::SECONDS_PER_DAY;

    const NOON: Timestamp = Timestamp::UNIX_EPOCH;

    #[test]
    fn an_account_has_its_refusals_each_day() {
        let (shortfalls, account) = (Shortfalls::default(), AccountId::new(NOON));
        let tomorrow = Timestamp::from_second(SECONDS_PER_DAY).unwrap();
        for _ in 0..MAX_PER_DAY {
            assert_eq!(shortfalls.used_up(account, NOON), None);
            shortfalls.count(account, Credits(7), NOON);
        }
        assert_eq!(shortfalls.used_up(account, NOON), Some(Credits(7)));
        assert_eq!(shortfalls.used_up(AccountId::new(NOON), NOON), None);
        shortfalls.note(account, Credits(3));
        shortfalls.note(account, Credits(5));
        assert_eq!(shortfalls.used_up(account, NOON), Some(Credits(3)));
        assert_eq!(shortfalls.used_up(account, tomorrow), None);
        shortfalls.count(account, Credits(3), tomorrow);
        assert_eq!(shortfalls.used_up(account, tomorrow), None, "the first of that day");
    }

    #[test]
    fn those_of_other_days_are_swept_out() {
        let shortfalls = Shortfalls::default();
        let tomorrow = Timestamp::from_second(SECONDS_PER_DAY).unwrap();
        for _ in 0..20_000 {
            shortfalls.count(AccountId::new(NOON), Credits(1), NOON);
        }
        for _ in 0..20_000 {
            shortfalls.count(AccountId::new(NOON), Credits(1), tomorrow);
        }
        assert!(shortfalls.accounts.lock().len() < 40_000);
    }
}
