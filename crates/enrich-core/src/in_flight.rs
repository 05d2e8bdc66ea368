//! The requests with an idempotency key that are running. While the first call with a key is
//! running, a repeat of this call must not run.

use std::collections::HashSet;

use parking_lot::Mutex;

use crate::account::AccountId;
use crate::repeat::IdempotencyKey;

type Running = (AccountId, IdempotencyKey);

#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<HashSet<Running>>);

/// Marks a request as running while this value exists.
#[derive(Debug)]
pub(crate) struct InFlightGuard<'a> {
    of: &'a InFlight,
    running: Running,
}

impl InFlight {
    /// Marks a request as running until the returned guard is dropped. Returns `None` if the same
    /// request is running already.
    pub(crate) fn enter(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
    ) -> Option<InFlightGuard<'_>> {
        let running = (account, key.clone());
        let is_new = self.0.lock().insert(running.clone());
        // Not `then_some`: a guard that is made and dropped here would remove the mark of the first call.
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
