//! Limits how many operations of one account run at the same time, so that no account uses all
//! capacity. Such an operation is an upload, a download, or a long read, such as counting the rows
//! of a list.

use std::collections::BTreeMap;
use std::sync::Arc;

use enrich_core::AccountId;
use parking_lot::Mutex;
use tokio::sync::{Mutex as Line, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// A limit of concurrent operations of each account, such as uploads. An account may hold at most
/// `most` permits at the same time, one for each operation.
pub struct AccountLimit {
    most: usize,
    /// The accounts that hold permits. When an account no longer holds a permit, the next call of
    /// `take` removes the account from this map.
    accounts: Mutex<BTreeMap<AccountId, Own>>,
}

/// The permits of one account. `permits` counts those that are free. `line` is the lock that
/// [`AccountPermit::turn`] waits for.
#[derive(Clone)]
struct Own {
    permits: Arc<Semaphore>,
    line: Arc<Line<()>>,
}

/// A permit that an account holds, for example for one upload. Dropping it makes the permit free
/// again.
pub struct AccountPermit {
    line: Arc<Line<()>>,
    _permit: OwnedSemaphorePermit,
}

impl AccountLimit {
    /// Returns a limit of `most` permits for each account.
    pub fn new(most: usize) -> Self {
        Self { most, accounts: Mutex::default() }
    }

    /// Takes a permit of the account. Returns `None` if the account already holds the maximum
    /// number of permits.
    pub fn take(&self, account: AccountId) -> Option<AccountPermit> {
        let mut accounts = self.accounts.lock();
        accounts.retain(|_, own| own.permits.available_permits() < self.most);
        let new = || Own { permits: Arc::new(Semaphore::new(self.most)), line: Arc::default() };
        let Own { permits, line } = accounts.entry(account).or_insert_with(new).clone();
        Some(AccountPermit { line, _permit: permits.try_acquire_owned().ok()? })
    }
}

impl AccountPermit {
    /// Waits for this permit's turn. Only one permit of an account has its turn at a time. The
    /// others wait in the order in which they called this function. Dropping the returned guard
    /// ends the turn.
    pub async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.line).lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::task::{Context, Waker};

    use enrich_core::Timestamp;

    use super::*;

    #[test]
    fn an_account_has_so_many_and_takes_none_of_anothers() {
        let permits = AccountLimit::new(2);
        let [ada, ben] = [0, 1].map(|_| AccountId::new(Timestamp::UNIX_EPOCH));
        let first = permits.take(ada).unwrap();
        let _second = permits.take(ada).unwrap();
        assert!(permits.take(ada).is_none());
        assert!(permits.take(ben).is_some());
        drop(first);
        assert!(permits.take(ada).is_some());
        assert_eq!(permits.accounts.lock().len(), 1);
    }

    #[test]
    fn a_place_that_comes_again_waits_behind_those_that_waited_before_it() {
        let permits = AccountLimit::new(3);
        let ada = AccountId::new(Timestamp::UNIX_EPOCH);
        let [first, second, third] = [0, 1, 2].map(|_| permits.take(ada).unwrap());
        let mut context = Context::from_waker(Waker::noop());
        let turn = pollster::block_on(first.turn());
        let (mut second, mut third) = (pin!(second.turn()), pin!(third.turn()));
        let mut has_turn = |permit: Pin<&mut dyn Future<Output = _>>| {
            let polled = permit.poll(&mut context);
            polled.is_ready()
        };
        assert!(!has_turn(second.as_mut()) && !has_turn(third.as_mut()));
        drop(turn);
        let mut again = pin!(first.turn());
        assert!(!has_turn(again.as_mut()), "it took the turn of one that waited");
        assert!(!has_turn(third.as_mut()) && has_turn(second.as_mut()));
        assert!(!has_turn(again.as_mut()) && has_turn(third.as_mut()));
        assert!(has_turn(again.as_mut()));
    }
}
