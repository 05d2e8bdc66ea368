//! How much of something each account may have under way, so that none takes it from all others.

use std::collections::BTreeMap;
use std::sync::Arc;

use enrich_core::AccountId;
use parking_lot::Mutex;
use tokio::sync::{Mutex as Line, OwnedMutexGuard};

/// So many places for each account.
pub(crate) struct AccountLimit {
    most: usize,
    taken: Arc<Mutex<BTreeMap<AccountId, Taken>>>,
}

/// What an account has taken.
#[derive(Default)]
struct Taken {
    permits: usize,
    line: Arc<Line<()>>,
}

/// A place of an account, until it is dropped.
pub(crate) struct AccountPermit {
    account: AccountId,
    line: Arc<Line<()>>,
    taken: Arc<Mutex<BTreeMap<AccountId, Taken>>>,
}

impl AccountLimit {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// A place for an account; `None` where it has as many as it may have.
    pub(crate) fn take(&self, account: AccountId) -> Option<AccountPermit> {
        let mut all = self.taken.lock();
        let own = all.entry(account).or_default();
        if own.permits >= self.most {
            return None;
        }
        own.permits += 1;
        let line = Arc::clone(&own.line);
        Some(AccountPermit { account, line, taken: Arc::clone(&self.taken) })
    }
}

impl AccountPermit {
    /// Waits until no other place of the account has its turn. The turn ends when the returned guard
    /// is dropped. Waiters get their turns in the order in which they came.
    pub(crate) async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.line).lock_owned().await
    }
}

impl Drop for AccountPermit {
    fn drop(&mut self) {
        let mut all = self.taken.lock();
        if let Some(own) = all.get_mut(&self.account) {
            own.permits -= 1;
            if own.permits == 0 {
                all.remove(&self.account);
            }
        }
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
        assert_eq!(permits.taken.lock().len(), 1);
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
