//! The calls with an idempotency key that are running in this process. While the first call with
//! an idempotency key is running, a repeat of the call must not run.

use std::collections::HashSet;

use parking_lot::Mutex;

use crate::account::AccountId;
use crate::idempotency::IdempotencyKey;

type Running = (AccountId, IdempotencyKey);

#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<HashSet<Running>>);

/// Marks a call as running while this value exists.
#[derive(Debug)]
pub(crate) struct InFlightGuard<'a> {
    of: &'a InFlight,
    running: Running,
}

impl InFlight {
    /// Marks a call as running until the returned guard is dropped. Returns `None` if a call of
    /// the same account with the same idempotency key is running already.
    pub(crate) fn enter(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
    ) -> Option<InFlightGuard<'_>> {
        let running = (account, key.clone());
        let is_new = self.0.lock().insert(running.clone());
        // `then_some` would create a guard even if `is_new` is `false`. The drop of this guard
        // would then remove the entry of the first call.
        is_new.then(|| InFlightGuard { of: self, running })
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.of.0.lock().remove(&self.running);
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_place_is_one_requests_until_it_is_given_up() {
        let in_flight = InFlight::default();
        let key = IdempotencyKey::parse("k1").unwrap();
        let (one, other) =
            (AccountId::new(Timestamp::UNIX_EPOCH), AccountId::new(Timestamp::UNIX_EPOCH));
        let guard = in_flight.enter(one, &key);
        assert!(guard.is_some());
        for _ in 0..2 {
            assert!(in_flight.enter(one, &key).is_none());
        }
        assert!(in_flight.enter(other, &key).is_some());
        drop(guard);
        assert!(in_flight.enter(one, &key).is_some());
    }
}
